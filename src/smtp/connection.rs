//! One socket: what the session asks for is read, written and waited for here.

use std::io;
use std::net::IpAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::entrance::{self, Arrival};
use super::policy::Rules;
use super::session::{End, Message, Session, Step};
use super::stream::Stream;
use super::{Dialect, Receiver};
use crate::model::{Delivery, Envelope};

/// What one read takes from a client that sends little.
const READ_OCTETS: usize = 8 * 1024;
/// What one read takes from a client that has filled the small buffer.
const READ_OCTETS_MAX: usize = 64 * 1024;
/// How long, and how many octets, a client that was cut short may go on sending into the void.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_OCTETS_MAX: usize = 1024 * 1024;

/// What a session amounted to, for the log.
#[derive(Debug, Default)]
struct Tally {
    messages: u64,
    recipients: u64,
    octets: u64,
}

/// Serves one client until either side has had enough.
pub(super) async fn run(arrival: Arrival, dialect: Dialect, receiver: &Receiver, shutdown: &CancellationToken) {
    let Arrival { stream, client, tls, has_spoken } = arrival;
    let began = receiver.clock.boot();
    let now = || receiver.clock.now();
    let rules = Rules {
        settings: &receiver.settings,
        store: receiver.store.as_ref(),
        domains: &receiver.domains,
        bodies: &receiver.bodies,
        now: &now,
    };
    let mut session = Session::new(&receiver.settings, dialect, &rules);
    if let Some(tls) = tls {
        session.secured(tls);
    }
    if has_spoken {
        session.spoke_first();
    }
    if let Err(refusal) = receiver.settings.policy.client(client) {
        session.refuse(&refusal);
    }
    let mut connection = Connection { stream, client, receiver, shutdown, session, tally: Tally::default() };
    let end = connection.converse().await;
    let Connection { session, tally, .. } = &connection;
    tracing::info!(
        %client,
        helo = session.helo(),
        tls = session.tls().map_or("", |tls| &tls.version),
        messages = tally.messages,
        recipients = tally.recipients,
        octets = tally.octets,
        refusals = session.refusals(),
        duration_ms = receiver.clock.boot().saturating_sub(began).as_millis(),
        reason = end.as_str(),
        "smtp session ended"
    );
}

struct Connection<'a> {
    stream: Stream,
    client: IpAddr,
    receiver: &'a Receiver,
    shutdown: &'a CancellationToken,
    session: Session<'a>,
    tally: Tally,
}

impl Connection<'_> {
    async fn converse(&mut self) -> End {
        let mut buffer = vec![0; READ_OCTETS];
        let mut unread = 0..0;
        let mut was_in_data = false;
        loop {
            if self.shutdown.is_cancelled() {
                self.session.stop();
            }
            let mut input = &buffer[unread.clone()];
            let step = self.session.advance(&mut input);
            unread.start = unread.end - input.len();
            if let Err(end) = self.write().await {
                return end;
            }
            match step {
                Step::Write => {}
                Step::Store(message) => self.store(message).await,
                Step::Read => {
                    was_in_data = self.session.is_in_data();
                    // A buffer that was filled to the brim is too small for this client.
                    if unread.end == buffer.len() {
                        buffer.resize(READ_OCTETS_MAX, 0);
                    }
                    match self.read(&mut buffer).await {
                        Ok(octets) => unread = 0..octets,
                        Err(end) => return end,
                    }
                }
                Step::StartTls => {
                    // What came in the clear behind STARTTLS may be anybody's; it must never be a command.
                    unread = 0..0;
                    match entrance::secure(&mut self.stream, self.receiver, self.shutdown).await {
                        Ok(tls) => self.session.secured(tls),
                        Err(end) => return end,
                    }
                }
                Step::Close(end) => {
                    let is_cut_short = was_in_data
                        || !unread.is_empty()
                        || matches!(end, End::TooManyErrors | End::SpokeFirst | End::Refused);
                    self.close(&mut buffer, is_cut_short && end != End::Quit).await;
                    return end;
                }
            }
        }
    }

    /// Reads what has come. 0 octets: nothing more will be read, and the session has been told why.
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, End> {
        let octets = tokio::select! {
            biased;
            () = self.shutdown.cancelled() => None,
            octets = timeout(self.receiver.settings.idle_timeout, self.stream.read(buffer)) => Some(octets),
        };
        match octets {
            Some(Ok(Ok(0) | Err(_))) => return Err(End::Gone),
            Some(Ok(Ok(octets))) => return Ok(octets),
            Some(Err(_elapsed)) => self.session.idle(),
            None => self.session.stop(),
        }
        Ok(0)
    }

    /// Writes the replies that wait, in one piece.
    async fn write(&mut self) -> Result<(), End> {
        let replies = self.session.replies();
        if replies.is_empty() {
            return Ok(());
        }
        let stream = &mut self.stream;
        let write = async {
            stream.write_all(replies).await?;
            stream.flush().await
        };
        let written: Result<io::Result<()>, _> = timeout(self.receiver.settings.idle_timeout, write).await;
        replies.clear();
        match written {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(End::Gone),
            Err(_elapsed) => Err(End::Idle),
        }
    }

    /// Hands a message to the store and its answer to the session. Stopping waits for this.
    async fn store(&mut self, message: Message) {
        let Receiver { settings, store, clock, .. } = self.receiver;
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
            Ok(()) => {
                self.tally.messages += 1;
                self.tally.recipients += recipients;
                self.tally.octets += octets;
            }
            Err(error) => tracing::warn!(client = %self.client, %error, "message not kept"),
        }
        self.session.stored(outcome);
    }

    /// Closes our direction. A client that was cut short may still be sending: closing with octets unread makes the
    /// kernel reset the connection, and the last reply could be lost with it, so for a moment they are read and dropped.
    async fn close(&mut self, buffer: &mut [u8], is_cut_short: bool) {
        let stream = &mut self.stream;
        let close = async {
            stream.shutdown().await?;
            let mut dropped = 0;
            while is_cut_short && dropped < LINGER_OCTETS_MAX {
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
