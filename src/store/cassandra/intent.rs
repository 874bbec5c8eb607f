//! Intents: messages for several recipients, until all their rows are written.
//!
//! A sweeper finishes what a node left when it died. It writes the rows with the time of the first attempt, so a deletion
//! that came in between wins.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use scylla::DeserializeRow;
use uuid::Uuid;

use super::message::Message;
use super::state::ClusterState;
use crate::model::Timestamp;
use crate::store::StoreError;

/// The time of receipt that one slot has, in milliseconds.
const SLOT_MILLIS: i64 = 10_000;
const SHARDS: i8 = 4;
/// The partitions that a sweeper reads at once.
const PARTITIONS_AT_ONCE: usize = 16;
/// A sweeper finishes a message that began to be written so long ago: then its node has most likely died. If it has not, both
/// write the same rows with the same times, and a deletion wins over both.
pub(super) const SWEPT_AFTER: Duration = Duration::from_secs(12);

/// The partition of an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct IntentPartition {
    slot: i64,
    shard: i8,
}

#[derive(Debug, DeserializeRow)]
struct IntentRow {
    message: Uuid,
    intent: Vec<u8>,
}

/// What a pass of the sweeper did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Messages whose rows it wrote.
    pub finished: u64,
    /// Intents that are too young yet.
    pub open: u64,
    /// Intents that it could not finish, and parts of the table that it could not read.
    pub failed: u64,
}

impl Swept {
    const fn and(self, other: &Self) -> Self {
        Self {
            finished: self.finished + other.finished,
            open: self.open + other.open,
            failed: self.failed + other.failed,
        }
    }
}

impl IntentPartition {
    fn of(message: &Message) -> Self {
        Self::at(message.received_at, Message::id_of(&message.envelope).unwrap_or_default())
    }

    fn at(received_at: Timestamp, message: Uuid) -> Self {
        let shard = (message.into_bytes()[15] % SHARDS.cast_unsigned()).cast_signed();
        Self { slot: received_at.millis().div_euclid(SLOT_MILLIS), shard }
    }
}

impl ClusterState {
    /// Writes the intent of a message. From then on the message will be stored.
    pub(super) async fn write_intent(&self, message: &Message) -> Result<(), StoreError> {
        let IntentPartition { slot, shard } = IntentPartition::of(message);
        let id = Message::id_of(&message.envelope).unwrap_or_default();
        let intent = postcard::to_stdvec(message).map_err(|error| StoreError::Failed(error.to_string()))?;
        let values = (slot, shard, id, intent, message.ttl(), message.written_at);
        self.cluster.run(&self.statements.intent_insert, values).await
    }

    /// Removes an intent whose rows are all written.
    pub(super) async fn delete_intent(&self, message: &Message) -> Result<(), StoreError> {
        let IntentPartition { slot, shard } = IntentPartition::of(message);
        let id = Message::id_of(&message.envelope).unwrap_or_default();
        self.cluster.run(&self.statements.intent_delete, (message.written_at, slot, shard, id)).await
    }

    /// Writes the rows of a message that has an intent. Afterwards its rows are all there, except for deleted ones.
    pub(super) async fn finish_message(&self, received_at: Timestamp, id: Uuid) -> Result<(), StoreError> {
        let IntentPartition { slot, shard } = IntentPartition::at(received_at, id);
        let row = self.cluster.first::<IntentRow>(&self.statements.intent_find, (slot, shard, id)).await?;
        match row.map(|row| postcard::from_bytes::<Message>(&row.intent)) {
            Some(Ok(message)) => self.write_rows(&message.rows(self), &message).await,
            // One that cannot be read is left to a node that can.
            Some(Err(_)) | None => Ok(()),
        }
    }

    /// Finishes the intents of messages that were received since `since`, and whose writes began long enough before `now`.
    pub(super) async fn sweep(&self, since: Timestamp, now: Timestamp) -> Swept {
        let slots = since.millis().div_euclid(SLOT_MILLIS)..=now.millis().div_euclid(SLOT_MILLIS);
        // The newest first: a node that died lately has left more there than one of an hour ago.
        let partitions = slots.rev().flat_map(|slot| (0..SHARDS).map(move |shard| IntentPartition { slot, shard }));
        let due_before = now.before(SWEPT_AFTER);
        let sweeps = stream::iter(partitions).map(|partition| self.sweep_partition(partition, due_before));
        sweeps.buffered(PARTITIONS_AT_ONCE).fold(Swept::default(), async |all, swept| all.and(&swept)).await
    }

    async fn sweep_partition(&self, partition: IntentPartition, due_before: Timestamp) -> Swept {
        let IntentPartition { slot, shard } = partition;
        let mut swept = Swept::default();
        let rows = self.cluster.all::<IntentRow>(&self.statements.intent_select, (slot, shard)).await;
        let rows = rows.unwrap_or_else(|error| {
            tracing::debug!(%error, "intents could not be read");
            swept.failed += 1;
            Vec::new()
        });
        for row in rows {
            let finished = match postcard::from_bytes::<Message>(&row.intent) {
                Ok(message) if message.begun_at > due_before => {
                    swept.open += 1;
                    continue;
                }
                Ok(message) => self.finish(&message).await,
                // It stays, since a node of another version may be able to read it. Otherwise it ends with its mail.
                Err(error) => Err(StoreError::Failed(error.to_string())),
            };
            match finished {
                Ok(()) => swept.finished += 1,
                Err(error) => {
                    tracing::debug!(message = %row.message, %error, "a message could not be finished");
                    swept.failed += 1;
                }
            }
        }
        swept
    }

    async fn finish(&self, message: &Message) -> Result<(), StoreError> {
        self.write_rows(&message.rows(self), message).await?;
        self.delete_intent(message).await?;
        if !message.events.is_empty() {
            self.ring_outbox();
        }
        Ok(())
    }
}
