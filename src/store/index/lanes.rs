//! What readers ask about webhooks: who they are, what waits for them, what was tried.

use std::ops::Bound;

use super::outbox::ATTEMPTS_AGE_MAX;
use super::read::View;
use super::tables::{
    ATTEMPTS, DUE, EVENTS, LaneKey, WEBHOOKS, WEBHOOKS_OF, due_key, event_id, lane_key, mailbox_hash, opaque_place,
    read_due_key, webhook_of, webhook_of_key, webhook_of_lane,
};
use super::{IndexError, decode_attempt, decode_event, decode_webhook};
use crate::model::{AttemptRecord, Mailbox, PendingEvent, Place, Timestamp, WebhookId, WebhookRecord, WebhookStatus};
use crate::store::Wanted;
use crate::store::change::Sweep;

/// Events that are due.
pub(crate) struct Due {
    pub(crate) events: Vec<PendingEvent>,
    /// Others are due.
    pub(crate) has_more: bool,
    /// When the next one is that is not.
    pub(crate) next_due_at: Option<Timestamp>,
}

/// Webhooks that a sweep is after.
pub(crate) struct ToSweep {
    pub(crate) webhooks: Vec<WebhookId>,
    /// Where to go on behind; `None` if that was the last one.
    pub(crate) next: Option<WebhookId>,
}

impl View {
    pub(crate) fn webhooks(&self, mailbox: &Mailbox) -> Result<Vec<WebhookRecord>, IndexError> {
        let mailbox = mailbox_hash(&self.hash_key, mailbox);
        let (first, last) = (WebhookId::from_octets([0; 16]), WebhookId::from_octets([255; 16]));
        let (first, last) = (webhook_of_key(mailbox, first), webhook_of_key(mailbox, last));
        let mut found = Vec::new();
        for row in self.transaction.open_table(WEBHOOKS_OF)?.range::<&[u8; 32]>(&first..=&last)? {
            found.extend(self.webhook(webhook_of(row?.0.value()))?);
        }
        found.sort_by_key(|record| (record.created_at, record.id));
        Ok(found)
    }

    pub(crate) fn webhook(&self, id: WebhookId) -> Result<Option<WebhookRecord>, IndexError> {
        let row = self.transaction.open_table(WEBHOOKS)?.get(&id.octets())?;
        row.map(|row| Ok(decode_webhook(row.value())?.record)).transpose()
    }

    /// Looks at no more than `rows` webhooks behind `after`, in the order of their ids, for at most `limit` that `of` is
    /// after.
    pub(crate) fn webhooks_to_sweep(
        &self,
        of: &Sweep,
        after: Option<WebhookId>,
        rows: usize,
        limit: usize,
    ) -> Result<ToSweep, IndexError> {
        let table = self.transaction.open_table(WEBHOOKS)?;
        let from = after.map_or(Bound::Unbounded, |id| Bound::Excluded(id.octets()));
        let mut found = ToSweep { webhooks: Vec::new(), next: None };
        let range = (from.as_ref(), Bound::Unbounded);
        for (number, row) in table.range::<&[u8; 16]>(range)?.enumerate() {
            if number == rows || found.webhooks.len() == limit {
                return Ok(found);
            }
            let (id, row) = row?;
            let id = WebhookId::from_octets(*id.value());
            if of.is_after(&decode_webhook(row.value())?.record) {
                found.webhooks.push(id);
            }
            found.next = Some(id);
        }
        Ok(ToSweep { next: None, ..found })
    }

    /// Reads one row for each webhook that has events, however many it has.
    pub(crate) fn lanes(&self) -> Result<Vec<(WebhookId, Timestamp)>, IndexError> {
        let table = self.transaction.open_table(DUE)?;
        let mut lanes = Vec::new();
        let mut from = [0; 32];
        while let Some(row) = table.range::<&[u8; 32]>(&from..)?.next() {
            let (webhook, due_at, _) = read_due_key(row?.0.value());
            lanes.push((webhook, due_at));
            from = due_key(webhook, Timestamp::MAX, u64::MAX);
        }
        Ok(lanes)
    }

