//! Room in the outbox: whose events are dropped when there is too much, part of applying a group.
//!
//! A webhook that has its own fill drops its oldest event. When all of them together have theirs, the one that holds most
//! does, so that nobody's dead receiver costs others their events.

use redb::ReadableTable;

use super::IndexError;
use super::apply::Apply;
use super::outbox::Outbox;
use super::tables::{EventRow, HEAVY_UNIT, heavy_key, webhook_of_heavy_key};
use super::webhook_rows::WebhookRow;
use crate::model::{AttemptRecord, EventId, Timestamp, Verdict, WebhookId};
use crate::store::OutboxLimits;

/// Events that one change ends at most, so that mail waits for no more, beside one for each that it adds. An event that
/// doesn't find room then is dropped itself; the rest of a webhook's is for the next change.
pub(super) const ENDS_MAX: u32 = 256;

impl Outbox<'_> {
    /// Sets what waits for a webhook; the caller writes `row`.
    pub(super) fn weigh(&mut self, row: &mut WebhookRow, octets: u64) -> Result<(), IndexError> {
        let (old, new) = (row.octets / HEAVY_UNIT, octets / HEAVY_UNIT);
        if old != new && old > 0 {
            self.heavy.remove(&heavy_key(old, row.record.id))?;
        }
        if old != new && new > 0 {
            self.heavy.insert(&heavy_key(new, row.record.id), ())?;
        }
        row.octets = octets;
        Ok(())
    }

    /// The webhook that holds most, if any holds much.
    fn heaviest(&self) -> Result<Option<WebhookId>, IndexError> {
        Ok(self.heavy.last()?.map(|row| webhook_of_heavy_key(row.0.value())))
    }
}

impl Apply<'_> {
    /// Whether a message of so many octets finds room as things are.
    pub(super) fn has_room(&mut self, webhook: WebhookId, octets: u64) -> Result<bool, IndexError> {
        Ok(self.has_room_of_its_own(webhook, octets)? && self.has_room_among_all(octets))
    }

    fn has_room_of_its_own(&mut self, webhook: WebhookId, octets: u64) -> Result<bool, IndexError> {
        let OutboxLimits { events_per_webhook, octets_per_webhook, .. } = self.limits;
        let row = self.outbox.webhooks.get(webhook)?;
        Ok(row.is_none_or(|row| row.events < events_per_webhook && row.octets + octets <= octets_per_webhook))
    }

    fn has_room_among_all(&self, octets: u64) -> bool {
        self.state.outbox_octets + octets <= self.limits.octets
    }

    /// Drops old events until one that is about to begin fits; `false` if it is dropped itself.
    pub(super) fn make_room(
        &mut self,
        webhook: WebhookId,
        sequence: u64,
        event: &EventRow,
    ) -> Result<bool, IndexError> {
        self.ends_left += 1;
        // A new event is due at once.
        let (octets, now) = (u64::from(event.place.content), event.due_at);
        if octets > self.limits.octets_per_webhook.min(self.limits.octets) {
            return self.drop_itself(webhook, sequence, event);
        }
        while !self.has_room_of_its_own(webhook, octets)? {
            if !self.drop_oldest(webhook, now)? {
                return self.drop_itself(webhook, sequence, event);
            }
        }
        while !self.has_room_among_all(octets) {
            // Where nobody holds much, everybody makes room for themselves.
            let payer = self.outbox.heaviest()?.unwrap_or(webhook);
            if !self.drop_oldest(payer, now)? {
                return self.drop_itself(webhook, sequence, event);
            }
        }
        Ok(true)
    }

    /// `false` if there is none, or if the change has dropped enough.
    fn drop_oldest(&mut self, webhook: WebhookId, now: Timestamp) -> Result<bool, IndexError> {
        if self.ends_left == 0 {
            return Ok(false);
        }
        self.ends_left -= 1;
        self.has_dropped = true;
        let Some(mut row) = self.outbox.row(webhook)? else { return Ok(false) };
        let Some((sequence, event)) = self.outbox.events.oldest(webhook)? else { return Ok(false) };
        self.end_event(&mut row, sequence, &event)?;
        self.note_dropped(row, sequence, &event, now)?;
        Ok(true)
    }

    fn drop_itself(&mut self, webhook: WebhookId, sequence: u64, event: &EventRow) -> Result<bool, IndexError> {
        if let Some(row) = self.outbox.row(webhook)? {
            self.note_dropped(row, sequence, event, event.due_at)?;
        }
        Ok(false)
    }

    fn note_dropped(
        &mut self,
        mut row: WebhookRow,
        sequence: u64,
        event: &EventRow,
        now: Timestamp,
    ) -> Result<(), IndexError> {
        let id = self.event_id(row.record.id, event.email);
        *self.tally.events_dropped.entry(row.record.id).or_default() += 1;
        row.record.dropped = row.record.dropped.saturating_add(1);
        let line = dropped(row.record.id, id, (sequence, event), now);
        self.log(&mut row, &line)?;
        self.outbox.webhooks.put(row);
        Ok(())
    }
}

/// The line of the log for an event that was dropped.
fn dropped(webhook: WebhookId, id: EventId, (sequence, event): (u64, &EventRow), now: Timestamp) -> AttemptRecord {
    AttemptRecord {
        webhook,
        event: id,
        email: Some(event.email),
        sequence,
        number: event.attempts,
        at: now,
        duration_millis: 0,
        status: None,
        error: Some(AttemptRecord::OUTBOX_FULL.into()),
        response: String::new(),
        verdict: Verdict::GivenUp,
        disables: None,
        rests_until: None,
    }
}
