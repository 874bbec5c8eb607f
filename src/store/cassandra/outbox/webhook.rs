//! Webhooks. What is registered never changes; what changes is in columns of its own, each with one writer at a time.
//!
//! ```text
//! record          the registration
//! state           the node that dispatches; a registration or replay that enables the webhook again
//! last_mail_at    every node with mail for it, at most once a minute
//! dropped         every node that drops events; two nodes that drop at one moment may count one of their events
//! ```
//!
//! A write is later than what it replaces, by the times of the writes and not by a clock. A deletion has the time of the
//! latest write that it saw. Nothing writes a record twice, so a deleted webhook stays deleted.

use futures_util::future::{try_join, try_join_all};
use scylla::DeserializeRow;
use serde::{Deserialize, Serialize};

use super::super::rows::MailboxNames;
use super::super::state::ClusterState;
use crate::model::{Mailbox, Timestamp, WebhookId, WebhookRecord, WebhookStatus};
use crate::store::names::{HashKey, named_hash};
use crate::store::receiver_health::ReceiverHealth;
use crate::store::{StoreError, WebhookPage};

/// How much mail may pass, in milliseconds, before a node writes again when the last came.
const MAIL_WRITTEN_EVERY: i64 = 60_000;
/// The webhooks of which a node remembers that.
const MAIL_WRITTEN_MAX: usize = 10_000;
const BUCKETS: i8 = 16;

/// The columns of [`StoredRow`].
pub(super) const WEBHOOK_COLUMNS: &str = "id, record, state, last_mail_at, dropped, WRITETIME(record) AS record_at, \
    WRITETIME(state) AS state_at, WRITETIME(last_mail_at) AS mail_at, WRITETIME(dropped) AS dropped_at";

#[derive(Debug, DeserializeRow)]
struct StoredRow {
    id: Vec<u8>,
    record: Option<String>,
    state: Option<String>,
    last_mail_at: Option<i64>,
    dropped: Option<i64>,
    record_at: Option<i64>,
    state_at: Option<i64>,
    mail_at: Option<i64>,
    dropped_at: Option<i64>,
}

impl StoredRow {
    /// The latest write of any column.
    fn written_at(&self) -> i64 {
        [self.record_at, self.state_at, self.mail_at, self.dropped_at].into_iter().flatten().max().unwrap_or(0)
    }
}

/// What changes of a webhook with each attempt.
#[derive(Serialize, Deserialize)]
struct WebhookState {
    status: WebhookStatus,
    failures: u32,
    failing_since: Option<Timestamp>,
    last_delivery_at: Option<Timestamp>,
    health: ReceiverHealth,
}

/// A webhook as it is now.
#[derive(Clone, Debug)]
pub(in super::super) struct StoredWebhook {
    pub(in super::super) record: WebhookRecord,
    pub(super) health: ReceiverHealth,
    /// When `state` was written, in microseconds.
    state_at: i64,
    dropped_at: i64,
    /// The latest write of any column.
    written_at: i64,
}

impl StoredWebhook {
    pub(in super::super) fn is_active(&self) -> bool {
        self.record.status == WebhookStatus::Active
    }

    fn from_row(row: StoredRow) -> Result<Option<Self>, StoreError> {
        let written_at = row.written_at();
        let (state_at, dropped_at) = (row.state_at.unwrap_or(0), row.dropped_at.unwrap_or(0));
        let Some(record) = row.record else { return Ok(None) };
        let mut record: WebhookRecord = parse(&record)?;
        let mut health = ReceiverHealth::default();
        if let Some(state) = row.state {
            let state: WebhookState = parse(&state)?;
            record.status = state.status;
            (record.failures, record.failing_since) = (state.failures, state.failing_since);
            record.last_delivery_at = state.last_delivery_at;
            health = state.health;
        }
        record.last_mail_at =
            row.last_mail_at.map_or(record.last_mail_at, |at| record.last_mail_at.max(Timestamp::from_millis(at)));
        record.dropped = row.dropped.map_or(0, i64::cast_unsigned);
        Ok(Some(Self { record, health, state_at, dropped_at, written_at }))
    }

    fn state_text(&self) -> Result<String, StoreError> {
        let record = &self.record;
        to_text(&WebhookState {
            status: record.status.clone(),
            failures: record.failures,
            failing_since: record.failing_since,
            last_delivery_at: record.last_delivery_at,
            health: self.health.clone(),
        })
    }
}

