//! One session (RFC 5321, RFC 2033): a method for each command, over a connection that knows its deadlines.
//!
//! ```text
//! transaction  MAIL, RCPT, DATA, BDAT, and the message that comes of them
//! faults       faults on purpose
//! ```

mod faults;
mod transaction;

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Dialect;
use super::auth::{self, Progress};
use super::backend::Backend;
use super::command::{self, Command};
use super::io::Io;
use super::line::{self, Framed};
use super::metrics::{Counters, SessionTotals};
use super::reasons::End;
use super::refusals::Refusals;
use super::reply::Reply;
use crate::admission::{Admission, What, Who};
use crate::config::Config;
use crate::connections::{Purpose, Stream};
use crate::fault::{Parties, Stage};
use crate::model::{Greeting, TlsSession};
use crate::tls::Keeper;

pub use transaction::Message;
use transaction::Transaction;

/// What surrounds a session.
pub struct Context<'a> {
    /// The settings.
    pub config: &'a Config,
    /// What the client may have.
    pub admission: &'a Arc<Admission>,
    /// Whose shares count.
    pub who: Who,
    /// The client's address.
    pub address: IpAddr,
    /// Who takes the mail.
    pub backend: &'a dyn Backend,
    /// The certificate for TLS, and the runtime of handshakes.
    pub tls: Option<(&'a Keeper, &'a Handle)>,
    /// Counters of all sessions.
    pub counters: &'a Counters,
    /// The log lines of refusals.
    pub refusals: &'a Refusals,
    /// The stop of the service. A message at the store gets its answer first.
    pub stop: &'a CancellationToken,
}

impl Context<'_> {
    /// Whether slow clients end sooner: connections are scarce, or the memory that a transaction needs.
    pub(super) fn is_crowded(&self, has_transaction: bool) -> bool {
        self.admission.is_crowded(What::SmtpConnection)
            || (has_transaction && self.admission.is_crowded(What::MailOctets))
    }

    /// The deadline of what began at `since` and may take so long, in a crowd no longer than others. `end` is the reason
    /// without a crowd.
    pub(super) fn deadline(&self, since: Instant, time: Duration, end: End) -> impl Fn() -> (Instant, End) {
        let crowded_time = self.config.constants.smtp_stress_timeout;
        move || {
            let is_hurried = crowded_time < time && self.is_crowded(false);
            if is_hurried { (since + crowded_time, End::Crowded) } else { (since + time, end) }
        }
    }

    /// The most octets of a message on the wire that may earn it time. After DATA each dot may be doubled.
    pub(super) const fn octets_max_on_wire(&self) -> u64 {
        self.config.mail.message_octets_max.saturating_mul(2)
    }
}

/// How a session ends: the reason, and the last reply if there is one.
#[derive(Debug)]
struct Ended(End, Option<Reply>);

impl From<End> for Ended {
    fn from(end: End) -> Self {
        Self(end, Reply::of_end(end))
    }
}

/// Why a command does not do what it is for.
#[derive(Debug)]
enum Refused {
    /// It gets this reply.
    Reply(Reply),
    /// The session ends.
    Ended(Ended),
}

impl From<Reply> for Refused {
    fn from(reply: Reply) -> Self {
        Self::Reply(reply)
    }
}

impl From<End> for Refused {
    fn from(end: End) -> Self {
        Self::Ended(end.into())
    }
}

impl From<Ended> for Refused {
    fn from(ended: Ended) -> Self {
        Self::Ended(ended)
    }
}

/// The client's greeting.
struct ClientName {
    name: String,
    greeting: Greeting,
}

/// One connection's side of the protocol.
struct Session<'a> {
    context: &'a Context<'a>,
    dialect: Dialect,
    io: Io<'a>,
    client: Option<ClientName>,
    is_authenticated: bool,
    tls: Option<TlsSession>,
    transaction: Option<Transaction>,
    /// 5yz replies since the last stored message.
    errors: u32,
    /// Commands and messages that were refused, for now or for good.
    refusals: u64,
    totals: SessionTotals<'a>,
    /// The command that is being carried out; empty for an unknown one.
    command: &'static str,
    /// The rate of the next reply in octets per second: a fault on purpose.
    slow: Option<NonZeroU32>,
    /// Why the session ended; `None` until it has.
    end: Option<End>,
}

