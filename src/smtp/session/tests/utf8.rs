//! SMTPUTF8 (RFC 6531).

use super::*;

const MAIL_UTF8: &str = "MAIL FROM:<j\u{f5}geva@b\u{fc}cher.test> SMTPUTF8\r\n";

#[test]
fn addresses_beyond_ascii_are_accepted_with_smtputf8() {
    let played = play(&format!("{EHLO}{MAIL_UTF8}RCPT TO:<d\u{f6}rte@example.test>\r\nDATA\r\n.\r\n"));
    let message = &played.messages[0];
    assert_eq!(message.reverse_path, "j\u{f5}geva@b\u{fc}cher.test");
    assert_eq!(message.recipients[0].to_string(), "d\u{f6}rte@example.test");
    assert_eq!(message.protocol, Protocol { is_utf8: true, ..Protocol::plain(Greeting::Ehlo) });
}

#[test]
fn addresses_beyond_ascii_are_refused_without_smtputf8() {
    for (dialog, expected) in [
        ("MAIL FROM:<j\u{f5}@a.test>\r\n".to_owned(), "553 5.6.7"),
        ("MAIL FROM:<a@b\u{fc}cher.test> BODY=8BITMIME\r\n".to_owned(), "553 5.6.7"),
        (format!("{MAIL}RCPT TO:<d\u{f6}rte@example.test>\r\n"), "553 5.6.7"),
        (format!("{MAIL}RCPT TO:<a@b\u{fc}cher.test>\r\n"), "553 5.6.7"),
        (format!("{MAIL_UTF8}RCPT TO:<a@b\u{fc}cher.test>\r\n"), "550 5.1.2"),
        (format!("{MAIL_UTF8}RCPT TO:<a\u{85}@example.test>\r\n"), "501 5.1.3"),
        ("EHLO b\u{fc}cher.test\r\n".to_owned(), "501"),
        ("VRFY d\u{f6}rte SMTPUTF8\r\n".to_owned(), "252 2.0.0"),
    ] {
        let replies = play(&format!("{EHLO}{dialog}")).replies;
        assert_eq!(codes(&replies).last().map(String::as_str), Some(expected), "{dialog:?}");
    }
}

#[test]
fn octets_that_are_not_utf_8_are_no_address() {
    for (octets, expected) in [
        (&b"MAIL FROM:<\xff@a.test> SMTPUTF8\r\n"[..], "501 5.1.7"),
        (b"MAIL FROM:<\xc3@a.test>\r\n", "501 5.1.7"),
        (b"MAIL FROM:<> SMTPUTF8\r\nRCPT TO:<\xf5@example.test>\r\n", "501 5.1.3"),
    ] {
        let played = play_cut(&[EHLO.as_bytes(), octets], &OneDomain::default(), &[]);
        assert_eq!(codes(&played.replies).last().map(String::as_str), Some(expected));
    }
}
