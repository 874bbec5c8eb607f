//! A second message inside a first, and commands before their time: over real sockets, cut wherever TCP can cut.

use futures_util::future::join_all;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;

use tempmail::smtp::Service;

use super::TestReceiver;
use crate::support::faulty_store::FaultyStore;
use crate::support::smtp_peer::SmtpPeer;

/// What some servers wrongly take for the end of a message (RFC 5321 sections 2.3.8 and 4.1.1.4).
const FALSE_ENDS: &[&str] = &[
    "\n.\n",
    "\n.\r\n",
    "\r\n.\n",
    "\r.\r",
    "\r.\r\n",
    "\r\n.\r",
    "\r.\n",
    "\n.\r",
    "\r\r\n.\r\r\n",
    "\r\n.\r\r\n",
    "\n\n.\r\n",
    "\r\n\0.\r\n",
    "\r\n.\0\r\n",
    "\r\0\n.\r\n",
    "\r\n.\r\0\n",
    "\0\n.\n",
    "\r\n .\r\n",
    "\r\n. \r\n",
];

/// Up to DATA or BDAT.
const BEGIN: &str = "MAIL FROM:<ann@sender.test>\r\nRCPT TO:<bob@example.test>\r\n";

/// A whole second transaction.
const SECOND: &str = "MAIL FROM:<mallory@sender.test>\r\nRCPT TO:<eve@example.test>\r\nDATA\r\nSubject: smuggled\r\n";

/// Variants behind BDAT, where no octets are an end, not even those of the true one.
fn ends_of_nothing() -> impl Iterator<Item = &'static str> {
    FALSE_ENDS.iter().copied().chain(["\r\n.\r\n"])
}

/// Where to cut a false end that begins at `start`: before it, in it, or behind it.
fn cuts(end: &str, at: usize) -> impl Iterator<Item = usize> {
    at..=at + end.len()
}

/// Sends `content` as a message, in `pieces` of it, and checks that it is the only one and was stored unchanged.
async fn expect_one_message(receiver: &TestReceiver, content: &[u8], pieces: &[&[u8]]) {
    let before = receiver.store.stored().len();
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    peer.begin_data("bob@example.test").await;
    peer.send_cut(pieces).await;
    peer.send("\r\n.\r\nNOOP\r\nQUIT\r\n").await;
    for start in ["250 2.0.0 Stored", "250 2.0.0 OK", "221"] {
        peer.expect(start).await;
    }
    peer.expect_closed().await;
    let stored = receiver.store.stored().split_off(before);
    assert_eq!(stored.len(), 1, "{:?}", content.escape_ascii().to_string());
    // Only a dot behind a true CRLF is dot-stuffing and is removed.
    let expected = String::from_utf8_lossy(content).replace("\r\n.", "\r\n") + "\r\n";
    assert_eq!(stored[0].raw.escape_ascii().to_string(), expected.as_bytes().escape_ascii().to_string());
    assert_eq!(stored[0].envelope.recipients.len(), 1);
}

#[tokio::test]
async fn no_false_end_lets_a_second_message_in_wherever_it_is_cut() {
    let receiver = TestReceiver::start(FaultyStore::open(), |_| ()).await;
    for end in FALSE_ENDS {
        let content = format!("Subject: first\r\n\r\nx{end}{SECOND}");
        let content = content.as_bytes();
        let at = content.windows(end.len()).position(|window| window == end.as_bytes()).expect("there");
        expect_one_message(&receiver, content, &[content]).await;
        for cut in cuts(end, at) {
            expect_one_message(&receiver, content, &[&content[..cut], &content[cut..]]).await;
        }
        let (before, rest) = content.split_at(at);
        let (octets, after) = rest.split_at(end.len());
        let single: Vec<&[u8]> = std::iter::once(before).chain(octets.chunks(1)).chain([after]).collect();
        expect_one_message(&receiver, content, &single).await;
    }
}

#[test]
fn no_row_of_dots_and_line_ends_lets_a_second_message_in() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("runtime");
    let receiver = runtime.block_on(TestReceiver::start(FaultyStore::open(), |_| ()));
    let ends = proptest::collection::vec(select(b"\r\r\n\n..\0 ".to_vec()), 1..10);
    let strategy = (ends, proptest::collection::vec(0usize..12, 0..4))
        .prop_filter("a true end", |(end, _)| !format!("x{}M", String::from_utf8_lossy(end)).contains("\r\n.\r\n"));
    let config = ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() };
    let check = |(end, mut cuts): (Vec<u8>, Vec<usize>)| {
        let content = [b"x", end.as_slice(), SECOND.as_bytes()].concat();
        cuts.sort_unstable();
        let mut start = 0;
        let mut pieces: Vec<&[u8]> =
            cuts.into_iter().map(|cut| &content[std::mem::replace(&mut start, cut)..cut]).collect();
        pieces.push(&content[start..]);
        runtime.block_on(expect_one_message(&receiver, &content, &pieces));
        Ok(())
    };
    TestRunner::new(config).run(&strategy, check).expect("one message each");
}

/// Sends `wire`, which is pipelined behind EHLO, in `pieces` of it; the replies must begin like these, and then there is
/// only the one to QUIT. The messages that this brought.
async fn played(receiver: &TestReceiver, pieces: &[&[u8]], replies: &[&str]) -> Vec<String> {
    let before = receiver.store.stored().len();
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    peer.command("EHLO client.test", "250").await;
    peer.send_cut(pieces).await;
    peer.send("QUIT\r\n").await;
    for start in replies {
        peer.expect(start).await;
    }
    peer.expect("221").await;
    peer.expect_closed().await;
    let stored = receiver.store.stored().split_off(before);
    stored.iter().map(|delivery| delivery.raw.escape_ascii().to_string()).collect()
}

