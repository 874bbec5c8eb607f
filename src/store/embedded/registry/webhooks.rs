//! Webhooks, what is known of their receivers, and their delivery logs.

use std::ops::Bound;

use super::memory::{Memory, WebhookRow};
use super::row::Row;
use super::{EmbeddedRegistry, Writer, logs};
use crate::model::{AttemptRecord, Mailbox, Timestamp, WebhookId, WebhookRecord, WebhookStatus};
use crate::store::mail::{Receiver, Webhooks};
use crate::store::outbox_rules::{DroppedEvent, RECORDS_SHOWN};
use crate::store::receiver_health::ReceiverHealth;
use crate::store::registry::Registering;
use crate::store::{StoreError, WebhookFilter, WebhookLimits, WebhookPage, WebhookRegistration};

/// The most webhooks that one transaction deletes.
const DELETED_AT_ONCE: usize = 1_000;

/// What a registration does.
enum Decision {
    /// Nothing.
    Answer(WebhookRegistration),
    Reactivate(Box<WebhookRow>),
    /// Adds the webhook, after deleting another one to make room.
    Add {
        evicts: Option<WebhookId>,
    },
}

impl EmbeddedRegistry {
    /// The webhooks of a mailbox, in the order of their registration.
    pub(crate) fn webhooks(&self, mailbox: &Mailbox) -> Vec<WebhookRecord> {
        self.memory().of_mailbox(mailbox).map(|row| row.record.clone()).collect()
    }

    /// The webhook with this id.
    pub(crate) fn webhook(&self, id: WebhookId) -> Option<WebhookRecord> {
        self.memory().webhooks.get(&id).map(|row| row.record.clone())
    }

    /// The number of webhooks.
    pub(crate) fn webhook_count(&self) -> usize {
        self.memory().webhooks.len()
    }

    /// All webhooks, in the order of their ids.
    pub(crate) fn every_webhook(&self) -> Vec<WebhookRecord> {
        self.memory().webhooks.values().map(|row| row.record.clone()).collect()
    }

    /// Lists at most `limit` webhooks that match `filter`, in the order of their ids, after `after`.
    pub(crate) fn all_webhooks(&self, filter: &WebhookFilter, after: Option<WebhookId>, limit: usize) -> WebhookPage {
        let memory = self.memory();
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let records = memory.webhooks.range((from, Bound::Unbounded)).map(|(_, row)| &row.record);
        WebhookPage::of(records.filter(|record| filter.lets_through(record)), after, limit)
    }

    /// A webhook, and until when it gets no request as of `now`, because its receiver asked for that.
    pub(crate) fn receiver_at(&self, id: WebhookId, now: Timestamp) -> Option<(WebhookRecord, Option<Timestamp>)> {
        let memory = self.memory();
        memory.webhooks.get(&id).map(|row| (row.record.clone(), row.health.backs_off_until(now)))
    }

    /// Registers a webhook, unless one with the same mailbox, URL and secret is registered or a limit is reached. Durable on
    /// return.
    ///
    /// Returns also the webhook that was deleted to make room.
    pub(crate) fn register_webhook(
        &self,
        record: WebhookRecord,
        limits: WebhookLimits,
    ) -> Result<(WebhookRegistration, Option<WebhookId>), StoreError> {
        let mut writer = self.writer()?;
        let decision = decide(&self.memory(), &record, limits);
        match decision {
            Decision::Answer(registration) => Ok((registration, None)),
            Decision::Reactivate(row) => {
                self.change(&mut writer, &[row.row()?])?;
                Ok((WebhookRegistration::Same(Box::new(row.record)), None))
            }
            Decision::Add { evicts } => {
                let mut rows = writer.without_webhooks(evicts.as_slice())?;
                rows.push(new_row(record)?);
                self.change(&mut writer, &rows)?;
                Ok((WebhookRegistration::New, evicts))
            }
        }
    }

