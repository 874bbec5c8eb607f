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
    let flood = "HELP\r\n".repeat(10_000);
    let (writes, _) = write_by_write(&settings(), PLAIN, &[flood.as_bytes()], &OneDomain::default(), false);
    assert!(writes.iter().all(|write| write.len() < 16 * 1024 + 512));
    assert_eq!(writes.concat().lines().count(), 10_001);
}

#[test]
fn dot_stuffing_does_not_count_as_size() {
    // RFC 1870 section 3: CRLF counts; doubled dots count once; the final dot does not.
    let exact = format!("..{}\r\n", "x".repeat(997));
    assert_eq!(play(&format!("{EHLO}{MAIL}{RCPT}DATA\r\n{exact}.\r\n")).messages[0].raw.len(), 1000);
}

/// Its next commands are always there already, so that nobody ever waits for it.
#[test]
fn a_client_that_sends_ahead_is_ended_at_the_age_of_a_session() {
    let mut config = settings();
    config.constants.smtp_session_timeout = Duration::from_secs(1);
    let rules = vec!["EHLO delay 2s".parse().expect("a rule")];
    let policy = OneDomain { faults: Faults::new(rules, None), ..OneDomain::default() };
    let played = play_with(&config, PLAIN, &[EHLO.as_bytes(), b"NOOP\r\n", b"NOOP\r\n"], &policy, &[]);
    assert_eq!(
        (codes(&played.replies).last().map(String::as_str), played.end),
        (Some("421 4.4.2"), Some(End::LifeOver))
    );
    assert!(!played.replies.contains("250 2.0.0 OK"), "{}", played.replies);
}
