//! One connection: reads, writes and waits for its session, and hands messages to the store.

use std::io;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

use super::accept::{self, Accepted};
use super::deadlines::Expected;
use super::eviction::Slot;
use super::metrics::SessionTotals;
use super::policy::Rules;
use super::reasons::End;
use super::reply::Reply;
use super::session::{Action, Message, Session};
use super::stream::Stream;
use super::{Dialect, Receiver, fault, timeout};
use crate::connections;
use crate::model::{Delivery, DomainName, Envelope};
use crate::random;

/// How much one read takes at first.
const READ_OCTETS: usize = 8 * 1024;
/// How much one read takes from a client that has filled the small buffer.
const READ_OCTETS_MAX: usize = 64 * 1024;
/// How much memory for replies stays allocated after they are written; most replies are short.
const REPLIES_OCTETS_IDLE: usize = 1024;

/// Serves one client until its session ends.
pub(super) async fn run(accepted: Accepted<'_>, dialect: Dialect, receiver: &Receiver, shutdown: &CancellationToken) {
    let Accepted { mut stream, address, of_client, slot, tls, gauge } = accepted;
    let totals = SessionTotals::begin(&receiver.counters, receiver.clock.boot());
    let now = || receiver.clock.now();
    let rules = Rules {
        settings: &receiver.settings,
        store: receiver.store.as_ref(),
        domains: &receiver.domains,
        bodies: &receiver.bodies,
        faults: &receiver.faults,
        client: of_client.client(),
        now: &now,
    };
    let mut session = Session::new(&receiver.settings, dialect, &rules);
    if let Some(tls) = tls {
        session.secured(tls);
    }
    if let Err(refusal) = receiver.settings.policy.client(address) {
        session.refuse(&refusal);
    } else if stream.has_spoken().await {
        session.refuse(&Reply::SPOKE_FIRST);
    }
    let mut connection =
        Connection { stream, address, receiver, shutdown, session, totals, slot, writing_since: None, end: None };
    connection.end = Some(connection.converse().await);
    // The gauge goes first: the next connection in the slot must not be counted beside this one.
    drop(gauge);
    drop(connection);
    drop(of_client);
}

struct Connection<'a> {
    stream: Stream,
    address: IpAddr,
    receiver: &'a Receiver,
    shutdown: &'a CancellationToken,
    session: Session<'a>,
    totals: SessionTotals<'a>,
    slot: Slot,
    /// When the writing of replies began, since the last read and the last answer of the store.
    writing_since: Option<Duration>,
    /// Why the session ended; `None` until it has.
    end: Option<End>,
}

/// Each session is counted and logged, however it ends. The line names no sender and no recipient.
impl Drop for Connection<'_> {
    fn drop(&mut self) {
        let unforeseen = if std::thread::panicking() { End::Panicked } else { End::CutOff };
        let end = self.end.unwrap_or(unforeseen);
        let Self { totals, session, .. } = self;
        totals.ended(end);
        let duration = self.receiver.clock.boot().saturating_sub(totals.began_at);
        tracing::info!(
            client = %self.address,
            helo = session.helo(),
            tls = session.tls().map_or("", |tls| &tls.version),
            messages = totals.messages,
            recipients = totals.recipients,
            octets = totals.octets,
            refusals = session.refusals(),
            duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            reason = end.as_str(),
            "smtp session ended"
        );
    }
}

