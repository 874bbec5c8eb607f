//! Dialogs without a socket.

mod auth;
mod chunks;
mod faults;
mod limits;
mod lmtp;
mod play;
mod properties;
mod smuggling;
mod utf8;

use std::time::Duration;

use bytes::Bytes;
use play::{DomainState, OneDomain, PLAIN, Played, play_cut, play_in, play_with, settings, write_by_write};

use super::*;
use crate::fault::Faults;
use crate::model::Protocol;
use crate::store::StoreError;

fn play(dialog: &str) -> Played {
    play_cut(&[dialog.as_bytes()], &OneDomain::default(), &[])
}

/// The codes of the replies after the greeting, with their enhanced codes.
fn codes(replies: &str) -> Vec<String> {
    let is_status = |word: &str| word.len() == 5 && word.split('.').all(|part| part.parse::<u8>().is_ok());
    let code = |line: &str| {
        let (code, text) = line.split_at(4);
        let status = text.split(' ').next().filter(|word| is_status(word));
        status.map_or(code.trim().to_owned(), |status| format!("{code}{status}"))
    };
    let last_lines = replies.lines().filter(|line| line.as_bytes()[3] == b' ');
    last_lines.map(code).skip(1).collect()
}

fn assert_codes(dialog: &str, expected: &[&str]) {
    assert_eq!(codes(&play(dialog).replies), expected, "{dialog:?}");
}

const EHLO: &str = "EHLO client.test\r\n";
const MAIL: &str = "MAIL FROM:<ann@sender.test>\r\n";
const RCPT: &str = "RCPT TO:<bob@example.test>\r\n";

#[test]
fn a_message_arrives_complete() {
    let played = play(&format!("{EHLO}{MAIL}{RCPT}DATA\r\nSubject: hi\r\n\r\n..dot\n.\r\n.\r\nQUIT\r\n"));
    assert_eq!(
        played.replies,
        "220 mx.test ESMTP tempmail\r\n\
         250-mx.test\r\n250-PIPELINING\r\n250-SIZE 1000\r\n250-8BITMIME\r\n250-BINARYMIME\r\n\
         250-CHUNKING\r\n250-SMTPUTF8\r\n250-ENHANCEDSTATUSCODES\r\n250 HELP\r\n\
         250 2.1.0 Sender OK\r\n\
         250 2.1.5 Recipient OK\r\n\
         354 Send the message; end it with a dot on a line of its own\r\n\
         250 2.0.0 Stored\r\n\
         221 2.0.0 Bye\r\n"
    );
    assert_eq!(played.end, Some(End::Quit));
    assert_eq!(
        played.messages,
        [Message {
            helo: "client.test".into(),
            protocol: Protocol::plain(Greeting::Ehlo),
            reverse_path: "ann@sender.test".into(),
            recipients: vec!["bob@example.test".parse().expect("address")],
            raw: Bytes::from_static(b"Subject: hi\r\n\r\n.dot\n.\r\n"),
        }]
    );
}

#[test]
fn commands_out_of_order_are_refused() {
    for (dialog, expected) in [
        (MAIL.to_owned(), &["503 5.5.1"][..]),
        (RCPT.to_owned(), &["503 5.5.1"]),
        ("DATA\r\n".to_owned(), &["503 5.5.1"]),
        (format!("{EHLO}{RCPT}"), &["250", "503 5.5.1"]),
        (format!("{EHLO}DATA\r\n"), &["250", "503 5.5.1"]),
        (format!("{EHLO}{MAIL}DATA\r\n"), &["250", "250 2.1.0", "503 5.5.1"]),
        (format!("{EHLO}{MAIL}{MAIL}"), &["250", "250 2.1.0", "503 5.5.1"]),
        (
            format!("{EHLO}{MAIL}RCPT TO:<bob@other.test>\r\nDATA\r\nNOOP\r\n"),
            &["250", "250 2.1.0", "550 5.1.2", "503 5.5.1", "250 2.0.0"],
        ),
    ] {
        assert_codes(&dialog, expected);
    }
}

