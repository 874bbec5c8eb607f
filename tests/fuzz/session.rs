//! Whole sessions: any octets, in any cut.
//! Promise: it outlives the code below it.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseResult;
use tempmail::config::SMTP_RECIPIENTS_MAX;

use crate::corpus;
use crate::framing;
use crate::input::{self, Input};
use crate::play::{self, MESSAGE_OCTETS_MAX, play, read_replies, settings};

/// What a session may hold beside the messages that it has handed over: the message on its way, which may double its
/// place as it grows; replies that wait (16 KB and the last, which may double theirs too); a command line; and 100
/// recipients of 320 octets in three forms.
const SESSION_OCTETS_MAX: u64 = 2 * MESSAGE_OCTETS_MAX + 2 * 17 * 1024 + 8 * 1024 + 100 * 3 * 400;

/// BDAT and its chunk: octets that would be ends or commands anywhere else, and sometimes more or fewer than announced.
fn chunk() -> impl Strategy<Value = Vec<u8>> {
    let fragments: Vec<&[u8]> =
        vec![b"\r\n.\r\n", b"\n.\n", b".", b"\r", b"\n", b"\0", b"QUIT\r\n", b"BDAT 3 LAST\r\n", b"RSET\r\n", b"x"];
    let content = prop_oneof![
        4 => proptest::collection::vec(select(fragments), 0..8).prop_map(|fragments| fragments.concat()),
        1 => (any::<u8>(), 0..2 + usize::try_from(MESSAGE_OCTETS_MAX).expect("a small number")).prop_map(|(octet, length)| vec![octet; length]),
    ];
    let off_by = prop_oneof![12 => Just(0_isize), 1 => -3..4_isize];
    let verb = select(vec!["BDAT ", "bdat ", " BDAT  0"]);
    let last = select(vec!["", "", " LAST", " last", " LAST ", " FIRST"]);
    (verb, content, off_by, last).prop_map(|(verb, content, off_by, last)| {
        let announced = content.len().saturating_add_signed(off_by);
        [format!("{verb}{announced}{last}\r\n").as_bytes(), &content].concat()
    })
}

/// Lines of dialogs, whole and broken, in any order.
fn dialog() -> impl Strategy<Value = Vec<u8>> {
    let lines: Vec<&[u8]> = vec![
        b"EHLO client.test\r\n",
        b"HELO client.test\r\n",
        b"MAIL FROM:<ann@sender.test>\r\n",
        b"MAIL FROM:<> SIZE=100 BODY=8BITMIME\r\n",
        b"MAIL FROM:<> SIZE=2001\r\n",
        b"RCPT TO:<bob@example.test>\r\n",
        b"RCPT TO:<postmaster>\r\n",
        b"RCPT TO:<>\r\n",
        b"DATA\r\n",
        b"\r\n.\r\n",
        b".\r\n",
        b"..\r\n",
        b"Subject: hi\r\n\r\n",
        b"EHLO c\r\nMAIL FROM:<>\r\nRCPT TO:<b@example.test>\r\nDATA\r\n",
        b"RSET\r\n",
        b"NOOP\r\n",
        b"VRFY bob\r\n",
        b"HELP\r\n",
        b"QUIT\r\n",
        b"BDAT 0 LAST\r\n",
        b"NOOP\nBDAT 6 LAST\r\n",
        b"EHLO c\r\nMAIL FROM:<>\r\nRCPT TO:<b@example.test>\r\n",
        b"STARTTLS\r\n",
        b"AUTH PLAIN AGEAYg==\r\n",
        b"\n.\n",
        b"\r.\r",
        b"\r",
        b"\n",
        b"\0",
    ];
    let piece = prop_oneof![
        20 => select(lines).prop_map(<[u8]>::to_vec),
        8 => chunk(),
        1 => proptest::collection::vec(any::<u8>(), 0..40),
        1 => (any::<u8>(), 0usize..3000).prop_map(|(octet, length)| vec![octet; length]),
    ];
    proptest::collection::vec(piece, 0..25).prop_map(|pieces| pieces.concat())
}

