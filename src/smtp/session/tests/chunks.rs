//! CHUNKING and BINARYMIME (RFC 3030).

use super::*;

/// A message in three chunks; the last one is empty.
fn chunked(first: &str, second: &str) -> String {
    format!("BDAT {}\r\n{first}BDAT {}\r\n{second}BDAT 0 LAST\r\n", first.len(), second.len())
}

/// The codes after those of EHLO, MAIL and RCPT.
fn codes_behind_rcpt(dialog: &str) -> Vec<String> {
    codes(&play(&format!("{EHLO}{MAIL}{RCPT}{dialog}")).replies).split_off(3)
}

#[test]
fn chunks_make_a_message_octet_for_octet() {
    let content = ".\r\n..\r\n\n.\n\0\r.\r\n";
    for at in 0..=content.len() {
        let (first, second) = content.split_at(at);
        let played = play(&format!("{EHLO}{MAIL}{RCPT}{}QUIT\r\n", chunked(first, second)));
        assert_eq!(codes(&played.replies)[3..], ["250 2.0.0", "250 2.0.0", "250 2.0.0", "221 2.0.0"]);
        assert_eq!((played.messages.len(), &played.messages[0].raw[..]), (1, content.as_bytes()), "{at}");
    }
    let played = play(&format!("{EHLO}{MAIL}{RCPT}BDAT 0 LAST\r\n{MAIL}{RCPT}BDAT 4 LAST\r\nBDATNOOP\r\n"));
    assert_eq!(played.messages.iter().map(|message| &message.raw[..]).collect::<Vec<_>>(), [&b""[..], b"BDAT"]);
    assert_eq!(played.replies.lines().last(), Some("250 2.0.0 OK"));
}

#[test]
fn only_the_store_accepts_the_last_chunk() {
    let dialog = format!("{EHLO}{MAIL}{RCPT}BDAT 2\r\nhiBDAT 0 LAST\r\n");
    let played = play_cut(&[dialog.as_bytes()], &OneDomain::default(), &[Err(StoreError::Full)]);
    assert_eq!(codes(&played.replies)[3..], ["250 2.0.0", "452 4.3.1"]);
    assert_eq!(played.replies.matches("Stored").count(), 0);
}

#[test]
fn a_refused_chunk_is_read_to_its_end_before_the_reply() {
    for (dialog, expected) in [
        ("BDAT 6\r\nQUIT\r\nNOOP\r\n".to_owned(), &["503 5.5.1", "250 2.0.0"][..]),
        (format!("{EHLO}BDAT 6 LAST\r\nQUIT\r\nNOOP\r\n"), &["250", "503 5.5.1", "250 2.0.0"]),
        // A transaction ends with its last chunk, so that the next one can begin.
        (format!("{EHLO}{MAIL}BDAT 6 LAST\r\nQUIT\r\n{MAIL}"), &["250", "250 2.1.0", "503 5.5.1", "250 2.1.0"]),
        // A chunk without recipients must not be lost at the beginning of a later message.
        (
            format!("{EHLO}{MAIL}BDAT 6\r\nQUIT\r\n{RCPT}BDAT 6 LAST\r\nQUIT\r\n"),
            &["250", "250 2.1.0", "503 5.5.1", "503 5.5.1", "503 5.5.1"],
        ),
        (
            format!("{EHLO}{MAIL}RCPT TO:<bob@other.test>\r\nBDAT 6 LAST\r\nQUIT\r\nNOOP\r\n"),
            &["250", "250 2.1.0", "550 5.1.2", "503 5.5.1", "250 2.0.0"],
        ),
    ] {
        let played = play(&dialog);
        assert_eq!((codes(&played.replies), played.messages.len()), (expected.iter().map(|&c| c.into()).collect(), 0));
    }
}

