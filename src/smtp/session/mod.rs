//! The protocol of one connection (RFC 5321, RFC 2033), without the connection.
//!
//! Octets go in, however they are cut; replies and [`Action`]s come out. Nothing here does I/O, waits or reads a clock, so
//! each dialog can be tested and fuzzed without a socket.
//!
//! ```text
//! commands     every command except those of a transaction
//! transaction  MAIL, RCPT, DATA and BDAT, and the refusal of a message for its size
//! faults       faults on purpose
//! action       what a session asks its connection to do
//! ```

mod action;
mod commands;
mod faults;
mod transaction;

use super::auth::{self, Exchange};
use super::body::{Body, Chunk};
use super::budget::Share;
use super::command::{self, Command};
use super::content::TextLines;
use super::data::Decoder;
use super::fault::{Parties, Stage};
use super::line::{self, Framed, Lines};
use super::metrics::ReplyCounts;
use super::path::ForwardPath;
use super::policy::Policy;
use super::reasons::End;
use super::reply::Reply;
use super::{Dialect, SmtpSettings};
use crate::model::{Greeting, TlsSession};
use crate::store::StoreError;

pub use action::{Action, Message};
use faults::Faults;
use transaction::Transaction;

/// How many octets of replies may be pending before they must be written. A reply can be longer than its command.
const REPLIES_OCTETS_MAX: usize = 16 * 1024;

/// The client's greeting.
struct ClientName {
    name: String,
    greeting: Greeting,
}

enum State {
    Command,
    /// STARTTLS was accepted; octets in the clear are no commands from now on.
    Handshake,
    /// Within an exchange of AUTH.
    Credentials(Exchange),
    /// After DATA.
    Data(Decoder, TextLines, Body),
    /// After BDAT.
    Chunk(Chunk),
    Closed(End),
}

/// A message that the store has not answered yet.
struct Storing {
    /// The memory of the message.
    _share: Share,
    /// The number of replies that the store's answer becomes.
    replies: usize,
}

/// One connection's side of the protocol.
pub struct Session<'a> {
    settings: &'a SmtpSettings,
    dialect: Dialect,
    policy: &'a dyn Policy,
    state: State,
    tls: Option<TlsSession>,
    is_authenticated: bool,
    lines: Lines,
    client_name: Option<ClientName>,
    transaction: Option<Transaction>,
    storing: Option<Storing>,
    /// A reply, and how many times it must be repeated before anything else.
    repeated: Option<(Reply, usize)>,
    replies: Vec<u8>,
    errors: u32,
    refusals: u64,
    /// The number of transactions so far.
    transactions: u64,
    refuses_transactions: bool,
    progress: u64,
    /// The most recipients of a transaction since the last stored message.
    recipients_since_stored_max: usize,
    reply_counts: ReplyCounts,
    faults: Faults,
    /// The command that waits for [`Action::LookUp`].
    looked_up: Option<Command>,
}

impl<'a> Session<'a> {
    /// A session whose greeting is ready to be written.
    pub fn new(settings: &'a SmtpSettings, dialect: Dialect, policy: &'a dyn Policy) -> Self {
        let mut session = Self {
            settings,
            dialect,
            policy,
            state: State::Command,
            tls: None,
            is_authenticated: false,
            lines: Lines::default(),
            client_name: None,
            transaction: None,
            storing: None,
            repeated: None,
            replies: Vec::new(),
            errors: 0,
            refusals: 0,
            transactions: 0,
            refuses_transactions: false,
            progress: 0,
            recipients_since_stored_max: 0,
            reply_counts: ReplyCounts::default(),
            faults: Faults::default(),
            looked_up: None,
        };
        let greeting = Reply::greeting(&settings.hostname, dialect.is_lmtp());
        let greeting = session.meet(Stage::Banner, Parties::None).err().unwrap_or(greeting);
        session.respond(greeting, 1);
        session
    }

    /// The pending replies, in order. The caller clears what it has written.
    pub fn replies(&mut self) -> &mut Vec<u8> {
        &mut self.replies
    }

