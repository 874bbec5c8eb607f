//! AUTH, which accepts any credentials (RFC 4954).

use super::*;
use crate::smtp::auth::LINE_OCTETS_MAX;

const OFFERED: Dialect = Dialect { purpose: Purpose::Smtp, offers_tls: true, offers_auth: true };

fn play_auth(dialog: &str) -> Played {
    play_in(OFFERED, &[dialog.as_bytes()], &OneDomain::default(), &[])
}

fn codes_of(dialog: &str) -> Vec<String> {
    codes(&play_auth(&format!("{EHLO}{dialog}")).replies).split_off(1)
}

#[test]
fn each_exchange_has_its_replies() {
    for (dialog, expected) in [
        ("AUTH PLAIN AGFubgBzZWNyZXQ=\r\n", &["235 2.7.0"][..]),
        ("AUTH PLAIN\r\nAGFubgBzZWNyZXQ=\r\n", &["334", "235 2.7.0"]),
        ("AUTH LOGIN\r\nYW5u\r\nc2VjcmV0\r\n", &["334", "334", "235 2.7.0"]),
        ("AUTH LOGIN YW5u\r\nc2VjcmV0\r\n", &["334", "235 2.7.0"]),
        ("AUTH PLAIN\r\n*\r\nNOOP\r\n", &["334", "501 5.0.0", "250 2.0.0"]),
        ("AUTH LOGIN\r\nYW5u\r\n*\r\nNOOP\r\n", &["334", "334", "501 5.0.0", "250 2.0.0"]),
        ("AUTH PLAIN !\r\nNOOP\r\n", &["501 5.5.2", "250 2.0.0"]),
        // Within an exchange no line is a command.
        ("AUTH LOGIN\r\nQUIT\r\nNOOP\r\n", &["334", "334", "235 2.7.0"]),
        ("AUTH LOGIN\r\nQUIT!\r\nNOOP\r\n", &["334", "501 5.5.2", "250 2.0.0"]),
        ("AUTH SCRAM-SHA-256 x\r\n", &["504 5.5.4"]),
        ("AUTH\r\n", &["501 5.5.4"]),
        ("AUTH PLAIN AGEAYg==\r\nAUTH PLAIN AGEAYg==\r\n", &["235 2.7.0", "503 5.5.1"]),
        ("AUTH PLAIN AGEAYg==\r\nEHLO a\r\nAUTH PLAIN AGEAYg==\r\n", &["235 2.7.0", "250", "503 5.5.1"]),
        ("MAIL FROM:<>\r\nAUTH PLAIN AGEAYg==\r\n", &["250 2.1.0", "503 5.5.1"]),
        ("MAIL FROM:<> AUTH=<>\r\n", &["250 2.1.0"]),
        ("MAIL FROM:<> AUTH=ann@a.test SIZE=5\r\n", &["250 2.1.0"]),
    ] {
        assert_eq!(codes_of(dialog), expected, "{dialog:?}");
    }
    assert_eq!(codes(&play_auth("AUTH PLAIN AGEAYg==\r\n").replies), ["503 5.5.1"]);
}

#[test]
fn auth_is_announced_and_changes_the_protocol() {
    let played = play_auth(&format!("{EHLO}HELP\r\nAUTH PLAIN AGEAYg==\r\n{MAIL}{RCPT}DATA\r\n.\r\n"));
    assert!(played.replies.contains("\r\n250-AUTH PLAIN LOGIN\r\n"));
    assert!(played.replies.contains("HELO EHLO STARTTLS AUTH MAIL"));
    assert_eq!(played.messages[0].protocol.to_string(), "ESMTPA");
    assert!(!play(EHLO).replies.contains("AUTH"));
}

#[test]
fn a_response_may_be_longer_than_a_command() {
    let response = |octets: usize| "QUFB".repeat(octets / 4);
    let most = response(LINE_OCTETS_MAX - 2).len();
    assert_eq!(codes_of(&format!("AUTH LOGIN\r\n{}\r\n", response(most))), ["334", "334"]);
    let long = format!("AUTH LOGIN\r\n{}\r\nNOOP\r\n", response(most + 4));
    assert_eq!(codes_of(&long), ["334", "500 5.5.6", "250 2.0.0"]);
    assert_eq!(codes_of("AUTH LOGIN\r\nYW\nQUIT\r\nNOOP\r\n"), ["334", "500 5.5.2", "250 2.0.0"]);
}
