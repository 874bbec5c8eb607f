//! Webhooks: what is registered never changes, and what changes is beside it.
//!
//! ```text
//! webhook_of  whoever registers or deletes, each time before `record`: mail finds the webhook by it
//! record      whoever registers; without it there is no webhook, although what changes may come later than its deletion
//! health      the leader alone, who sends
//! enabled     whoever registers or replays: a time, which undoes a disabling before it
//! last_mail   every node that has the first mail of a minute for it
//! ```
//!
//! Each is written at a time above that of what it replaces. So what two nodes change at one moment is kept both.

use futures_util::future::{try_join, try_join_all};
use scylla::DeserializeRow;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Shared;
use crate::model::{AttemptRecord, Timestamp, WebhookId, WebhookRecord, WebhookStatus};
use crate::store::StoreError;
use crate::store::names::mailbox_hash;
use crate::store::outbox_rules::{RECORD_AGE_MAX, RECORDS_SHOWN};
use crate::store::receiver_health::ReceiverHealth;

/// How long a record of a delivery log lives, in seconds, and how many writes of records come to one that trims a log.
const RECORD_SECONDS: i32 = 30 * 24 * 3600;
const TRIMMED_EVERY: u32 = 64;
/// No event is due later than that after now, in microseconds. The times of rows of events are those at which they are due.
const DUE_WITHIN_MICROS: i64 = 365 * 24 * 3600 * 1_000_000;

#[derive(Debug, DeserializeRow)]
struct WebhookRow {
    record: Option<String>,
    health: Option<String>,
    revision: Option<i64>,
    enabled: Option<i64>,
    low: Option<i64>,
    last_mail: Option<i64>,
}

/// What the leader writes of a webhook.
#[derive(Serialize, Deserialize)]
struct Health {
    record: WebhookRecord,
    receiver: ReceiverHealth,
    /// The revision that disabled it.
    disabled_at: i64,
}

/// A webhook as it is now.
#[derive(Clone, Debug)]
pub(super) struct StoredWebhook {
    pub(super) record: WebhookRecord,
    pub(super) health: ReceiverHealth,
    /// No pending event of it is due before, in milliseconds.
    pub(super) low: i64,
    /// The times of the last writes, in microseconds, and that of the disabling that the record shows.
    revision: i64,
    enabled: i64,
    disabled_at: i64,
}

impl StoredWebhook {
    pub(super) fn is_active(&self) -> bool {
        self.record.status == WebhookStatus::Active
    }

    /// The webhook of a row; `None` if it was deleted.
    fn of(row: WebhookRow) -> Result<Option<Self>, StoreError> {
        let Some(record) = row.record else { return Ok(None) };
        let mut record: WebhookRecord = parse(record.as_bytes())?;
        let (mut health, mut disabled_at) = (ReceiverHealth::default(), 0);
        if let Some(found) = row.health {
            let found: Health = parse(found.as_bytes())?;
            (record, health, disabled_at) = (found.record, found.receiver, found.disabled_at);
        }
        if let Some(at) = row.last_mail {
            record.last_mail_at = record.last_mail_at.max(Timestamp::from_millis(at));
        }
        let (revision, enabled) = (row.revision.unwrap_or(0), row.enabled.unwrap_or(0));
        let low = row.low.unwrap_or(i64::MIN);
        let mut webhook = Self { record, health, low, revision, enabled, disabled_at };
        if !webhook.is_active() && enabled > disabled_at {
            webhook.enable();
        }
        Ok(Some(webhook))
    }

    fn enable(&mut self) {
        self.record.status = WebhookStatus::Active;
        (self.record.failures, self.record.failing_since) = (0, None);
    }
}

fn micros(at: Timestamp) -> i64 {
    at.millis().saturating_mul(1000)
}

pub(super) fn to_text(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Failed(error.to_string()))
}