/// The bucket of a webhook.
fn bucket_of(id: WebhookId) -> i8 {
    (id.octets()[0] >> 4).cast_signed()
}

pub(super) fn webhook_id(octets: &[u8]) -> WebhookId {
    WebhookId::from_octets(octets.try_into().unwrap_or_default())
}

/// The hash by which the webhooks of a registrant are counted.
pub(super) fn registrant_hash(secret: &HashKey, webhook: &WebhookRecord) -> Option<[u8; 16]> {
    webhook.registrant.map(|registrant| named_hash(secret, "webhooks of registrant", &registrant.to_string()))
}

fn micros(at: Timestamp) -> i64 {
    at.millis().saturating_mul(1000)
}

fn to_text(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Failed(error.to_string()))
}

fn parse<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text)
        .map_err(|error| StoreError::Failed(format!("the record of a webhook is damaged: {error}")))
}

impl ClusterState {
    pub(super) async fn stored_webhook(&self, id: WebhookId) -> Result<Option<StoredWebhook>, StoreError> {
        let values = (bucket_of(id), &id.octets()[..]);
        let row = self.cluster.first::<StoredRow>(&self.outbox.statements.webhook_select, values).await?;
        row.map_or(Ok(None), StoredWebhook::from_row)
    }

    /// The webhooks of a mailbox, in the order of their registration.
    pub(in super::super) async fn webhooks_of(&self, mailbox: &Mailbox) -> Result<Vec<StoredWebhook>, StoreError> {
        let names = MailboxNames::new(&self.secret, mailbox);
        let ids = self.cluster.all::<(Vec<u8>,)>(&self.outbox.statements.webhook_of_select, (&names.mailbox[..],));
        let found = ids.await?.into_iter().map(async |(id,)| self.stored_webhook(webhook_id(&id)).await);
        let mut found: Vec<StoredWebhook> = try_join_all(found).await?.into_iter().flatten().collect();
        found.sort_by_key(|webhook| (webhook.record.created_at, webhook.record.id));
        Ok(found)
    }

    /// Writes a webhook. Mail for its mailbox gives it events from then on.
    ///
    /// It keeps to no limits: it is for a registration that has checked them, and for webhooks of a backup.
    pub(in super::super) async fn insert_webhook(&self, record: &WebhookRecord) -> Result<(), StoreError> {
        self.check_open()?;
        let id = record.id.octets();
        let at = micros(record.created_at);
        let stored = StoredWebhook {
            record: record.clone(),
            health: ReceiverHealth::default(),
            state_at: at,
            dropped_at: at,
            written_at: at,
        };
        let registrant = registrant_hash(&self.secret, record).map(Vec::from);
        let (text, state) = (to_text(record)?, stored.state_text()?);
        let (mail, dropped) = (record.last_mail_at.millis(), record.dropped.cast_signed());
        let values = (bucket_of(record.id), &id[..], text, registrant, state, mail, dropped, at);
        self.cluster.run(&self.outbox.statements.webhook_insert, values).await?;
        let names = MailboxNames::new(&self.secret, &record.mailbox);
        let values = (&names.mailbox[..], &id[..], at);
        self.cluster.run(&self.outbox.statements.webhook_of_insert, values).await
    }

    /// Writes what an attempt, a registration or a replay changed.
    pub(super) async fn write_webhook_state(&self, webhook: &mut StoredWebhook) -> Result<(), StoreError> {
        webhook.state_at = webhook.state_at.saturating_add(1);
        webhook.written_at = webhook.written_at.max(webhook.state_at);
        let (id, text) = (webhook.record.id, webhook.state_text()?);
        let values = (webhook.state_at, text, bucket_of(id), &id.octets()[..]);
        self.cluster.run(&self.outbox.statements.webhook_state, values).await
    }

    /// Counts dropped events of a webhook, in the place of the count that was read.
    pub(super) async fn write_dropped(&self, webhook: &StoredWebhook, dropped: u64) -> Result<(), StoreError> {
        let (id, dropped) = (webhook.record.id, webhook.record.dropped.saturating_add(dropped).cast_signed());
        let values = (webhook.dropped_at.saturating_add(1), dropped, bucket_of(id), &id.octets()[..]);
        self.cluster.run(&self.outbox.statements.webhook_dropped, values).await
    }

