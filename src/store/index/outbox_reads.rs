//! Reads of webhooks, their pending events and their delivery logs.

use std::ops::Bound;

use redb::{AccessGuard, StorageError};

use super::IndexError;
use super::delivery_log::newest_records;
use super::keys::{DueKey, WebhookKey, first_attempt_key, read_due_key, retry_key, webhook_in, webhook_key};
use super::outbox_events::event_in;
use super::read::View;
use super::rows::{EventRow, decode_event, decode_webhook, opaque_place};
use super::tables::{DUE, EVENTS, WEBHOOK_SETS, WEBHOOKS};
use super::webhook_rows::WebhookRow;
use super::webhook_sets::webhooks_of;
use crate::model::{
    AttemptRecord, Listed, Mailbox, PendingEvent, Place, Timestamp, WebhookId, WebhookRecord, WebhookStatus,
};
use crate::store::names::event_id;
use crate::store::{DueQuery, WebhookPage};

/// A row of [`DUE`].
type DueRow<'t> = Result<(AccessGuard<'t, &'static DueKey>, AccessGuard<'t, ()>), StorageError>;

/// The due events of a webhook.
pub(crate) struct Due {
    pub(crate) events: Vec<PendingEvent>,
    /// Whether more events are due.
    pub(crate) has_more: bool,
    /// When the next event becomes due that is not due yet.
    pub(crate) next_due_at: Option<Timestamp>,
}

impl View {
    pub(crate) fn webhooks(&self, mailbox: &Mailbox) -> Result<Vec<WebhookRecord>, IndexError> {
        let mut found = Vec::new();
        for id in webhooks_of(&self.transaction.open_table(WEBHOOK_SETS)?, &self.hash_key, mailbox)? {
            found.extend(self.webhook(id)?);
        }
        found.sort_by_key(|record| (record.created_at, record.id));
        Ok(found)
    }

    pub(crate) fn webhook(&self, id: WebhookId) -> Result<Option<WebhookRecord>, IndexError> {
        Ok(self.webhook_row(id)?.map(|row| row.record))
    }

    /// Finds a webhook, and until when it gets no request as of `now`, because its receiver asked for that.
    pub(crate) fn webhook_at(
        &self,
        id: WebhookId,
        now: Timestamp,
    ) -> Result<Option<(WebhookRecord, Option<Timestamp>)>, IndexError> {
        let row = self.webhook_row(id)?;
        Ok(row.map(|row| {
            let backs_off_until = row.health.backs_off_until(now);
            (row.record, backs_off_until)
        }))
    }

    fn webhook_row(&self, id: WebhookId) -> Result<Option<WebhookRow>, IndexError> {
        let row = self.transaction.open_table(WEBHOOKS)?.get(&id.octets())?;
        row.map(|row| decode_webhook(row.value())).transpose()
    }

    /// Reads at most `rows` webhooks after `after`, in the order of their ids, until `limit` match.
    pub(crate) fn webhook_page(
        &self,
        is_wanted: impl Fn(&WebhookRecord) -> bool,
        after: Option<WebhookId>,
        rows: usize,
        limit: usize,
    ) -> Result<WebhookPage, IndexError> {
        let table = self.transaction.open_table(WEBHOOKS)?;
        let from = after.map_or(Bound::Unbounded, |id| Bound::Excluded(id.octets()));
        let mut found = WebhookPage::default();
        let range = (from.as_ref(), Bound::Unbounded);
        for (number, row) in table.range::<&[u8; 16]>(range)?.enumerate() {
            if number == rows || found.webhooks.len() == limit {
                return Ok(found);
            }
            let (id, row) = row?;
            let id = WebhookId::from_octets(*id.value());
            let record = decode_webhook(row.value())?.record;
            if is_wanted(&record) {
                found.webhooks.push(record);
            }
            found.next = Some(id);
        }
        Ok(WebhookPage { next: None, ..found })
    }

    /// The webhooks with pending events, each with the time of its next attempt; `None` if one of its events had none yet.
    ///
    /// Reads one row for each of these webhooks, however many events it has.
    pub(crate) fn pending_webhooks(&self) -> Result<Vec<(WebhookId, Option<Timestamp>)>, IndexError> {
        let table = self.transaction.open_table(DUE)?;
        let mut pending = Vec::new();
        let mut from = [0; 32];
        while let Some(row) = table.range::<&DueKey>(&from..)?.next() {
            let (webhook, due_at, _) = read_due_key(row?.0.value());
            pending.push((webhook, due_at));
            from = retry_key(webhook, Timestamp::MAX, u64::MAX);
        }
        Ok(pending)
    }

