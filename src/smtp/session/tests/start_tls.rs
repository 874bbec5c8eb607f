//! STARTTLS, as the session sees it.

use super::*;

const OFFERED: Dialect = Dialect { service: Service::Smtp, offers_tls: true, offers_auth: false };

/// Plays octets into a session up to its next action; the replies.
fn say(session: &mut Session, octets: &str) -> (Action, String) {
    let mut input = octets.as_bytes();
    let action = session.advance(&mut input);
    let replies = String::from_utf8(std::mem::take(session.replies())).expect("ASCII");
    (action, replies)
}

fn tls() -> TlsSession {
    TlsSession { version: "TLSv1.3".into(), cipher: "TLS_AES_128_GCM_SHA256".into() }
}

#[test]
fn starttls_is_announced_with_a_certificate_until_tls_is_there() {
    let (settings, policy) = (settings(), OneDomain::default());
    let mut session = Session::new(&settings, OFFERED, &policy);
    assert!(say(&mut session, "EHLO a\r\n").1.contains("STARTTLS\r\n"));
    assert!(say(&mut session, "HELP\r\n").1.contains(" STARTTLS "));
    assert_eq!(say(&mut session, "STARTTLS\r\n"), (Action::StartTls, "220 2.0.0 Ready to start TLS\r\n".into()));
    session.secured(tls());
    let (action, replies) = say(&mut session, "EHLO a\r\nSTARTTLS\r\n");
    assert_eq!(action, Action::Read);
    assert!(!replies.contains("STARTTLS") && replies.contains("503 5.5.1"), "{replies}");
    assert!(!say(&mut session, "HELP\r\n").1.contains("STARTTLS"));
    let mut plain = Session::new(&settings, PLAIN, &policy);
    let replies = say(&mut plain, "EHLO a\r\nSTARTTLS\r\n").1;
    assert!(!replies.contains("STARTTLS") && replies.contains("502 5.5.1"), "{replies}");
}

#[test]
fn a_handshake_forgets_all_but_the_errors() {
    let (settings, policy) = (settings(), OneDomain::default());
    let mut session = Session::new(&settings, OFFERED, &policy);
    let begun = "FOO\r\nEHLO a\r\nMAIL FROM:<>\r\nRCPT TO:<a@example.test>\r\nSTARTTLS\r\n";
    assert_eq!(say(&mut session, begun).0, Action::StartTls);
    session.secured(tls());
    assert_eq!((session.helo(), session.tls()), ("", Some(&tls())));
    let replies = say(&mut session, "DATA\r\nRCPT TO:<a@example.test>\r\nMAIL FROM:<>\r\n").1;
    assert_eq!(replies.matches("503 5.5.1").count(), 3, "{replies}");
    // Of the twenty errors, one was in the clear and three are above.
    let (action, replies) = say(&mut session, &"FOO\r\n".repeat(16));
    assert_eq!(action, Action::Close(End::TooManyErrors), "{replies}");
}

#[test]
fn no_command_in_the_clear_is_read_behind_starttls() {
    let (settings, policy) = (settings(), OneDomain::default());
    let mut session = Session::new(&settings, OFFERED, &policy);
    let mut input = &b"EHLO a\r\nSTARTTLS\r\nMAIL FROM:<>\r\nQUIT\r\n"[..];
    for _ in 0..3 {
        assert_eq!(session.advance(&mut input), Action::StartTls);
    }
    assert_eq!(input, b"MAIL FROM:<>\r\nQUIT\r\n");
    let replies = String::from_utf8(session.replies().clone()).expect("ASCII");
    assert!(replies.ends_with("220 2.0.0 Ready to start TLS\r\n"), "{replies}");
}

#[test]
fn a_handshake_forgets_half_a_command_in_the_clear() {
    let (settings, policy) = (settings(), OneDomain::default());
    let mut session = Session::new(&settings, OFFERED, &policy);
    // The first encrypted octets must not complete a command that an attacker has begun in the clear.
    assert_eq!(say(&mut session, "EHLO evil").0, Action::Read);
    session.secured(tls());
    assert!(say(&mut session, "NOOP\r\n").1.ends_with("250 2.0.0 OK\r\n"));
    assert_eq!(session.helo(), "");
}

#[test]
fn with_tls_from_the_first_octet_the_greeting_follows() {
    let (settings, policy) = (settings(), OneDomain::default());
    let mut session = Session::new(&settings, OFFERED, &policy);
    session.secured(tls());
    let replies = say(&mut session, "EHLO a\r\n").1;
    assert!(replies.starts_with("220 mx.test") && !replies.contains("STARTTLS"), "{replies}");
}
