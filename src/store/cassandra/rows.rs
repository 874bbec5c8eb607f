//! Rows of mail, and what they mean.

use scylla::{DeserializeRow, SerializeRow};
use uuid::Uuid;

use crate::events::Topic;
use crate::model::{EmailId, Listed, Mailbox, Place, Timestamp};
use crate::store::names::{HashKey, domain_hash, mailbox_hash};

/// The shards of a slot of expiry.
pub(super) const EXPIRY_SHARDS: i8 = 8;
const EXPIRY_SLOT_MILLIS: i64 = 600_000;

/// The short names of a mailbox and its domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MailboxNames {
    pub(super) mailbox: [u8; 16],
    pub(super) domain: [u8; 16],
}

impl MailboxNames {
    pub(super) fn new(secret: &HashKey, mailbox: &Mailbox) -> Self {
        Self { mailbox: mailbox_hash(secret, mailbox), domain: domain_hash(secret, mailbox.domain()) }
    }
}

/// An Email, with the columns that each of its three tables has.
#[derive(Clone, Debug, DeserializeRow, SerializeRow)]
pub(super) struct EmailRow {
    pub(super) mailbox: Vec<u8>,
    pub(super) domain: Vec<u8>,
    pub(super) sequence: i64,
    pub(super) id: Uuid,
    pub(super) message: Uuid,
    pub(super) received_at: i64,
    pub(super) expires_at: i64,
    pub(super) octets: i64,
    /// Whether others need the message as well: further recipients, or events.
    pub(super) shared: bool,
}

/// The columns of [`EmailRow`].
pub(super) const COLUMNS: &str = "mailbox, domain, sequence, id, message, received_at, expires_at, octets, shared";

impl EmailRow {
    pub(super) fn listed(&self) -> Listed {
        Listed {
            id: EmailId::from_octets(self.id.into_bytes()),
            sequence: self.sequence.cast_unsigned(),
            received_at: Timestamp::from_millis(self.received_at),
            expires_at: Timestamp::from_millis(self.expires_at),
            size_octets: self.octets.cast_unsigned(),
            place: Place(self.message.into_bytes()),
        }
    }

    /// What subscribers of its mailbox subscribe to.
    pub(super) fn topic(&self) -> Topic {
        Topic::new(self.mailbox[..].try_into().unwrap_or_default())
    }
}

/// A number of a mailbox as the cluster has it.
pub(super) fn signed(sequence: u64) -> i64 {
    i64::try_from(sequence).unwrap_or(i64::MAX)
}

/// The partition of an Email among those of all Emails by their expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ExpiryPartition {
    pub(super) slot: i64,
    pub(super) shard: i8,
}

impl ExpiryPartition {
    pub(super) fn of(row: &EmailRow) -> Self {
        let [.., last] = row.id.into_bytes();
        Self { slot: expiry_slot(row.expires_at), shard: (last % EXPIRY_SHARDS.cast_unsigned()).cast_signed() }
    }
}

/// The slot of an expiry in milliseconds.
pub(super) const fn expiry_slot(expires_at: i64) -> i64 {
    expires_at.div_euclid(EXPIRY_SLOT_MILLIS)
}

/// The first millisecond after a slot.
pub(super) const fn end_of_slot(slot: i64) -> i64 {
    slot.saturating_add(1).saturating_mul(EXPIRY_SLOT_MILLIS)
}