    pub(crate) fn due_events(&self, webhook: WebhookId, wanted: &Wanted) -> Result<Due, IndexError> {
        let events = self.transaction.open_table(EVENTS)?;
        let table = self.transaction.open_table(DUE)?;
        let range = |from: Timestamp, to: Timestamp| {
            let (first, last) = (due_key(webhook, from, 0), due_key(webhook, to, u64::MAX));
            table.range::<&[u8; 32]>(&first..=&last)
        };
        let after = |at: Timestamp| Timestamp::from_millis(at.millis().saturating_add(1));
        let mut due = Due { events: Vec::new(), has_more: false, next_due_at: None };
        if let Some(row) = range(after(wanted.due_by), wanted.due_after)?.next() {
            due.next_due_at = Some(read_due_key(row?.0.value()).1);
        }
        let is_due = range(Timestamp::from_millis(0), wanted.due_by)?;
        for row in is_due.chain(range(after(wanted.due_after), Timestamp::MAX)?) {
            let (_, due_at, sequence) = read_due_key(row?.0.value());
            if wanted.without.contains(&sequence) {
                continue;
            }
            if due.events.len() == wanted.limit {
                due.has_more = true;
                break;
            }
            let row = events.get(&lane_key(webhook, sequence))?.ok_or(IndexError::Corrupt("a due event is missing"))?;
            let event = decode_event(row.value())?;
            due.events.push(PendingEvent {
                id: event_id(&self.hash_key, webhook, event.email),
                webhook,
                email: event.email,
                sequence,
                attempts: event.attempts,
                due_at,
                received_at: event.received_at,
                expires_at: event.expires_at,
                size_octets: u64::from(event.place.content),
                place: opaque_place(event.place),
            });
        }
        Ok(due)
    }

    /// Whether the event waits for a webhook that is told of it.
    pub(crate) fn is_pending(&self, webhook: WebhookId, sequence: u64) -> Result<bool, IndexError> {
        Ok(self.place_of_pending(webhook, sequence)?.is_some())
    }

    /// Where the octets are of an event that waits for a webhook that is told of it.
    pub(crate) fn place_of_pending(&self, webhook: WebhookId, sequence: u64) -> Result<Option<Place>, IndexError> {
        let Some(row) = self.transaction.open_table(EVENTS)?.get(&lane_key(webhook, sequence))? else {
            return Ok(None);
        };
        let place = opaque_place(decode_event(row.value())?.place);
        let is_told = self.webhook(webhook)?.is_some_and(|record| record.status == WebhookStatus::Active);
        Ok(is_told.then_some(place))
    }

    /// The webhooks whose oldest event nobody is told any more: they are disabled, or its Email expired before `expired_by`.
    pub(crate) fn with_ended_events(&self, expired_by: Timestamp) -> Result<Vec<WebhookId>, IndexError> {
        let table = self.transaction.open_table(EVENTS)?;
        let (mut found, mut from) = (Vec::new(), lane_key(WebhookId::from_octets([0; 16]), 0));
        while let Some(row) = table.range::<&LaneKey>(&from..)?.next() {
            let (key, row) = row?;
            let webhook = webhook_of_lane(key.value());
            let is_told = self.webhook(webhook)?.is_some_and(|record| record.status == WebhookStatus::Active);
            if !is_told || decode_event(row.value())?.expires_at < expired_by {
                found.push(webhook);
            }
            from = lane_key(webhook, u64::MAX);
        }
        Ok(found)
    }

    /// Those that are not too old at `now`.
    pub(crate) fn attempts(
        &self,
        webhook: WebhookId,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<AttemptRecord>, IndexError> {
        let (first, last) = (lane_key(webhook, 0), lane_key(webhook, u64::MAX));
        let table = self.transaction.open_table(ATTEMPTS)?;
        let lines = table.range::<&LaneKey>(&first..=&last)?.rev().take(limit);
        let lines = lines.map(|row| decode_attempt(row?.1.value()));
        lines.filter(|line| !line.as_ref().is_ok_and(|line| now.since(line.at) > ATTEMPTS_AGE_MAX)).collect()
    }
}
