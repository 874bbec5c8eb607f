//! The limits of a session.

use super::*;

#[test]
fn the_101st_recipient_is_refused_for_now() {
    let recipients = (0..101).map(|n| format!("RCPT TO:<bob{n}@example.test>\r\n")).collect::<Vec<_>>().concat();
    let played = play(&format!("{EHLO}{MAIL}{recipients}DATA\r\n.\r\n"));
    let codes = codes(&played.replies);
    assert_eq!(codes.iter().filter(|code| *code == "250 2.1.5").count(), 100);
    assert_eq!(codes[102..], ["452 4.5.3", "354", "250 2.0.0"]);
    assert_eq!(played.messages[0].recipients.len(), 100);
}

#[test]
fn a_size_over_the_limit_is_refused_at_mail_or_at_the_end() {
    for (size, expected) in [("1000", "250 2.1.0"), ("1001", "552 5.3.4"), ("99999999999999999999999", "552 5.3.4")] {
        assert_codes(&format!("{EHLO}MAIL FROM:<> SIZE={size}\r\n"), &["250", expected]);
    }
    let exact = format!("{}\r\n", "x".repeat(998));
    for (content, expected) in [(exact.clone(), "250 2.0.0"), (format!("x{exact}"), "552 5.3.4")] {
        let played = play(&format!("{EHLO}{MAIL}{RCPT}DATA\r\n{content}.\r\n{MAIL}"));
        assert_eq!(codes(&played.replies)[4..], [expected, "250 2.1.0"]);
        assert_eq!(played.messages.len(), usize::from(expected.starts_with("250")));
    }
}

#[test]
fn a_long_line_is_refused_at_the_end_of_data_and_a_chunk_has_no_lines() {
    let (mut settings, policy) = (settings(), OneDomain::default());
    settings.text_line_octets_max = 102;
    let line = "x".repeat(100);
    for (content, expected) in [
        (format!("DATA\r\n{line}\r\n{line}\r\n..{}\r\n.\r\n", &line[1..]), "250 2.0.0"),
        (format!("DATA\r\nhi\r\n{line}x\r\n.\r\n"), "554 5.6.0"),
        (format!("DATA\r\n{line}\n{line}\r{line}\r\n.\r\n"), "554 5.6.0"),
        (format!("BDAT 300\r\n{line}{line}{line}BDAT 0 LAST\r\n"), "250 2.0.0"),
    ] {
        let dialog = format!("{EHLO}{MAIL}{RCPT}{content}{MAIL}");
        let played = play_with(&settings, PLAIN, &[dialog.as_bytes()], &policy, &[]);
        let codes = codes(&played.replies);
        assert_eq!(codes[codes.len() - 2..], [expected, "250 2.1.0"], "{content}");
        assert_eq!(played.messages.len(), usize::from(expected.starts_with("250")), "{content}");
    }
}

#[test]
fn twenty_errors_end_the_session() {
    let played = play(&format!("{}NOOP\r\n", "FOO\r\n".repeat(30)));
    let codes = codes(&played.replies);
    assert_eq!(codes.len(), 21);
    assert!(codes[..20].iter().all(|code| code == "500 5.5.2"));
    assert_eq!(codes[20], "421 4.7.0");
    assert_eq!(played.end, Some(End::TooManyErrors));
    let refused = format!("{EHLO}{MAIL}{}", "RCPT TO:<bob@other.test>\r\n".repeat(30));
    assert_eq!(play(&refused).end, Some(End::TooManyErrors));
}

#[test]
fn a_stored_message_resets_the_count_of_errors() {
    let errors = "FOO\r\n".repeat(19);
    let message = format!("{EHLO}{MAIL}{RCPT}DATA\r\n.\r\n");
    let played = play(&format!("{errors}{message}{errors}NOOP\r\n"));
    assert_eq!(played.end, None);
    assert!(played.replies.ends_with("250 2.0.0 OK\r\n"));
}

#[test]
fn bad_lines_get_one_reply_each() {
    let long = "x".repeat(10_000);
    assert_codes(&format!("{long}\r\nNOOP\r\n"), &["500 5.5.2", "250 2.0.0"]);
    assert_codes(&format!("EHLO {long}\r\nNOOP\r\nHELO a\nb\r\n"), &["500", "250 2.0.0", "500"]);
    assert_codes("NOOP\nNOOP\r\nNOOP\r\n", &["500 5.5.2", "250 2.0.0"]);
    assert_codes("NOOP\rNOOP\r\nNOOP\r\n", &["500 5.5.2", "250 2.0.0"]);
}

#[test]
fn a_path_with_a_bare_line_end_has_its_own_reply() {
    for path in ["a\r@example.test", "a\n@example.test", "a@example.test\n", "\"a\r\"@example.test", "\n"] {
        assert_codes(&format!("{EHLO}MAIL FROM:<{path}>\r\n{MAIL}"), &["250", "501 5.5.2", "250 2.1.0"]);
        assert_codes(
            &format!("{EHLO}{MAIL}rcpt to:<{path}>\r\n{RCPT}"),
            &["250", "250 2.1.0", "501 5.5.2", "250 2.1.5"],
        );
    }
}

#[test]
fn pending_replies_are_bounded() {
    let (settings, policy) = (settings(), OneDomain::default());
    let mut session = Session::new(&settings, PLAIN, &policy);
    let flood = "HELP\r\n".repeat(10_000);
    let mut input = flood.as_bytes();
    let mut helps = 0;
    loop {
        let action = session.advance(&mut input);
        assert!(session.replies().len() < REPLIES_OCTETS_MAX + 512);
        helps += str::from_utf8(session.replies()).expect("ASCII").lines().count();
        session.replies().clear();
        match action {
            Action::Write => {}
            Action::Read => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(helps, 10_001);
}

#[test]
fn dot_stuffing_does_not_count_as_size() {
    // RFC 1870 section 3: CRLF counts; doubled dots count once; the final dot does not.
    let exact = format!("..{}\r\n", "x".repeat(997));
    assert_eq!(play(&format!("{EHLO}{MAIL}{RCPT}DATA\r\n{exact}.\r\n")).messages[0].raw.len(), 1000);
}

#[test]
fn a_message_with_too_many_hops_is_refused() {
    let hops = |n: usize| format!("{}\r\nReceived: body\r\n", "Received: x\r\n".repeat(n));
    let last = |n: usize| format!("BDAT {} LAST\r\n{}", hops(n).len(), hops(n));
    for (dialog, expected) in [
        (format!("DATA\r\n{}.\r\n", hops(3)), &["354", "250 2.0.0"][..]),
        (format!("DATA\r\n{}.\r\n{MAIL}", hops(4)), &["354", "554 5.4.6", "250 2.1.0"]),
        (last(3), &["250 2.0.0"]),
        (last(4), &["554 5.4.6"]),
    ] {
        let played = play(&format!("{EHLO}{MAIL}{RCPT}{dialog}"));
        assert_eq!(codes(&played.replies)[3..], *expected, "{dialog:?}");
        assert_eq!(played.messages.len(), usize::from(expected.last() == Some(&"250 2.0.0")));
    }
}