#[test]
fn data_and_rcpt_are_refused_behind_a_chunk() {
    for (dialog, expected) in [
        ("BDAT 2\r\nhiDATA\r\nNOOP\r\n", &["250 2.0.0", "503 5.5.1", "250 2.0.0"][..]),
        ("BDAT 2\r\nhiRCPT TO:<eve@example.test>\r\nBDAT 0 LAST\r\n", &["250 2.0.0", "503 5.5.1", "250 2.0.0"]),
        ("BDAT 2\r\nhiMAIL FROM:<>\r\n", &["250 2.0.0", "503 5.5.1"]),
        ("BDAT 2 LAST\r\nhiBDAT 2 LAST\r\nho", &["250 2.0.0", "503 5.5.1"]),
    ] {
        assert_eq!(codes_behind_rcpt(dialog), expected, "{dialog:?}");
    }
    let played = play(&format!("{EHLO}{MAIL}{RCPT}BDAT 2\r\nhiRCPT TO:<eve@example.test>\r\nBDAT 0 LAST\r\n"));
    assert_eq!((played.messages.len(), played.messages[0].recipients.len()), (1, 1));
}

#[test]
fn rset_and_a_greeting_forget_the_chunks() {
    for again in ["RSET\r\n", EHLO] {
        let played = play(&format!("{EHLO}{MAIL}{RCPT}BDAT 3\r\nold{again}{MAIL}{RCPT}BDAT 3 LAST\r\nnew"));
        assert_eq!((played.messages.len(), &played.messages[0].raw[..]), (1, &b"new"[..]));
        assert_eq!(codes_behind_rcpt(&format!("BDAT 3\r\nold{again}BDAT 0 LAST\r\n"))[2], "503 5.5.1");
    }
}

#[test]
fn a_message_that_is_too_large_is_refused_chunk_by_chunk() {
    let half = "x".repeat(600);
    let chunk = format!("BDAT 600\r\n{half}");
    let expected = ["250 2.0.0", "552 5.3.4", "552 5.3.4", "552 5.3.4", "250 2.1.0"];
    assert_eq!(codes_behind_rcpt(&format!("{chunk}{chunk}{chunk}BDAT 0 LAST\r\n{MAIL}")), expected);
    assert_eq!(
        codes_behind_rcpt(&format!("BDAT 1001 LAST\r\n{half}{}xNOOP\r\n", &half[..400])),
        ["552 5.3.4", "250 2.0.0"]
    );
    assert_eq!(
        codes_behind_rcpt(&format!("BDAT 1000 LAST\r\n{half}{}NOOP\r\n", &half[..400])),
        ["250 2.0.0", "250 2.0.0"]
    );
    // A message may be larger than its SIZE.
    let dialog = format!("{EHLO}MAIL FROM:<> SIZE=1\r\n{RCPT}{chunk}BDAT 0 LAST\r\n");
    assert_eq!(play(&dialog).messages[0].raw.len(), 600);
}

/// Its octets would never arrive in time, and until then they could not be told from commands.
#[test]
fn a_chunk_far_beyond_the_largest_message_is_refused_at_once_and_is_the_last() {
    for (octets, is_last) in [("2001", true), (&"9".repeat(1000), true), ("2000", false)] {
        for last in ["", " LAST"] {
            let dialog = format!("{EHLO}{MAIL}{RCPT}BDAT {octets}{last}\r\n{MAIL}{RCPT}BDAT 4 LAST\r\nevilQUIT\r\n");
            let played = play(&dialog);
            let expected = if is_last { &["552 5.3.4"][..] } else { &[] };
            assert_eq!(
                (&codes(&played.replies)[3..], played.messages.len()),
                (&expected.iter().map(|&code| code.into()).collect::<Vec<String>>()[..], 0)
            );
            assert_eq!(played.end, is_last.then_some(End::ChunkTooLarge));
        }
    }
}

