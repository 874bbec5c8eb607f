//! A message on its way into the cluster, and the writes that make it visible.

use bytes::Bytes;
use futures_util::future::{try_join, try_join_all};
use scylla::SerializeRow;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::rows::{EmailRow, ExpiryPartition, MailboxNames, signed};
use super::state::ClusterState;
use crate::model::{Envelope, Timestamp, WebhookId};
use crate::store::StoreError;

/// The largest part of a message's octets in one row.
pub(super) const PART_OCTETS: usize = 256 << 10;
/// How long a row outlives its mail, so that clocks may differ.
const OUTLIVES_SECONDS: i64 = 60;
/// The longest time to live that the cluster takes: 20 years.
const TTL_MAX_SECONDS: i64 = 630_720_000;

/// An event that a message gives to a webhook.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct MessageEvent {
    /// The recipient whose Email it is about, by the position in the envelope.
    pub(super) recipient: u32,
    pub(super) webhook: WebhookId,
}

/// A message whose Emails have their numbers. It is also what an intent keeps of it, so that any node can write its rows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Message {
    pub(super) envelope: Envelope,
    pub(super) received_at: Timestamp,
    /// When its writes began. It may have waited for its admission after its receipt.
    pub(super) begun_at: Timestamp,
    pub(super) expires_at: Timestamp,
    pub(super) octets: u64,
    /// One for each recipient.
    pub(super) sequences: Box<[u64]>,
    pub(super) events: Vec<MessageEvent>,
    /// The time of all its writes, in microseconds: that of its receipt, or of its restoration. A deletion has the same
    /// one, and wins.
    pub(super) written_at: i64,
}

/// What a statement gets that inserts an Email.
#[derive(SerializeRow)]
struct InsertedEmail<'a> {
    #[scylla(flatten)]
    row: &'a EmailRow,
    #[scylla(rename = "[ttl]")]
    ttl: i32,
    #[scylla(rename = "[timestamp]")]
    written_at: i64,
}

/// The same in the order of expiry.
#[derive(SerializeRow)]
struct InsertedByExpiry<'a> {
    #[scylla(flatten)]
    email: &'a InsertedEmail<'a>,
    slot: i64,
    shard: i8,
}

impl<'a> InsertedEmail<'a> {
    fn new(row: &'a EmailRow, message: &Message) -> Self {
        Self { row, ttl: message.ttl(), written_at: message.written_at }
    }
}

impl Message {
    /// The id of a message: that of its first recipient's Email.
    pub(super) fn id_of(envelope: &Envelope) -> Option<Uuid> {
        envelope.recipients.first().map(|first| Uuid::from_bytes(first.id.octets()))
    }

    fn id(&self) -> Uuid {
        Self::id_of(&self.envelope).unwrap_or_default()
    }

    /// How long its rows live from the time of their writes, in seconds.
    pub(super) fn ttl(&self) -> i32 {
        let life = self.expires_at.millis().saturating_sub(self.written_at / 1000).max(0) / 1000;
        to_ttl(life.saturating_add(1 + OUTLIVES_SECONDS))
    }

    /// The rows of its Emails.
    pub(super) fn rows(&self, state: &ClusterState) -> Vec<EmailRow> {
        let shared = self.envelope.recipients.len() > 1 || !self.events.is_empty();
        let recipients = self.envelope.recipients.iter().zip(&self.sequences);
        recipients
            .map(|(recipient, sequence)| {
                let MailboxNames { mailbox, domain } = MailboxNames::new(&state.secret, &recipient.mailbox);
                EmailRow {
                    mailbox: mailbox.to_vec(),
                    domain: domain.to_vec(),
                    sequence: signed(*sequence),
                    id: Uuid::from_bytes(recipient.id.octets()),
                    message: self.id(),
                    received_at: self.received_at.millis(),
                    expires_at: self.expires_at.millis(),
                    octets: i64::try_from(self.octets).unwrap_or(i64::MAX),
                    shared,
                }
            })
            .collect()
    }
}

/// A time to live within the cluster's bounds.
pub(super) fn to_ttl(seconds: i64) -> i32 {
    i32::try_from(seconds.clamp(1, TTL_MAX_SECONDS)).unwrap_or(i32::MAX)
}

/// The number of parts of a message with so many octets.
pub(super) fn parts(octets: u64) -> i32 {
    i32::try_from(octets.div_ceil(PART_OCTETS as u64).max(1)).unwrap_or(i32::MAX)
}

impl ClusterState {
    /// Writes the octets of a message, all parts at once. Nobody sees them yet.
    pub(super) async fn write_raw(
        &self,
        message: Uuid,
        envelope: &Envelope,
        raw: &Bytes,
        ttl: i32,
        written_at: i64,
    ) -> Result<(), StoreError> {
        let envelope = postcard::to_stdvec(envelope).map_err(|error| StoreError::Failed(error.to_string()))?;
        let parts = (0..parts(raw.len() as u64)).zip((0..).step_by(PART_OCTETS));
        let writes = parts.map(|(part, start)| {
            let envelope = (part == 0).then_some(&envelope[..]);
            let octets = &raw[start..raw.len().min(start + PART_OCTETS)];
            self.cluster.run(&self.statements.raw_insert, (message, part, envelope, octets, ttl, written_at))
        });
        try_join_all(writes).await.map(drop)
    }

    /// Writes the rows by which an Email is found, but not that of its mailbox.
    pub(super) async fn write_finders(&self, row: &EmailRow, message: &Message) -> Result<(), StoreError> {
        let ExpiryPartition { slot, shard } = ExpiryPartition::of(row);
        let email = InsertedEmail::new(row, message);
        let by_id = self.cluster.run(&self.statements.by_id_insert, &email);
        let by_expiry = InsertedByExpiry { email: &email, slot, shard };
        try_join(by_id, self.cluster.run(&self.statements.by_expiry_insert, by_expiry)).await.map(drop)
    }

    /// Writes the row of an Email's mailbox, which makes it visible.
    pub(super) async fn write_email(&self, row: &EmailRow, message: &Message) -> Result<(), StoreError> {
        self.cluster.run(&self.statements.email_insert, InsertedEmail::new(row, message)).await
    }
}
