//! Codes that name a customer, an order or a door in all languages. None of them is a one-time code.

use crate::{Message, findings};

/// On each line a language, what is on a link to sign in, and names of codes.
const NAMES: &str = include_str!("names.txt");

#[test]
fn codes_of_customers_orders_and_doors_are_none() {
    let mut found = Vec::new();
    for line in NAMES.lines() {
        let [language, sign_in, names] = line.splitn(3, ": ").collect::<Vec<_>>()[..] else { panic!("{line}") };
        for name in names.split(" | ") {
            for (subject, mark, after) in [
                ("", ": ", ""),
                (sign_in, ": ", ""),
                ("", ": ", sign_in),
                ("", ":", sign_in),
                ("", "\u{ff1a}", sign_in),
                ("", "\n", sign_in),
                ("", " ", sign_in),
            ] {
                let raw = format!("Subject: {subject}\r\n\r\n{name}{mark}482913\n{after}");
                if !findings(&Message::new(raw.as_bytes())).codes.is_empty() {
                    found.push(format!("{language}: {raw:?}"));
                }
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn such_a_code_hides_no_other_one() {
    for name in NAMES.lines().flat_map(|line| line.split(": ").skip(2)).flat_map(|names| names.split(" | ")) {
        let raw = format!("Subject: Hello\r\n\r\n{name}: 482913\nYour login code is 771204.");
        let codes: Vec<_> = findings(&Message::new(raw.as_bytes())).codes.into_iter().map(|code| code.code).collect();
        assert_eq!(codes, ["771204"], "{name}");
    }
}