    /// The name of the client; empty before its greeting.
    pub fn helo(&self) -> &str {
        self.client_name.as_ref().map_or("", |client| &client.name)
    }

    /// The number of commands and messages that were refused, for now or for good.
    pub const fn refusals(&self) -> u64 {
        self.refusals
    }

    /// The TLS session of the connection.
    pub const fn tls(&self) -> Option<&TlsSession> {
        self.tls.as_ref()
    }

    /// Counts of the replies since the last call.
    pub(super) fn take_reply_counts(&mut self) -> ReplyCounts {
        std::mem::take(&mut self.reply_counts)
    }

    /// The number of the open transaction.
    pub(super) const fn open_transaction(&self) -> Option<u64> {
        if self.is_in_data() || self.transaction.is_some() { Some(self.transactions) } else { None }
    }

    /// How much memory the incoming message reserves, in octets.
    pub(super) fn reserved_octets(&self) -> u64 {
        match (&self.state, &self.transaction) {
            (State::Data(_, _, body), _) => body.reserved_octets(),
            (State::Chunk(chunk), _) => chunk.reserved_octets(),
            (_, Some(transaction)) => transaction.reserved_octets(),
            (_, None) => 0,
        }
    }

    /// A number that grows with each stored message, and with each recipient of a transaction that has more recipients
    /// than any other since then. A client that repeats its transactions makes no progress.
    pub(super) const fn progress(&self) -> u64 {
        self.progress
    }

    /// Whether octets of a message come next.
    pub const fn is_in_data(&self) -> bool {
        matches!(self.state, State::Data(..) | State::Chunk(_))
    }

    /// Uses octets of `input` up to the next action, and moves `input` behind them.
    pub fn advance(&mut self, input: &mut &[u8]) -> Action {
        loop {
            if self.replies.len() >= REPLIES_OCTETS_MAX {
                return Action::Write;
            }
            if let Some(action) = self.advance_fault() {
                return action;
            }
            if let Some((reply, times)) = self.repeated.take() {
                self.answer_times(reply, times);
                continue;
            }
            match &mut self.state {
                State::Closed(end) => return Action::Close(*end),
                State::Handshake => return Action::StartTls,
                State::Data(decoder, lines, body) => {
                    let take = |content: &[u8]| {
                        if lines.take(content) {
                            body.push(content);
                        } else {
                            body.refuse(Reply::text_line_too_long(lines.octets_max()));
                        }
                    };
                    if !decoder.decode(input, take) {
                        return Action::Read;
                    }
                    if let Some(message) = self.end_of_data() {
                        return Action::Store(message);
                    }
                }
                State::Chunk(chunk) => {
                    if !chunk.take(input) {
                        return Action::Read;
                    }
                    if let Some(message) = self.end_of_chunk() {
                        return Action::Store(message);
                    }
                }
                State::Credentials(exchange) => {
                    let exchange = *exchange;
                    let progress = match self.lines.next(input, auth::LINE_OCTETS_MAX) {
                        Framed::Incomplete => return Action::Read,
                        Framed::Line(line) => exchange.respond(line),
                        Framed::TooLong(_) => Err(Reply::AUTH_LINE_TOO_LONG),
                        Framed::BareEnd(_) => Err(Reply::BARE_LINE_END),
                    };
                    self.state = State::Command;
                    let reply = progress.map_or_else(|refusal| refusal, |progress| self.authenticate(progress));
                    self.answer(&reply);
                }
                State::Command => {
                    if let Some(command) = self.looked_up.take() {
                        if let Some(reply) = self.execute(command) {
                            self.respond(reply, 1);
                        }
                        continue;
                    }
                    let command = match self.lines.next(input, line::LINE_OCTETS_MAX) {
                        Framed::Incomplete => return Action::Read,
                        Framed::Line(line) => command::parse(line, self.dialect),
                        Framed::TooLong(beginning) => command::of_too_long(beginning),
                        Framed::BareEnd(beginning) => command::of_bare_end(beginning),
                    };
                    if let Ok(Command::Rcpt { path: ForwardPath::Address(address), .. }) = &command
                        && self.policy.must_look_up(address.domain())
                    {
                        let domain = address.domain().clone();
                        self.looked_up = command.ok();
                        return Action::LookUp(domain);
                    }
                    if let Some(reply) = command.map_or_else(Some, |command| self.execute(command)) {
                        self.respond(reply, 1);
                    }
                }
            }
        }
    }

