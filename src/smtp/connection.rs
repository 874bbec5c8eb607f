//! One socket: what the session asks for is read, written and waited for here.

use std::io;
use std::net::IpAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::accept::{self, Arrival};
use super::deadlines::{PaceLimits, Prompt};
use super::eviction::Seating;
use super::metrics::Tally;
use super::policy::Rules;
use super::session::{End, Message, Session, Step};
use super::stream::Stream;
use super::timeout;
use super::{Dialect, Receiver};
use crate::model::{Delivery, Envelope};

/// What one read takes from a client that sends little.
const READ_OCTETS: usize = 8 * 1024;
/// What one read takes from a client that has filled the small buffer.
const READ_OCTETS_MAX: usize = 64 * 1024;
/// What is kept of the memory for replies once they are written: most of them are short.
const REPLIES_OCTETS_KEPT: usize = 1024;
/// How long, and how many octets, a client that was cut short may go on sending into the void.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_OCTETS_MAX: usize = 1024 * 1024;

/// Serves one client until either side has had enough.
pub(super) async fn run(arrival: Arrival<'_>, dialect: Dialect, receiver: &Receiver, shutdown: &CancellationToken) {
    let Arrival { mut stream, client, place, seating, tls, counted } = arrival;
    let began_at = receiver.clock.boot();
    let now = || receiver.clock.now();
    let rules = Rules {
        settings: &receiver.settings,
        store: receiver.store.as_ref(),
        domains: &receiver.domains,
        bodies: &receiver.bodies,
        holder: place.holder(),
        now: &now,
    };
    let mut session = Session::new(&receiver.settings, dialect, &rules);
    if let Some(tls) = tls {
        session.secured(tls);
    }
    if let Err(refusal) = receiver.settings.policy.client(client) {
        session.refuse(&refusal);
    } else if stream.has_spoken().await {
        session.spoke_first();
    }
    let tally = Tally::new(&receiver.counters, client, began_at);
    let limits = receiver.settings.pace_limits();
    let mut connection = Connection {
        stream,
        client,
        receiver,
        shutdown,
        session,
        tally,
        seating,
        limits,
        writing_since: None,
        end: None,
    };
    connection.end = Some(connection.converse().await);
    // Whoever gets the place is not counted beside this one.
    drop(counted);
    drop(connection);
    drop(place);
}

struct Connection<'a> {
    stream: Stream,
    client: IpAddr,
    receiver: &'a Receiver,
    shutdown: &'a CancellationToken,
    session: Session<'a>,
    tally: Tally<'a>,
    seating: Seating,
    limits: PaceLimits,
    /// When the first reply since the last read, or the last answer of the store, began to be written.
    writing_since: Option<Duration>,
    /// Why it ended; `None` until it has.
    end: Option<End>,
}

/// However a session ends, it is counted and has its line in the log.
impl Drop for Connection<'_> {
    fn drop(&mut self) {
        let unforeseen = if std::thread::panicking() { End::Panicked } else { End::CutOff };
        self.tally.end(&self.session, self.end.unwrap_or(unforeseen), self.receiver.clock.boot());
    }
}

