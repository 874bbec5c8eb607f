//! Room in the outbox: whose events are dropped when there is too much, part of applying a group.
//!
//! A webhook that has its own fill drops its oldest event. When all of them together have theirs, one of the registrant or
//! origin that holds most does, so that nobody's dead receivers cost others their events. Webhooks that never had a delivery
//! have a part of the room for themselves, which they share in the same way, and can fill no other.

use super::IndexError;
use super::apply::Apply;
use super::outbox_usage::usage;
use super::rows::EventRow;
use super::webhook_rows::WebhookRow;
use crate::model::{AttemptRecord, EventId, Timestamp, Verdict, WebhookId};

/// Events that one change ends at most, so that mail waits for no more, beside one for each that it adds. An event that
/// doesn't find room then is dropped itself; the rest of a webhook's is for the next change.
pub(super) const ENDS_MAX: u32 = 256;

impl Apply<'_> {
    /// Sets what waits for a webhook; the caller writes `row`.
    pub(super) fn set_pending_octets(&mut self, row: &mut WebhookRow, octets: u64) -> Result<(), IndexError> {
        let (before, old) = (row.octets, usage(row));
        row.octets = octets;
        self.outbox.sets.change_usage(&row.record, old, usage(row))?;
        let counted = |sum: u64| sum.saturating_add(octets).saturating_sub(before);
        self.state.outbox_octets = counted(self.state.outbox_octets);
        if !row.record.is_proven() {
            self.state.unproven_octets = counted(self.state.unproven_octets);
        }
        Ok(())
    }

    /// Whether a message of so many octets finds room as things are.
    pub(super) fn has_room(&mut self, webhook: WebhookId, octets: u64) -> Result<bool, IndexError> {
        let Some(row) = self.outbox.row(webhook)? else { return Ok(true) };
        Ok(self.has_room_of_its_own(&row, octets) && self.has_room_among_all(row.record.is_proven(), octets))
    }

    fn has_room_of_its_own(&self, row: &WebhookRow, octets: u64) -> bool {
        let is_proven = row.record.is_proven();
        let bounds = self.limits.of(is_proven);
        // A single message may be larger than what an unproven webhook may hold.
        let is_first = !is_proven && row.events == 0;
        row.events < bounds.events_per_webhook && (is_first || row.octets + octets <= bounds.octets_per_webhook)
    }

    fn has_room_among_all(&self, is_proven: bool, octets: u64) -> bool {
        let of_unproven = self.state.unproven_octets;
        let held = if is_proven { self.state.outbox_octets.saturating_sub(of_unproven) } else { of_unproven };
        held + octets <= self.limits.of(is_proven).octets
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
        let Some(row) = self.outbox.webhooks.get(webhook)? else { return Ok(true) };
        let is_proven = row.record.is_proven();
        let bounds = self.limits.of(is_proven);
        if octets > self.limits.octets_per_webhook.min(bounds.octets) {
            return self.drop_itself(webhook, sequence, event);
        }
        while let Some(row) = self.outbox.row(webhook)?
            && !self.has_room_of_its_own(&row, octets)
        {
            if !self.drop_oldest(webhook, now)? {
                return self.drop_itself(webhook, sequence, event);
            }
        }
        while !self.has_room_among_all(is_proven, octets) {
            // Where nobody holds much, everybody makes room for themselves.
            let largest = self.outbox.sets.largest(is_proven)?;
            if !self.drop_oldest(largest.unwrap_or(webhook), now)? {
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
        self.record_dropped(row, sequence, &event, now)?;
        Ok(true)
    }

    fn drop_itself(&mut self, webhook: WebhookId, sequence: u64, event: &EventRow) -> Result<bool, IndexError> {
        if let Some(row) = self.outbox.row(webhook)? {
            self.record_dropped(row, sequence, event, event.due_at)?;
        }
        Ok(false)
    }

    fn record_dropped(
        &mut self,
        mut row: WebhookRow,
        sequence: u64,
        event: &EventRow,
        now: Timestamp,
    ) -> Result<(), IndexError> {
        let id = self.event_id(row.record.id, event.email);
        *self.counts.events_dropped.entry(row.record.id).or_default() += 1;
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