pub(super) fn parse<T: DeserializeOwned>(text: &[u8]) -> Result<T, StoreError> {
    serde_json::from_slice(text)
        .map_err(|error| StoreError::Failed(format!("a record of what people typed in is damaged: {error}")))
}

pub(super) fn webhook_id(octets: &[u8]) -> WebhookId {
    WebhookId::from_octets(octets.try_into().unwrap_or_default())
}

impl Shared {
    /// The webhooks of a mailbox, by their ids.
    pub(super) async fn webhook_ids_of(&self, mailbox: &[u8; 16]) -> Result<Vec<WebhookId>, StoreError> {
        let ids = self.session.all::<(Vec<u8>,)>(&self.statements.webhook_of_select, (&mailbox[..],)).await?;
        Ok(ids.into_iter().map(|(id,)| webhook_id(&id)).collect())
    }

    pub(super) async fn stored_webhook(&self, id: WebhookId) -> Result<Option<StoredWebhook>, StoreError> {
        let row = self.session.first::<WebhookRow>(&self.statements.webhook_select, (&id.octets()[..],)).await?;
        row.map_or(Ok(None), StoredWebhook::of)
    }

    /// All webhooks, in the order of their ids.
    pub(super) async fn stored_webhooks(&self) -> Result<Vec<StoredWebhook>, StoreError> {
        let rows = self.session.all::<WebhookRow>(&self.statements.webhook_scan, ()).await?;
        let webhooks = rows.into_iter().filter_map(|row| StoredWebhook::of(row).transpose());
        let mut webhooks = webhooks.collect::<Result<Vec<_>, _>>()?;
        webhooks.sort_unstable_by_key(|webhook| webhook.record.id);
        Ok(webhooks)
    }

    /// Writes what the leader changed of a webhook.
    pub(super) async fn write_health(&self, webhook: &mut StoredWebhook) -> Result<(), StoreError> {
        let revision = micros(self.now()).max(webhook.revision + 1).max(webhook.enabled + 1);
        webhook.revision = revision;
        if webhook.is_active() {
            webhook.disabled_at = 0;
        } else if webhook.disabled_at <= webhook.enabled {
            webhook.disabled_at = revision;
        }
        let (record, receiver, disabled_at) = (webhook.record.clone(), webhook.health.clone(), webhook.disabled_at);
        let health = to_text(&Health { record, receiver, disabled_at })?;
        let values = (revision, health, revision, webhook.low, &webhook.record.id.octets()[..]);
        self.session.run(&self.statements.webhook_health, values).await
    }

    /// Makes a webhook active again, and forgets its failures.
    pub(super) async fn enable_webhook(&self, webhook: &mut StoredWebhook, now: Timestamp) -> Result<(), StoreError> {
        if webhook.is_active() {
            return Ok(());
        }
        webhook.enabled = micros(now).max(webhook.revision + 1).max(webhook.enabled + 1);
        webhook.enable();
        let values = (webhook.enabled, webhook.enabled, &webhook.record.id.octets()[..]);
        self.session.run(&self.statements.webhook_enable, values).await
    }

    /// Writes when mail came last for webhooks.
    pub(super) async fn note_mail(&self, webhooks: &[WebhookId], at: Timestamp) {
        let writes = webhooks.iter().map(|id| async move {
            let values = (micros(at), at.millis(), &id.octets()[..]);
            self.session.run(&self.statements.webhook_mail, values).await
        });
        if let Err(error) = try_join_all(writes).await {
            tracing::warn!(%error, "the time of a webhook's last mail was not written; the next minute's mail tries again");
        }
    }

    /// Writes a webhook. Mail for its mailbox gives it events from then on. It keeps to no limits.
    pub(super) async fn insert_webhook(&self, record: &WebhookRecord) -> Result<(), StoreError> {
        let (id, at) = (record.id.octets(), micros(record.created_at));
        let mailbox = mailbox_hash(&self.secret, &record.mailbox);
        // First: mail finds the webhook by it. If this is cut off here, events without a webhook end silently.
        self.session.run(&self.statements.webhook_of_insert, (&mailbox[..], &id[..], at)).await?;
        self.session.run(&self.statements.webhook_insert, (at, to_text(record)?, &id[..])).await
    }

