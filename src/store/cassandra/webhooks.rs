//! Webhooks: what is registered never changes, and what changes is in a row of its own.
//!
//! ```text
//! health      the leader alone, who sends
//! enabled     whoever registers or replays: a time, which undoes a disabling before it
//! last_mail   every node with mail for it, at most once a minute
//! ```
//!
//! Each is written at a time above that of what it replaces. So what two nodes change at one moment is kept both.

use std::collections::HashMap;

use futures_util::future::{try_join, try_join_all};
use scylla::DeserializeRow;
use serde::{Deserialize, Serialize};

use super::Shared;
use crate::model::{AttemptRecord, Timestamp, WebhookId, WebhookRecord, WebhookStatus};
use crate::store::names::mailbox_hash;
use crate::store::outbox_rules::{RECORD_AGE_MAX, RECORDS_SHOWN};
use crate::store::receiver_health::ReceiverHealth;
use crate::store::{StoreError, WebhookLimits, WebhookRegistration};

/// How much mail may pass, in milliseconds, before a node writes again when the last came.
const MAIL_WRITTEN_EVERY: i64 = 60_000;
/// The webhooks of which a node remembers that.
const MAIL_WRITTEN_MAX: usize = 10_000;
/// How long a record of a delivery log lives, in seconds, and how many writes of records come to one that trims a log.
const RECORD_SECONDS: i32 = 30 * 24 * 3600;
const TRIMMED_EVERY: u32 = 64;

#[derive(Debug, DeserializeRow)]
struct HealthRow {
    webhook: Vec<u8>,
    health: Option<String>,
    revision: Option<i64>,
    enabled: Option<i64>,
    low: Option<i64>,
    last_mail: Option<i64>,
}

/// What the leader writes of a webhook.
#[derive(Serialize, Deserialize)]
struct Health {
    status: WebhookStatus,
    /// The revision that disabled it.
    disabled_at: i64,
    failures: u32,
    failing_since: Option<Timestamp>,
    last_delivery_at: Option<Timestamp>,
    dropped: u64,
    receiver: ReceiverHealth,
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

    fn new(record: &str, row: Option<HealthRow>) -> Result<Self, StoreError> {
        let mut record: WebhookRecord = parse(record)?;
        let (mut health, mut disabled_at) = (ReceiverHealth::default(), 0);
        let mut stored = (0, 0, i64::MIN);
        if let Some(row) = row {
            stored = (row.revision.unwrap_or(0), row.enabled.unwrap_or(0), row.low.unwrap_or(i64::MIN));
            if let Some(found) = row.health {
                let found: Health = parse(&found)?;
                (record.status, health, disabled_at) = (found.status, found.receiver, found.disabled_at);
                (record.failures, record.failing_since) = (found.failures, found.failing_since);
                (record.last_delivery_at, record.dropped) = (found.last_delivery_at, found.dropped);
            }
            let last_mail = row.last_mail.map_or(record.last_mail_at, Timestamp::from_millis);
            record.last_mail_at = record.last_mail_at.max(last_mail);
        }
        let (revision, enabled, low) = stored;
        let mut webhook = Self { record, health, low, revision, enabled, disabled_at };
        if !webhook.is_active() && enabled > disabled_at {
            webhook.enable();
        }
        Ok(webhook)
    }

    fn enable(&mut self) {
        self.record.status = WebhookStatus::Active;
        (self.record.failures, self.record.failing_since) = (0, None);
    }

    /// The time of its registration, which is that of its deletion as well.
    fn registered_micros(&self) -> i64 {
        micros(self.record.created_at)
    }
}

fn micros(at: Timestamp) -> i64 {
    at.millis().saturating_mul(1000)
}

pub(super) fn to_text(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Failed(error.to_string()))
}

