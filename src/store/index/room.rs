//! Room in the outbox: whose events are dropped when there is too much, part of applying a group.
//!
//! A webhook that has its own fill drops its oldest event. When all of them together have theirs, the one that holds most
//! does, so that nobody's dead receiver costs others their events.

use redb::ReadableTable;

use super::IndexError;
use super::apply::Apply;
use super::outbox::Outbox;
use super::tables::{EventRow, HEAVY_UNIT, WebhookRow, heavy_key, webhook_of_heavy_key};
use crate::model::{AttemptRecord, EventId, Verdict, WebhookId};
use crate::store::OutboxLimits;

/// Events that one change drops at most to make room; what doesn't fit then is dropped itself.
pub(super) const DROPS_MAX: u32 = 256;

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
    /// Drops old events until one that is about to begin fits; `false` if it is dropped itself.
    pub(super) fn make_room(
        &mut self,
        webhook: WebhookId,
        sequence: u64,
        event: &EventRow,
    ) -> Result<bool, IndexError> {
        let octets = u64::from(event.place.content);
        let OutboxLimits { events_per_webhook, octets_per_webhook, octets: octets_of_all } = self.limits;
        if octets > octets_per_webhook.min(octets_of_all) {
            return self.drop_itself(webhook, sequence, event);
        }
        while let Some(row) = self.outbox.webhooks.get(webhook)?
            && (row.events >= events_per_webhook || row.octets + octets > octets_per_webhook)
        {
            if !self.drop_oldest(webhook)? {
                return self.drop_itself(webhook, sequence, event);
            }
        }
        while self.state.outbox_octets + octets > octets_of_all {
            // Where nobody holds much, everybody makes room for themselves.
            let payer = self.outbox.heaviest()?.unwrap_or(webhook);
            if !self.drop_oldest(payer)? {
                return self.drop_itself(webhook, sequence, event);
            }
        }
        Ok(true)
    }

    /// `false` if there is none, or if the change has dropped enough.
    fn drop_oldest(&mut self, webhook: WebhookId) -> Result<bool, IndexError> {
        if self.drops_left == 0 {
            return Ok(false);
        }
        self.drops_left -= 1;
        let Some(mut row) = self.outbox.row(webhook)? else { return Ok(false) };
        let Some((sequence, event)) = self.outbox.oldest(webhook)? else { return Ok(false) };
        self.end_event(&mut row, sequence, &event)?;
        self.note_dropped(row, sequence, &event)?;
        Ok(true)
    }

    fn drop_itself(&mut self, webhook: WebhookId, sequence: u64, event: &EventRow) -> Result<bool, IndexError> {
        if let Some(mut row) = self.outbox.row(webhook)? {
            row.record.last_mail_at = row.record.last_mail_at.max(event.received_at);
            self.note_dropped(row, sequence, event)?;
        }
        Ok(false)
    }

    fn note_dropped(&mut self, mut row: WebhookRow, sequence: u64, event: &EventRow) -> Result<(), IndexError> {
        tracing::warn!(webhook = %row.record.id, "the outbox is full; an event is dropped");
        let id = self.event_id(row.record.id, event.email);
        self.tally.events_dropped += 1;
        row.record.dropped = row.record.dropped.saturating_add(1);
        let line = dropped(row.record.id, id, sequence, event);
        self.log(&mut row, &line)?;
        self.outbox.webhooks.put(row);
        Ok(())
    }
}

/// The line of the log for an event that was dropped.
fn dropped(webhook: WebhookId, id: EventId, sequence: u64, event: &EventRow) -> AttemptRecord {
    AttemptRecord {
        webhook,
        event: id,
        email: Some(event.email),
        sequence,
        number: event.attempts,
        at: event.due_at,
        duration_millis: 0,
        status: None,
        error: Some(AttemptRecord::OUTBOX_FULL.into()),
        response: String::new(),
        verdict: Verdict::GivenUp,
        disables: None,
    }
}