/// Plays the session of a connection to its end, and returns why it ended.
pub async fn converse(stream: Stream, dialect: Dialect, context: &Context<'_>) -> End {
    let mut session = Session {
        context,
        dialect,
        io: Io::new(stream, context),
        client: None,
        is_authenticated: false,
        tls: None,
        transaction: None,
        errors: 0,
        refusals: 0,
        totals: SessionTotals::begin(context.counters),
        command: "",
        slow: None,
        end: None,
    };
    let Err(Ended(end, last)) = session.dialog().await;
    if let Some(reply) = last.filter(|_| session.io.is_open()) {
        context.counters.replied(&reply);
        // It can be lost only if the connection is.
        let _ = session.io.reply(&reply).await;
    }
    session.end = Some(end);
    session.io.close(end).await;
    end
}

/// Each session is counted and logged, however it ends. The line names no sender and no recipient.
impl Drop for Session<'_> {
    fn drop(&mut self) {
        let unforeseen = if std::thread::panicking() { End::Panicked } else { End::CutOff };
        let end = self.end.unwrap_or(unforeseen);
        self.totals.ended(end);
        tracing::info!(
            client = %self.context.address,
            helo = self.client.as_ref().map_or("", |client| &client.name),
            tls = self.tls.as_ref().map_or("", |tls| &tls.version),
            messages = self.totals.messages,
            recipients = self.totals.recipients,
            octets = self.totals.octets,
            refusals = self.refusals,
            duration_ms = u64::try_from(self.io.age().as_millis()).unwrap_or(u64::MAX),
            reason = end.as_str(),
            "smtp session ended"
        );
    }
}

