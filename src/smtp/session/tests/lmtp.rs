//! LMTP (RFC 2033).

use super::*;

const LMTP: Dialect = Dialect { purpose: Purpose::Lmtp, offers_tls: false, offers_auth: false };
const BEGIN: &str = "LHLO client.test\r\nMAIL FROM:<ann@sender.test>\r\nRCPT TO:<a@example.test>\r\n\
                     RCPT TO:<b@other.test>\r\nRCPT TO:<c@example.test>\r\nRCPT TO:<a@example.test>\r\n";

fn play_lmtp(dialog: &str, outcome: Result<(), StoreError>) -> Played {
    play_in(LMTP, &[dialog.as_bytes()], &OneDomain::default(), &[outcome])
}

#[test]
fn the_greeting_is_lhlo() {
    let played = play_lmtp("EHLO a\r\nHELO a\r\nMAIL FROM:<>\r\nLHLO client.test\r\nHELP\r\n", Ok(()));
    assert_eq!(codes(&played.replies), ["500", "500", "503 5.5.1", "250", "214 2.0.0"]);
    assert!(played.replies.starts_with("220 mx.test LMTP tempmail\r\n"));
    assert!(played.replies.contains("Commands: LHLO MAIL"));
    for extension in ["PIPELINING", "ENHANCEDSTATUSCODES", "8BITMIME", "SMTPUTF8", "CHUNKING"] {
        assert!(played.replies.contains(&format!("250-{extension}\r\n")), "{extension}");
    }
}

#[test]
fn the_end_of_a_message_has_a_reply_for_each_accepted_recipient() {
    for (outcome, expected, end) in [
        (Ok(()), "250 2.0.0", None),
        (Err(StoreError::Full), "452 4.3.1", None),
        (Err(StoreError::Failed("x".into())), "451 4.3.0", None),
        (Err(StoreError::TooLarge { limit: 5 }), "552 5.3.4", None),
        (Err(StoreError::Unconfirmed), "451 4.3.0", None),
        (Err(StoreError::Stopping), "421 4.3.2", Some(End::Stopping)),
    ] {
        for (content, before) in [("DATA\r\nhi\r\n.\r\n", "354"), ("BDAT 1\r\nhBDAT 1 LAST\r\ni", "250 2.0.0")] {
            let played = play_lmtp(&format!("{BEGIN}{content}"), outcome.clone());
            assert_eq!(codes(&played.replies)[6..], [before, expected, expected, expected], "{outcome:?}");
            assert_eq!((played.messages.len(), played.end), (1, end));
            assert_eq!(played.messages[0].protocol.to_string(), "LMTP");
        }
    }
    let unknown = play_lmtp(&format!("{BEGIN}DATA\r\n.\r\n"), Err(StoreError::OutcomeUnknown));
    assert_eq!((codes(&unknown.replies).len(), unknown.end), (7, Some(End::OutcomeUnknown)));
}

#[test]
fn a_refusal_before_the_store_has_a_reply_for_each_recipient() {
    let large = "x".repeat(1001);
    for content in [format!("DATA\r\n{large}\r\n.\r\n"), format!("BDAT 1001 LAST\r\n{large}")] {
        let played = play_lmtp(&format!("{BEGIN}{content}NOOP\r\n"), Ok(()));
        let codes = codes(&played.replies);
        assert_eq!(codes[codes.len() - 4..], ["552 5.3.4", "552 5.3.4", "552 5.3.4", "250 2.0.0"]);
        assert!(played.messages.is_empty());
    }
}

#[test]
fn without_recipients_there_is_one_refusal() {
    let begin = "LHLO a\r\nMAIL FROM:<>\r\nRCPT TO:<b@other.test>\r\n";
    for content in ["DATA\r\n", "BDAT 2 LAST\r\nhi"] {
        assert_eq!(codes(&play_lmtp(&format!("{begin}{content}"), Ok(())).replies)[3..], ["503 5.5.1"]);
    }
}

#[test]
fn each_recipient_gets_its_reply_when_the_service_stops() {
    let policy = OneDomain { stops_at_store: true, ..OneDomain::default() };
    let recipients = "RCPT TO:<a@example.test>\r\n".repeat(100);
    let dialog = format!("LHLO a\r\nMAIL FROM:<>\r\n{recipients}DATA\r\n.\r\nNOOP\r\n");
    let played = play_in(LMTP, &[dialog.as_bytes()], &policy, &[]);
    assert_eq!(played.replies.matches("250 2.0.0 Stored\r\n").count(), 100);
    assert!(played.replies.ends_with("Stored\r\n421 4.3.2 The service is stopping; try again later\r\n"));
    assert_eq!(played.end, Some(End::Stopping));
}
