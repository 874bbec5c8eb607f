//! The protocol of one connection (RFC 5321, RFC 2033), without the connection.
//!
//! Octets go in, however they were cut; replies and [`Step`]s come out. Nothing here does I/O, waits or reads a clock, so
//! every dialog can be played and fuzzed without a socket.

mod commands;
mod step;
mod transaction;

use super::auth::{self, Exchange};
use super::body::Body;
use super::budget::Share;
use super::chunk::Chunk;
use super::command;
use super::data::Decoder;
use super::line::{self, Framed, Lines};
use super::metrics::Said;
use super::policy::Policy;
use super::reply::Reply;
use super::text::TextLines;
use super::{Dialect, SmtpSettings};
use crate::model::{Greeting, TlsSession};
use crate::store::StoreError;

pub use step::{End, Message, Step};
use transaction::Transaction;

/// How many octets of replies may wait before they must be written: a reply can be longer than its command.
const REPLIES_OCTETS_MAX: usize = 16 * 1024;

/// Who the client says it is.
struct Client {
    name: String,
    greeting: Greeting,
}

enum State {
    Command,
    /// STARTTLS has been answered; whatever comes in the clear from now on is no command.
    Handshake,
    /// AUTH has asked for more.
    Credentials(Exchange),
    /// After DATA.
    Data(Decoder, TextLines, Body),
    /// After BDAT.
    Chunk(Chunk),
    Closed(End),
}

/// The message that is at the store.
struct AtStore {
    /// Its memory.
    _share: Share,
    /// How many replies its end has.
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
    client: Option<Client>,
    transaction: Option<Transaction>,
    at_store: Option<AtStore>,
    /// A reply that has to be said so many times more before anything else.
    owed: Option<(Reply, usize)>,
    replies: Vec<u8>,
    errors: u32,
    refusals: u64,
    /// How many transactions were begun.
    transactions: u64,
    /// No other is to begin.
    is_over: bool,
    /// How often the client has come nearer to a message that is stored.
    progress: u64,
    /// The most recipients that a transaction has had since the last one that was stored.
    recipients_most: usize,
    said: Said,
}

impl<'a> Session<'a> {
    /// A session whose greeting waits to be written.
    pub fn new(settings: &'a SmtpSettings, dialect: Dialect, policy: &'a dyn Policy) -> Self {
        let mut session = Self {
            settings,
            dialect,
            policy,
            state: State::Command,
            tls: None,
            is_authenticated: false,
            lines: Lines::default(),
            client: None,
            transaction: None,
            at_store: None,
            owed: None,
            replies: Vec::new(),
            errors: 0,
            refusals: 0,
            transactions: 0,
            is_over: false,
            progress: 0,
            recipients_most: 0,
            said: Said::default(),
        };
        session.answer(&Reply::greeting(&settings.hostname, dialect.is_lmtp()));
        session
    }

    /// The replies that wait to be written, in order. The caller clears what it has written.
    pub fn replies(&mut self) -> &mut Vec<u8> {
        &mut self.replies
    }

    /// What the client called itself; empty before its greeting.
    pub fn helo(&self) -> &str {
        self.client.as_ref().map_or("", |client| &client.name)
    }

    /// How many commands and messages were refused, for now or for good.
    pub const fn refusals(&self) -> u64 {
        self.refusals
    }

    /// What secures the connection.
    pub const fn tls(&self) -> Option<&TlsSession> {
        self.tls.as_ref()
    }

    /// The replies since the last call, counted.
    pub(super) fn take_said(&mut self) -> Said {
        std::mem::take(&mut self.said)
    }

    /// The number of the transaction that is open.
    pub(super) const fn open_transaction(&self) -> Option<u64> {
        if self.is_in_data() || self.transaction.is_some() { Some(self.transactions) } else { None }
    }

    /// How much memory is set aside for the message that is coming in.
    pub(super) fn held_octets(&self) -> u64 {
        match (&self.state, &self.transaction) {
            (State::Data(_, _, body), _) => body.held_octets(),
            (State::Chunk(chunk), _) => chunk.held_octets(),
            (_, Some(transaction)) => transaction.held_octets(),
            (_, None) => 0,
        }
    }

    /// A number that grows when a message is stored, and with each recipient beyond those that were accepted at once since
    /// then: who begins anew again and again gets nowhere.
    pub(super) const fn progress(&self) -> u64 {
        self.progress
    }

    /// Whether octets of a message are to come next.
    pub const fn is_in_data(&self) -> bool {
        matches!(self.state, State::Data(..) | State::Chunk(_))
    }

