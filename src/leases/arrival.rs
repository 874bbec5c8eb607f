//! Where mail for an address goes, and what it does to a lease.

use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;

use super::{Leases, life};
use crate::model::{Address, Delivery, Envelope, LeaseRecord, Mailbox, Protocol, Recipient, Subaddressing};
use crate::random;
use crate::store::StoreError;

/// A message that has arrived.
#[derive(Clone, Debug)]
pub struct Mail {
    /// The client's address.
    pub client: IpAddr,
    /// The client's name for itself.
    pub helo: String,
    /// The protocol of the transfer.
    pub protocol: Protocol,
    /// The sender; empty for the null sender.
    pub reverse_path: String,
    /// The recipients, at least one.
    pub recipients: Vec<Address>,
    /// The octets as sent.
    pub raw: Bytes,
}

/// What became of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// One Email for each mailbox. None if none of the addresses takes mail any more: then nothing was stored.
    pub emails: Vec<Recipient>,
    /// How many Emails that live as long as the retention take as much of the store.
    pub weight: u64,
}

/// Where mail for an address goes.
enum Destination {
    /// To the mailbox that anybody may read.
    Public(Mailbox),
    /// To that of a living lease.
    Private(LeaseRecord),
    /// Nowhere: the lease is over, and the address rests, or it was made at random and rests for ever.
    Nowhere,
}

impl Leases {
    /// The mailbox at which mail for an address would arrive now, however full it is; `None` if the address takes none. The
    /// domain must be served.
    pub async fn accepts(&self, address: &Address) -> Result<Option<Mailbox>, StoreError> {
        match self.destination(address).await? {
            Destination::Nowhere => Ok(None),
            Destination::Private(lease) => Ok((lease.messages_left != Some(0)).then(|| lease.private_mailbox())),
            Destination::Public(mailbox) => Ok(self.is_open(&mailbox).await?.then_some(mailbox)),
        }
    }

    /// Stores a message: one Email for each mailbox of its recipients, all or none. An address whose lease has just ended gets
    /// none, as if the mail had come before the end and gone with it. What [`Leases::accepts`] refuses for
    /// the settings or the number of messages is stored all the same, since a sender was told that it is accepted.
    ///
    /// The errors are those of [`Store::receive`](crate::store::Store::receive).
    pub async fn deliver(&self, mail: Mail) -> Result<Stored, StoreError> {
        let retention = self.config.mail.retention;
        let (mut recipients, mut leases, mut is_public, mut life) = (Vec::new(), Vec::new(), false, Duration::ZERO);
        for address in &mail.recipients {
            let mailbox = match self.destination(address).await? {
                Destination::Public(mailbox) => {
                    is_public = true;
                    mailbox
                }
                Destination::Private(lease) => {
                    let mailbox = lease.private_mailbox();
                    // Nobody among the recipients may shorten the lives of others.
                    life = life.max(lease.keep(self.config.leases.keep_max));
                    leases.push(lease);
                    mailbox
                }
                Destination::Nowhere => continue,
            };
            recipients.push((address.to_string(), mailbox));
        }
        if recipients.is_empty() {
            return Ok(Stored::default());
        }
        if is_public {
            life = retention;
        }
        let received_at = self.clock.now();
        let Mail { client, helo, protocol, reverse_path, raw, .. } = mail;
        let new_id = || random::email_id(received_at);
        let envelope = Envelope::new(client, helo, protocol, reverse_path, recipients, new_id);
        let emails = envelope.recipients.clone();
        self.store.receive(Delivery { envelope, raw, received_at, expires_at: received_at.plus(life) }).await?;
        leases.sort_by_key(|lease| lease.id.octets());
        leases.dedup_by_key(|lease| lease.id);
        for lease in &leases {
            self.arrived(lease).await;
        }
        let lives = u64::try_from(life.as_millis().div_ceil(retention.as_millis().max(1))).unwrap_or(u64::MAX);
        let weight = (emails.len() as u64).saturating_mul(lives);
        Ok(Stored { emails, weight })
    }

    async fn destination(&self, address: &Address) -> Result<Destination, StoreError> {
        let (mailbox, now) = (address.mailbox(Subaddressing::Strip), self.clock.now());
        Ok(match self.store.lease(&mailbox).await? {
            Some(lease) if lease.is_living(now) => Destination::Private(lease),
            // Mail for the last holder must not become public.
            Some(lease) if now < lease.rests_until() => Destination::Nowhere,
            _ if random::is_private(mailbox.local_part()) => Destination::Nowhere,
            _ => Destination::Public(address.mailbox(self.config.mail.subaddressing)),
        })
    }

    /// Counts a stored message, and deletes it if the lease ended meanwhile. The message is stored, so an error is only told.
    async fn arrived(&self, lease: &LeaseRecord) {
        let outcome = match self.alter(lease, life::with_message).await {
            // Its end deletes what was stored before it, and this may have been stored after.
            Ok(None) => self.store.delete_all(&lease.private_mailbox(), u64::MAX, self.clock.now()).await.map(drop),
            counted => counted.map(drop),
        };
        if let Err(error) = outcome {
            tracing::warn!(%error, "a message of a private inbox could not be counted");
        }
    }
}
