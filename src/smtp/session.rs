//! The protocol of one connection (RFC 5321), without the connection.
//!
//! Octets go in, however they were cut; replies and [`Step`]s come out. Nothing here does I/O, waits or reads a clock, so
//! every dialog can be played and fuzzed without a socket.

use bytes::Bytes;

use super::budget::Share;
use super::command::{self, Command};
use super::data::{Body, Overflow};
use super::line::{Framed, Lines};
use super::path::ForwardPath;
use super::policy::Policy;
use super::reply::Reply;
use super::{Dialect, SmtpSettings};
use crate::model::{Address, Protocol};
use crate::store::StoreError;

/// How many octets of replies may wait before they must be written: a reply can be longer than its command.
const REPLIES_OCTETS_MAX: usize = 16 * 1024;

/// What the connection has to do next.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// All octets are used up: write the replies, then read more.
    Read,
    /// Enough replies are waiting: write them, then go on with what is left of the octets.
    Write,
    /// Hand the message to the store and its answer to [`Session::stored`], then go on.
    Store(Message),
    /// Write the replies, throw away every octet that was read and not used, and secure the connection; then go on with
    /// [`Session::secured`].
    StartTls,
    /// Write the replies and close.
    Close(End),
}

/// What secures a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsSession {
    /// The version of TLS, such as `TLSv1.3`.
    pub version: String,
    /// The name of the cipher suite in IANA's registry.
    pub cipher: String,
}

/// A message that has come in whole, with its transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// What the client called itself.
    pub helo: String,
    /// Whether it said HELO or EHLO.
    pub protocol: Protocol,
    /// Without brackets and source route; empty for the null sender.
    pub reverse_path: String,
    /// At least one and at most [`SmtpSettings::recipients_max`], as often as they were named.
    pub recipients: Vec<Address>,
    /// The octets as sent, without transparency and the final dot.
    pub raw: Bytes,
}

/// Why a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The client said QUIT.
    Quit,
    /// The client closed the connection, or it broke.
    Gone,
    /// Nothing came, or nothing could be written, for too long.
    Idle,
    /// The client made too many errors in a row.
    TooManyErrors,
    /// The handshake of TLS failed or took too long.
    TlsFailed,
    /// The service is stopping.
    Stopping,
    /// The store could not tell whether it kept a message, so there was nothing true to say.
    OutcomeUnknown,
}

impl End {
    /// The word for the log.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Quit => "quit",
            Self::Gone => "gone",
            Self::Idle => "idle",
            Self::TooManyErrors => "too many errors",
            Self::TlsFailed => "TLS failed",
            Self::Stopping => "stopping",
            Self::OutcomeUnknown => "outcome unknown",
        }
    }
}

/// Who the client says it is.
struct Client {
    name: String,
    protocol: Protocol,
}

/// What MAIL began.
struct Transaction {
    reverse_path: String,
    size_octets: Option<u64>,
    recipients: Vec<Address>,
}

enum State {
    Command,
    /// STARTTLS has been answered; whatever comes in the clear from now on is no command.
    Handshake,
    Data(Body),
    Closed(End),
}