fn parse<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text)
        .map_err(|error| StoreError::Failed(format!("the record of a webhook is damaged: {error}")))
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
        let octets = id.octets();
        let record = self.session.first::<(Vec<u8>, String)>(&self.statements.webhook_select, (&octets[..],));
        let health = self.session.first::<HealthRow>(&self.statements.health_select, (&octets[..],));
        let (record, health) = try_join(record, health).await?;
        record.map(|(_, record)| StoredWebhook::new(&record, health)).transpose()
    }

    /// All webhooks, in the order of their ids.
    pub(super) async fn stored_webhooks(&self) -> Result<Vec<StoredWebhook>, StoreError> {
        let records = self.session.all::<(Vec<u8>, String)>(&self.statements.webhook_scan, ());
        let health = self.session.all::<HealthRow>(&self.statements.health_scan, ());
        let (mut records, health) = try_join(records, health).await?;
        let mut health: HashMap<Vec<u8>, HealthRow> =
            health.into_iter().map(|row| (row.webhook.clone(), row)).collect();
        records.sort_unstable();
        records.into_iter().map(|(id, record)| StoredWebhook::new(&record, health.remove(&id))).collect()
    }

    /// The webhooks of a mailbox, in the order of their registration.
    pub(super) async fn webhooks_of(&self, mailbox: &[u8; 16]) -> Result<Vec<StoredWebhook>, StoreError> {
        let ids = self.webhook_ids_of(mailbox).await?;
        let found = try_join_all(ids.into_iter().map(|id| self.stored_webhook(id))).await?;
        let mut found: Vec<StoredWebhook> = found.into_iter().flatten().collect();
        found.sort_by_key(|webhook| (webhook.record.created_at, webhook.record.id));
        Ok(found)
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
        let record = &webhook.record;
        let health = to_text(&Health {
            status: record.status.clone(),
            disabled_at: webhook.disabled_at,
            failures: record.failures,
            failing_since: record.failing_since,
            last_delivery_at: record.last_delivery_at,
            dropped: record.dropped,
            receiver: webhook.health.clone(),
        })?;
        let values = (revision, health, revision, webhook.low, &record.id.octets()[..]);
        self.session.run(&self.statements.health_update, values).await
    }

    /// Makes a webhook active again, and forgets its failures.
    pub(super) async fn enable_webhook(&self, webhook: &mut StoredWebhook, now: Timestamp) -> Result<(), StoreError> {
        if webhook.is_active() {
            return Ok(());
        }
        webhook.enabled = micros(now).max(webhook.revision + 1).max(webhook.enabled + 1);
        webhook.enable();
        let values = (webhook.enabled, webhook.enabled, &webhook.record.id.octets()[..]);
        self.session.run(&self.statements.health_enable, values).await
    }

    /// Writes when mail came last for webhooks, of each at most once a minute.
    pub(super) async fn note_mail(&self, webhooks: &[WebhookId], at: Timestamp) {
        for id in webhooks {
            if self.registry.mail_written_at(*id).is_some_and(|last| at.millis() < last + MAIL_WRITTEN_EVERY) {
                continue;
            }
            let values = (micros(at), at.millis(), &id.octets()[..]);
            match self.session.run(&self.statements.health_mail, values).await {
                Ok(()) => self.registry.mail_written(*id, at.millis(), MAIL_WRITTEN_MAX),
                Err(error) => {
                    tracing::warn!(%error, "the time of a webhook's last mail was not written; the next mail tries again");
                }
            }
        }
    }

    /// Registers a webhook. It reads the counts and then writes, so registrations of one moment may exceed a limit together.
    pub(super) async fn register(
        &self,
        record: &WebhookRecord,
        limits: WebhookLimits,
    ) -> Result<WebhookRegistration, StoreError> {
        self.check_open()?;
        let of_mailbox = self.webhooks_of(&mailbox_hash(&self.secret, &record.mailbox)).await?;
        let is_same =
            |known: &&StoredWebhook| (&known.record.url, &known.record.secret) == (&record.url, &record.secret);
        if let Some(known) = of_mailbox.iter().find(is_same) {
            let mut known = known.clone();
            if !known.is_active() {
                self.enable_webhook(&mut known, self.now()).await?;
                self.note_mail(&[known.record.id], record.last_mail_at).await;
                known.record.last_mail_at = known.record.last_mail_at.max(record.last_mail_at);
                self.change_version().await;
            }
            return Ok(WebhookRegistration::Same(Box::new(known.record)));
        }
        if of_mailbox.len() >= limits.per_recipient as usize {
            return Ok(WebhookRegistration::FullForRecipient);
        }
        let all = self.stored_webhooks().await?;
        let of_registrant = all.iter().filter(|known| known.record.registrant == record.registrant).count();
        if record.registrant.is_some() && of_registrant >= limits.per_registrant as usize {
            return Ok(WebhookRegistration::FullForRegistrant);
        }
        if all.len() >= limits.total as usize {
            let evictable = all
                .into_iter()
                .filter(|known| known.record.is_evictable() && known.record.created_at < limits.unproven_before);
            let Some(oldest) = evictable.min_by_key(|known| (known.record.created_at, known.record.id)) else {
                return Ok(WebhookRegistration::Full);
            };
            self.remove_webhook(&oldest).await?;
        }
        self.insert_webhook(record).await?;
        self.change_version().await;
        Ok(WebhookRegistration::New)
    }

    /// Writes a webhook. Mail for its mailbox gives it events from then on. It keeps to no limits.
    pub(super) async fn insert_webhook(&self, record: &WebhookRecord) -> Result<(), StoreError> {
        let mut webhook = StoredWebhook::new(&to_text(record)?, None)?;
        let (id, at) = (record.id.octets(), webhook.registered_micros());
        // What an earlier store knew of it.
        self.write_health(&mut webhook).await?;
        self.session.run(&self.statements.webhook_insert, (&id[..], to_text(record)?, at)).await?;
        let mailbox = mailbox_hash(&self.secret, &record.mailbox);
        self.session.run(&self.statements.webhook_of_insert, (&mailbox[..], &id[..], at)).await
    }

    /// Deletes a webhook, its events and its log. The caller changes the version.
    pub(super) async fn remove_webhook(&self, webhook: &StoredWebhook) -> Result<(), StoreError> {
        let (id, at) = (webhook.record.id.octets(), webhook.registered_micros());
        let mailbox = mailbox_hash(&self.secret, &webhook.record.mailbox);
        self.session.run(&self.statements.webhook_of_delete, (at, &mailbox[..], &id[..])).await?;
        self.session.run(&self.statements.webhook_delete, (at, &id[..])).await?;
        let last = micros(self.now()).max(webhook.revision).max(webhook.enabled);
        let last = last.max(micros(webhook.record.last_mail_at));
        let rest = try_join(
            self.session.run(&self.statements.health_delete, (last, &id[..])),
            try_join(
                self.session.run(&self.statements.events_delete, (last, &id[..])),
                self.session.run(&self.statements.attempts_delete, (&id[..],)),
            ),
        );
        // The webhook is deleted, so this must not fail. Nobody looks at what is left, and it ends by itself.
        if let Err(error) = rest.await {
            tracing::warn!(%error, "what belongs to a deleted webhook was not deleted");
        }
        Ok(())
    }

    /// Adds a record to its log, with the time of the write that changed its event. A second call changes nothing.
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
