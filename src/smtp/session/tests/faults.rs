//! Faults on purpose. A wait appears among the replies as `000 after SECONDS`.

use super::*;

const BEGIN: &str = "EHLO client.test\r\nMAIL FROM:<ann@sender.test>\r\n";
const TO_A: &str = "RCPT TO:<a@example.test>\r\n";
const TO_B: &str = "RCPT TO:<b@example.test>\r\n";

fn ruled(rules: &[&str]) -> OneDomain {
    let rules = rules.iter().map(|rule| rule.parse().expect(rule)).collect();
    OneDomain { faults: Faults::new(rules, None), ..OneDomain::default() }
}

fn play_ruled(rules: &[&str], dialog: &str) -> Played {
    play_cut(&[dialog.as_bytes()], &ruled(rules), &[])
}

/// The codes of all replies, the greeting included.
fn all_codes(played: &Played) -> Vec<String> {
    codes(&format!("000 x\r\n{}", played.replies))
}

#[test]
fn a_reply_refuses_what_would_be_accepted_and_the_session_goes_on() {
    let rules = ["MAIL ann@* #1 451 4.1.8 Not now", "RCPT a@* first 2 450 4.2.1", "DATA #1 452", "end #1 554 5.6.0"];
    let message = "DATA\r\nhi\r\n.\r\n";
    let dialog = format!("{BEGIN}{MAIL}{TO_A}{TO_B}{TO_A}{TO_A}DATA\r\n{message}{MAIL}{TO_A}{message}");
    let played = play_ruled(&rules, &dialog);
    let expected = [
        "220",
        "250",
        "451 4.1.8",
        "250 2.1.0",
        "450 4.2.1",
        "250 2.1.5",
        "450 4.2.1",
        "250 2.1.5",
        "452 4.0.0",
        "354",
        "554 5.6.0",
        "250 2.1.0",
        "250 2.1.5",
        "354",
        "250 2.0.0",
    ];
    assert_eq!(all_codes(&played), expected, "{}", played.replies);
    assert!(played.replies.contains("\r\n451 4.1.8 Not now\r\n"));
    assert_eq!((played.messages.len(), played.end), (1, None), "only the second message is stored");
}

#[test]
fn a_rule_never_hides_a_refusal_and_does_not_count_it() {
    let rules = ["RCPT #1 451", "MAIL #1 451"];
    let dialog = format!("{MAIL}{BEGIN}{MAIL}RCPT TO:<a@other.test>\r\n{TO_A}{TO_A}");
    let played = play_ruled(&rules, &dialog);
    let expected = ["220", "503 5.5.1", "250", "451 4.0.0", "250 2.1.0", "550 5.1.2", "451 4.0.0", "250 2.1.5"];
    assert_eq!(all_codes(&played), expected);
    let full = OneDomain { refusal: Some(StoreError::Full), ..ruled(&["MAIL 550"]) };
    assert_eq!(all_codes(&play_cut(&[BEGIN.as_bytes()], &full, &[])), ["220", "250", "452 4.3.1"]);
}

#[test]
fn after_the_greeting_and_after_421_the_connection_closes() {
    for (rules, expected) in [
        ("banner 554 Away", &["554"][..]),
        ("banner 450", &["450"]),
        ("EHLO 421 4.3.2", &["220", "421 4.3.2"]),
        ("EHLO 550", &["220", "550", "503 5.5.1"]),
    ] {
        let played = play_ruled(&[rules], BEGIN);
        assert_eq!(all_codes(&played), expected, "{rules}");
        assert_eq!(played.end, (!rules.contains("550")).then_some(End::Fault), "{rules}");
    }
}

#[test]
fn a_drop_closes_without_a_reply_and_stores_nothing() {
    let dialog = format!("{BEGIN}{TO_A}DATA\r\nhi\r\n.\r\nNOOP\r\n");
    for (rule, replies) in [
        ("banner drop", 0),
        ("EHLO drop", 1),
        ("MAIL drop", 2),
        ("RCPT a@* drop", 3),
        ("DATA drop", 4),
        ("end drop", 5),
        ("end b@* drop", 7),
    ] {
        let played = play_ruled(&[rule], &dialog);
        assert_eq!(all_codes(&played).len(), replies, "{rule}: {}", played.replies);
        let is_dropped = replies < 7;
        assert_eq!(played.end, is_dropped.then_some(End::Fault), "{rule}");
        assert_eq!(played.messages.len(), usize::from(!is_dropped), "{rule}");
    }
}

