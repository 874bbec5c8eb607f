//! A second message inside a first, and commands before their time: over real sockets, cut wherever TCP can cut.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;

use tempmail::smtp::Service;

use super::TestReceiver;
use crate::support::faulty_store::FaultyStore;
use crate::support::smtp_peer::SmtpPeer;

/// What some server takes for the end of a message, and none may (RFC 5321 sections 2.3.8 and 4.1.1.4).
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

/// A whole second transaction.
const SECOND: &str = "MAIL FROM:<mallory@sender.test>\r\nRCPT TO:<eve@example.test>\r\nDATA\r\nSubject: smuggled\r\n";

/// Sends `content` as a message, in `pieces` of it, and checks that it is the only one and was kept to the octet.
///
/// Each piece is a segment of its own: the client waits until the one before has been taken over by the kernel, and
/// sends it without delay.
async fn expect_one_message(receiver: &TestReceiver, content: &[u8], pieces: &[&[u8]]) {
    let before = receiver.store.kept().len();
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    peer.begin_data("bob@example.test").await;
    for piece in pieces {
        peer.send(piece).await;
        tokio::task::yield_now().await;
    }
    peer.send("\r\n.\r\nNOOP\r\nQUIT\r\n").await;
    for start in ["250 2.0.0 Stored", "250 2.0.0 OK", "221"] {
        peer.expect(start).await;
    }
    peer.expect_closed().await;
    let kept = receiver.store.kept().split_off(before);
    assert_eq!(kept.len(), 1, "{:?}", content.escape_ascii().to_string());
    // A dot behind a true CRLF is transparency and goes; nothing else does.
    let expected = String::from_utf8_lossy(content).replace("\r\n.", "\r\n") + "\r\n";
    assert_eq!(kept[0].raw.escape_ascii().to_string(), expected.as_bytes().escape_ascii().to_string());
    assert_eq!(kept[0].envelope.recipients.len(), 1);
}

#[tokio::test]
async fn no_false_end_lets_a_second_message_in_wherever_it_is_cut() {
    let receiver = TestReceiver::start(FaultyStore::open(), |_| ()).await;
    for end in FALSE_ENDS {
        let content = format!("Subject: first\r\n\r\nx{end}{SECOND}");
        let content = content.as_bytes();
        let at = content.windows(end.len()).position(|window| window == end.as_bytes()).expect("there");
        expect_one_message(&receiver, content, &[content]).await;
        for cut in at..=at + end.len() {
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

#[tokio::test]
async fn a_client_that_speaks_before_the_greeting_is_refused() {
    for (service, early) in [
        (Service::Smtp, "EHLO client.test\r\nMAIL FROM:<>\r\n"),
        (Service::Smtp, "GET / HTTP/1.1\r\n\r\n"),
        (Service::Smtp, "\x16\x03\x01"),
        (Service::Lmtp, "LHLO client.test\r\nMAIL FROM:<>\r\n"),
    ] {
        let receiver = TestReceiver::of(service, None, FaultyStore::open(), |_| ()).await;
        // On this runtime of one thread the receiver accepts after this has been sent.
        let mut peer = SmtpPeer::connect_saying(receiver.address, early);
        peer.expect("554 5.5.1").await;
        peer.expect_closed().await;
        receiver.until_counted("ended", "spokeFirst", 1).await;
    }
    let receiver = TestReceiver::start(FaultyStore::open(), |_| ()).await;
    // Who waits is served.
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    peer.begin_data("bob@example.test").await;
    peer.command(".", "250 2.0.0").await;
    assert_eq!(receiver.stop().await.kept().len(), 1);
}
