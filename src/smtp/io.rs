//! The connection of a session: lines and octets come in, replies go out, and nothing waits longer than it may.
//!
//! Everything that can end a session from outside is here and nowhere else: its deadlines, the crowd that shortens them,
//! and the stop of the service.

use std::io;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, Sleep, sleep, sleep_until};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::Context;
use super::line::{Framed, Lines};
use super::reasons::{End, Limit};
use super::reply::Reply;
use crate::connections::{self, Stream};
use crate::fault;
use crate::model::TlsSession;

/// How many octets of replies wait until they are written. A reply can be longer than its command.
const REPLIES_OCTETS_MAX: usize = 16 * 1024;
/// How much memory for replies stays allocated after they are written; most replies are short.
const REPLIES_OCTETS_IDLE: usize = 1024;
/// How much one read takes at first.
const READ_OCTETS: usize = 8 * 1024;
/// How much one read takes from a client whose message fills the small buffer.
const READ_OCTETS_MAX: usize = 64 * 1024;
/// How long a transaction may take, from MAIL to the end of its message; longer if its octets keep the least rate.
const TRANSACTION_TIME: Duration = Duration::from_mins(10);
/// The least rate of a message in a crowd, in octets per second.
const CROWDED_OCTETS_PER_SECOND: u64 = 4_096;
/// How long a client may take for the last replies after a stop.
const LAST_REPLIES_TIME: Duration = Duration::from_secs(1);
/// How often a wait looks whether a crowd has gathered meanwhile.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// When a transaction began and its message did, and the octets of the message so far.
#[derive(Clone, Copy)]
struct Flow {
    since: Instant,
    message_since: Option<Instant>,
    octets: u64,
}

/// The connection of one session.
pub(super) struct Io<'a> {
    stream: Stream,
    context: &'a Context<'a>,
    input: Vec<u8>,
    /// The part of `input` that is not used up.
    unread: std::ops::Range<usize>,
    lines: Lines,
    replies: Vec<u8>,
    began_at: Instant,
    /// Since when the client has been waited for: it has taken all replies.
    waiting_since: Instant,
    heard_at: Instant,
    /// When the writing of replies began, since the last read.
    writing_since: Option<Instant>,
    transaction: Option<Flow>,
    /// The octets of a message come next.
    is_in_message: bool,
    timer: Option<Pin<Box<Sleep>>>,
}

impl<'a> Io<'a> {
    pub(super) fn new(stream: Stream, context: &'a Context<'a>) -> Self {
        let now = Instant::now();
        Self {
            stream,
            context,
            input: vec![0; READ_OCTETS],
            unread: 0..0,
            lines: Lines::default(),
            replies: Vec::new(),
            began_at: now,
            waiting_since: now,
            heard_at: now,
            writing_since: None,
            transaction: None,
            is_in_message: false,
            timer: None,
        }
    }

    /// How long the session has lasted.
    pub(super) fn age(&self) -> Duration {
        self.began_at.elapsed()
    }

    /// Begins or ends a transaction, whose time is limited.
    pub(super) fn set_transaction(&mut self, is_open: bool) {
        self.transaction = is_open.then(|| Flow { since: Instant::now(), message_since: None, octets: 0 });
    }

