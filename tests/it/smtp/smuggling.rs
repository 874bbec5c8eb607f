//! A second message inside a first, and commands before their time: over real sockets, cut wherever TCP can cut.
//! Promise: it outlives the code below it.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;

use super::{ENDED, Mail, TO, messages, newest, until_counted};
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_server::TestServer;

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

/// The mails since there were `before` messages. All are for one mailbox.
async fn received(server: &TestServer, before: usize) -> Vec<Mail> {
    let all = messages(server).await;
    let (total, mails) = newest(server, TO, all - before).await;
    assert_eq!(total, all, "mail went elsewhere");
    mails
}

/// Sends `content` as a message, in `pieces` of it, and checks that it is the only one and was stored unchanged.
async fn expect_one_message(server: &TestServer, content: &[u8], pieces: &[&[u8]]) {
    let before = messages(server).await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    peer.begin_data(TO).await;
    peer.send_cut(pieces).await;
    peer.send("\r\n.\r\nNOOP\r\nQUIT\r\n").await;
    peer.expect_all(&["250 2.0.0 Stored", "250 2.0.0 OK", "221"]).await;
    peer.expect_closed().await;
    let mails = received(server, before).await;
    assert_eq!(mails.len(), 1, "{:?}", content.escape_ascii().to_string());
    // Only a dot behind a true CRLF is dot-stuffing and is removed.
    let expected = String::from_utf8_lossy(content).replace("\r\n.", "\r\n") + "\r\n";
    assert_eq!(mails[0].raw, expected.as_bytes().escape_ascii().to_string());
    // It is named where it is the only recipient.
    assert!(mails[0].trace.contains("for <bob@example.test>"), "{mails:?}");
}

#[tokio::test]
async fn no_false_end_lets_a_second_message_in_wherever_it_is_cut() {
    let server = TestServer::start().await;
    for end in FALSE_ENDS {
        let content = format!("Subject: first\r\n\r\nx{end}{SECOND}");
        let content = content.as_bytes();
        let at = content.windows(end.len()).position(|window| window == end.as_bytes()).expect("there");
        expect_one_message(&server, content, &[content]).await;
        for cut in cuts(end, at) {
            expect_one_message(&server, content, &[&content[..cut], &content[cut..]]).await;
        }
        let (before, rest) = content.split_at(at);
        let (octets, after) = rest.split_at(end.len());
        let single: Vec<&[u8]> = std::iter::once(before).chain(octets.chunks(1)).chain([after]).collect();
        expect_one_message(&server, content, &single).await;
    }
}

#[test]
fn no_row_of_dots_and_line_ends_lets_a_second_message_in() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("runtime");
    let server = runtime.block_on(TestServer::start());
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
        runtime.block_on(expect_one_message(&server, &content, &pieces));
        Ok(())
    };
    TestRunner::new(config).run(&strategy, check).expect("one message each");
}

/// Sends `wire`, which is pipelined behind EHLO, in `pieces` of it; the replies must begin like these, and then there is
/// only the one to QUIT. The messages that this brought.
async fn played(server: &TestServer, pieces: &[&[u8]], replies: &[&str]) -> Vec<String> {
    let before = messages(server).await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    peer.command("EHLO client.test", "250").await;
    peer.send_cut(pieces).await;
    peer.send("QUIT\r\n").await;
    peer.expect_all(replies).await;
    peer.expect("221").await;
    peer.expect_closed().await;
    received(server, before).await.into_iter().map(|mail| mail.raw).collect()
}

#[tokio::test]
async fn nothing_in_a_chunk_is_an_end_wherever_chunks_and_tcp_cut_it() {
    let server = TestServer::start().await;
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
            assert_eq!(played(&server, &[before, after], &replies).await, [&*shown], "{shown} cut at {cut}");
        }

        // The same octets in two chunks, and an empty one behind.
        let replies = ["250 2.1.0", "250 2.1.5", "250 2.0.0 Chunk", "250 2.0.0 Chunk", "250 2.0.0 Stored"];
        for cut in cuts(end, at) {
            let (first, second) = content.split_at(cut);
            let first = format!("{BEGIN}BDAT {cut}\r\n{first}");
            let second = format!("BDAT {}\r\n{second}BDAT 0 LAST\r\n", size - cut);
            let pieces = [first.as_bytes(), second.as_bytes()];
            assert_eq!(played(&server, &pieces, &replies).await, [&*shown], "{shown} in chunks at {cut}");
            assert_eq!(played(&server, &[&pieces.concat()], &replies).await, [&*shown], "{shown} in chunks at {cut}");
        }
    }
}

#[tokio::test]
async fn after_the_last_chunk_dots_and_line_ends_are_no_commands_and_data_has_its_one_end() {
    let server = TestServer::start().await;
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
            assert_eq!(played(&server, &[before, after], &replies).await, ["hi"], "{end:?} cut at {cut}");
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
            assert_eq!(played(&server, &[before, after], &replies).await, ["hi", &*expected], "{end:?} cut at {cut}");
        }
    }
}

#[tokio::test]
async fn data_within_chunks_begins_no_message() {
    let server = TestServer::start().await;
    let wire = format!("{BEGIN}BDAT 2\r\nhiDATA\r\n.\r\nBDAT 3 LAST\r\n\r\n.");
    let replies = ["250 2.1.0", "250 2.1.5", "250 2.0.0 Chunk", "503", "500", "250 2.0.0 Stored"];
    for cut in 0..=wire.len() {
        let (before, after) = wire.as_bytes().split_at(cut);
        assert_eq!(played(&server, &[before, after], &replies).await, ["hi\\r\\n."], "cut at {cut}");
    }
}

/// A page in a browser can send a request to this port, with commands of SMTP in its body.
#[tokio::test]
async fn a_browser_sends_no_mail() {
    let server = TestServer::start().await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    let commands = format!("EHLO a\r\nMAIL FROM:<>\r\nRCPT TO:<{TO}>\r\nDATA\r\nhi\r\n.\r\n");
    peer.send(format!("POST / HTTP/1.1\r\nHost: localhost\r\n\r\n{commands}")).await;
    peer.expect("554 5.5.1 This is a mail server").await;
    peer.expect_closed().await;
    until_counted(&server, ENDED, "notSmtp", 1).await;
    assert_eq!(messages(&server).await, 0);
}