    /// Takes the store's answer to the message of the last [`Action::Store`]. `Ok`: the message is on the disk and visible.
    pub fn stored(&mut self, outcome: Result<(), StoreError>) {
        let times = self.storing.take().map_or(1, |storing| storing.replies);
        let reply = match outcome {
            // The only place that accepts a message: from here on this service is responsible for it.
            Ok(()) => {
                self.errors = 0;
                self.progress += 1;
                self.recipients_since_stored_max = 0;
                Some(Reply::STORED)
            }
            Err(error) => Reply::of_store_error(&error),
        };
        match reply {
            Some(reply) => self.answer_times(reply, times),
            None => self.state = State::Closed(End::OutcomeUnknown),
        }
    }

    /// Goes on after the TLS handshake. All that the client sent before is forgotten (RFC 3207 section 4.2); its errors
    /// still count.
    pub fn secured(&mut self, tls: TlsSession) {
        self.lines = Lines::default();
        self.looked_up = None;
        self.client_name = None;
        self.is_authenticated = false;
        self.transaction = None;
        self.tls = Some(tls);
        if matches!(self.state, State::Handshake) {
            self.state = State::Command;
        }
    }

    /// Ends the session because the service stops. An incomplete message is dropped.
    pub fn stop(&mut self) {
        self.end(&Reply::STOPPING);
    }

    /// Ends the session at the next MAIL: it has reached its maximum age.
    pub(super) const fn refuse_transactions(&mut self) {
        self.refuses_transactions = true;
    }

    /// Refuses a client, with a reply in place of the greeting. Must come before anything is written.
    pub(super) fn refuse(&mut self, reply: &Reply) {
        self.replies.clear();
        self.forget_faults();
        self.reply_counts = ReplyCounts::default();
        self.refusals += 1;
        self.end(reply);
    }

    /// Ends the session with its last reply, unless it has ended. An incomplete message is dropped. Repeated replies come
    /// first: an LMTP client that expects one per recipient would take the last reply for one of them.
    pub(super) fn end(&mut self, reply: &Reply) {
        if !matches!(self.state, State::Closed(_)) {
            self.forget_faults();
            if let Some((repeated, times)) = self.repeated.take() {
                (0..times).for_each(|_| self.write(&repeated));
            }
            self.write(reply);
            self.state = State::Closed(reply.end().unwrap_or(End::Stopping));
        }
    }

    /// Gives a reply so many times, as the end of a message in LMTP demands. The replies beyond the bound on pending ones
    /// follow before anything else is read. Together they count as one refusal or error.
    fn answer_times(&mut self, reply: Reply, times: usize) {
        for left in (1..times).rev() {
            if self.replies.len() >= REPLIES_OCTETS_MAX {
                self.repeated = Some((reply, left + 1));
                return;
            }
            self.write(&reply);
        }
        self.answer(&reply);
    }

    /// Gives a reply. Too many errors in a row end the session.
    fn answer(&mut self, reply: &Reply) {
        if reply.end().is_some() {
            return self.end(reply);
        }
        self.write(reply);
        self.refusals += u64::from(reply.is_refusal());
        self.errors += u32::from(reply.is_permanent());
        if self.errors >= self.settings.errors_max {
            self.end(&Reply::TOO_MANY_ERRORS);
        }
    }

    fn write(&mut self, reply: &Reply) {
        reply.write(&mut self.replies);
        self.reply_counts.add(reply);
    }
}

#[cfg(test)]
mod tests;