    /// Reads the next line, of at most so many octets with its CRLF, and gives it to `read`.
    pub(super) async fn line<T>(&mut self, octets_max: usize, read: impl FnOnce(Framed<'_>) -> T) -> Result<T, End> {
        self.is_in_message = false;
        loop {
            if self.context.stop.is_cancelled() {
                return Err(End::Stopping);
            }
            let mut input = &self.input[self.unread.clone()];
            let framed = self.lines.next(&mut input, octets_max);
            self.unread.start = self.unread.end - input.len();
            if let Some(framed) = framed {
                return Ok(read(framed));
            }
            self.fill().await?;
        }
    }

    /// Reads octets of a message, which `take` uses up until it says that they are complete.
    pub(super) async fn content(&mut self, mut take: impl FnMut(&mut &[u8]) -> bool) -> Result<(), End> {
        self.is_in_message = true;
        if let Some(transaction) = &mut self.transaction {
            transaction.message_since.get_or_insert_with(Instant::now);
        }
        loop {
            let mut input = &self.input[self.unread.clone()];
            let is_complete = take(&mut input);
            self.unread.start = self.unread.end - input.len();
            if is_complete {
                return Ok(());
            }
            self.fill().await?;
        }
    }

    /// Appends a reply to those that are written next.
    pub(super) async fn reply(&mut self, reply: &Reply) -> Result<(), End> {
        reply.write(&mut self.replies);
        if self.replies.len() < REPLIES_OCTETS_MAX { Ok(()) } else { self.flush().await }
    }

    /// Writes the replies, in one piece.
    pub(super) async fn flush(&mut self) -> Result<(), End> {
        if self.replies.is_empty() {
            return Ok(());
        }
        let mut replies = std::mem::take(&mut self.replies);
        self.write(&replies).await?;
        replies.clear();
        replies.shrink_to(REPLIES_OCTETS_IDLE);
        self.replies = replies;
        Ok(())
    }

    /// Writes the replies at so many octets per second, on purpose. What is left after [`fault::DELAY_MAX`], or when the
    /// service stops, follows at once.
    pub(super) async fn flush_slowly(&mut self, rate: NonZeroU32) -> Result<(), End> {
        let replies = std::mem::take(&mut self.replies);
        let (pause, ends_at) = (Duration::from_secs(1) / rate.get(), Instant::now() + fault::DELAY_MAX);
        for (at, octet) in replies.iter().enumerate() {
            if self.context.stop.is_cancelled() || Instant::now() >= ends_at {
                return self.write(&replies[at..]).await;
            }
            self.write(&[*octet]).await?;
            self.pause(pause).await;
        }
        Ok(())
    }

    /// Does nothing for so long, on purpose. A stop ends it.
    pub(super) async fn pause(&mut self, time: Duration) {
        let stop = self.context.stop;
        self.busy(stop.run_until_cancelled(sleep(time))).await;
    }

    /// Does work whose time does not count for the client.
    pub(super) async fn busy<T>(&mut self, work: impl Future<Output = T>) -> T {
        let began_at = Instant::now();
        let done = work.await;
        if let Some(transaction) = &mut self.transaction {
            transaction.since += began_at.elapsed();
            transaction.message_since = transaction.message_since.map(|since| since + began_at.elapsed());
        }
        (self.writing_since, self.heard_at) = (None, Instant::now());
        done
    }

    /// Writes the replies and does the server's side of a TLS handshake. What was read in the clear is forgotten: it
    /// must never become a command.
    pub(super) async fn secure(&mut self) -> Result<TlsSession, End> {
        self.flush().await?;
        (self.unread, self.lines) = (0..0, Lines::default());
        let Some((tls, runtime)) = self.context.tls else { return Err(End::TlsFailed) };
        let deadline = self.context.deadline(Instant::now(), self.context.config.tls.handshake_timeout, End::TlsFailed);
        let plain = std::mem::replace(&mut self.stream, Stream::Closed);
        let handshake = AbortOnDropHandle::new(runtime.spawn(plain.secure(tls.server_config())));
        let (end, error) = match in_time(&mut self.timer, Some(self.context.stop), deadline, handshake).await {
            Ok(Ok(Ok((stream, session)))) => {
                self.stream = stream;
                (self.waiting_since, self.heard_at) = (Instant::now(), Instant::now());
                return Ok(session);
            }
            Ok(Ok(Err(error))) => (End::TlsFailed, error.to_string()),
            Ok(Err(panicked)) => (End::TlsFailed, panicked.to_string()),
            Err(End::Stopping) => return Err(End::Stopping),
            Err(end) => (end, "it took too long".to_owned()),
        };
        tracing::debug!(error, "TLS handshake failed");
        self.context.counters.refused(Limit::TlsHandshake);
        Err(end)
    }

    /// Whether the connection can be written to: it is at no handshake, and none has failed.
    pub(super) const fn is_open(&self) -> bool {
        !matches!(self.stream, Stream::Closed)
    }

    /// Writes the replies and closes the connection.
    pub(super) async fn close(&mut self, end: End) {
        if self.flush().await.is_ok() && !(end == End::Quit && self.stream.is_plain()) {
            connections::close(&mut self.stream, &mut self.input, end != End::Quit).await;
        }
    }

    /// Writes the replies and reads what arrives.
    async fn fill(&mut self) -> Result<(), End> {
        self.flush().await?;
        self.writing_since = None;
        // Only a message that arrives faster than it is read gets a large buffer.
        let is_fast = self.is_in_message && self.unread.end >= READ_OCTETS && self.stream.has_octets();
        let octets = if is_fast { READ_OCTETS_MAX } else { READ_OCTETS };
        if self.input.len() != octets {
            self.input.resize(octets, 0);
            self.input.shrink_to_fit();
        }
        self.unread = 0..0;
        let deadline = Deadline {
            context: self.context,
            silence_since: if self.is_in_message { self.heard_at.max(self.waiting_since) } else { self.waiting_since },
            silence: if !self.is_in_message && self.lines.has_begun() { End::SlowCommand } else { End::Idle },
            session_since: self.began_at,
            transaction: self.transaction,
            is_in_message: self.is_in_message,
        };
        // A client that has always sent something ahead is late as well.
        let (over_at, end) = deadline.whole(false);
        if over_at <= Instant::now() {
            return Err(end);
        }
        let read = self.stream.read(&mut self.input);
        match in_time(&mut self.timer, Some(self.context.stop), || deadline.next(), read).await? {
            Ok(0) | Err(_) => Err(End::Gone),
            Ok(octets) => {
                self.unread = 0..octets;
                self.heard_at = Instant::now();
                if let Some(transaction) = self.transaction.as_mut().filter(|_| self.is_in_message) {
                    transaction.octets += octets as u64;
                }
                Ok(())
            }
        }
    }

    async fn write(&mut self, octets: &[u8]) -> Result<(), End> {
        let Self { stream, context, timer, writing_since, .. } = self;
        // All writes between two reads share one deadline, so a client that reads a little at a time gains no time.
        let since = *writing_since.get_or_insert_with(Instant::now);
        let deadline = context.deadline(since, context.config.smtp.timeout, End::RepliesUnread);
        let write = async {
            stream.write_all(octets).await?;
            stream.flush().await
        };
        let stopped = async {
            context.stop.cancelled().await;
            sleep(LAST_REPLIES_TIME).await;
        };
        let written = tokio::select! {
            biased;
            written = in_time(timer, None, deadline, write) => written?,
            () = stopped => return Err(End::CutOff),
        };
        written.map_err(|_: io::Error| End::Gone)?;
        self.waiting_since = Instant::now();
        Ok(())
    }
}

/// When a read must have brought something.
struct Deadline<'a> {
    context: &'a Context<'a>,
    silence_since: Instant,
    /// Why silence ends the session.
    silence: End,
    session_since: Instant,
    transaction: Option<Flow>,
    is_in_message: bool,
}

