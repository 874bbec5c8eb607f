//! The receiver beside Postfix: they give the same class of reply to the same command. Where they do not, the difference is in a
//! table with the section of the RFC.
//! Promise: it outlives the code below it.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;

use crate::support::postfix::Postfix;
use crate::support::test_server::TestServer;

/// How long a test waits for a reply.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a client sends before it waits for the replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// A command line without its CRLF.
    Command(&'static str),
    /// Content and the final dot, sent only after a 354.
    Content(&'static str),
}

use Turn::{Command, Content};

/// The code of each reply, the greeting's first; shorter than the dialog where the server closed.
fn codes(stream: impl Read + Write, dialog: &[Turn]) -> Vec<u16> {
    let mut replies = BufReader::new(stream);
    let mut codes: Vec<u16> = code(&mut replies).into_iter().collect();
    for turn in dialog {
        let octets = match turn {
            Command(line) => format!("{line}\r\n"),
            Content(content) if codes.last() == Some(&354) => format!("{content}.\r\n"),
            Content(_) => continue,
        };
        let sent = replies.get_mut().write_all(octets.as_bytes());
        match sent.ok().and_then(|()| code(&mut replies)) {
            Some(code) => codes.push(code),
            None => break,
        }
    }
    codes
}

fn code(replies: &mut impl BufRead) -> Option<u16> {
    loop {
        let mut line = String::new();
        match replies.read_line(&mut line) {
            Ok(0) => return None,
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return None,
            read => read.expect("a reply in time"),
        };
        if line.as_bytes().get(3) != Some(&b'-') {
            return Some(line[..3].parse().expect("a code"));
        }
    }
}

fn classes(codes: &[u16]) -> Vec<u16> {
    codes.iter().map(|code| code / 100).collect()
}

/// Both servers, and what drives the one that is asynchronous.
struct Both {
    runtime: tokio::runtime::Runtime,
    server: TestServer,
    postfix: Postfix,
}

impl Both {
    fn start() -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("runtime");
        let server = runtime.block_on(TestServer::start());
        Self { runtime, server, postfix: Postfix::receiving("example.test") }
    }

    /// The codes of our server and of the other one.
    fn codes(&self, dialog: &[Turn]) -> (Vec<u16>, Vec<u16>) {
        let (ours, theirs) = (TcpStream::connect(self.server.smtp()).expect("connect"), self.postfix.connect());
        ours.set_read_timeout(Some(PATIENCE)).expect("timeout");
        theirs.set_read_timeout(Some(PATIENCE)).expect("timeout");
        (codes(ours, dialog), codes(theirs, dialog))
    }

    fn stop(self) {
        self.runtime.block_on(self.server.stop());
    }
}

/// What both answer alike.
const TURNS: &[Turn] = &[
    Command("EHLO client.test"),
    Command("HELO client.test"),
    Command("ehlo [192.0.2.1]"),
    Command("MAIL FROM:<ann@sender.test>"),
    Command("mail from:<\"ann.b\"@sender.test>"),
    Command("MAIL FROM:<ann@[192.0.2.1]>"),
    Command("MAIL FROM:<ann@sender.test> BODY=8BITMIME"),
    Command("MAIL FROM:<ann@sender.test> BODY=7BIT"),
    Command("MAIL FROM:<ann@sender.test> SIZE=100"),
    Command("MAIL FROM:<ann@sender.test> FOO=1"),
    Command("MAIL FROM: <ann@sender.test>"),
    Command("MAIL FROM:<>"),
    Command("RCPT TO:<bob@example.test>"),
    Command("rcpt to:<Bill@EXAMPLE.test>"),
    Command("RCPT TO:<@relay.test:bob@example.test>"),
    Command("RCPT TO:<\"b o b\"@example.test>"),
    Command("RCPT TO:<bob@other.test>"),
    Command("DATA"),
    Command("RSET"),
    Command("NOOP"),
    Command("NOOP hello"),
    Command("NOOP  "),
    Command("VRFY bob@example.test"),
    Command("FOO"),
    Command(""),
    Command("EHLO"),
    Command("MAIL"),
    Command("MAIL FROM:ann@"),
    Command("RCPT TO:<>"),
    Command("DATA now"),
    Command("RSET now"),
];