    /// Deletes the webhooks that `which` accepts, with their delivery logs. Durable on return.
    ///
    /// At most 1,000 are deleted at once, so some may be gone after an error.
    pub(crate) fn delete_webhooks(&self, which: &dyn Fn(&WebhookRecord) -> bool) -> Result<Vec<WebhookId>, StoreError> {
        let mut writer = self.writer()?;
        let gone = self.memory().ids(which);
        for some in gone.chunks(DELETED_AT_ONCE) {
            let rows = writer.without_webhooks(some)?;
            self.change(&mut writer, &rows)?;
        }
        Ok(gone)
    }

    /// Makes a webhook active, durably, and forgets since when it fails. `false` if there is no such webhook.
    pub(crate) fn activate(&self, id: WebhookId) -> Result<bool, StoreError> {
        let mut writer = self.writer()?;
        let Some(mut row) = self.memory().webhooks.get(&id).cloned() else { return Ok(false) };
        row.record.status = WebhookStatus::Active;
        row.record.failing_since = None;
        self.change(&mut writer, &[row.row()?])?;
        Ok(true)
    }

    /// Records attempts: in the records of their webhooks, in what is known of the receivers, and in the delivery logs.
    /// Returns the webhooks that this disabled.
    ///
    /// An attempt that is not `counted` adds only the back-off that its receiver asked for: its event had ended or had this
    /// attempt already, since a caller that got no answer records an attempt again. An attempt of a webhook that is gone adds
    /// nothing. All is durable with the next flush; that a webhook is disabled or proven, or that its
    /// receiver asked for a break, on return. After an error it is disabled
    /// all the same, and durable with the next flush that succeeds.
    pub(crate) fn record(&self, attempts: &[AttemptRecord], counted: &[bool]) -> Result<Vec<WebhookId>, StoreError> {
        let proven = |memory: &Memory| {
            let of_attempts = attempts.iter().filter_map(|attempt| memory.webhooks.get(&attempt.webhook));
            of_attempts.filter(|row| row.record.is_proven()).count()
        };
        let (were_proven, are_proven);
        let disabled = {
            // A change of these rows must not be under way.
            let _writer = self.writer()?;
            let mut memory = self.memory_mut();
            were_proven = proven(&memory);
            let mut disabled: Vec<WebhookId> = Vec::new();
            for (attempt, is_counted) in attempts.iter().zip(counted) {
                // Its events ended with the webhook.
                let is_counted = *is_counted && !disabled.contains(&attempt.webhook);
                disabled.extend(record_attempt(&mut memory, attempt, is_counted));
            }
            are_proven = proven(&memory);
            disabled
        };
        let asks_for_a_break = attempts.iter().any(|attempt| attempt.backs_off_until.is_some());
        if asks_for_a_break || are_proven > were_proven || !disabled.is_empty() {
            self.flush()?;
        }
        Ok(disabled)
    }

    /// Records mail for the webhooks of a mailbox. Durable with the next flush.
    pub(crate) fn record_mail(&self, mailbox: &Mailbox, now: Timestamp) {
        let ids: Vec<_> = self.memory().of_mailbox(mailbox).map(|row| row.record.id).collect();
        if ids.is_empty() {
            return;
        }
        let mut memory = self.memory_mut();
        for id in ids {
            if let Some(row) = memory.change(id) {
                row.record.last_mail_at = row.record.last_mail_at.max(now);
            }
        }
    }

    /// Records events that were dropped at `now`, in the records of their webhooks and in the delivery logs. Durable with
    /// the next flush.
    pub(crate) fn record_dropped(&self, dropped: &[DroppedEvent], now: Timestamp) {
        if dropped.is_empty() {
            return;
        }
        let mut memory = self.memory_mut();
        for event in dropped {
            if let Some(row) = memory.change(event.webhook) {
                row.record.dropped = row.record.dropped.saturating_add(1);
                memory.log(event.record(now));
            }
        }
    }

    /// Counts events of a webhook that ended with its disabling. Durable with the next flush.
    pub(crate) fn count_dropped(&self, webhook: WebhookId, events: u64) {
        if let Some(row) = self.memory_mut().change(webhook) {
            row.record.dropped = row.record.dropped.saturating_add(events);
        }
    }