impl Connection<'_> {
    /// Plays the session until it ends; the reason.
    async fn converse(&mut self) -> End {
        let mut buffer = vec![0; READ_OCTETS];
        let mut unread = 0..0;
        let mut was_in_data = false;
        loop {
            if self.shutdown.is_cancelled() {
                self.session.stop();
            } else if self.slot.timer().is_session_over(self.receiver.slots.rules(), self.receiver.clock.boot()) {
                self.session.refuse_transactions();
            }
            let mut input = &buffer[unread.clone()];
            let action = self.session.advance(&mut input);
            unread.start = unread.end - input.len();
            self.expect();
            self.log_faults();
            if let Err(end) = self.write().await {
                return end;
            }
            match action {
                Action::Write => {}
                Action::Wait(delay) => self.wait(delay).await,
                Action::LookUp(domain) => self.look_up(&domain).await,
                Action::Store(message) => {
                    self.store(message).await;
                    self.writing_since = None;
                }
                Action::Read => {
                    was_in_data = self.session.is_in_data();
                    // Only a message that arrives faster than it is read gets a large buffer; an idle client keeps a
                    // small one.
                    let is_fast = was_in_data && unread.end >= READ_OCTETS && self.stream.has_octets();
                    buffer.resize(if is_fast { READ_OCTETS_MAX } else { READ_OCTETS }, 0);
                    buffer.shrink_to_fit();
                    match self.read(&mut buffer).await {
                        Ok(octets) => unread = 0..octets,
                        Err(end) => return end,
                    }
                }
                Action::StartTls => {
                    // An attacker may have put octets behind STARTTLS in the clear; they must never become commands.
                    unread = 0..0;
                    match accept::secure(&mut self.stream, &self.slot, self.receiver, self.shutdown).await {
                        Ok(tls) => self.session.secured(tls),
                        Err(end) => return end,
                    }
                }
                Action::Close(end) => {
                    let may_send_on = match end {
                        End::Quit => false,
                        // Another client needs the slot.
                        End::Evicted | End::Stressed => was_in_data || self.stream.has_octets(),
                        _ => true,
                    };
                    connections::close(&mut self.stream, &mut buffer, may_send_on).await;
                    return end;
                }
            }
        }
    }

    /// Tells the timer what the session expects next.
    fn expect(&mut self) {
        let expected = Expected {
            is_in_data: self.session.is_in_data(),
            transaction: self.session.open_transaction(),
            has_replied: !self.session.replies().is_empty(),
            progress: self.session.progress(),
        };
        self.slot.timer().expect(expected, self.receiver.clock.boot());
    }

    /// Reads what has arrived. With 0 octets the session has ended, and its last reply is ready.
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, End> {
        let Self { receiver, slot, .. } = self;
        self.writing_since = None;
        let (clock, slots) = (&*receiver.clock, &receiver.slots);
        let reserved = self.session.reserved_octets();
        // A client that reserves memory is under stress while memory is scarce, too.
        let deadline = || match reserved {
            1.. if receiver.bodies.is_scarce() => {
                slot.timer().deadline(&slots.rules().with_scarce_memory(reserved), true)
            }
            _ => slot.timer().deadline(slots.rules(), slots.is_stressed()),
        };
        // Eviction is checked before reading: a client that sends without end could delay it for ever.
        let read = tokio::select! {
            biased;
            () = self.shutdown.cancelled() => {
                self.session.stop();
                return Ok(0);
            }
            () = slot.evicted() => Err(End::Evicted),
            read = timeout::wait(clock, slots, None, deadline, self.stream.read(buffer)) => read,
        };
        match read {
            Ok(Ok(0) | Err(_)) => Err(End::Gone),
            Ok(Ok(octets)) => {
                slot.timer().received(octets, clock.boot());
                Ok(octets)
            }
            Err(end) => {
                self.session.end(&Reply::of_end(end));
                Ok(0)
            }
        }
    }

    /// Writes the pending replies, in one piece unless a fault makes them slow.
    async fn write(&mut self) -> Result<(), End> {
        let counts = self.session.take_reply_counts();
        self.receiver.counters.add(&counts);
        let mut replies = std::mem::take(self.session.replies());
        if replies.is_empty() {
            return Ok(());
        }
        match self.session.take_rate() {
            None => self.write_octets(&replies).await?,
            Some(rate) => self.write_slowly(&replies, rate).await?,
        }
        replies.clear();
        replies.shrink_to(REPLIES_OCTETS_IDLE);
        *self.session.replies() = replies;
        Ok(())
    }

    async fn write_octets(&mut self, octets: &[u8]) -> Result<(), End> {
        let Self { receiver, slot, stream, .. } = self;
        let write = async {
            stream.write_all(octets).await?;
            stream.flush().await
        };
        // All writes between two reads share one deadline, so a client that reads a little at a time gains no time.
        let began_at = *self.writing_since.get_or_insert_with(|| receiver.clock.boot());
        let slots = &receiver.slots;
        let deadline = timeout::deadline(slots, began_at, slots.rules().client, End::RepliesUnread);
        let written = timeout::wait(&*receiver.clock, slots, Some(slot), deadline, write).await;
        written?.map_err(|_: io::Error| End::Gone)?;
        slot.timer().replied(receiver.clock.boot());
        Ok(())
    }

    /// Writes octets at a rate per second. What is left after [`fault::DELAY_MAX`], or when the service stops, follows at
    /// once.
    async fn write_slowly(&mut self, octets: &[u8], rate: NonZeroU32) -> Result<(), End> {
        let pause = Duration::from_secs(1) / rate.get();
        let ends_at = self.receiver.clock.boot() + fault::DELAY_MAX;
        for (at, octet) in octets.iter().enumerate() {
            if self.shutdown.is_cancelled() || self.receiver.clock.boot() >= ends_at {
                return self.write_octets(&octets[at..]).await;
            }
            self.write_octets(&[*octet]).await?;
            self.wait(pause).await;
        }
        Ok(())
    }

    /// Waits for a fault. The connection keeps its slot, and the time does not count for the client. A stop ends the wait.
    async fn wait(&mut self, delay: Duration) {
        self.writing_since = None;
        self.slot.timer().suspend(self.receiver.clock.boot());
        tokio::select! {
            biased;
            () = self.shutdown.cancelled() => {}
            () = self.slot.evicted() => {}
            () = tokio::time::sleep(delay) => {}
        }
    }

    /// Asks the shared store about a domain. The time does not count for the client.
    async fn look_up(&mut self, domain: &DomainName) {
        self.writing_since = None;
        self.slot.timer().suspend(self.receiver.clock.boot());
        self.receiver.domains.look_up(domain).await;
    }

    fn log_faults(&mut self) {
        for fault in self.session.take_injected() {
            tracing::debug!(client = %self.address, stage = fault.stage.as_str(), rule = fault.id, "fault on purpose");
        }
    }

    /// Hands a message to the store, and the store's answer to the session. A stop waits for this.
    async fn store(&mut self, message: Message) {
        let Receiver { settings, store, clock, .. } = self.receiver;
        self.slot.timer().suspend(clock.boot());
        let received_at = clock.now();
        let envelope = Envelope::new(
            self.address,
            message.helo,
            message.protocol,
            message.reverse_path,
            &message.recipients,
            settings.subaddressing,
            || random::email_id(received_at),
        );
        let recipients = envelope.recipients.len() as u64;
        let octets = message.raw.len() as u64;
        let expires_at = received_at.plus(settings.retention);
        let outcome = store.receive(Delivery { envelope, raw: message.raw, received_at, expires_at }).await;
        match &outcome {
            Ok(()) => self.totals.stored(recipients, octets),
            Err(error) => tracing::warn!(client = %self.address, %error, "message not stored; its sender retries"),
        }
        self.session.stored(outcome);
    }
}