/// One connection's side of the protocol.
pub struct Session<'a> {
    settings: &'a SmtpSettings,
    dialect: Dialect,
    policy: &'a dyn Policy,
    state: State,
    tls: Option<TlsSession>,
    lines: Lines,
    client: Option<Client>,
    transaction: Option<Transaction>,
    /// The memory of the message that is at the store.
    at_store: Option<Share>,
    replies: Vec<u8>,
    errors: u32,
    refusals: u64,
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
            lines: Lines::default(),
            client: None,
            transaction: None,
            at_store: None,
            replies: Vec::new(),
            errors: 0,
            refusals: 0,
        };
        session.answer(&Reply::greeting(&settings.hostname));
        session
    }

    /// The replies that wait to be written, in order. The caller clears what it has written.
    pub fn replies(&mut self) -> &mut Vec<u8> {
        &mut self.replies
    }

    /// What the client called itself; empty before HELO and EHLO.
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

    /// Whether the client is in the middle of a message.
    pub const fn is_in_data(&self) -> bool {
        matches!(self.state, State::Data(_))
    }

    /// Goes on with the octets of `input`, which is moved behind what was used, up to the next thing to do.
    pub fn advance(&mut self, input: &mut &[u8]) -> Step {
        loop {
            if self.replies.len() >= REPLIES_OCTETS_MAX {
                return Step::Write;
            }
            match &mut self.state {
                State::Closed(end) => return Step::Close(*end),
                State::Handshake => return Step::StartTls,
                State::Data(body) => {
                    if !body.take(input) {
                        return Step::Read;
                    }
                    if let Some(message) = self.end_of_data() {
                        return Step::Store(message);
                    }
                }
                State::Command => {
                    let command = match self.lines.next(input) {
                        Framed::Incomplete => return Step::Read,
                        Framed::Line(line) => command::parse(line),
                        Framed::TooLong => Err(Reply::LINE_TOO_LONG),
                        Framed::BareEnd => Err(Reply::BARE_LINE_END),
                    };
                    let reply = command.and_then(|command| self.obey(command)).unwrap_or_else(|refusal| refusal);
                    self.answer(&reply);
                }
            }
        }
    }

    /// Takes the store's answer to the message of the last [`Step::Store`]. `Ok` means that it is on disk and visible.
    pub fn stored(&mut self, outcome: Result<(), StoreError>) {
        self.at_store = None;
        let reply = match outcome {
            // The only place that accepts a message; from here on it is ours.
            Ok(()) => {
                self.errors = 0;
                Some(Reply::STORED)
            }
            Err(error) => Reply::of_store_error(&error),
        };
        match reply {
            Some(reply) => self.answer(&reply),
            None => self.state = State::Closed(End::OutcomeUnknown),
        }
    }

    /// The connection is secured. All that the client said before is forgotten (RFC 3207 section 4.2), errors excepted.
    pub fn secured(&mut self, tls: TlsSession) {
        self.lines = Lines::default();
        self.client = None;
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

    /// Ends the session because nothing came for too long. A message that has not come in whole is forgotten.
    pub fn idle(&mut self) {
        self.end(&Reply::IDLE, End::Idle);
    }

    fn obey(&mut self, command: Command) -> Result<Reply, Reply> {
        match command {
            Command::Helo(name) => Ok(self.greet(name, Protocol::Smtp)),
            Command::Ehlo(name) => Ok(self.greet(name, Protocol::Esmtp)),
            Command::Mail { reverse_path, size_octets } => self.mail(reverse_path, size_octets),
            Command::Rcpt(path) => self.rcpt(path),
            Command::Data => self.data(),
            Command::StartTls => self.start_tls(),
            Command::Rset => {
                self.transaction = None;
                Ok(Reply::OK)
            }
            Command::Noop => Ok(Reply::OK),
            Command::Vrfy => Ok(Reply::NOT_TOLD),
            Command::Help => Ok(Reply::HELP),
            Command::Quit => Ok(Reply::BYE),
        }
    }

    fn greet(&mut self, name: String, protocol: Protocol) -> Reply {
        // RFC 5321 section 4.1.4: as if RSET had come.
        self.transaction = None;
        self.client = Some(Client { name, protocol });
        match protocol {
            Protocol::Smtp => Reply::helo(&self.settings.hostname),
            Protocol::Esmtp => {
                let offers_tls = self.dialect.offers_tls && self.tls.is_none();
                Reply::ehlo(&self.settings.hostname, self.settings.message_octets_max, offers_tls)
            }
        }
    }

    fn start_tls(&mut self) -> Result<Reply, Reply> {
        if self.tls.is_some() {
            return Err(Reply::TLS_ALREADY);
        }
        if !self.dialect.offers_tls {
            return Err(Reply::NOT_OFFERED);
        }
        self.state = State::Handshake;
        Ok(Reply::START_TLS)
    }

    fn mail(&mut self, reverse_path: String, size_octets: Option<u64>) -> Result<Reply, Reply> {
        if self.client.is_none() {
            return Err(Reply::HELO_FIRST);
        }
        if self.transaction.is_some() {
            return Err(Reply::NESTED_MAIL);
        }
        if size_octets.is_some_and(|size| size > self.settings.message_octets_max) {
            return Err(Reply::message_too_large(self.settings.message_octets_max));
        }
        self.policy.sender()?;
        self.transaction = Some(Transaction { reverse_path, size_octets, recipients: Vec::new() });
        Ok(Reply::SENDER_OK)
    }

    fn rcpt(&mut self, path: ForwardPath) -> Result<Reply, Reply> {
        let transaction = self.transaction.as_mut().ok_or(Reply::MAIL_FIRST)?;
        let address = match path {
            ForwardPath::Address(address) => {
                self.policy.recipient(&address)?;
                address
            }
            // RFC 5321 section 4.5.1: received without asking, by the administrator of this host.
            ForwardPath::Postmaster(local_part) => {
                Address::new(&local_part, self.settings.hostname.clone()).map_err(|_| Reply::RECIPIENT_SYNTAX)?
            }
            ForwardPath::AddressLiteral => return Err(Reply::ADDRESS_LITERAL),
        };
        if transaction.recipients.len() >= self.settings.recipients_max {
            return Err(Reply::TOO_MANY_RECIPIENTS);
        }
        transaction.recipients.push(address);
        Ok(Reply::RECIPIENT_OK)
    }

    fn data(&mut self) -> Result<Reply, Reply> {
        let transaction = self.transaction.as_ref().ok_or(Reply::MAIL_FIRST)?;
        if transaction.recipients.is_empty() {
            return Err(Reply::NO_RECIPIENTS);
        }
        let (size_octets, octets_max) = (transaction.size_octets, self.settings.message_octets_max);
        let share = self.policy.memory(size_octets.unwrap_or(octets_max))?;
        self.state = State::Data(Body::new(share, size_octets, octets_max));
        Ok(Reply::SEND_DATA)
    }

    /// Ends the transaction; `None` if nothing was kept of its message and that has been answered.
    fn end_of_data(&mut self) -> Option<Message> {
        let State::Data(body) = std::mem::replace(&mut self.state, State::Command) else { return None };
        let transaction = self.transaction.take()?;
        let client = self.client.as_ref()?;
        let (raw, share) = match body.finish() {
            Ok(whole) => whole,
            Err(why) => {
                self.answer(&match why {
                    Overflow::TooLarge => Reply::message_too_large(self.settings.message_octets_max),
                    Overflow::NoMemory => Reply::NO_MEMORY,
                });
                return None;
            }
        };
        self.at_store = Some(share);
        Some(Message {
            helo: client.name.clone(),
            protocol: client.protocol,
            reverse_path: transaction.reverse_path,
            recipients: transaction.recipients,
            raw,
        })
    }

    fn answer(&mut self, reply: &Reply) {
        match reply.code() {
            221 => return self.end(reply, End::Quit),
            421 => return self.end(reply, End::Stopping),
            _ => reply.write(&mut self.replies),
        }
        self.refusals += u64::from(reply.is_refusal());
        self.errors += u32::from(reply.is_permanent());
        if self.errors >= self.settings.errors_max {
            self.end(&Reply::TOO_MANY_ERRORS, End::TooManyErrors);
        }
    }

    /// Says the last word, unless it has been said.
    fn end(&mut self, reply: &Reply, end: End) {
        if !matches!(self.state, State::Closed(_)) {
            reply.write(&mut self.replies);
            self.state = State::Closed(end);
        }
    }
}

#[cfg(test)]
mod tests;
