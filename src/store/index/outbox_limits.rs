//! The limits of the outbox: which events are dropped when it is full.
//!
//! A webhook at its own limit drops its oldest event. At the limit of all webhooks, the registrant or origin with the largest
//! usage drops one, so that nobody's dead receivers cost others their events. Webhooks without a delivery have a part of the
//! outbox to themselves, with the same rule inside it.

use super::IndexError;
use super::apply::Apply;
use super::outbox_usage::usage;
use super::rows::EventRow;
use super::webhook_rows::WebhookRow;
use crate::model::{Timestamp, WebhookId};
use crate::store::outbox_rules::DroppedEvent;

/// The most events that one change ends, beside one for each event that it adds, so that mail is not delayed.
///
/// Beyond that a new event is dropped itself, and the other events of a webhook are ended by further changes.
pub(super) const ENDS_MAX: u32 = 256;

impl Apply<'_> {
    /// Sets the octets of a webhook's pending events. The caller writes `row`.
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

    /// Whether there is room for an event with a message of this size.
    pub(super) fn has_room(&mut self, webhook: WebhookId, octets: u64) -> Result<bool, IndexError> {
        let Some(row) = self.outbox.row(webhook)? else { return Ok(true) };
        Ok(self.is_within_own_limits(&row, octets) && self.is_within_total(row.record.is_proven(), octets))
    }

    fn is_within_own_limits(&self, row: &WebhookRow, octets: u64) -> bool {
        self.limits.webhook_has_room(row.record.is_proven(), (row.events, row.octets), octets)
    }

    fn is_within_total(&self, is_proven: bool, octets: u64) -> bool {
        let of_unproven = self.state.unproven_octets;
        let used = if is_proven { self.state.outbox_octets.saturating_sub(of_unproven) } else { of_unproven };
        used + octets <= self.limits.of(is_proven).octets
    }

    /// Drops old events until a new one fits. `false` if the new one is dropped itself.
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
        if self.limits.is_too_large(is_proven, octets) {
            return self.drop_itself(webhook, sequence, event);
        }
        while let Some(row) = self.outbox.row(webhook)?
            && !self.is_within_own_limits(&row, octets)
        {
            if !self.drop_oldest(webhook, now)? {
                return self.drop_itself(webhook, sequence, event);
            }
        }
        while !self.is_within_total(is_proven, octets) {
            // If nobody has a large usage, the webhook drops its own events.
            let largest = self.outbox.sets.largest(is_proven)?;
            if !self.drop_oldest(largest.unwrap_or(webhook), now)? {
                return self.drop_itself(webhook, sequence, event);
            }
        }
        Ok(true)
    }

    /// Drops a webhook's oldest event. `false` if it has none, or the change has dropped enough.
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
        let (webhook, email, attempts) = (row.record.id, event.email, event.attempts);
        let record = DroppedEvent { webhook, id, email, sequence, attempts }.record(now);
        self.log(&mut row, &record)?;
        self.outbox.webhooks.put(row);
        Ok(())
    }
}
