//! Dialogs without a socket.

mod auth;
mod chunks;
mod faults;
mod limits;
mod lmtp;
mod properties;
mod smuggling;
mod utf8;

use std::collections::{HashMap, VecDeque};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, LazyLock, Mutex};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;

use super::*;
use crate::config::Revision;
use crate::model::{Address, DomainName, Protocol};
use crate::smtp::fault::{Faults, Injected};
use crate::store::StoreError;

/// Accepts mail for example.test while there is room.
struct OneDomain {
    refusal: Option<StoreError>,
    /// The memory for all messages at once.
    octets_max: u64,
    faults: Faults,
    /// Domains that a question finds, and those that it has found.
    registered: Mutex<HashMap<DomainName, DomainState>>,
    /// What the store answers next; then it answers `Ok`.
    outcomes: Mutex<VecDeque<Result<(), StoreError>>>,
    messages: Mutex<Vec<Message>>,
    stop: CancellationToken,
    /// The stop comes while a message is at the store.
    stops_at_store: bool,
    /// The stop comes with the first fault.
    stops_at_fault: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DomainState {
    Elsewhere,
    Registered,
}

impl Default for OneDomain {
    fn default() -> Self {
        Self {
            refusal: None,
            octets_max: 1 << 20,
            faults: Faults::default(),
            registered: Mutex::default(),
            outcomes: Mutex::default(),
            messages: Mutex::default(),
            stop: CancellationToken::new(),
            stops_at_store: false,
            stops_at_fault: false,
        }
    }
}

impl Backend for OneDomain {
    fn sender(&self, _reverse_path: &str) -> Result<(), Reply> {
        self.refusal.as_ref().and_then(Reply::of_store_error).map_or(Ok(()), Err)
    }

    fn recipient<'a>(&'a self, address: &'a Address) -> BoxFuture<'a, Result<(), Reply>> {
        let mut registered = self.registered.lock().expect("no panic");
        let state = registered.get_mut(address.domain()).map(|state| std::mem::replace(state, DomainState::Registered));
        let answer = match address.domain().as_str() {
            "example.test" => Ok(()),
            _ if state.is_some() => Ok(()),
            "gone.test" => Err(Reply::domain_deactivated(address.domain())),
            _ => Err(Reply::domain_unknown(address.domain())),
        };
        let is_slow = state == Some(DomainState::Elsewhere);
        Box::pin(async move {
            if is_slow {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            answer
        })
    }

    fn receive(&self, message: Message) -> BoxFuture<'_, Result<usize, StoreError>> {
        let emails = message.recipients.len();
        self.messages.lock().expect("no panic").push(message);
        if self.stops_at_store {
            self.stop.cancel();
        }
        let outcome = self.outcomes.lock().expect("no panic").pop_front().unwrap_or(Ok(()));
        Box::pin(async move { outcome.map(|()| emails) })
    }

    fn fault(&self, stage: Stage, parties: Parties<'_>) -> Option<Injected> {
        let injected = self.faults.check(stage, parties);
        if injected.is_some() && self.stops_at_fault {
            self.stop.cancel();
        }
        injected
    }
}

/// The dialect of a listener without a certificate.
const PLAIN: Dialect = Dialect { service: Service::Smtp, offers_tls: false, offers_auth: false };

static SETTINGS: LazyLock<Config> = LazyLock::new(|| {
    let mut config = Config::of_revision(Revision::Two, "unused".into());
    config.smtp.hostname = "mx.test".parse().expect("name");
    config.mail.message_octets_max = 1000;
    config
});

thread_local! {
    /// Its time passes at once.
    static RUNTIME: Runtime = Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
}

fn settings() -> Config {
    SETTINGS.clone()
}

/// What a client sends, piece by piece, and what it gets.
#[derive(Debug)]
struct Script {
    pieces: VecDeque<Vec<u8>>,
    wire: Arc<Mutex<Wire>>,
    /// After the last piece the client waits instead of closing the connection.
    stays: bool,
}

/// What was written, write by write. A pause of a second or more before a write is there as `000 after SECONDS`.
#[derive(Debug)]
struct Wire {
    writes: Vec<String>,
    last_at: Instant,
}

impl AsyncRead for Script {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.pieces.pop_front() {
            Some(mut piece) => {
                let rest = piece.split_off(piece.len().min(into.remaining()));
                if !rest.is_empty() {
                    self.pieces.push_front(rest);
                }
                into.put_slice(&piece);
                Poll::Ready(Ok(()))
            }
            None if self.stays => Poll::Pending,
            None => Poll::Ready(Ok(())),
        }
    }
}