#[tokio::test]
async fn nothing_in_a_chunk_is_an_end_wherever_chunks_and_tcp_cut_it() {
    let receiver = TestReceiver::start(FaultyStore::open(), |_| ()).await;
    for end in ends_of_nothing() {
        let content = format!("Subject: first\r\n\r\nx{end}{SECOND}.\r\n");
        let shown = content.as_bytes().escape_ascii().to_string();
        let size = content.len();
        let at = content.find(SECOND).expect("there") - end.len();

        let wire = format!("{BEGIN}BDAT {size} LAST\r\n{content}");
        let start = wire.len() - size;
        let replies = ["250 2.1.0", "250 2.1.5", "250 2.0.0 Stored"];
        for cut in cuts(end, start + at) {
            let (before, after) = wire.as_bytes().split_at(cut);
            assert_eq!(played(&receiver, &[before, after], &replies).await, [&*shown], "{shown} cut at {cut}");
        }

        // The same octets in two chunks, and an empty one behind.
        let replies = ["250 2.1.0", "250 2.1.5", "250 2.0.0 Chunk", "250 2.0.0 Chunk", "250 2.0.0 Stored"];
        for cut in cuts(end, at) {
            let (first, second) = content.split_at(cut);
            let first = format!("{BEGIN}BDAT {cut}\r\n{first}");
            let second = format!("BDAT {}\r\n{second}BDAT 0 LAST\r\n", size - cut);
            let pieces = [first.as_bytes(), second.as_bytes()];
            assert_eq!(played(&receiver, &pieces, &replies).await, [&*shown], "{shown} in chunks at {cut}");
            assert_eq!(played(&receiver, &[&pieces.concat()], &replies).await, [&*shown], "{shown} in chunks at {cut}");
        }
    }
}

#[tokio::test]
async fn after_the_last_chunk_dots_and_line_ends_are_no_commands_and_data_has_its_one_end() {
    let receiver = TestReceiver::start(FaultyStore::open(), |_| ()).await;
    let chunk = format!("{BEGIN}BDAT 2 LAST\r\nhi");
    let stored = ["250 2.1.0", "250 2.1.5", "250 2.0.0 Stored"];
    for end in ends_of_nothing() {
        // One refusal for each line, and the first line of what follows is lost to a false end before it.
        let wire = format!("{chunk}{end}MAIL FROM:<mallory@sender.test>\r\nDATA\r\nNOOP\r\n");
        let lines = wire[chunk.len()..].matches("\r\n").count();
        let is_whole = end.ends_with("\r\n");
        let mail = if is_whole { "250 2.1.0" } else { "500" };
        let refused = std::iter::repeat_n("500", lines - 3);
        let replies: Vec<&str> = stored.into_iter().chain(refused).chain([mail, "503", "250 2.0.0 OK"]).collect();
        for cut in cuts(end, chunk.len()) {
            let (before, after) = wire.as_bytes().split_at(cut);
            assert_eq!(played(&receiver, &[before, after], &replies).await, ["hi"], "{end:?} cut at {cut}");
        }
    }
    for end in FALSE_ENDS {
        let content = format!("x{end}{SECOND}");
        let wire = format!("{chunk}{BEGIN}DATA\r\n{content}\r\n.\r\n");
        let expected = (content.replace("\r\n.", "\r\n") + "\r\n").as_bytes().escape_ascii().to_string();
        let replies: Vec<&str> =
            stored.into_iter().chain(["250 2.1.0", "250 2.1.5", "354", "250 2.0.0 Stored"]).collect();
        for cut in cuts(end, wire.find(&content).expect("there") + 1) {
            let (before, after) = wire.as_bytes().split_at(cut);
            assert_eq!(played(&receiver, &[before, after], &replies).await, ["hi", &*expected], "{end:?} cut at {cut}");
        }
    }
}

#[tokio::test]
async fn data_within_chunks_begins_no_message() {
    let receiver = TestReceiver::start(FaultyStore::open(), |_| ()).await;
    let wire = format!("{BEGIN}BDAT 2\r\nhiDATA\r\n.\r\nBDAT 3 LAST\r\n\r\n.");
    let replies = ["250 2.1.0", "250 2.1.5", "250 2.0.0 Chunk", "503", "500", "250 2.0.0 Stored"];
    for cut in 0..=wire.len() {
        let (before, after) = wire.as_bytes().split_at(cut);
        assert_eq!(played(&receiver, &[before, after], &replies).await, ["hi\\r\\n."], "cut at {cut}");
    }
}

#[tokio::test]
async fn a_client_that_speaks_before_the_greeting_is_refused() {
    let cases = [
        (Service::Smtp, "EHLO client.test\r\nMAIL FROM:<>\r\n"),
        (Service::Smtp, "GET / HTTP/1.1\r\n\r\n"),
        (Service::Smtp, "\x16\x03\x01"),
        (Service::Lmtp, "LHLO client.test\r\nMAIL FROM:<>\r\n"),
    ];
    // All at once, because each lasts a second.
    join_all(cases.map(async |(service, early)| {
        let receiver = TestReceiver::of(service, None, FaultyStore::open(), |_| ()).await;
        // On this runtime of one thread the receiver accepts after this has been sent.
        let mut peer = SmtpPeer::connect_saying(receiver.address, early);
        peer.expect("554 5.5.1").await;
        peer.expect_closed().await;
        receiver.until_counted("ended", "spokeFirst", 1).await;
    }))
    .await;
    let receiver = TestReceiver::start(FaultyStore::open(), |_| ()).await;
    // A client that waits for the greeting is served.
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    peer.begin_data("bob@example.test").await;
    peer.command(".", "250 2.0.0").await;
    assert_eq!(receiver.stop().await.stored().len(), 1);
}