fn check(input: &Input) -> TestCaseResult {
    let settings = settings();
    let whole = play(settings, &[&input.octets]);
    let single: Vec<&[u8]> = input.octets.chunks(1).collect();
    prop_assert_eq!(&play(settings, &input.pieces()), &whole, "cuts changed something");
    prop_assert_eq!(&play(settings, &single), &whole, "octets one by one changed something");

    let codes = read_replies(&whole.replies).map_err(TestCaseError::fail)?;
    prop_assert_eq!(codes[0], 220);
    // One reply per CRLF at most, the greeting, one to a bad line without its end, one to BDAT within that, and the last word.
    let ends = memchr::memmem::find_iter(&input.octets, b"\r\n").count();
    prop_assert!(codes.len() <= ends + 4, "{} replies to {ends} lines", codes.len());
    for message in &whole.messages {
        prop_assert!(message.raw.len() as u64 <= MESSAGE_OCTETS_MAX);
        prop_assert!((1..=SMTP_RECIPIENTS_MAX).contains(&message.recipients.len()));
        for text in [&message.helo, &message.reverse_path] {
            prop_assert!(!text.chars().any(char::is_control), "{text:?}");
        }
    }
    let contents: Vec<Vec<u8>> = whole.messages.iter().map(|message| message.raw.to_vec()).collect();
    prop_assert_eq!(contents, framing::contents(&input.octets, &codes), "messages begin or end elsewhere");

    let lmtp = input.of_lmtp();
    let whole = play::play_lmtp(settings, &[&lmtp.octets]);
    prop_assert_eq!(&play::play_lmtp(settings, &lmtp.pieces()), &whole, "cuts changed something over LMTP");
    let single: Vec<&[u8]> = lmtp.octets.chunks(1).collect();
    prop_assert_eq!(&play::play_lmtp(settings, &single), &whole, "octets one by one changed something over LMTP");
    read_replies(&whole.replies).map_err(TestCaseError::fail)?;
    Ok(())
}

#[test]
fn cuts_change_nothing_and_replies_are_well_formed() {
    let seeds = corpus::seeds("session").into_iter().map(|(_, octets)| octets).collect();
    let octets =
        prop_oneof![2 => dialog(), 1 => input::mutated(seeds), 1 => proptest::collection::vec(any::<u8>(), 0..400)];
    corpus::run("session", input::cut(octets), check, Input::whole);
}

/// The most octets that playing `pieces` held at once, the messages aside that were handed over.
fn octets_held(pieces: &[&[u8]]) -> u64 {
    let settings = settings();
    let pieces = play::owned(pieces);
    allocation_counter::measure(|| play::play_and_drop(settings, &pieces)).bytes_max
}

#[test]
fn a_session_holds_little_whatever_comes() {
    let flood = vec![b'x'; 64 * 1024];
    let lines = b"NOOP\r\n".repeat(1_000);
    let recipients = [b"RCPT TO:<".as_slice(), &[b'r'; 60], b"@", &[b'd'; 63], b".test>\r\n"].concat().repeat(400);
    let data = b"EHLO c\r\nMAIL FROM:<> SIZE=2000\r\nRCPT TO:<b@example.test>\r\nDATA\r\n".as_slice();
    let many = b"EHLO c\r\nMAIL FROM:<>\r\n".as_slice();
    for (name, start, then) in [
        ("a command without an end", &b""[..], &flood),
        ("a command without an end after half a line end", b"NOOP\r", &flood),
        ("a body without an end", data, &flood),
        ("commands without a pause", b"", &lines),
        ("replies longer than their commands", b"", &b"HELP\r\n".repeat(3_000)),
        ("recipients", many, &recipients),
    ] {
        let pieces: Vec<&[u8]> = std::iter::once(start).chain(std::iter::repeat_n(then.as_slice(), 100)).collect();
        let held = octets_held(&pieces);
        assert!(held <= SESSION_OCTETS_MAX, "{name}: {held} octets");
    }
}

#[test]
fn no_made_up_dialog_makes_a_session_hold_much() {
    let check = |input: &Input| {
        let held = octets_held(&input.pieces());
        prop_assert!(held <= SESSION_OCTETS_MAX, "{held} octets");
        Ok(())
    };
    corpus::run("session", input::cut(dialog()), check, Input::whole);
}