impl AsyncWrite for Script {
    fn poll_write(self: Pin<&mut Self>, _: &mut std::task::Context<'_>, octets: &[u8]) -> Poll<io::Result<usize>> {
        let mut wire = self.wire.lock().expect("no panic");
        let pause = wire.last_at.elapsed().as_secs();
        if pause > 0 {
            wire.writes.push(format!("000 after {pause}\r\n"));
        }
        wire.last_at = Instant::now();
        wire.writes.push(String::from_utf8(octets.to_vec()).expect("ASCII"));
        Poll::Ready(Ok(octets.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut std::task::Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut std::task::Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// The result of a dialog.
#[derive(Debug, PartialEq, Eq)]
struct Played {
    replies: String,
    messages: Vec<Message>,
    /// `None`: the client had nothing more to say.
    end: Option<End>,
}

/// Plays octets into a session, cut as given, and returns what was written and the end. Time passes at once.
fn write_by_write(
    config: &Config,
    dialect: Dialect,
    cuts: &[&[u8]],
    policy: &OneDomain,
    stays: bool,
) -> (Vec<String>, Option<End>) {
    let mut config = config.clone();
    config.smtp.bodies_octets_max = policy.octets_max;
    let played = async {
        let wire = Arc::new(Mutex::new(Wire { writes: Vec::new(), last_at: Instant::now() }));
        let pieces = cuts.iter().filter(|cut| !cut.is_empty()).map(|cut| cut.to_vec()).collect();
        let script = Script { pieces, wire: Arc::clone(&wire), stays };
        let context = Context {
            config: &config,
            admission: &Arc::new(Admission::new(&config)),
            who: Who::Server,
            address: IpAddr::from([192, 0, 2, 1]),
            backend: policy,
            tls: None,
            counters: &Counters::default(),
            refusals: &Refusals::default(),
            stop: &policy.stop,
        };
        let end = converse(Stream::Memory(Box::new(script)), dialect, &context).await;
        let writes = std::mem::take(&mut wire.lock().expect("no panic").writes);
        (writes, Some(end).filter(|end| *end != End::Gone))
    };
    RUNTIME.with(|runtime| runtime.block_on(played))
}

/// Plays octets into a session, cut as given. The store answers each message with the next outcome, then with `Ok`.
fn play_cut(cuts: &[&[u8]], policy: &OneDomain, outcomes: &[Result<(), StoreError>]) -> Played {
    play_in(PLAIN, cuts, policy, outcomes)
}

/// Like [`play_cut`], in any dialect.
fn play_in(dialect: Dialect, cuts: &[&[u8]], policy: &OneDomain, outcomes: &[Result<(), StoreError>]) -> Played {
    play_with(&settings(), dialect, cuts, policy, outcomes)
}

/// Like [`play_in`], with any settings.
fn play_with(
    config: &Config,
    dialect: Dialect,
    cuts: &[&[u8]],
    policy: &OneDomain,
    outcomes: &[Result<(), StoreError>],
) -> Played {
    *policy.outcomes.lock().expect("no panic") = outcomes.iter().cloned().collect();
    let (writes, end) = write_by_write(config, dialect, cuts, policy, false);
    let messages = std::mem::take(&mut *policy.messages.lock().expect("no panic"));
    Played { replies: writes.concat(), messages, end }
}

fn play(dialog: &str) -> Played {
    play_cut(&[dialog.as_bytes()], &OneDomain::default(), &[])
}

/// The codes of the replies after the greeting, with their enhanced codes.
fn codes(replies: &str) -> Vec<String> {
    let is_status = |word: &str| word.len() == 5 && word.split('.').all(|part| part.parse::<u8>().is_ok());
    let code = |line: &str| {
        let (code, text) = line.split_at(4);
        let status = text.split(' ').next().filter(|word| is_status(word));
        status.map_or(code.trim().to_owned(), |status| format!("{code}{status}"))
    };
    let last_lines = replies.lines().filter(|line| line.as_bytes()[3] == b' ');
    last_lines.map(code).skip(1).collect()
}

fn assert_codes(dialog: &str, expected: &[&str]) {
    assert_eq!(codes(&play(dialog).replies), expected, "{dialog:?}");
}

const EHLO: &str = "EHLO client.test\r\n";
const MAIL: &str = "MAIL FROM:<ann@sender.test>\r\n";
const RCPT: &str = "RCPT TO:<bob@example.test>\r\n";

#[test]
fn a_message_arrives_complete() {
    let played = play(&format!("{EHLO}{MAIL}{RCPT}DATA\r\nSubject: hi\r\n\r\n..dot\n.\r\n.\r\nQUIT\r\n"));
    assert_eq!(
        played.replies,
        "220 mx.test ESMTP tempmail\r\n\
         250-mx.test\r\n250-PIPELINING\r\n250-SIZE 1000\r\n250-8BITMIME\r\n250-BINARYMIME\r\n\
         250-CHUNKING\r\n250-SMTPUTF8\r\n250-ENHANCEDSTATUSCODES\r\n250 HELP\r\n\
         250 2.1.0 Sender OK\r\n\
         250 2.1.5 Recipient OK\r\n\
         354 Send the message; end it with a dot on a line of its own\r\n\
         250 2.0.0 Stored\r\n\
         221 2.0.0 Bye\r\n"
    );
    assert_eq!(played.end, Some(End::Quit));
    assert_eq!(
        played.messages,
        [Message {
            helo: "client.test".into(),
            protocol: Protocol::plain(Greeting::Ehlo),
            reverse_path: "ann@sender.test".into(),
            recipients: vec!["bob@example.test".parse().expect("address")],
            raw: Bytes::from_static(b"Subject: hi\r\n\r\n.dot\n.\r\n"),
        }]
    );
}

#[test]
fn commands_out_of_order_are_refused() {
    for (dialog, expected) in [
        (MAIL.to_owned(), &["503 5.5.1"][..]),
        (RCPT.to_owned(), &["503 5.5.1"]),
        ("DATA\r\n".to_owned(), &["503 5.5.1"]),
        (format!("{EHLO}{RCPT}"), &["250", "503 5.5.1"]),
        (format!("{EHLO}DATA\r\n"), &["250", "503 5.5.1"]),
        (format!("{EHLO}{MAIL}DATA\r\n"), &["250", "250 2.1.0", "503 5.5.1"]),
        (format!("{EHLO}{MAIL}{MAIL}"), &["250", "250 2.1.0", "503 5.5.1"]),
        (
            format!("{EHLO}{MAIL}RCPT TO:<bob@other.test>\r\nDATA\r\nNOOP\r\n"),
            &["250", "250 2.1.0", "550 5.1.2", "503 5.5.1", "250 2.0.0"],
        ),
    ] {
        assert_codes(&dialog, expected);
    }
}

#[test]
fn helo_rset_and_the_end_of_data_end_a_transaction() {
    for again in ["RSET\r\n", "HELO other.test\r\n", "EHLO other.test\r\n"] {
        let played = play(&format!("{EHLO}{MAIL}{RCPT}{again}DATA\r\n{MAIL}"));
        let codes = codes(&played.replies);
        assert_eq!(codes[codes.len() - 2..], ["503 5.5.1", "250 2.1.0"], "{again}");
    }
    assert_codes(
        &format!("{EHLO}{MAIL}{RCPT}DATA\r\n.\r\nDATA\r\n{MAIL}"),
        &["250", "250 2.1.0", "250 2.1.5", "354", "250 2.0.0", "503 5.5.1", "250 2.1.0"],
    );
    // A malformed EHLO changes nothing.
    assert_codes(&format!("{EHLO}{MAIL}EHLO\r\n{RCPT}"), &["250", "250 2.1.0", "501", "250 2.1.5"]);
}

#[test]
fn commands_that_need_no_greeting_are_answered_without_one() {
    assert_codes(
        "NOOP\r\nRSET\r\nVRFY ann\r\nHELP\r\nEXPN x\r\nSTARTTLS\r\nAUTH PLAIN\r\nBDAT 2\r\n\r\nFOO\r\nQUIT\r\n",
        &[
            "250 2.0.0",
            "250 2.0.0",
            "252 2.0.0",
            "214 2.0.0",
            "502 5.5.1",
            "502 5.5.1",
            "502 5.5.1",
            "503 5.5.1",
            "500 5.5.2",
            "221 2.0.0",
        ],
    );
}

#[test]
fn helo_makes_it_smtp() {
    let played = play(&format!("HELO client.test\r\n{MAIL}{RCPT}DATA\r\n.\r\n"));
    assert!(played.replies.contains("\r\n250 mx.test\r\n"));
    assert_eq!(played.messages[0].protocol, Protocol::plain(Greeting::Helo));
    assert_eq!(played.messages[0].raw, Bytes::new());
}

#[test]
fn each_recipient_is_judged_on_its_own() {
    for (path, expected) in [
        ("<bob@example.test>", "250 2.1.5"),
        ("<BOB@EXAMPLE.TEST.>", "250 2.1.5"),
        ("<postmaster>", "250 2.1.5"),
        ("<PostMaster>", "250 2.1.5"),
        ("<\"b o b\"@example.test>", "250 2.1.5"),
        ("<@relay.test:bob@example.test>", "250 2.1.5"),
        ("<bob@other.test>", "550 5.1.2"),
        ("<bob@gone.test>", "550 5.1.2"),
        ("<bob@sub.example.test>", "550 5.1.2"),
        ("<bob@[127.0.0.1]>", "550 5.1.2"),
        ("<postmaster@mx.test>", "550 5.1.2"),
        ("<>", "501 5.1.3"),
        ("<bob>", "501 5.1.3"),
        ("<bob@example.test> NOTIFY=NEVER", "555 5.5.4"),
    ] {
        let played = play(&format!("{EHLO}{MAIL}RCPT TO:{path}\r\n"));
        assert_eq!(codes(&played.replies)[2], expected, "{path}");
    }
}

#[test]
fn each_sender_that_rfc_5321_allows_is_accepted() {
    for path in ["<>", "<ann@example.test>", "<\"\"@example.test>", "<\"a b\"@[192.0.2.1]>"] {
        assert_codes(&format!("{EHLO}MAIL FROM:{path}\r\n"), &["250", "250 2.1.0"]);
    }
}

#[test]
fn postmaster_without_a_domain_is_that_of_the_hostname() {
    let played = play(&format!("{EHLO}MAIL FROM:<>\r\nRCPT TO:<Postmaster>\r\nDATA\r\n.\r\n"));
    assert_eq!(played.messages[0].recipients[0].to_string(), "Postmaster@mx.test");
    assert_eq!(played.messages[0].reverse_path, "");
}

#[test]
fn the_store_is_asked_before_a_message_begins() {
    for (refusal, expected, end) in [
        (StoreError::Full, "452 4.3.1", None),
        (StoreError::Failed("x".into()), "451 4.3.0", None),
        (StoreError::Stopping, "421 4.3.2", Some(End::Stopping)),
    ] {
        let policy = OneDomain { refusal: Some(refusal), ..OneDomain::default() };
        let played = play_cut(&[EHLO.as_bytes(), MAIL.as_bytes()], &policy, &[]);
        assert_eq!(codes(&played.replies)[1], expected);
        assert_eq!(played.end, end);
    }
}

#[test]
fn each_answer_of_the_store_has_its_reply() {
    let dialog = format!("{EHLO}{MAIL}{RCPT}DATA\r\n.\r\nNOOP\r\n");
    for (outcome, expected, end) in [
        (Ok(()), &["250 2.0.0", "250 2.0.0"][..], None),
        (Err(StoreError::Full), &["452 4.3.1", "250 2.0.0"], None),
        (Err(StoreError::Failed("x".into())), &["451 4.3.0", "250 2.0.0"], None),
        (Err(StoreError::TooLarge { limit: 5 }), &["552 5.3.4", "250 2.0.0"], None),
        (Err(StoreError::Stopping), &["421 4.3.2"], Some(End::Stopping)),
        (Err(StoreError::Unconfirmed), &["451 4.3.0", "250 2.0.0"], None),
        (Err(StoreError::OutcomeUnknown), &[], Some(End::OutcomeUnknown)),
    ] {
        let played = play_cut(&[dialog.as_bytes()], &OneDomain::default(), std::slice::from_ref(&outcome));
        assert_eq!(codes(&played.replies)[4..], *expected, "{outcome:?}");
        assert_eq!(played.end, end, "{outcome:?}");
    }
}

#[test]
fn a_session_has_one_last_reply() {
    for dialog in [String::new(), format!("{EHLO}{MAIL}{RCPT}DATA\r\nhalf a mess")] {
        let policy = OneDomain::default();
        policy.stop.cancel();
        let (writes, end) =
            write_by_write(&settings(), PLAIN, &[dialog.as_bytes(), b"age\r\n.\r\nNOOP\r\n"], &policy, true);
        let replies = writes.concat();
        assert_eq!((replies.lines().count(), end), (2, Some(End::Stopping)), "{replies}");
        assert!(replies.ends_with("421 4.3.2 The service is stopping; try again later\r\n"), "{replies}");
    }
    let (writes, end) = write_by_write(&settings(), PLAIN, &[b"NOOP\r\n"], &OneDomain::default(), true);
    assert_eq!((writes.concat().lines().count(), end), (4, Some(End::Idle)), "{writes:?}");
}

#[test]
fn a_stop_ends_a_message_that_is_not_complete() {
    let policy = OneDomain { stops_at_store: true, ..OneDomain::default() };
    let dialog = format!("{EHLO}{MAIL}{RCPT}DATA\r\n.\r\n{MAIL}{RCPT}DATA\r\nhalf");
    let played = play_cut(&[dialog.as_bytes()], &policy, &[]);
    assert_eq!(codes(&played.replies)[4..], ["250 2.0.0", "421 4.3.2"]);
    assert_eq!((played.messages.len(), played.end), (1, Some(End::Stopping)));
}

#[test]
fn a_domain_that_another_node_registered_is_asked_about_before_the_answer() {
    let policy = OneDomain::default();
    policy.registered.lock().expect("no panic").insert("new.test".parse().expect("name"), DomainState::Elsewhere);
    let dialog = "EHLO c\r\nMAIL FROM:<>\r\nRCPT TO:<a@new.test>\r\nRCPT TO:<a@other.test>\r\nRCPT TO:<b@new.test>\r\n";
    let played = play_cut(&[dialog.as_bytes()], &policy, &[]);
    let replies: Vec<&str> = played.replies.lines().rev().take(3).map(|line| &line[..3]).collect();
    assert_eq!(replies, ["250", "550", "250"], "{}", played.replies);
}
