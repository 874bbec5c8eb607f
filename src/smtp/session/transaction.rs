//! A transaction: from MAIL to the end of the message.

use bytes::Bytes;

use super::{Refused, Session};
use crate::admission::{Permit, What};
use crate::config::SMTP_RECIPIENTS_MAX;
use crate::fault::{Parties, Stage};
use crate::model::{Address, Protocol};
use crate::smtp::body::Body;
use crate::smtp::command::Mail;
use crate::smtp::data::Decoder;
use crate::smtp::path::ForwardPath;
use crate::smtp::reasons::End;
use crate::smtp::reply::Reply;

/// A complete message with its envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The name of the client in its greeting.
    pub helo: String,
    /// How the message arrived.
    pub protocol: Protocol,
    /// The sender without brackets and source route; empty for the null sender.
    pub reverse_path: String,
    /// From one to [`SMTP_RECIPIENTS_MAX`] recipients; one may be there twice.
    pub recipients: Vec<Address>,
    /// The octets as sent; after DATA without the dot-stuffing and without the final dot.
    pub raw: Bytes,
}

/// A transaction that MAIL has begun.
pub(super) struct Transaction {
    mail: Mail,
    pub(super) recipients: Vec<Address>,
    /// The message from the chunks so far; a refusal applies to all later chunks.
    chunks: Option<Result<Body, Reply>>,
}