    /// Reads the last `limit` records of a webhook's delivery log, at most 100, newest first, without those older than 30
    /// days at `now`. Reads the disk.
    pub(crate) fn attempts(
        &self,
        webhook: WebhookId,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<AttemptRecord>, StoreError> {
        let mut writer = self.lock();
        let mut log = logs::read(&mut writer.file, webhook).map_err(|error| error.to_store_error())?;
        log.extend(self.memory().unwritten_records(webhook).cloned());
        Ok(logs::shown(log, limit, now))
    }

    /// The records of a webhook's delivery log from which ended events are chosen, oldest first. Reads the disk.
    pub(crate) fn log_for_replay(&self, webhook: WebhookId, now: Timestamp) -> Result<Vec<AttemptRecord>, StoreError> {
        let mut log = self.attempts(webhook, RECORDS_SHOWN, now)?;
        log.reverse();
        Ok(log)
    }

    /// Takes over a webhook of a backup. It is durable with the next flush.
    pub(crate) fn load_webhook(&self, record: WebhookRecord) -> Result<(), StoreError> {
        self.load(&new_row(record)?)
    }
}

impl Webhooks for EmbeddedRegistry {
    fn of(&self, mailbox: &Mailbox) -> Vec<Receiver> {
        let memory = self.memory();
        let active = memory.of_mailbox(mailbox).filter(|row| row.record.status == WebhookStatus::Active);
        active.map(|row| Receiver::of(&row.record)).collect()
    }

    fn get(&self, id: WebhookId) -> Option<Receiver> {
        self.memory().webhooks.get(&id).map(|row| Receiver::of(&row.record))
    }
}

impl Writer {
    /// The changes that delete webhooks and their delivery logs.
    pub(super) fn without_webhooks(&mut self, ids: &[WebhookId]) -> Result<Vec<Row>, StoreError> {
        let mut rows = Vec::new();
        for id in ids {
            rows.push(Row::remove(super::Table::Webhooks, &id.octets()));
            rows.extend(self.or_none(|file| logs::remove(file, *id))?);
        }
        Ok(rows)
    }
}

fn new_row(record: WebhookRecord) -> Result<Row, StoreError> {
    WebhookRow { record, health: ReceiverHealth::default() }.row()
}

fn decide(memory: &Memory, record: &WebhookRecord, limits: WebhookLimits) -> Decision {
    match limits.decide(record, memory.webhooks.values().map(|row| &row.record)) {
        Registering::Same(known) => reactivate(&memory.webhooks[&known.id], record.last_mail_at),
        Registering::Refused(registration) => Decision::Answer(registration),
        Registering::New { evicts } => Decision::Add { evicts },
    }
}

/// Registers a webhook that is there already: if it was disabled, its failures are forgotten.
fn reactivate(row: &WebhookRow, last_mail_at: Timestamp) -> Decision {
    let mut row = Box::new(row.clone());
    if row.record.status == WebhookStatus::Active {
        return Decision::Answer(WebhookRegistration::Same(Box::new(row.record)));
    }
    row.record.status = WebhookStatus::Active;
    (row.record.failures, row.record.failing_since) = (0, None);
    row.record.last_mail_at = row.record.last_mail_at.max(last_mail_at);
    Decision::Reactivate(row)
}

/// Records an attempt. Returns its webhook if that is disabled now and was active before.
fn record_attempt(memory: &mut Memory, attempt: &AttemptRecord, is_counted: bool) -> Option<WebhookId> {
    let row = memory.change(attempt.webhook)?;
    row.health.record_backoff(attempt);
    if !is_counted {
        return None;
    }
    let mut is_disabled_now = false;
    if let Some(reason) = row.health.record(&mut row.record, attempt) {
        is_disabled_now = row.record.status == WebhookStatus::Active;
        row.record.status = WebhookStatus::Disabled(reason);
    }
    memory.log(attempt.clone());
    is_disabled_now.then_some(attempt.webhook)
}