const CONTENTS: &[Turn] = &[
    Content(""),
    Content("Subject: hi\r\n\r\nbody\r\n"),
    Content("..dot\r\n.. \r\n"),
    Content("\u{fc}\r\n\t\0\r\n"),
    Content("MAIL FROM:<x@y.test>\r\nQUIT\r\n"),
];

fn dialog() -> impl Strategy<Value = Vec<Turn>> {
    let transaction = [HELLO, MAIL, RCPT, DATA];
    let piece = prop_oneof![
        3 => select(TURNS).prop_map(|turn| vec![turn]),
        1 => Just(transaction.to_vec()),
    ];
    // A content at the end, which is sent only if DATA was accepted.
    (proptest::collection::vec((piece, select(CONTENTS)), 0..12)).prop_map(|pieces| {
        let mut dialog: Vec<Turn> = pieces
            .into_iter()
            .flat_map(|(turns, content)| turns.into_iter().flat_map(move |turn| [turn, content]))
            .collect();
        dialog.push(Command("QUIT"));
        dialog
    })
}

#[test]
#[ignore = "needs Postfix and root"]
fn both_give_the_same_classes_of_replies() {
    let both = Both::start();
    let config = ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() };
    let ended = TestRunner::new(config).run(&dialog(), |dialog| {
        let (ours, theirs) = both.codes(&dialog);
        prop_assert_eq!(classes(&ours), classes(&theirs), "ours {:?}, theirs {:?}", ours, theirs);
        Ok(())
    });
    both.stop();
    ended.expect("no difference that the table below lacks");
}

/// A dialog that the two servers answer differently.
struct Difference {
    /// What the RFC says, by its section.
    section: &'static str,
    dialog: &'static [Turn],
    /// The last codes.
    ours: u16,
    theirs: u16,
}

const HELLO: Turn = Command("EHLO client.test");
const MAIL: Turn = Command("MAIL FROM:<ann@sender.test>");
const RCPT: Turn = Command("RCPT TO:<bob@example.test>");
const DATA: Turn = Command("DATA");

const DIFFERENCES: &[Difference] = &[
    Difference {
        section: "RFC 5321 section 4.1.1.8: HELP, which Postfix has not",
        dialog: &[Command("HELP")],
        ours: 214,
        theirs: 500,
    },
    Difference {
        section: "RFC 5321 section 4.1.1.10: QUIT has no parameter",
        dialog: &[Command("QUIT now")],
        ours: 501,
        theirs: 221,
    },
    Difference {
        section: "RFC 5321 section 4.1.1.1: EHLO has one domain",
        dialog: &[Command("EHLO client.test other.test")],
        ours: 501,
        theirs: 250,
    },
    Difference {
        section: "RFC 5321 section 4.1.2: a reverse-path without a domain is none",
        dialog: &[HELLO, Command("MAIL FROM:<ann>")],
        ours: 501,
        theirs: 250,
    },
    Difference {
        section: "RFC 5321 section 4.1.2 has a path in angle brackets; senders at large leave them out",
        dialog: &[HELLO, Command("MAIL FROM:ann@sender.test")],
        ours: 250,
        theirs: 501,
    },
    Difference {
        section: "RFC 1870 section 6.1: a size that was declared is that of its own transaction",
        dialog: &[HELLO, Command("MAIL FROM:<ann@sender.test> SIZE=99999999999"), MAIL],
        ours: 250,
        theirs: 552,
    },
    Difference {
        section: "RFC 3030 section 3: content of any octets, which Postfix does not offer",
        dialog: &[HELLO, Command("MAIL FROM:<ann@sender.test> BODY=BINARYMIME")],
        ours: 250,
        theirs: 555,
    },
    Difference {
        section: "RFC 3461 section 4.1: notices of delivery, which only Postfix offers",
        dialog: &[HELLO, MAIL, Command("RCPT TO:<bob@example.test> NOTIFY=NEVER")],
        ours: 555,
        theirs: 250,
    },
];

#[test]
#[ignore = "needs Postfix and root"]
fn the_known_differences_are_these() {
    let both = Both::start();
    for Difference { section, dialog, ours, theirs } in DIFFERENCES {
        let (our_codes, their_codes) = both.codes(dialog);
        assert_eq!((our_codes.last(), their_codes.last()), (Some(ours), Some(theirs)), "{section}");
    }
    both.stop();
}