impl Connection<'_> {
    async fn converse(&mut self) -> End {
        let mut buffer = vec![0; READ_OCTETS];
        let mut unread = 0..0;
        let mut was_in_data = false;
        loop {
            if self.shutdown.is_cancelled() {
                self.session.stop();
            } else if self.seating.pace().is_over(&self.limits, self.receiver.clock.boot()) {
                self.session.begin_no_more();
            }
            let mut input = &buffer[unread.clone()];
            let step = self.session.advance(&mut input);
            unread.start = unread.end - input.len();
            self.prompt();
            if let Err(end) = self.write().await {
                return end;
            }
            match step {
                Step::Write => {}
                Step::Store(message) => {
                    self.store(message).await;
                    self.writing_since = None;
                }
                Step::Read => {
                    was_in_data = self.session.is_in_data();
                    // A large buffer is for a message that comes faster than it is read, and for no longer than it does: who
                    // is waited for has a small one.
                    let is_fast = was_in_data && unread.end >= READ_OCTETS && self.stream.has_octets();
                    buffer.resize(if is_fast { READ_OCTETS_MAX } else { READ_OCTETS }, 0);
                    buffer.shrink_to_fit();
                    match self.read(&mut buffer).await {
                        Ok(octets) => unread = 0..octets,
                        Err(end) => return end,
                    }
                }
                Step::StartTls => {
                    // What came in the clear behind STARTTLS may be anybody's; it must never be a command.
                    unread = 0..0;
                    match accept::secure(&mut self.stream, &self.seating, self.receiver, self.shutdown).await {
                        Ok(tls) => self.session.secured(tls),
                        Err(end) => return end,
                    }
                }
                Step::Close(end) => {
                    let may_go_on = match end {
                        End::Quit => false,
                        // Its place is wanted.
                        End::MadeRoom | End::Stressed => was_in_data || self.stream.has_octets(),
                        _ => true,
                    };
                    self.close(&mut buffer, may_go_on).await;
                    return end;
                }
            }
        }
    }

    /// Notes what the client is to do next.
    fn prompt(&mut self) {
        let prompt = Prompt {
            is_in_data: self.session.is_in_data(),
            transaction: self.session.open_transaction(),
            has_answered: !self.session.replies().is_empty(),
            progress: self.session.progress(),
        };
        self.seating.pace().prompted(prompt, self.receiver.clock.boot());
    }

    /// Reads what has come. 0 octets: nothing more will be read, and the session has been told why.
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, End> {
        let Self { receiver, seating, limits, .. } = self;
        self.writing_since = None;
        let held = self.session.held_octets();
        // Who holds memory while it is scarce is under stress as well.
        let deadline = || match held {
            1.. if receiver.bodies.is_scarce() => seating.pace().deadline(&limits.holding(held), true),
            _ => seating.pace().deadline(limits, receiver.places.is_stressed()),
        };
        // Whoever sends without end is not read on once it must go.
        let heard = tokio::select! {
            biased;
            () = self.shutdown.cancelled() => {
                self.session.stop();
                return Ok(0);
            }
            () = seating.must_leave() => Err(End::MadeRoom),
            heard = timeout::wait(receiver, None, deadline, self.stream.read(buffer)) => heard,
        };
        match heard {
            Ok(Ok(0) | Err(_)) => Err(End::Gone),
            Ok(Ok(octets)) => {
                seating.pace().heard(octets, receiver.clock.boot());
                Ok(octets)
            }
            Err(end) => {
                self.session.late(end);
                Ok(0)
            }
        }
    }

    /// Writes the replies that wait, in one piece.
    async fn write(&mut self) -> Result<(), End> {
        let said = self.session.take_said();
        let replies = self.session.replies();
        if replies.is_empty() {
            return Ok(());
        }
        let Self { receiver, seating, stream, .. } = self;
        receiver.counters.add(&said);
        let write = async {
            stream.write_all(replies).await?;
            stream.flush().await
        };
        // All that is written between two reads has one allowance: a client that takes a little at a time gains nothing.
        let began_at = *self.writing_since.get_or_insert_with(|| receiver.clock.boot());
        let most = receiver.settings.bounds.reply_timeout;
        let deadline = timeout::allowance(receiver, began_at, most, End::RepliesUnread);
        let written = timeout::wait(receiver, Some(seating), deadline, write).await;
        replies.clear();
        replies.shrink_to(REPLIES_OCTETS_KEPT);
        written?.map_err(|_: io::Error| End::Gone)?;
        seating.pace().answered(receiver.clock.boot());
        Ok(())
    }

    /// Hands a message to the store and its answer to the session. Stopping waits for this.
    async fn store(&mut self, message: Message) {
        let Receiver { settings, store, clock, .. } = self.receiver;
        self.seating.pace().occupied(clock.boot());
        let received_at = clock.now();
        let envelope = Envelope::new(
            self.client,
            message.helo,
            message.protocol,
            message.reverse_path,
            &message.recipients,
            settings.subaddressing,
            received_at,
        );
        let recipients = envelope.recipients.len() as u64;
        let octets = message.raw.len() as u64;
        let expires_at = received_at.plus(settings.retention);
        let outcome = store.receive(Delivery { envelope, raw: message.raw, received_at, expires_at }).await;
        match &outcome {
            Ok(()) => self.tally.stored(recipients, octets),
            Err(error) => tracing::warn!(client = %self.client, %error, "message not kept"),
        }
        self.session.stored(outcome);
    }

    /// Closes our direction. A client that did not say QUIT may still be sending: closing with octets unread makes the
    /// kernel reset the connection, and the last reply could be lost with it, so for a moment they are read and dropped.
    async fn close(&mut self, buffer: &mut [u8], may_go_on: bool) {
        let stream = &mut self.stream;
        let close = async {
            stream.shutdown().await?;
            let mut dropped = 0;
            while may_go_on && dropped < LINGER_OCTETS_MAX {
                match stream.read(buffer).await? {
                    0 => break,
                    octets => dropped += octets,
                }
            }
            io::Result::Ok(())
        };
        // Whatever happens to a connection that is given up, nobody is left to be told.
        let _ = timeout(LINGER, close).await;
    }
}
