//! Addresses: any text is one or an error, and a mailbox is the same however its address is written.
//! Promise: it outlives the code below it.

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use tempmail::model::{Address, Mailbox, Subaddressing};
use unicode_normalization::UnicodeNormalization;

use crate::corpus;
use crate::input;

/// The canonical form as an address that can be typed.
fn quoted(mailbox: &Mailbox) -> String {
    let local_part = mailbox.local_part().replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{local_part}\"@{}", mailbox.domain())
}

fn check(text: &str) -> TestCaseResult {
    let Ok(address) = text.parse::<Address>() else { return Ok(()) };
    prop_assert!(address.local_part().len() <= 64);
    prop_assert!(address.domain().as_str().bytes().all(|octet| octet.is_ascii_graphic()));
    let again = address.to_string().parse::<Address>();
    prop_assert_eq!(again.as_ref(), Ok(&address), "what is shown reads back otherwise");

    let mailbox = address.mailbox(Subaddressing::Keep);
    prop_assert!(!mailbox.as_str().chars().any(char::is_control), "{}", mailbox);
    prop_assert_eq!(mailbox.domain(), address.domain().as_str());
    // The canonical local part, quoted, means the same mailbox; so does the address in another normal form, and in other
    // case where all is ASCII (an accent that follows a letter makes up another character with it, whose case counts).
    let upper = if text.is_ascii() { text.to_ascii_uppercase() } else { text.to_owned() };
    for other in [quoted(&mailbox), text.nfc().collect(), text.nfd().collect(), upper] {
        // It may be longer than the original.
        if let Ok(other) = other.parse::<Address>() {
            prop_assert_eq!(other.mailbox(Subaddressing::Keep), mailbox.clone(), "{}", other);
        }
    }
    // A tag is taken away once and for all.
    let stripped = address.mailbox(Subaddressing::Strip);
    if let Ok(plain) = quoted(&stripped).parse::<Address>() {
        prop_assert_eq!(plain.mailbox(Subaddressing::Strip), stripped);
    }
    Ok(())
}

#[test]
fn every_spelling_of_an_address_means_one_mailbox() {
    let seeds = corpus::seeds("address").into_iter().map(|(_, octets)| octets).collect();
    let text = |octets: Vec<u8>| String::from_utf8_lossy(&octets).into_owned();
    let texts = prop_oneof![
        3 => input::mutated(seeds).prop_map(text),
        2 => "[a-zA-Z0-9.+-]{1,20}@[a-zA-Z0-9-]{1,12}(\\.[a-z]{2,6}){1,3}\\.?",
        2 => "\"(\\\\[ -~]|[ !#-\\[\\]-~])+\"@[a-z]{1,9}\\.test",
        2 => "[A-Za-zµſKÅǰ\u{300}-\u{331}é日]{1,12}@(bücher|[a-zßéд]{1,9})\\.(test|example)",
        1 => "\\PC{0,80}",
    ];
    corpus::run("address", texts, |text| check(text), text);
}