impl Session<'_> {
    async fn dialog(&mut self) -> Result<std::convert::Infallible, Ended> {
        if self.dialect.purpose == Purpose::Smtps {
            self.tls = Some(self.io.secure().await?);
        }
        self.greet().await?;
        loop {
            let dialect = self.dialect;
            let command = self.io.line(line::LINE_OCTETS_MAX, |framed| match framed {
                Framed::TooLong(beginning) => command::of_too_long(beginning),
                Framed::BareEnd(beginning) => command::of_bare_end(beginning),
                Framed::Line(line) => command::parse(line, dialect),
            });
            let done = match command.await? {
                Ok(command) => {
                    self.command = command.as_str();
                    self.execute(command).await
                }
                Err(reply) => {
                    self.command = "";
                    Err(reply.into())
                }
            };
            match done {
                Ok(Some(reply)) | Err(Refused::Reply(reply)) => self.answer(reply).await?,
                Ok(None) => {}
                Err(Refused::Ended(ended)) => return Err(ended),
            }
        }
    }

    async fn greet(&mut self) -> Result<(), Ended> {
        let greeting = Reply::greeting(&self.context.config.smtp.hostname, self.dialect.is_lmtp());
        match self.meet(Stage::Banner, Parties::None).await {
            Ok(()) => self.answer(greeting).await,
            Err(Refused::Reply(reply)) => self.answer(reply).await,
            Err(Refused::Ended(ended)) => Err(ended),
        }
    }

    /// Does what a command is for. `None`: it has its replies already.
    async fn execute(&mut self, command: Command) -> Result<Option<Reply>, Refused> {
        let reply = match command {
            Command::Greeting(greeting, name) => self.greeted(greeting, name).await?,
            Command::Mail(mail) => self.mail(mail).await?,
            Command::Rcpt { path, is_ascii } => self.rcpt(path, is_ascii).await?,
            Command::Data => return self.data().await,
            Command::Bdat { octets, is_last } => return self.bdat(octets, is_last).await,
            Command::BdatOfUnknownSize => {
                self.answer(Reply::CHUNK_SYNTAX).await?;
                Reply::OUT_OF_SYNC
            }
            Command::StartTls => return self.start_tls().await.map(|()| None),
            Command::Auth(begun) => self.auth(begun).await?,
            Command::Rset => {
                self.end_transaction();
                Reply::OK
            }
            Command::Noop => Reply::OK,
            Command::Vrfy => Reply::NOT_VERIFIED,
            Command::Help => Reply::help(self.dialect, self.tls.is_some()),
            Command::Quit => Reply::BYE,
        };
        Ok(Some(reply))
    }

    /// Gives a reply. A last one ends the session, and so do too many errors in a row.
    async fn answer(&mut self, reply: Reply) -> Result<(), Ended> {
        self.answer_times(reply, 1).await
    }

    /// Gives a reply so many times, as the end of a message in LMTP demands. Together they are one refusal or error.
    async fn answer_times(&mut self, reply: Reply, times: usize) -> Result<(), Ended> {
        let end = reply.end();
        // The last reply follows when the session ends.
        for _ in 0..times - usize::from(end.is_some()) {
            self.context.counters.replied(&reply);
            self.io.reply(&reply).await?;
        }
        if reply.is_refusal() {
            self.refusals += 1;
            self.context.refusals.log(self.context.address, self.command, &reply);
        }
        if let Some(end) = end {
            return Err(Ended(end, Some(reply)));
        }
        if let Some(rate) = self.slow.take() {
            self.io.flush_slowly(rate).await?;
        }
        self.errors += u32::from(reply.is_permanent());
        if self.errors >= self.context.config.constants.smtp_errors_max {
            return Err(Ended(End::TooManyErrors, Some(Reply::TOO_MANY_ERRORS)));
        }
        Ok(())
    }

    async fn greeted(&mut self, greeting: Greeting, name: String) -> Result<Reply, Refused> {
        self.meet(Stage::Ehlo, Parties::None).await?;
        // RFC 5321 section 4.1.4: a greeting implies RSET.
        self.end_transaction();
        self.client = Some(ClientName { name, greeting });
        let (hostname, octets_max) = (&self.context.config.smtp.hostname, self.context.config.mail.message_octets_max);
        Ok(match greeting {
            Greeting::Helo => Reply::helo(hostname),
            Greeting::Ehlo | Greeting::Lhlo | Greeting::Http => {
                Reply::ehlo(hostname, octets_max, self.dialect, self.tls.is_some())
            }
        })
    }

    /// Does the handshake, after which the client must greet anew (RFC 3207 section 4.2); its errors still count.
    async fn start_tls(&mut self) -> Result<(), Refused> {
        if self.tls.is_some() {
            return Err(Reply::TLS_ALREADY.into());
        }
        if !self.dialect.offers_tls {
            return Err(Reply::NOT_OFFERED.into());
        }
        let met = self.meet(Stage::Tls, Parties::None).await;
        let is_dropped = matches!(met, Err(Refused::Ended(Ended(End::Fault, None))));
        if !is_dropped {
            met?;
        }
        self.answer(Reply::START_TLS).await?;
        if is_dropped {
            return Err(End::Fault.into());
        }
        self.tls = Some(self.io.secure().await?);
        self.end_transaction();
        (self.client, self.is_authenticated) = (None, false);
        Ok(())
    }

    async fn auth(&mut self, begun: Result<Progress, Reply>) -> Result<Reply, Refused> {
        if self.client.is_none() {
            return Err(Reply::greeting_first(self.dialect.is_lmtp()).into());
        }
        if self.is_authenticated {
            return Err(Reply::AUTH_ALREADY.into());
        }
        if self.transaction.is_some() {
            return Err(Reply::AUTH_TOO_LATE.into());
        }
        let mut progress = begun?;
        while let Progress::Challenge(exchange) = progress {
            self.answer(exchange.challenge()).await?;
            let response = self.io.line(auth::LINE_OCTETS_MAX, |framed| match framed {
                Framed::TooLong(_) => Err(Reply::AUTH_LINE_TOO_LONG),
                Framed::BareEnd(_) => Err(Reply::BARE_LINE_END),
                Framed::Line(line) => exchange.respond(line),
            });
            progress = response.await??;
        }
        self.is_authenticated = true;
        Ok(Reply::AUTHENTICATED)
    }
}

#[cfg(test)]
mod tests;