#[test]
fn a_delay_comes_after_the_earlier_replies_and_before_its_own() {
    let rules = ["banner delay 1s", "RCPT delay 2s 451", "DATA delay 3s", "end delay 4s"];
    let dialog = format!("{BEGIN}{TO_A}DATA\r\n");
    assert_eq!(
        all_codes(&play_ruled(&rules, &dialog)),
        ["000", "220", "250", "250 2.1.0", "000", "451 4.0.0", "503 5.5.1"]
    );
    let rules = ["DATA delay 3s", "end delay 4s"];
    let played = play_ruled(&rules, &format!("{BEGIN}{TO_A}DATA\r\nhi\r\n.\r\n"));
    let expected = ["220", "250", "250 2.1.0", "250 2.1.5", "000", "354", "000", "250 2.0.0"];
    assert_eq!(all_codes(&played), expected);
    assert!(played.replies.contains("000 after 4\r\n250 2.0.0 Stored"), "{}", played.replies);
    assert_eq!(played.messages.len(), 1);
}

#[test]
fn a_fault_of_data_meets_the_first_chunk() {
    let dialog = format!("{BEGIN}{TO_A}BDAT 1\r\nhBDAT 1 LAST\r\niNOOP\r\n");
    for (rule, expected, stored) in [
        ("DATA 451", &["451 4.0.0", "451 4.0.0", "250 2.0.0"][..], 0),
        ("DATA delay 2s", &["000", "250 2.0.0", "250 2.0.0", "250 2.0.0"], 1),
        ("DATA drop", &[], 0),
        ("end 451", &["250 2.0.0", "451 4.0.0", "250 2.0.0"], 0),
        ("end delay 2s", &["250 2.0.0", "000", "250 2.0.0", "250 2.0.0"], 1),
    ] {
        let played = play_ruled(&[rule], &dialog);
        assert_eq!(all_codes(&played)[4..], *expected, "{rule}");
        assert_eq!(played.messages.len(), stored, "{rule}");
    }
}

#[test]
fn a_message_that_waits_for_a_fault_is_not_stored_after_a_stop() {
    let policy = OneDomain { stops_at_fault: true, ..ruled(&["end delay 2s"]) };
    let dialog = format!("{BEGIN}{TO_A}DATA\r\nhi\r\n.\r\n");
    let played = play_cut(&[dialog.as_bytes()], &policy, &[]);
    assert!(played.replies.ends_with("421 4.3.2 The service is stopping; try again later\r\n"), "{}", played.replies);
    assert_eq!((played.messages.len(), played.end), (0, Some(End::Stopping)));
}

#[test]
fn a_slow_reply_is_written_alone() {
    let policy = ruled(&["RCPT #1 slow 10/s"]);
    let dialog = format!("{BEGIN}{TO_A}{TO_B}");
    let (writes, _) = write_by_write(&settings(), PLAIN, &[dialog.as_bytes()], &policy, false);
    let slow = "250 2.1.5 Recipient OK\r\n";
    // The greeting; the lines of EHLO and MAIL; the slow reply, octet by octet; the last.
    assert_eq!(writes.len(), 2 + slow.len() + 1, "{writes:?}");
    assert!(writes[1].ends_with("250 2.1.0 Sender OK\r\n"));
    assert_eq!((writes[2..2 + slow.len()].concat().as_str(), writes.last().map(String::as_str)), (slow, Some(slow)));
}

#[test]
fn starttls_is_refused_or_breaks() {
    let dialect = Dialect { offers_tls: true, ..PLAIN };
    for (rule, expected, end) in [("TLS 454 4.7.0", "454 4.7.0", None), ("TLS drop", "220 2.0.0", Some(End::Fault))] {
        let played = play_in(dialect, &[b"STARTTLS\r\n"], &ruled(&[rule]), &[]);
        assert_eq!((all_codes(&played)[1].as_str(), played.end), (expected, end), "{rule}");
    }
}

#[test]
fn in_lmtp_all_recipients_get_the_reply_of_a_fault() {
    let lmtp = Dialect { purpose: Purpose::Lmtp, ..PLAIN };
    let dialog = format!("LHLO c\r\n{MAIL}{TO_A}{TO_B}DATA\r\n.\r\nNOOP\r\n");
    let played = play_in(lmtp, &[dialog.as_bytes()], &ruled(&["end b@* 451 4.3.0"]), &[]);
    assert_eq!(all_codes(&played)[6..], ["451 4.3.0", "451 4.3.0", "250 2.0.0"]);
    assert!(played.messages.is_empty());
}
