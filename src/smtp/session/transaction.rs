//! A transaction: from MAIL to the end of the message.

use std::mem;

use super::faults::Then;
use super::{Message, Session, State, Storing};
use crate::model::{Address, Protocol};
use crate::smtp::body::{Body, Chunk};
use crate::smtp::command::Mail;
use crate::smtp::content::{TextLines, count_hops};
use crate::smtp::data::Decoder;
use crate::smtp::fault::{Parties, Stage};
use crate::smtp::path::ForwardPath;
use crate::smtp::reply::Reply;

/// A transaction that MAIL has begun.
pub(super) struct Transaction {
    mail: Mail,
    recipients: Vec<Address>,
    /// The message from the chunks so far; a refusal applies to all later chunks.
    chunks: Option<Result<Body, Reply>>,
}

impl Transaction {
    /// How much memory the chunks so far reserve, in octets.
    pub(super) fn reserved_octets(&self) -> u64 {
        self.chunks.iter().flatten().map(Body::reserved_octets).sum()
    }
}

impl Session<'_> {
    pub(super) fn mail(&mut self, mail: Mail) -> Result<Reply, Reply> {
        if self.client_name.is_none() {
            return Err(Reply::greeting_first(self.dialect.is_lmtp()));
        }
        if self.transaction.is_some() {
            return Err(Reply::NESTED_MAIL);
        }
        if self.refuses_transactions {
            return Err(Reply::LIFE_OVER);
        }
        if mail.size_octets.is_some_and(|size| size > self.settings.message_octets_max) {
            return Err(Reply::message_too_large(self.settings.message_octets_max));
        }
        self.policy.sender(&mail.reverse_path)?;
        self.meet(Stage::Mail, Parties::Sender(&mail.reverse_path))?;
        self.transactions += 1;
        self.transaction = Some(Transaction { mail, recipients: Vec::new(), chunks: None });
        Ok(Reply::SENDER_OK)
    }

    pub(super) fn rcpt(&mut self, path: ForwardPath, is_ascii: bool) -> Result<Reply, Reply> {
        let transaction = self.transaction.as_ref().ok_or(Reply::MAIL_FIRST)?;
        // The first chunk has arrived already, for the recipients before it.
        if transaction.chunks.is_some() {
            return Err(Reply::MESSAGE_BEGUN);
        }
        if !is_ascii && !transaction.mail.is_utf8 {
            return Err(Reply::NEEDS_SMTPUTF8);
        }
        if transaction.recipients.len() >= self.settings.recipients_max {
            return Err(Reply::TOO_MANY_RECIPIENTS);
        }
        let address = match path {
            ForwardPath::Address(address) => {
                self.policy.recipient(&address)?;
                address
            }
            // RFC 5321 section 4.5.1: always accepted, for the administrator of this host.
            ForwardPath::Postmaster(local_part) => {
                Address::new(&local_part, self.settings.hostname.clone()).map_err(|_| Reply::RECIPIENT_SYNTAX)?
            }
            ForwardPath::AddressLiteral => return Err(Reply::ADDRESS_LITERAL),
        };
        self.meet(Stage::Rcpt, Parties::Recipients(std::slice::from_ref(&address)))?;
        let transaction = self.transaction.as_mut().ok_or(Reply::MAIL_FIRST)?;
        transaction.recipients.push(address);
        if transaction.recipients.len() > self.recipients_since_stored_max {
            self.recipients_since_stored_max = transaction.recipients.len();
            self.progress += 1;
        }
        Ok(Reply::RECIPIENT_OK)
    }

    pub(super) fn data(&mut self) -> Result<Reply, Reply> {
        let transaction = self.transaction.as_ref().ok_or(Reply::MAIL_FIRST)?;
        if transaction.chunks.is_some() {
            return Err(Reply::MESSAGE_BEGUN);
        }
        if transaction.recipients.is_empty() {
            return Err(Reply::NO_RECIPIENTS);
        }
        // RFC 3030 section 3: such a message has no lines, so no line with a dot can end it.
        if transaction.mail.is_binary {
            return Err(Reply::BINARY_NEEDS_BDAT);
        }
        let (size_octets, octets_max) = (transaction.mail.size_octets, self.settings.message_octets_max);
        let share = self.policy.memory(size_octets.unwrap_or(octets_max))?;
        self.meet_with_recipients(Stage::Data)?;
        let lines = TextLines::new(self.settings.text_line_octets_max);
        self.state = State::Data(Decoder::default(), lines, Body::new(share, size_octets, octets_max));
        Ok(Reply::SEND_DATA)
    }

    /// Begins a chunk. A refusal follows after its octets, which the client sends in any case (RFC 3030 section 2).
    pub(super) fn bdat(&mut self, octets: u64, is_last: bool) {
        let body = self.body_for(octets, is_last);
        self.state = State::Chunk(Chunk::new(octets, is_last, body));
    }

    fn body_for(&mut self, octets: u64, is_last: bool) -> Result<Body, Reply> {
        let transaction = self.transaction.as_mut().ok_or(Reply::MAIL_FIRST)?;
        let octets_max = self.settings.message_octets_max;
        let is_too_large = |before: u64| before.saturating_add(octets) > octets_max;
        match transaction.chunks.take() {
            Some(Ok(body)) if is_too_large(body.octets()) => Err(Reply::message_too_large(octets_max)),
            Some(begun) => begun,
            None if transaction.recipients.is_empty() => Err(Reply::NO_RECIPIENTS),
            None if is_too_large(0) => Err(Reply::message_too_large(octets_max)),
            None => {
                // A message of a single chunk has the size of that chunk.
                let size_octets = if is_last { Some(octets) } else { transaction.mail.size_octets };
                let share = self.policy.memory(size_octets.unwrap_or(octets_max).max(octets))?;
                self.meet_with_recipients(Stage::Data)?;
                Ok(Body::new(share, size_octets, octets_max))
            }
        }
    }

    /// Ends a chunk, and the message after the last chunk. `None`: the reply is written already.
    pub(super) fn end_of_chunk(&mut self) -> Option<Message> {
        let State::Chunk(chunk) = mem::replace(&mut self.state, State::Command) else { return None };
        if chunk.is_last() {
            return self.end_of_message(chunk.finish());
        }
        let body = chunk.finish();
        let reply = body.as_ref().err().cloned().unwrap_or(Reply::CHUNK_OK);
        if let Some(transaction) = &mut self.transaction {
            transaction.chunks = Some(body);
        }
        self.answer(&reply);
        None
    }

    /// Ends the message after DATA. `None`: it is refused, and the reply is written already.
    pub(super) fn end_of_data(&mut self) -> Option<Message> {
        let State::Data(_, _, body) = mem::replace(&mut self.state, State::Command) else { return None };
        self.end_of_message(Ok(body))
    }

    /// Ends the transaction. `None`: its message is refused, and the reply is written already.
    fn end_of_message(&mut self, body: Result<Body, Reply>) -> Option<Message> {
        // RFC 2033 section 4.2: one reply for each accepted recipient.
        let recipients = self.transaction.as_ref().map_or(0, |transaction| transaction.recipients.len());
        let replies = if self.dialect.is_lmtp() { recipients.max(1) } else { 1 };
        let whole = body.and_then(Body::finish).and_then(|(raw, share)| {
            let is_loop = count_hops(&raw) > self.settings.hops_max;
            if is_loop { Err(Reply::TOO_MANY_HOPS) } else { Ok((raw, share)) }
        });
        let whole = whole.and_then(|whole| self.meet_with_recipients(Stage::End).map(|()| whole));
        let transaction = self.transaction.take();
        let (raw, share) = match whole {
            Ok(whole) => whole,
            Err(refusal) => {
                self.respond(refusal, replies);
                return None;
            }
        };
        let Transaction { mail, recipients, .. } = transaction?;
        let client = self.client_name.as_ref()?;
        self.storing = Some(Storing { _share: share, replies });
        let message = Message {
            helo: client.name.clone(),
            protocol: Protocol {
                greeting: client.greeting,
                is_utf8: mail.is_utf8,
                is_authenticated: self.is_authenticated,
                tls: self.tls.clone().map(Box::new),
            },
            reverse_path: mail.reverse_path,
            recipients,
            raw,
        };
        match self.hold(Then::Store(message)) {
            Some(Then::Store(message)) => Some(message),
            _ => None,
        }
    }

    /// Asks for a fault at a stage that the recipients decide.
    fn meet_with_recipients(&mut self, stage: Stage) -> Result<(), Reply> {
        let Some(transaction) = self.transaction.take() else { return Ok(()) };
        let met = self.meet(stage, Parties::Recipients(&transaction.recipients));
        self.transaction = Some(transaction);
        met
    }
}