#[test]
fn a_chunk_of_unknown_size_ends_the_session() {
    for line in ["BDAT", "BDAT x", "BDAT -1 LAST", "BDAT 4 FIRST"] {
        let played = play(&format!("{EHLO}{MAIL}{RCPT}{line}\r\n{MAIL}{RCPT}BDAT 4 LAST\r\nevil"));
        assert_eq!(codes(&played.replies)[3..], ["501 5.5.4", "421 4.5.0"], "{line}");
        assert_eq!((played.messages.len(), played.end), (0, Some(End::OutOfSync)), "{line}");
    }
}

/// The client may mean BDAT by each of these lines, and then a chunk follows.
#[test]
fn a_line_that_may_announce_a_chunk_ends_the_session() {
    let long = format!("BDAT 86 LAST{}", " ".repeat(3000));
    let odd = ["BDAT\x0c86 LAST", "\x0cBDAT 86 LAST", "BDAT86 LAST", "BDAT\0 86"];
    let broken = [&long, "BDAT 86 LAST\n", "BDAT 86\r LAST", "bdat 86 LAST\r"];
    for line in odd.into_iter().chain(broken) {
        let played = play(&format!("{EHLO}{MAIL}{RCPT}{line}\r\nRSET\r\n{MAIL}{RCPT}BDAT 4 LAST\r\nevil"));
        assert_eq!(codes(&played.replies)[3..], ["501 5.5.4", "421 4.5.0"], "{line:?}");
        assert_eq!((played.messages.len(), played.end), (0, Some(End::OutOfSync)), "{line:?}");
    }
}

/// A client that ends lines with a bare CR or LF sends the chunk behind this line. Even the CRLF may belong to the chunk.
#[test]
fn a_chunk_behind_a_bare_line_end_ends_the_session() {
    let chunk = format!("RSET\r\n{MAIL}{RCPT}DATA\r\nevil\r\n.\r\n");
    for line in ["NOOP\nBDAT 86 LAST", "NOOP\r bdat 86 LAST", "MAIL FROM:<>\nRSET\nBDAT 86"] {
        let dialog = format!("{EHLO}{MAIL}{RCPT}{line}\r\n{chunk}");
        for at in 0..=dialog.len() {
            let (first, second) = dialog.as_bytes().split_at(at);
            let played = play_cut(&[first, second], &OneDomain::default(), &[]);
            assert_eq!(codes(&played.replies)[4..], ["501 5.5.4", "421 4.5.0"], "{line:?}");
            assert_eq!((played.messages.len(), played.end), (0, Some(End::OutOfSync)), "{line:?}");
        }
    }
}

#[test]
fn a_message_without_memory_is_refused_chunk_by_chunk() {
    let dialog = format!("{EHLO}{MAIL}{RCPT}BDAT 3\r\noneBDAT 3\r\ntwoBDAT 0 LAST\r\n{MAIL}");
    for (octets_max, expected) in [
        (2, ["452 4.3.1", "452 4.3.1", "452 4.3.1", "250 2.1.0"]),
        (5, ["250 2.0.0", "452 4.3.1", "452 4.3.1", "250 2.1.0"]),
        (6, ["250 2.0.0", "250 2.0.0", "250 2.0.0", "250 2.1.0"]),
    ] {
        let policy = OneDomain { octets_max, ..OneDomain::default() };
        let played = play_cut(&[dialog.as_bytes()], &policy, &[]);
        assert_eq!(codes(&played.replies)[3..], expected, "{octets_max}");
    }
}

#[test]
fn a_binary_message_comes_in_chunks_only() {
    let mail = "MAIL FROM:<> BODY=BINARYMIME\r\n";
    assert_codes(&format!("{EHLO}{mail}{RCPT}DATA\r\n"), &["250", "250 2.1.0", "250 2.1.5", "503 5.5.1"]);
    let played = play(&format!("{EHLO}{mail}{RCPT}BDAT 3 LAST\r\n\r\0\n"));
    assert_eq!(&played.messages[0].raw[..], b"\r\0\n");
}
