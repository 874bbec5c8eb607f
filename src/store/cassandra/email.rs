//! One Email by its id: found, loaded, deleted.

use bytes::Bytes;
use futures_util::future::{try_join_all, try_join3};
use futures_util::{StreamExt, TryStreamExt, stream};
use uuid::Uuid;

use super::mailbox::WrittenRow;
use super::message::parts;
use super::rows::{EmailRow, ExpiryPartition, MailboxNames};
use super::state::ClusterState;
use crate::events::Happening;
use crate::model::{EmailId, Envelope, Listed, Mailbox, Place, StoredEmail, Timestamp};
use crate::store::StoreError;

/// The most parts of a message that are read at once.
const PARTS_AT_ONCE: usize = 8;
/// The most Emails of a mailbox that are deleted at once.
const DELETIONS_AT_ONCE: usize = 16;

/// The envelope and the octets of a part of a message.
type Part = (Option<Vec<u8>>, Vec<u8>);

/// What is there of a message.
#[derive(Debug)]
pub(super) enum ReadMessage {
    Whole(Envelope, Bytes),
    /// Only some parts.
    Parts,
    /// Not even its envelope.
    Nothing,
}

/// Reads an envelope as it is stored with a message.
pub(super) fn parse_envelope(message: Uuid, octets: &[u8]) -> Result<Envelope, StoreError> {
    postcard::from_bytes(octets)
        .map_err(|error| StoreError::Failed(format!("the envelope of message {message} is damaged: {error}")))
}

impl ClusterState {
    pub(super) async fn find(&self, id: EmailId, now: Timestamp) -> Result<Option<Listed>, StoreError> {
        let id = Uuid::from_bytes(id.octets());
        let row = self.cluster.first::<EmailRow>(&self.statements.by_id_select, (id,)).await?;
        Ok(row.filter(|row| self.is_readable(row, now)).map(|row| row.listed()))
    }

    pub(super) async fn load(&self, listed: &Listed) -> Result<Option<StoredEmail>, StoreError> {
        let Place(message) = listed.place;
        let message = Uuid::from_bytes(message);
        match self.read_message(message, listed.size_octets).await? {
            ReadMessage::Whole(envelope, raw) => Ok(Some(StoredEmail { listed: listed.clone(), envelope, raw })),
            ReadMessage::Nothing => Ok(None),
            // It was deleted while its parts were read.
            ReadMessage::Parts if self.find_any(listed.id).await?.is_none() => Ok(None),
            ReadMessage::Parts => Err(StoreError::Failed(format!("a part of message {message} is missing"))),
        }
    }

    /// Reads the envelope and the octets of a message.
    pub(super) async fn read_message(&self, message: Uuid, octets: u64) -> Result<ReadMessage, StoreError> {
        let part = async |part: i32| self.cluster.first::<Part>(&self.statements.raw_select, (message, part)).await;
        let parts = stream::iter(0..parts(octets)).map(part).buffered(PARTS_AT_ONCE);
        let parts: Vec<Option<Part>> = parts.try_collect().await?;
        let Some((Some(envelope), _)) = parts.first().cloned().flatten() else { return Ok(ReadMessage::Nothing) };
        let envelope = parse_envelope(message, &envelope)?;
        let octets: Option<Vec<Vec<u8>>> = parts.into_iter().map(|part| part.map(|(_, octets)| octets)).collect();
        Ok(match octets {
            Some(mut octets) if octets.len() == 1 => ReadMessage::Whole(envelope, Bytes::from(octets.remove(0))),
            Some(octets) => ReadMessage::Whole(envelope, Bytes::from(octets.concat())),
            None => ReadMessage::Parts,
        })
    }

    /// The row of an Email by its id, even if it has expired.
    pub(super) async fn find_any(&self, id: EmailId) -> Result<Option<EmailRow>, StoreError> {
        self.cluster.first(&self.statements.by_id_select, (Uuid::from_bytes(id.octets()),)).await
    }

    pub(super) async fn delete(&self, id: EmailId, now: Timestamp) -> Result<bool, StoreError> {
        let id = Uuid::from_bytes(id.octets());
        let row = self.cluster.first::<WrittenRow>(&self.statements.by_id_written, (id,)).await?;
        let Some(row) = row.filter(|row| self.is_readable(&row.email(), now)) else { return Ok(false) };
        self.check_open()?;
        self.delete_row(&row).await?;
        self.counters.deleted();
        Ok(true)
    }

    pub(super) async fn delete_all(&self, mailbox: &Mailbox, before: u64, now: Timestamp) -> Result<u64, StoreError> {
        let names = MailboxNames::new(&self.secret, mailbox);
        let rows = self.written(&names.mailbox, before, now).await?;
        self.check_open()?;
        let deletions = stream::iter(rows).map(async |row| {
            self.delete_row(&row).await?;
            self.counters.deleted();
            Ok::<_, StoreError>(u64::from(self.is_readable(&row.email(), now)))
        });
        deletions.buffer_unordered(DELETIONS_AT_ONCE).try_fold(0, async |all, one| Ok(all + one)).await
    }

    /// Deletes an Email, and its message if nobody else needs it.
    ///
    /// The row by its id goes last, so that a deletion that failed can be repeated.
    pub(super) async fn delete_row(&self, row: &WrittenRow) -> Result<(), StoreError> {
        let (email, at) = (row.email(), row.written_at);
        let ExpiryPartition { slot, shard } = ExpiryPartition::of(&email);
        let raw_parts = if email.shared { 0 } else { parts(email.octets.cast_unsigned()) };
        let run = &self.cluster;
        let raw = (0..raw_parts).map(|part| run.run(&self.statements.raw_delete, (at, email.message, part)));
        let deleted = try_join3(
            run.run(&self.statements.email_delete, (at, &email.mailbox, email.sequence, email.id)),
            run.run(&self.statements.by_expiry_delete, (at, slot, shard, email.expires_at, email.sequence, email.id)),
            try_join_all(raw),
        );
        let unknown = |error: StoreError| {
            tracing::warn!(%error, "the cluster did not say whether mail was deleted");
            StoreError::OutcomeUnknown
        };
        deleted.await.map_err(unknown)?;
        run.run(&self.statements.by_id_delete, (at, email.id)).await.map_err(unknown)?;
        self.publish(Happening::Deleted, &email);
        Ok(())
    }
}
