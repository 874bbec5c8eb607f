//! A session played over a stream in memory.

use std::fmt::{self, Debug};
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::task::{Context as TaskContext, Poll};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tempmail::admission::{Admission, Who};
use tempmail::config::{Config, Revision};
use tempmail::connections::{Purpose, Stream};
use tempmail::model::Address;
use tempmail::smtp::{Backend, Context, Counters, Dialect, End, Kept, Message, Refusals, Reply, converse};
use tempmail::store::StoreError;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// The largest message of these sessions in octets, small enough that messages cross it.
pub(crate) const MESSAGE_OCTETS_MAX: u64 = 2000;

/// The replies to a message that was handed over: kept, or no room for it.
pub(crate) const MESSAGE_END_CODES: [u16; 2] = [250, 452];

/// What sessions of SMTP offer: not TLS, behind which what is thrown away depends on the cuts.
const SMTP: Dialect = Dialect { purpose: Purpose::Smtp, offers_tls: false, offers_auth: true };
/// What sessions of LMTP offer.
const LMTP: Dialect = Dialect { purpose: Purpose::Lmtp, offers_tls: false, offers_auth: false };

/// The timers of sessions belong to it. No session waits.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime"));

/// What a dialog came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Played {
    /// As they were written, the greeting first.
    pub(crate) replies: Vec<u8>,
    pub(crate) messages: Vec<Message>,
    /// `None`: the client had nothing more to say.
    pub(crate) end: Option<End>,
}

static SETTINGS: LazyLock<Config> = LazyLock::new(|| {
    let mut config = Config::of_revision(Revision::Two, PathBuf::from("unused"));
    config.mail.message_octets_max = MESSAGE_OCTETS_MAX;
    config
});

pub(crate) fn settings() -> &'static Config {
    &SETTINGS
}

/// Plays octets as they are cut; the store keeps the first message, has no room for the second, and so on in turn.
pub(crate) fn play(config: &Config, pieces: &[&[u8]]) -> Played {
    played(config, SMTP, pieces)
}

/// The same over LMTP.
pub(crate) fn play_lmtp(config: &Config, pieces: &[&[u8]]) -> Played {
    played(config, LMTP, pieces)
}

fn played(config: &Config, dialect: Dialect, pieces: &[&[u8]]) -> Played {
    let seen = Arc::new(Mutex::new(Played { replies: Vec::new(), messages: Vec::new(), end: None }));
    let (replies, messages) = (Arc::clone(&seen), Arc::clone(&seen));
    let end = step_by_step(
        config,
        dialect,
        &owned(pieces),
        move |octets: &[u8]| lock(&replies).replies.extend_from_slice(octets),
        move |message| lock(&messages).messages.push(message),
    );
    let played = std::mem::replace(&mut *lock(&seen), Played { replies: Vec::new(), messages: Vec::new(), end: None });
    Played { end, ..played }
}

/// What a client says, in the memory of the test.
pub(crate) type Pieces = Arc<Vec<Vec<u8>>>;

pub(crate) fn owned(pieces: &[&[u8]]) -> Pieces {
    Arc::new(pieces.iter().map(|piece| piece.to_vec()).collect())
}

/// Plays SMTP and drops whatever comes of it as soon as it is there.
pub(crate) fn play_and_drop(config: &Config, pieces: &Pieces) {
    step_by_step(config, SMTP, pieces, |_: &[u8]| {}, drop);
}

fn step_by_step(
    config: &Config,
    dialect: Dialect,
    pieces: &Pieces,
    written: impl FnMut(&[u8]) + Send + 'static,
    received: impl FnMut(Message) + Send,
) -> Option<End> {
    let _runtime = RUNTIME.enter();
    let script = Script { pieces: Arc::clone(pieces), at: (0, 0), written: Box::new(written) };
    let context = Context {
        config,
        admission: &Arc::new(Admission::new(config)),
        who: Who::Server,
        address: IpAddr::from([192, 0, 2, 1]),
        backend: &Anybody(Mutex::new((0, received))),
        tls: None,
        counters: &Counters::default(),
        refusals: &Refusals::default(),
        stop: &CancellationToken::new(),
    };
    let end = converse(Stream::Memory(Box::new(script)), dialect, &context).now_or_never();
    Some(end.expect("the stream never keeps a session waiting")).filter(|end| *end != End::Gone)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes mail for everybody, and every second message finds no room.
struct Anybody<F>(Mutex<(u64, F)>);

impl<F: FnMut(Message) + Send> Backend for Anybody<F> {
    fn sender(&self, _reverse_path: &str) -> Result<(), Reply> {
        Ok(())
    }

    fn recipient<'a>(&'a self, _: &'a Address) -> BoxFuture<'a, Result<(), Reply>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn receive(&self, message: Message) -> BoxFuture<'_, Result<Kept, StoreError>> {
        let mut state = lock(&self.0);
        let (messages, received) = &mut *state;
        *messages += 1;
        received(message);
        let outcome =
            if messages.is_multiple_of(2) { Err(StoreError::Full) } else { Ok(Kept { emails: 1, weight: 1 }) };
        Box::pin(std::future::ready(outcome))
    }
}

/// Takes what was written.
type Written = Box<dyn FnMut(&[u8]) + Send>;

/// What a client says, piece by piece; then it closes the connection.
struct Script {
    pieces: Pieces,
    /// The piece that is said next, and how much of it was.
    at: (usize, usize),
    written: Written,
}

impl Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a script")
    }
}

impl AsyncRead for Script {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut TaskContext<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let pieces = Arc::clone(&self.pieces);
        while let Some(piece) = pieces.get(self.at.0) {
            let rest = &piece[self.at.1..];
            if rest.is_empty() {
                self.at = (self.at.0 + 1, 0);
                continue;
            }
            let octets = rest.len().min(into.remaining());
            into.put_slice(&rest[..octets]);
            self.at.1 += octets;
            break;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Script {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut TaskContext<'_>, octets: &[u8]) -> Poll<io::Result<usize>> {
        (self.written)(octets);
        Poll::Ready(Ok(octets.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Cuts replies into their code and text, line by line; the error says what is wrong with them.
pub(crate) fn read_replies(replies: &[u8]) -> Result<Vec<u16>, String> {
    let wrong = |line: &[u8], what: &str| Err(format!("{what}: {:?}", line.escape_ascii().to_string()));
    let Some(lines) = replies.strip_suffix(b"\r\n") else { return wrong(replies, "no CRLF at the end") };
    let mut codes = Vec::new();
    let mut unfinished = None;
    for line in lines.split(|&octet| octet == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // RFC 5321 section 4.5.3.1.5, without the CRLF; section 4.2 for the rest.
        if line.len() > 510 || !line.iter().all(|octet| matches!(octet, b' '..=b'~')) {
            return wrong(line, "too long or not printable");
        }
        let code = line.get(..3).and_then(|code| str::from_utf8(code).ok()).and_then(|code| code.parse::<u16>().ok());
        let Some(code) = code.filter(|code| (200..600).contains(code)) else { return wrong(line, "no code") };
        if unfinished.is_some_and(|before| before != code) {
            return wrong(line, "another code in the same reply");
        }
        unfinished = match line.get(3) {
            Some(b'-') => Some(code),
            Some(b' ') => {
                codes.push(code);
                None
            }
            _ => return wrong(line, "neither blank nor hyphen after the code"),
        };
    }
    if unfinished.is_some() { wrong(lines, "the last reply has no last line") } else { Ok(codes) }
}