impl Deadline<'_> {
    /// The deadline as things are, and why the session ends then.
    fn next(&self) -> (Instant, End) {
        let calm = self.when(false);
        if !self.context.is_crowded(self.transaction.is_some()) {
            return calm;
        }
        let (at, _) = self.when(true);
        if at < calm.0 { (at, End::Crowded) } else { calm }
    }

    fn when(&self, is_crowded: bool) -> (Instant, End) {
        let smtp = &self.context.config.smtp;
        let time = if is_crowded { smtp.timeout.min(self.crowded_time()) } else { smtp.timeout };
        let silence = (self.silence_since + time, self.silence);
        let whole = self.whole(is_crowded);
        if whole.0 < silence.0 { whole } else { silence }
    }

    /// The deadline of the transaction, in a crowd that of its message; else that of the session.
    fn whole(&self, is_crowded: bool) -> (Instant, End) {
        let constants = &self.context.config.constants;
        let Some(Flow { since, message_since, octets }) = self.transaction else {
            return (self.session_since + constants.smtp_session_timeout, End::LifeOver);
        };
        // The octets of a message that is too large anyway earn no time.
        let octets = octets.min(self.context.octets_max_on_wire());
        let earned = |rate: u64| Duration::from_millis(octets * 1_000 / rate.max(1));
        let rate = constants.smtp_octets_per_second_min;
        let calm = since + TRANSACTION_TIME.max(earned(rate));
        let hurried = message_since.filter(|_| is_crowded && self.is_in_message).map(|since| {
            since + TRANSACTION_TIME.min(self.crowded_time()).max(earned(rate.max(CROWDED_OCTETS_PER_SECOND)))
        });
        (hurried.map_or(calm, |hurried| hurried.min(calm)), End::SlowMessage)
    }

    const fn crowded_time(&self) -> Duration {
        self.context.config.constants.smtp_stress_timeout
    }
}

/// Does work until its deadline or a stop; the error is why it ended. The deadline is asked again now and then, because a
/// crowd may gather. One timer serves all waits of a connection: it is set only when it would come too late.
async fn in_time<T>(
    timer: &mut Option<Pin<Box<Sleep>>>,
    stop: Option<&CancellationToken>,
    deadline: impl Fn() -> (Instant, End),
    work: impl Future<Output = T>,
) -> Result<T, End> {
    let stopped = async {
        match stop {
            Some(stop) => stop.cancelled().await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(work, stopped);
    loop {
        let look = async {
            let ((at, end), now) = (deadline(), Instant::now());
            if at <= now {
                return Some(end);
            }
            let look_at = at.min(now + LOOK_EVERY);
            let timer = timer.get_or_insert_with(|| Box::pin(sleep_until(look_at)));
            if timer.is_elapsed() || timer.deadline() > look_at {
                timer.as_mut().reset(look_at);
            }
            timer.await;
            None
        };
        tokio::select! {
            biased;
            () = &mut stopped => return Err(End::Stopping),
            done = &mut work => return Ok(done),
            late = look => if let Some(end) = late { return Err(end) },
        }
    }
}