    pub(crate) fn due_events(&self, webhook: WebhookId, query: &DueQuery) -> Result<Due, IndexError> {
        let (events, table) = (self.transaction.open_table(EVENTS)?, self.transaction.open_table(DUE)?);
        let after = |at: Timestamp| Timestamp::from_millis(at.millis().saturating_add(1));
        let range = |from: DueKey, to: DueKey| table.range::<&DueKey>(&from..=&to);
        let retries = |from, to| range(retry_key(webhook, from, 0), retry_key(webhook, to, u64::MAX));
        let mut due = Due { events: Vec::new(), has_more: false, next_due_at: None };
        if let Some(row) = retries(after(query.due_by), query.due_after)?.next() {
            due.next_due_at = read_due_key(row?.0.value()).1;
        }
        let read = |row: DueRow<'_>| -> Result<Option<(u64, EventRow)>, IndexError> {
            let (_, _, sequence) = read_due_key(row?.0.value());
            if query.without.contains(&sequence) {
                return Ok(None);
            }
            let event = event_in(&events, &webhook_key(webhook, sequence))?;
            event.ok_or(IndexError::Corrupt("a due event is missing")).map(|event| Some((sequence, event)))
        };
        let first_attempts = range(first_attempt_key(webhook, 0), first_attempt_key(webhook, u64::MAX))?;
        let overdue = retries(Timestamp::from_millis(0), query.due_by)?;
        let retries = overdue.chain(retries(after(query.due_after), Timestamp::MAX)?);
        let mut first_attempts = first_attempts.filter_map(|row| read(row).transpose()).peekable();
        let mut retries = retries.filter_map(|row| read(row).transpose()).peekable();
        loop {
            // The event that has been due for longer comes first, so that neither kind starves the other.
            let is_retry_next = match (retries.peek(), first_attempts.peek()) {
                (None, None) => return Ok(due),
                (Some(Ok((_, retry))), Some(Ok((_, first)))) => retry.due_at < first.due_at,
                (retry, _) => retry.is_some(),
            };
            if due.events.len() == query.limit {
                due.has_more = true;
                return Ok(due);
            }
            let next = if is_retry_next { retries.next() } else { first_attempts.next() };
            due.events.extend(next.transpose()?.map(|(sequence, event)| self.pending(webhook, sequence, &event)));
        }
    }

    fn pending(&self, webhook: WebhookId, sequence: u64, event: &EventRow) -> PendingEvent {
        PendingEvent {
            id: event_id(&self.hash_key, webhook, event.email),
            webhook,
            email: Listed {
                id: event.email,
                sequence,
                received_at: event.received_at,
                expires_at: event.expires_at,
                size_octets: u64::from(event.place.content),
                place: opaque_place(event.place),
            },
            attempts: event.attempts,
            due_at: event.due_at,
        }
    }

    /// Whether the event is pending and its webhook is active.
    pub(crate) fn is_pending(&self, webhook: WebhookId, sequence: u64) -> Result<bool, IndexError> {
        Ok(self.place_of_pending(webhook, sequence)?.is_some())
    }

    /// The place of the message of a pending event whose webhook is active.
    pub(crate) fn place_of_pending(&self, webhook: WebhookId, sequence: u64) -> Result<Option<Place>, IndexError> {
        let events = self.transaction.open_table(EVENTS)?;
        let Some(event) = event_in(&events, &webhook_key(webhook, sequence))? else { return Ok(None) };
        let place = opaque_place(event.place);
        let is_active = self.webhook(webhook)?.is_some_and(|record| record.status == WebhookStatus::Active);
        Ok(is_active.then_some(place))
    }

    /// Lists the webhooks whose oldest event nobody will deliver: they are disabled, or its Email expired before `expired_by`.
    pub(crate) fn with_ended_events(&self, expired_by: Timestamp) -> Result<Vec<WebhookId>, IndexError> {
        let mut found = Vec::new();
        let events = self.transaction.open_table(EVENTS)?;
        let mut from = [0; 24];
        while let Some(row) = events.range::<&WebhookKey>(&from..)?.next() {
            let (key, row) = row?;
            let webhook = webhook_in(key.value());
            let is_active = self.webhook(webhook)?.is_some_and(|record| record.status == WebhookStatus::Active);
            if !is_active || decode_event(row.value())?.expires_at < expired_by {
                found.push(webhook);
            }
            from = webhook_key(webhook, u64::MAX);
        }
        Ok(found)
    }

    /// Reads the records of a webhook's delivery log that are not too old at `now`, newest first.
    pub(crate) fn attempts(
        &self,
        webhook: WebhookId,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<AttemptRecord>, IndexError> {
        newest_records(&self.transaction, webhook, limit, now)
    }
}