#[test]
fn helo_rset_and_the_end_of_data_end_a_transaction() {
    for again in ["RSET\r\n", "HELO other.test\r\n", "EHLO other.test\r\n"] {
        let played = play(&format!("{EHLO}{MAIL}{RCPT}{again}DATA\r\n{MAIL}"));
        let codes = codes(&played.replies);
        assert_eq!(codes[codes.len() - 2..], ["503 5.5.1", "250 2.1.0"], "{again}");
    }
    assert_codes(
        &format!("{EHLO}{MAIL}{RCPT}DATA\r\n.\r\nDATA\r\n{MAIL}"),
        &["250", "250 2.1.0", "250 2.1.5", "354", "250 2.0.0", "503 5.5.1", "250 2.1.0"],
    );
    // A malformed EHLO changes nothing.
    assert_codes(&format!("{EHLO}{MAIL}EHLO\r\n{RCPT}"), &["250", "250 2.1.0", "501", "250 2.1.5"]);
}

#[test]
fn commands_that_need_no_greeting_are_answered_without_one() {
    assert_codes(
        "NOOP\r\nRSET\r\nVRFY ann\r\nHELP\r\nEXPN x\r\nSTARTTLS\r\nAUTH PLAIN\r\nBDAT 2\r\n\r\nFOO\r\nQUIT\r\n",
        &[
            "250 2.0.0",
            "250 2.0.0",
            "252 2.0.0",
            "214 2.0.0",
            "502 5.5.1",
            "502 5.5.1",
            "502 5.5.1",
            "503 5.5.1",
            "500 5.5.2",
            "221 2.0.0",
        ],
    );
}

#[test]
fn helo_makes_it_smtp() {
    let played = play(&format!("HELO client.test\r\n{MAIL}{RCPT}DATA\r\n.\r\n"));
    assert!(played.replies.contains("\r\n250 mx.test\r\n"));
    assert_eq!(played.messages[0].protocol, Protocol::plain(Greeting::Helo));
    assert_eq!(played.messages[0].raw, Bytes::new());
}

#[test]
fn each_recipient_is_judged_on_its_own() {
    for (path, expected) in [
        ("<bob@example.test>", "250 2.1.5"),
        ("<BOB@EXAMPLE.TEST.>", "250 2.1.5"),
        ("<postmaster>", "250 2.1.5"),
        ("<PostMaster>", "250 2.1.5"),
        ("<\"b o b\"@example.test>", "250 2.1.5"),
        ("<@relay.test:bob@example.test>", "250 2.1.5"),
        ("<bob@other.test>", "550 5.1.2"),
        ("<bob@gone.test>", "550 5.1.2"),
        ("<bob@sub.example.test>", "550 5.1.2"),
        ("<bob@[127.0.0.1]>", "550 5.1.2"),
        ("<postmaster@mx.test>", "550 5.1.2"),
        ("<>", "501 5.1.3"),
        ("<bob>", "501 5.1.3"),
        ("<bob@example.test> NOTIFY=NEVER", "555 5.5.4"),
    ] {
        let played = play(&format!("{EHLO}{MAIL}RCPT TO:{path}\r\n"));
        assert_eq!(codes(&played.replies)[2], expected, "{path}");
    }
}

#[test]
fn each_sender_that_rfc_5321_allows_is_accepted() {
    for path in ["<>", "<ann@example.test>", "<\"\"@example.test>", "<\"a b\"@[192.0.2.1]>"] {
        assert_codes(&format!("{EHLO}MAIL FROM:{path}\r\n"), &["250", "250 2.1.0"]);
    }
}

#[test]
fn postmaster_without_a_domain_is_that_of_the_hostname() {
    let played = play(&format!("{EHLO}MAIL FROM:<>\r\nRCPT TO:<Postmaster>\r\nDATA\r\n.\r\n"));
    assert_eq!(played.messages[0].recipients[0].to_string(), "Postmaster@mx.test");
    assert_eq!(played.messages[0].reverse_path, "");
}

