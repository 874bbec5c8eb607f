//! The receiver beside mailin-embedded, another SMTP server: where both follow RFC 5321, they give the same class of
//! reply to the same command. Where only one does, the difference is in a table with its section.
//! Promise: it outlives the code below it.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use mailin_embedded::response::{NO_MAILBOX, OK};
use mailin_embedded::{Handler, Response, Server};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;

use crate::support::test_server::TestServer;

/// How long a test waits for a reply.
const PATIENCE: Duration = Duration::from_secs(20);

/// Accepts mail for example.test and discards it.
#[derive(Clone)]
struct OneDomain;

impl Handler for OneDomain {
    fn rcpt(&mut self, to: &str) -> Response {
        if to.to_ascii_lowercase().ends_with("@example.test") { OK } else { NO_MAILBOX }
    }
}

/// Where mailin-embedded listens. It can't be stopped: its thread ends with the process of the tests.
fn start_mailin() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
    let address = listener.local_addr().expect("address");
    let mut server = Server::new(OneDomain);
    server.with_name("mailin.test").with_num_threads(2).with_tcp_listener(listener);
    std::thread::spawn(move || server.serve().expect("mailin-embedded"));
    address
}

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
fn codes(server: SocketAddr, dialog: &[Turn]) -> Vec<u16> {
    let stream = TcpStream::connect(server).expect("connect");
    stream.set_read_timeout(Some(PATIENCE)).expect("timeout");
    let mut replies = BufReader::new(stream.try_clone().expect("a second handle"));
    let mut codes: Vec<u16> = code(&mut replies).into_iter().collect();
    for turn in dialog {
        let octets = match turn {
            Command(line) => format!("{line}\r\n"),
            Content(content) if codes.last() == Some(&354) => format!("{content}.\r\n"),
            Content(_) => continue,
        };
        let sent = (&stream).write_all(octets.as_bytes());
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
        replies.read_line(&mut line).expect("a reply in time");
        if line.is_empty() {
            return None;
        }
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
    mailin: SocketAddr,
}

impl Both {
    fn start() -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("runtime");
        let server = runtime.block_on(TestServer::start());
        Self { runtime, server, mailin: start_mailin() }
    }

    /// The codes of our server and of the other one.
    fn codes(&self, dialog: &[Turn]) -> (Vec<u16>, Vec<u16>) {
        (codes(self.server.smtp(), dialog), codes(self.mailin, dialog))
    }

    fn stop(self) {
        self.runtime.block_on(self.server.stop());
    }
}

/// Commands of RFC 5321 that both servers know.
const TURNS: &[Turn] = &[
    Command("EHLO client.test"),
    Command("HELO client.test"),
    Command("ehlo [192.0.2.1]"),
    Command("MAIL FROM:<ann@sender.test>"),
    Command("mail from:<\"ann.b\"@sender.test>"),
    Command("MAIL FROM:<ann@[192.0.2.1]>"),
    Command("MAIL FROM:<ann@sender.test> BODY=8BITMIME"),
    Command("MAIL FROM:<ann@sender.test> BODY=7BIT"),
    Command("RCPT TO:<bob@example.test>"),
    Command("rcpt to:<Bill@EXAMPLE.test>"),
    Command("RCPT TO:<@relay.test:bob@example.test>"),
    Command("RCPT TO:<bob@other.test>"),
    Command("DATA"),
    Command("RSET"),
    Command("NOOP"),
    Command("FOO"),
    Command("EHLO"),
    Command("MAIL FROM:ann@"),
    Command("RCPT TO:<>"),
    Command("QUIT now"),
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
fn both_give_the_same_classes_of_replies() {
    let both = Both::start();
    let config = ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() };
    let ended = TestRunner::new(config).run(&dialog(), |dialog| {
        let (ours, theirs) = both.codes(&dialog);
        prop_assert_eq!(classes(&ours), classes(&theirs), "ours {:?}, theirs {:?}", ours, theirs);
        Ok(())
    });
    both.stop();
    ended.expect("no difference that the table below lacks");
}

/// A dialog that only one of the two servers answers as the RFC requires.
struct Difference {
    /// The section of the RFC.
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
        section: "RFC 5321 section 4.5.5: the null reverse-path is taken",
        dialog: &[HELLO, Command("MAIL FROM:<>")],
        ours: 250,
        theirs: 500,
    },
    Difference {
        section: "RFC 1870 section 3: the SIZE parameter",
        dialog: &[HELLO, Command("MAIL FROM:<ann@sender.test> SIZE=100")],
        ours: 250,
        theirs: 500,
    },
    Difference {
        section: "RFC 5321 section 4.1.2: a blank in a quoted local part",
        dialog: &[HELLO, MAIL, Command("RCPT TO:<\"b o b\"@example.test>")],
        ours: 250,
        theirs: 500,
    },
    Difference {
        section: "RFC 5321 section 4.1.2: a reverse-path without a domain is none",
        dialog: &[HELLO, Command("MAIL FROM:<ann>")],
        ours: 501,
        theirs: 250,
    },
    Difference {
        section: "RFC 5321 section 4.1.1: blanks before CRLF are tolerated",
        dialog: &[Command("NOOP  ")],
        ours: 250,
        theirs: 500,
    },
    Difference {
        section: "RFC 5321 section 4.1.1.9: NOOP may have a string",
        dialog: &[Command("NOOP hello")],
        ours: 250,
        theirs: 500,
    },
    Difference { section: "RFC 5321 section 4.1.1.8: HELP", dialog: &[Command("HELP")], ours: 214, theirs: 500 },
    Difference {
        section: "RFC 5321 section 4.1.4: VRFY at any time, before HELO",
        dialog: &[Command("VRFY bob")],
        ours: 252,
        theirs: 503,
    },
    Difference {
        section: "RFC 5321 section 4.1.4: VRFY at any time, in a transaction",
        dialog: &[HELLO, MAIL, Command("VRFY bob")],
        ours: 252,
        theirs: 503,
    },
    Difference {
        section: "RFC 5321 section 4.1.1.4: only CRLF.CRLF ends a message; what ended it sooner is answered before NOOP",
        dialog: &[HELLO, MAIL, RCPT, DATA, Content("x\n.\r\n"), Command("NOOP")],
        ours: 250,
        theirs: 500,
    },
    Difference {
        section: "RFC 5321 section 3.3 permits no blank after the colon; senders at large write one",
        dialog: &[HELLO, Command("MAIL FROM: <ann@sender.test>")],
        ours: 250,
        theirs: 500,
    },
];

#[test]
fn the_known_differences_are_these() {
    let both = Both::start();
    for Difference { section, dialog, ours, theirs } in DIFFERENCES {
        let (our_codes, their_codes) = both.codes(dialog);
        assert_eq!((our_codes.last(), their_codes.last()), (Some(ours), Some(theirs)), "{section}");
    }
    both.stop();
}