    /// Writes when mail came last for a webhook, unless this node did so within a minute.
    pub(super) async fn write_last_mail(&self, id: WebhookId, at: Timestamp) -> Result<(), StoreError> {
        if self.outbox.mail_written_at(id).is_some_and(|last| at.millis() < last + MAIL_WRITTEN_EVERY) {
            return Ok(());
        }
        let values = (micros(at), at.millis(), bucket_of(id), &id.octets()[..]);
        self.cluster.run(&self.outbox.statements.webhook_mail, values).await?;
        self.outbox.mail_written(id, at.millis(), MAIL_WRITTEN_MAX);
        Ok(())
    }

    /// Deletes a webhook. It gets no events from then on, and those that it has are not sent.
    pub(super) async fn delete_webhook_rows(&self, webhook: &StoredWebhook) -> Result<(), StoreError> {
        let id = webhook.record.id;
        let names = MailboxNames::new(&self.secret, &webhook.record.mailbox);
        let values = (webhook.written_at, &names.mailbox[..], &id.octets()[..]);
        self.cluster.run(&self.outbox.statements.webhook_of_delete, values).await?;
        let values = (webhook.written_at, bucket_of(id), &id.octets()[..]);
        self.cluster.run(&self.outbox.statements.webhook_delete, values).await
    }

    /// How many webhooks there are, and how many of them are of `registrant`.
    pub(in super::super) async fn count_webhooks(
        &self,
        registrant: Option<[u8; 16]>,
    ) -> Result<(u64, u64), StoreError> {
        let counts = (0..BUCKETS).map(async |bucket| {
            let (mut all, mut of_registrant) = (0, 0);
            let take = |(found, record_at): (Option<Vec<u8>>, Option<i64>)| {
                if record_at.is_some() {
                    all += 1;
                    of_registrant += u64::from(registrant.is_some_and(|wanted| found.as_deref() == Some(&wanted[..])));
                }
                true
            };
            self.cluster.each(&self.outbox.statements.webhook_registrants, (bucket,), take).await?;
            Ok::<(u64, u64), StoreError>((all, of_registrant))
        });
        let counts = try_join_all(counts).await?.into_iter();
        Ok(counts.fold((0, 0), |(all, of_registrant), (a, b)| (all + a, of_registrant + b)))
    }

    /// Reads at most `rows` webhooks after `after`, in the order of their ids, until `limit` match.
    pub(super) async fn webhook_page(
        &self,
        is_wanted: impl Fn(&WebhookRecord) -> bool,
        after: Option<WebhookId>,
        rows: usize,
        limit: usize,
    ) -> Result<WebhookPage, StoreError> {
        let (mut page, mut examined, mut is_cut, mut damaged) = (WebhookPage::default(), 0, false, None);
        let mut remains = Vec::new();
        for bucket in after.map_or(0, bucket_of)..BUCKETS {
            let from = page.next.or(after).map_or(Vec::new(), |id| id.octets().to_vec());
            let take = |row: StoredRow| {
                if examined == rows || page.webhooks.len() == limit {
                    is_cut = true;
                    return false;
                }
                examined += 1;
                page.next = Some(webhook_id(&row.id));
                let written_at = row.written_at();
                match StoredWebhook::from_row(row) {
                    Ok(Some(webhook)) => page.webhooks.extend(Some(webhook.record).filter(&is_wanted)),
                    Ok(None) => remains.extend(page.next.map(|id| (id, written_at))),
                    Err(error) => damaged = Some(error),
                }
                damaged.is_none()
            };
            self.cluster.each(&self.outbox.statements.webhook_page, (bucket, from), take).await?;
            if let Some(error) = damaged {
                return Err(error);
            }
            // A node wrote a count or a time while another one deleted the webhook.
            for (id, written_at) in remains.drain(..) {
                let values = (written_at, bucket_of(id), &id.octets()[..]);
                self.cluster.run(&self.outbox.statements.webhook_delete, values).await?;
            }
            if is_cut {
                return Ok(page);
            }
        }
        Ok(WebhookPage { next: None, ..page })
    }

    /// Reads a webhook and its pending events.
    pub(super) async fn webhook_with_events(
        &self,
        id: WebhookId,
    ) -> Result<(Option<StoredWebhook>, Vec<super::event::EventRow>), StoreError> {
        try_join(self.stored_webhook(id), self.events_of(id)).await
    }
}