impl Session<'_> {
    /// Ends the transaction, if there is one.
    pub(super) fn end_transaction(&mut self) -> Option<Transaction> {
        self.io.set_transaction(false);
        self.transaction.take()
    }

    pub(super) async fn mail(&mut self, mail: Mail) -> Result<Reply, Refused> {
        let (config, backend) = (self.context.config, self.context.backend);
        if self.client.is_none() {
            return Err(Reply::greeting_first(self.dialect.is_lmtp()).into());
        }
        if self.transaction.is_some() {
            return Err(Reply::NESTED_MAIL.into());
        }
        if self.io.age() >= config.constants.smtp_session_timeout {
            return Err(Reply::LIFE_OVER.into());
        }
        if mail.size_octets.is_some_and(|size| size > config.mail.message_octets_max) {
            return Err(Reply::message_too_large(config.mail.message_octets_max).into());
        }
        self.spend(What::ReceivedOctets, 0)?;
        backend.sender(&mail.reverse_path)?;
        self.meet(Stage::Mail, Parties::Sender(&mail.reverse_path)).await?;
        self.transaction = Some(Transaction { mail, recipients: Vec::new(), chunks: None });
        self.io.set_transaction(true);
        Ok(Reply::SENDER_OK)
    }

    pub(super) async fn rcpt(&mut self, path: ForwardPath, is_ascii: bool) -> Result<Reply, Refused> {
        let transaction = self.transaction.as_ref().ok_or(Reply::MAIL_FIRST)?;
        // The first chunk has arrived already, for the recipients before it.
        if transaction.chunks.is_some() {
            return Err(Reply::MESSAGE_BEGUN.into());
        }
        if !is_ascii && !transaction.mail.is_utf8 {
            return Err(Reply::NEEDS_SMTPUTF8.into());
        }
        if transaction.recipients.len() >= SMTP_RECIPIENTS_MAX {
            return Err(Reply::TOO_MANY_RECIPIENTS.into());
        }
        self.spend(What::Recipients, 1)?;
        let address = match path {
            ForwardPath::Address(address) => {
                self.io.busy(self.context.backend.recipient(&address)).await?;
                address
            }
            // RFC 5321 section 4.5.1: always accepted, for the administrator of this host.
            ForwardPath::Postmaster(local_part) => {
                let hostname = self.context.config.smtp.hostname.clone();
                Address::new(&local_part, hostname).map_err(|_| Reply::RECIPIENT_SYNTAX)?
            }
            ForwardPath::AddressLiteral => return Err(Reply::ADDRESS_LITERAL.into()),
        };
        self.spend(What::KeptRecipients, 0)?;
        self.meet(Stage::Rcpt, Parties::Recipients(std::slice::from_ref(&address))).await?;
        self.transaction.as_mut().ok_or(Reply::MAIL_FIRST)?.recipients.push(address);
        Ok(Reply::RECIPIENT_OK)
    }

    pub(super) async fn data(&mut self) -> Result<Option<Reply>, Refused> {
        let transaction = self.transaction.as_ref().ok_or(Reply::MAIL_FIRST)?;
        if transaction.chunks.is_some() {
            return Err(Reply::MESSAGE_BEGUN.into());
        }
        if transaction.recipients.is_empty() {
            return Err(Reply::NO_RECIPIENTS.into());
        }
        // RFC 3030 section 3: such a message has no lines, so no line with a dot can end it.
        if transaction.mail.is_binary {
            return Err(Reply::BINARY_NEEDS_BDAT.into());
        }
        self.meet_with_recipients(Stage::Data).await?;
        let (mut body, mut decoder) = (self.new_body()?, Decoder::default());
        self.answer(Reply::SEND_DATA).await?;
        self.io.content(|input| decoder.decode(input, |content| body.push(content))).await?;
        self.end_of_message(Ok(body)).await
    }

    /// Reads a chunk. A refusal follows after its octets, which the client sends in any case (RFC 3030 section 2), unless
    /// there are so many that they would never arrive in time.
    pub(super) async fn bdat(&mut self, octets: u64, is_last: bool) -> Result<Option<Reply>, Refused> {
        if octets > self.context.octets_max_on_wire() {
            return Err(Reply::chunk_too_large(self.context.config.mail.message_octets_max).into());
        }
        let mut body = match self.body_for(octets).await {
            Ok(body) => Ok(body),
            Err(Refused::Reply(refusal)) => Err(refusal),
            Err(ended) => return Err(ended),
        };
        let mut left = usize::try_from(octets).unwrap_or(usize::MAX);
        let take = |input: &mut &[u8]| {
            let (content, rest) = input.split_at(left.min(input.len()));
            if let Ok(body) = &mut body {
                body.push(content);
            }
            (left, *input) = (left - content.len(), rest);
            left == 0
        };
        self.io.content(take).await?;
        let body = body.and_then(Body::unless_refused);
        if is_last {
            return self.end_of_message(body).await;
        }
        let reply = body.as_ref().err().cloned().unwrap_or(Reply::CHUNK_OK);
        if let Some(transaction) = &mut self.transaction {
            transaction.chunks = Some(body);
        }
        Ok(Some(reply))
    }

    /// The message that a chunk of so many octets is added to.
    async fn body_for(&mut self, octets: u64) -> Result<Body, Refused> {
        let transaction = self.transaction.as_mut().ok_or(Reply::MAIL_FIRST)?;
        let octets_max = self.context.config.mail.message_octets_max;
        let body = match transaction.chunks.take() {
            Some(begun) => begun?,
            None if transaction.recipients.is_empty() => return Err(Reply::NO_RECIPIENTS.into()),
            None if octets > octets_max => return Err(Reply::message_too_large(octets_max).into()),
            None => {
                self.meet_with_recipients(Stage::Data).await?;
                self.new_body()?
            }
        };
        if body.octets().saturating_add(octets) > octets_max {
            return Err(Reply::message_too_large(octets_max).into());
        }
        Ok(body)
    }

    fn new_body(&self) -> Result<Body, Reply> {
        let octets_max = self.context.config.mail.message_octets_max;
        let room = self.context.admission.admit(self.context.who, What::MailOctets, 0);
        Ok(Body::new(room.map_err(Reply::of_refused)?, octets_max))
    }

    /// Ends the transaction, with its message or with the refusal of it.
    async fn end_of_message(&mut self, body: Result<Body, Reply>) -> Result<Option<Reply>, Refused> {
        let mut whole = body.and_then(Body::finish);
        if whole.is_ok() {
            match self.meet_with_recipients(Stage::End).await {
                Ok(()) => {}
                Err(Refused::Reply(refusal)) => whole = Err(refusal),
                Err(ended) => return Err(ended),
            }
        }
        let transaction = self.end_transaction();
        // RFC 2033 section 4.2: one reply for each accepted recipient.
        let recipients = transaction.as_ref().map_or(0, |transaction| transaction.recipients.len());
        let replies = if self.dialect.is_lmtp() { recipients.max(1) } else { 1 };
        let reply = match (whole, transaction) {
            (Ok((raw, room)), Some(transaction)) => self.store(raw, room, transaction).await?,
            (Ok(_), None) => Reply::MAIL_FIRST,
            (Err(refusal), _) => refusal,
        };
        self.answer_times(reply, replies).await?;
        Ok(None)
    }

    /// Hands a message to the store. A stop waits for this.
    async fn store(&mut self, raw: Bytes, room: Permit, transaction: Transaction) -> Result<Reply, Refused> {
        let client = self.client.as_ref().ok_or(Reply::MAIL_FIRST)?;
        let message = Message {
            helo: client.name.clone(),
            protocol: Protocol {
                greeting: client.greeting,
                is_utf8: transaction.mail.is_utf8,
                is_authenticated: self.is_authenticated,
                tls: self.tls.clone().map(Box::new),
            },
            reverse_path: transaction.mail.reverse_path,
            recipients: transaction.recipients,
            raw,
        };
        let octets = message.raw.len() as u64;
        self.context.admission.charge(self.context.who, What::ReceivedOctets, octets);
        self.io.flush().await?;
        let stored = self.io.busy(self.context.backend.receive(message)).await;
        drop(room);
        match stored {
            // The only place that accepts a message: from here on this service is responsible for it.
            Ok(kept) if kept.emails > 0 => {
                self.errors = 0;
                self.context.admission.charge(self.context.who, What::KeptRecipients, kept.weight);
                self.totals.stored(kept.emails, octets);
                Ok(Reply::STORED)
            }
            // Each of its recipients had a private inbox that ended meanwhile.
            Ok(_) => Ok(Reply::RECIPIENT_UNKNOWN),
            Err(error) => Reply::of_store_error(&error).ok_or(End::OutcomeUnknown.into()),
        }
    }

    /// Uses up some of a rate.
    fn spend(&self, what: What, amount: u64) -> Result<(), Reply> {
        let spent = self.context.admission.spend(self.context.who, what, amount);
        spent.map(drop).map_err(Reply::of_refused)
    }
}