#[test]
fn the_store_is_asked_before_a_message_begins() {
    for (refusal, expected, end) in [
        (StoreError::Full, "452 4.3.1", None),
        (StoreError::Failed("x".into()), "451 4.3.0", None),
        (StoreError::Stopping, "421 4.3.2", Some(End::Stopping)),
    ] {
        let policy = OneDomain { refusal: Some(refusal), ..OneDomain::default() };
        let played = play_cut(&[EHLO.as_bytes(), MAIL.as_bytes()], &policy, &[]);
        assert_eq!(codes(&played.replies)[1], expected);
        assert_eq!(played.end, end);
    }
}

#[test]
fn each_answer_of_the_store_has_its_reply() {
    let dialog = format!("{EHLO}{MAIL}{RCPT}DATA\r\n.\r\nNOOP\r\n");
    for (outcome, expected, end) in [
        (Ok(()), &["250 2.0.0", "250 2.0.0"][..], None),
        (Err(StoreError::Full), &["452 4.3.1", "250 2.0.0"], None),
        (Err(StoreError::Failed("x".into())), &["451 4.3.0", "250 2.0.0"], None),
        (Err(StoreError::TooLarge { limit: 5 }), &["552 5.3.4", "250 2.0.0"], None),
        (Err(StoreError::Stopping), &["421 4.3.2"], Some(End::Stopping)),
        (Err(StoreError::Unconfirmed), &["451 4.3.0", "250 2.0.0"], None),
        (Err(StoreError::OutcomeUnknown), &[], Some(End::OutcomeUnknown)),
    ] {
        let played = play_cut(&[dialog.as_bytes()], &OneDomain::default(), std::slice::from_ref(&outcome));
        assert_eq!(codes(&played.replies)[4..], *expected, "{outcome:?}");
        assert_eq!(played.end, end, "{outcome:?}");
    }
}

#[test]
fn a_session_has_one_last_reply() {
    for dialog in [String::new(), format!("{EHLO}{MAIL}{RCPT}DATA\r\nhalf a mess")] {
        let policy = OneDomain::default();
        policy.stop.cancel();
        let (writes, end) =
            write_by_write(&settings(), PLAIN, &[dialog.as_bytes(), b"age\r\n.\r\nNOOP\r\n"], &policy, true);
        let replies = writes.concat();
        assert_eq!((replies.lines().count(), end), (2, Some(End::Stopping)), "{replies}");
        assert!(replies.ends_with("421 4.3.2 The service is stopping; try again later\r\n"), "{replies}");
    }
    let (writes, end) = write_by_write(&settings(), PLAIN, &[b"NOOP\r\n"], &OneDomain::default(), true);
    assert_eq!((writes.concat().lines().count(), end), (4, Some(End::Idle)), "{writes:?}");
}

#[test]
fn a_stop_ends_a_message_that_is_not_complete() {
    let policy = OneDomain { stops_at_store: true, ..OneDomain::default() };
    let dialog = format!("{EHLO}{MAIL}{RCPT}DATA\r\n.\r\n{MAIL}{RCPT}DATA\r\nhalf");
    let played = play_cut(&[dialog.as_bytes()], &policy, &[]);
    assert_eq!(codes(&played.replies)[4..], ["250 2.0.0", "421 4.3.2"]);
    assert_eq!((played.messages.len(), played.end), (1, Some(End::Stopping)));
}

#[test]
fn a_domain_that_another_node_registered_is_asked_about_before_the_answer() {
    let policy = OneDomain::default();
    policy.registered.lock().expect("no panic").insert("new.test".parse().expect("name"), DomainState::Elsewhere);
    let dialog = "EHLO c\r\nMAIL FROM:<>\r\nRCPT TO:<a@new.test>\r\nRCPT TO:<a@other.test>\r\nRCPT TO:<b@new.test>\r\n";
    let played = play_cut(&[dialog.as_bytes()], &policy, &[]);
    let replies: Vec<&str> = played.replies.lines().rev().take(3).map(|line| &line[..3]).collect();
    assert_eq!(replies, ["250", "550", "250"], "{}", played.replies);
}