    /// Goes on with the octets of `input`, which is moved behind what was used, up to the next thing to do.
    pub fn advance(&mut self, input: &mut &[u8]) -> Step {
        loop {
            if self.replies.len() >= REPLIES_OCTETS_MAX {
                return Step::Write;
            }
            if let Some((reply, times)) = self.owed.take() {
                self.answer_times(reply, times);
                continue;
            }
            match &mut self.state {
                State::Closed(end) => return Step::Close(*end),
                State::Handshake => return Step::StartTls,
                State::Data(decoder, lines, body) => {
                    let take = |content: &[u8]| {
                        if lines.take(content) {
                            body.push(content);
                        } else {
                            body.refuse(Reply::text_line_too_long(lines.octets_max()));
                        }
                    };
                    if !decoder.decode(input, take) {
                        return Step::Read;
                    }
                    if let Some(message) = self.end_of_data() {
                        return Step::Store(message);
                    }
                }
                State::Chunk(chunk) => {
                    if !chunk.take(input) {
                        return Step::Read;
                    }
                    if let Some(message) = self.end_of_chunk() {
                        return Step::Store(message);
                    }
                }
                State::Credentials(exchange) => {
                    let exchange = *exchange;
                    let progress = match self.lines.next(input, auth::LINE_OCTETS_MAX) {
                        Framed::Incomplete => return Step::Read,
                        Framed::Line(line) => exchange.respond(line),
                        Framed::TooLong(_) => Err(Reply::AUTH_LINE_TOO_LONG),
                        Framed::BareEnd(_) => Err(Reply::BARE_LINE_END),
                    };
                    self.state = State::Command;
                    let reply = progress.map_or_else(|refusal| refusal, |progress| self.authenticate(progress));
                    self.answer(&reply);
                }
                State::Command => {
                    let command = match self.lines.next(input, line::LINE_OCTETS_MAX) {
                        Framed::Incomplete => return Step::Read,
                        Framed::Line(line) => command::parse(line, self.dialect),
                        Framed::TooLong(beginning) => command::of_too_long(beginning),
                        Framed::BareEnd(beginning) => command::of_bare_end(beginning),
                    };
                    if let Some(reply) = command.map_or_else(Some, |command| self.obey(command)) {
                        self.answer(&reply);
                    }
                }
            }
        }
    }

    /// Takes the store's answer to the message of the last [`Step::Store`]. `Ok` means that it is on disk and visible.
    pub fn stored(&mut self, outcome: Result<(), StoreError>) {
        let times = self.at_store.take().map_or(1, |at_store| at_store.replies);
        let reply = match outcome {
            // The only place that accepts a message; from here on it is ours.
            Ok(()) => {
                self.errors = 0;
                self.progress += 1;
                self.recipients_most = 0;
                Some(Reply::STORED)
            }
            Err(error) => Reply::of_store_error(&error),
        };
        match reply {
            Some(reply) => self.answer_times(reply, times),
            None => self.state = State::Closed(End::OutcomeUnknown),
        }
    }

    /// The connection is secured. All that the client said before is forgotten (RFC 3207 section 4.2), errors excepted.
    pub fn secured(&mut self, tls: TlsSession) {
        self.lines = Lines::default();
        self.client = None;
        self.is_authenticated = false;
        self.transaction = None;
        self.tls = Some(tls);
        if matches!(self.state, State::Handshake) {
            self.state = State::Command;
        }
    }

    /// Ends the session because the service stops. A message that has not come in whole is forgotten.
    pub fn stop(&mut self) {
        self.end(&Reply::STOPPING, End::Stopping);
    }

    /// The session has lasted long enough: MAIL ends it.
    pub(super) const fn begin_no_more(&mut self) {
        self.is_over = true;
    }

    /// Ends the session because of how its client kept time. A message that has not come in whole is forgotten.
    pub fn late(&mut self, end: End) {
        self.end(&Reply::of_lateness(end), end);
    }

    /// Refuses a client that has sent something before it was greeted (RFC 5321 section 4.3.1): what does not wait for
    /// a server's answer is no mail client. Before anything is written.
    pub fn spoke_first(&mut self) {
        self.forget_greeting();
        self.end(&Reply::SPOKE_FIRST, End::SpokeFirst);
    }

    /// Refuses a client for who it is (RFC 5321 section 3.1), with a reply in place of the greeting. Before anything is
    /// written.
    pub(super) fn refuse(&mut self, reply: &Reply) {
        self.forget_greeting();
        self.refusals += 1;
        self.end(reply, End::Refused);
    }

    fn forget_greeting(&mut self) {
        self.replies.clear();
        self.said = Said::default();
    }

    /// Says a reply so many times, as the end of a message in LMTP has it: at once what fits among the waiting ones, the
    /// others before anything else is read. It counts once.
    fn answer_times(&mut self, reply: Reply, times: usize) {
        for left in (1..times).rev() {
            if self.replies.len() >= REPLIES_OCTETS_MAX {
                self.owed = Some((reply, left + 1));
                return;
            }
            self.say(&reply);
        }
        self.answer(&reply);
    }

    fn answer(&mut self, reply: &Reply) {
        match reply.code() {
            221 => return self.end(reply, End::Quit),
            421 if *reply == Reply::LIFE_OVER => return self.end(reply, End::LifeOver),
            421 => return self.end(reply, End::Stopping),
            _ => self.say(reply),
        }
        self.refusals += u64::from(reply.is_refusal());
        self.errors += u32::from(reply.is_permanent());
        if self.errors >= self.settings.bounds.errors_max {
            self.end(&Reply::TOO_MANY_ERRORS, End::TooManyErrors);
        }
    }

    /// Says the last word, unless it has been said. What is owed comes before it: who was promised a reply for each
    /// recipient would take the last word for one of them.
    fn end(&mut self, reply: &Reply, end: End) {
        if !matches!(self.state, State::Closed(_)) {
            if let Some((owed, times)) = self.owed.take() {
                (0..times).for_each(|_| self.say(&owed));
            }
            self.say(reply);
            self.state = State::Closed(end);
        }
    }

    fn say(&mut self, reply: &Reply) {
        reply.write(&mut self.replies);
        self.said.add(reply);
    }
}

#[cfg(test)]
mod tests;