    /// Whether mail finds a webhook. It does not if a removal was cut off.
    pub(super) async fn is_found_by_mail(&self, record: &WebhookRecord) -> Result<bool, StoreError> {
        Ok(self.webhook_ids_of(&mailbox_hash(&self.secret, &record.mailbox)).await?.contains(&record.id))
    }

    /// Deletes a webhook, its events and its log. The caller tells the change.
    pub(super) async fn remove_webhook(&self, webhook: &StoredWebhook) -> Result<(), StoreError> {
        let StoredWebhook { record, revision, enabled, .. } = webhook;
        let id = &record.id.octets()[..];
        let mailbox = mailbox_hash(&self.secret, &record.mailbox);
        let registered = micros(record.created_at);
        self.session.run(&self.statements.webhook_of_delete, (registered, &mailbox[..], id)).await?;
        let last = micros(self.now()).max(registered).max(*revision).max(*enabled).max(micros(record.last_mail_at));
        self.session.run(&self.statements.webhook_delete, (last, id)).await?;
        let events = self.session.run(&self.statements.events_delete, (last.saturating_add(DUE_WITHIN_MICROS), id));
        let rest = try_join(events, self.session.run(&self.statements.attempts_delete, (id,)));
        // The webhook is deleted, so this must not fail. Nobody looks at what is left, and it ends by itself.
        if let Err(error) = rest.await {
            tracing::warn!(%error, "what belongs to a deleted webhook was not deleted");
        }
        Ok(())
    }

    /// Adds a record to its log, with the time of the write of its event's row. A second call changes nothing.
    pub(super) async fn write_attempt(&self, record: &AttemptRecord, revision: i64) -> Result<(), StoreError> {
        let (webhook, event) = (record.webhook.octets(), record.event.octets());
        let octets = postcard::to_stdvec(record).map_err(|error| StoreError::Failed(error.to_string()))?;
        let values = (&webhook[..], record.at.millis(), revision, &event[..], octets, RECORD_SECONDS);
        self.session.run(&self.statements.attempt_insert, values).await?;
        if !rand::random::<u32>().is_multiple_of(TRIMMED_EVERY) {
            return Ok(());
        }
        let rows = self.attempt_rows(record.webhook, RECORDS_SHOWN).await?;
        let Some((oldest, _)) = rows.last().filter(|_| rows.len() == RECORDS_SHOWN) else { return Ok(()) };
        self.session.run(&self.statements.attempt_trim, (&webhook[..], *oldest)).await
    }

    /// The newest records of a log that are not too old at `now`, newest first.
    pub(super) async fn log_of(
        &self,
        webhook: WebhookId,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<AttemptRecord>, StoreError> {
        let rows = self.attempt_rows(webhook, limit.min(RECORDS_SHOWN)).await?;
        let records = rows.into_iter().map(|(_, record)| {
            postcard::from_bytes::<AttemptRecord>(&record)
                .map_err(|error| StoreError::Failed(format!("a record of webhook {webhook} is damaged: {error}")))
        });
        let mut records = records.collect::<Result<Vec<_>, _>>()?;
        records.retain(|record| now.since(record.at) <= RECORD_AGE_MAX);
        Ok(records)
    }

    async fn attempt_rows(&self, webhook: WebhookId, limit: usize) -> Result<Vec<(i64, Vec<u8>)>, StoreError> {
        let limit = i32::try_from(limit).unwrap_or(i32::MAX);
        if limit == 0 {
            return Ok(Vec::new());
        }
        self.session.all(&self.statements.attempt_select, (&webhook.octets()[..], limit)).await
    }
}
