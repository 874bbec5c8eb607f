//! Delivery logs.

use scylla::DeserializeRow;

use super::super::state::ClusterState;
use crate::model::{AttemptRecord, Timestamp, WebhookId};
use crate::store::StoreError;
use crate::store::outbox_rules::{RECORD_AGE_MAX, RECORDS_SHOWN};

/// How long a record lives, in seconds.
const TTL: i32 = 30 * 24 * 3600;
/// One record in so many that a node writes trims the log.
const TRIMMED_EVERY: u32 = 64;

/// A record of a log.
#[derive(Debug, DeserializeRow)]
struct LogRow {
    at: i64,
    revision: i64,
    record: Vec<u8>,
}

/// A record, and the time of the write that it caused, in microseconds.
pub(super) type Logged = (AttemptRecord, i64);

impl ClusterState {
    /// Adds a record to its log. A second call with the same revision changes nothing.
    pub(super) async fn write_log(&self, record: &AttemptRecord, revision: i64) -> Result<(), StoreError> {
        let webhook = record.webhook.octets();
        let octets = postcard::to_stdvec(record).map_err(|error| StoreError::Failed(error.to_string()))?;
        let at = record.at.millis();
        let written_at = at.saturating_mul(1000).max(revision);
        let values = (&webhook[..], at, revision, &record.event.octets()[..], octets, TTL, written_at);
        self.cluster.run(&self.outbox.statements.attempt_insert, values).await?;
        if rand::random::<u32>().is_multiple_of(TRIMMED_EVERY) {
            self.trim_log(record.webhook).await?;
        }
        Ok(())
    }

    /// Reads the newest records of a log that are not too old at `now`, newest first.
    pub(super) async fn read_log(
        &self,
        webhook: WebhookId,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<Logged>, StoreError> {
        let rows = self.newest_rows(webhook, limit.min(RECORDS_SHOWN)).await?;
        let mut records = Vec::with_capacity(rows.len());
        for row in rows {
            let record: AttemptRecord = postcard::from_bytes(&row.record)
                .map_err(|error| StoreError::Failed(format!("a record of webhook {webhook} is damaged: {error}")))?;
            if now.since(record.at) <= RECORD_AGE_MAX {
                records.push((record, row.revision));
            }
        }
        Ok(records)
    }

    async fn newest_rows(&self, webhook: WebhookId, limit: usize) -> Result<Vec<LogRow>, StoreError> {
        let limit = i32::try_from(limit).unwrap_or(i32::MAX);
        if limit == 0 {
            return Ok(Vec::new());
        }
        self.cluster.all(&self.outbox.statements.attempt_select, (&webhook.octets()[..], limit)).await
    }

    /// Deletes the records before those that are shown.
    async fn trim_log(&self, webhook: WebhookId) -> Result<(), StoreError> {
        let rows = self.newest_rows(webhook, RECORDS_SHOWN).await?;
        let Some(oldest) = rows.last().filter(|_| rows.len() == RECORDS_SHOWN) else { return Ok(()) };
        self.cluster.run(&self.outbox.statements.attempt_trim, (&webhook.octets()[..], oldest.at)).await
    }

    pub(super) async fn delete_log(&self, webhook: WebhookId) -> Result<(), StoreError> {
        self.cluster.run(&self.outbox.statements.attempt_delete, (&webhook.octets()[..],)).await
    }
}
