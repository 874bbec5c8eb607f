//! Applying changes to webhooks and their outbox.
//!
//! The change that receives a message also creates its events. An event has a reference to the message's record until it
//! ends.

use redb::WriteTransaction;

use super::IndexError;
use super::apply::Apply;
use super::delivery_log::DeliveryLogs;
use super::outbox_events::Events;
use super::outbox_usage::usage;
use super::rows::EventRow;
use super::webhook_rows::{WebhookRow, WebhookRows};
use super::webhook_sets::WebhookSets;
use crate::model::{
    AttemptRecord, EmailId, EventId, Mailbox, Timestamp, Verdict, WebhookId, WebhookRecord, WebhookStatus,
};
use crate::store::change::{ChangeResult, SweepFilter};
use crate::store::names::{HashKey, event_id};
use crate::store::receiver_health::{ReceiverHealth, is_delivery};
use crate::store::{WebhookLimits, WebhookRegistration};

/// The tables of webhooks. A group opens those that it uses.
pub(super) struct OutboxTables<'t> {
    pub(super) webhooks: WebhookRows<'t>,
    pub(super) sets: WebhookSets<'t>,
    pub(super) events: Events<'t>,
    pub(super) logs: DeliveryLogs<'t>,
}

impl<'t> OutboxTables<'t> {
    pub(super) fn new(transaction: &'t WriteTransaction, hash_key: HashKey) -> Self {
        Self {
            webhooks: WebhookRows::new(transaction),
            sets: WebhookSets::new(transaction, hash_key),
            events: Events::new(transaction),
            logs: DeliveryLogs::new(transaction),
        }
    }

    /// Reads a copy of a row, to be changed and [put back](WebhookRows::put).
    pub(super) fn row(&mut self, id: WebhookId) -> Result<Option<WebhookRow>, IndexError> {
        Ok(self.webhooks.get(id)?.cloned())
    }
}

impl Apply<'_> {
    /// The active webhooks of a mailbox with new mail at `now`. Records the mail for all its webhooks.
    pub(super) fn webhooks_of(&mut self, mailbox: &Mailbox, now: Timestamp) -> Result<Vec<WebhookId>, IndexError> {
        let mut active = Vec::new();
        if self.state.webhooks == 0 {
            return Ok(active);
        }
        for id in self.outbox.sets.of_mailbox(mailbox)? {
            if self.outbox.webhooks.record_mail(id, now)? && self.limits.events_per_webhook > 0 {
                active.push(id);
            }
        }
        Ok(active)
    }

    /// Adds an event to the outbox, after dropping others if need be. `false` if there is no room.
    pub(super) fn add_event(
        &mut self,
        webhook: WebhookId,
        sequence: u64,
        event: &EventRow,
    ) -> Result<bool, IndexError> {
        Ok(self.make_room(webhook, sequence, event)? && self.begin_event(webhook, sequence, event)?)
    }

    /// Adds an event for which there is room. `false` if there is no such webhook.
    pub(super) fn begin_event(
        &mut self,
        webhook: WebhookId,
        sequence: u64,
        event: &EventRow,
    ) -> Result<bool, IndexError> {
        let Some(mut row) = self.outbox.webhooks.take(webhook)? else { return Ok(false) };
        let octets = u64::from(event.place.content);
        self.add_reference(event.place, sequence)?;
        self.outbox.events.put(webhook, sequence, event)?;
        row.events += 1;
        let pending = row.octets + octets;
        self.set_pending_octets(&mut row, pending)?;
        self.outbox.webhooks.put(row);
        Ok(true)
    }

    /// Removes an event from the outbox. The caller writes `row`.
    pub(super) fn end_event(
        &mut self,
        row: &mut WebhookRow,
        sequence: u64,
        event: &EventRow,
    ) -> Result<(), IndexError> {
        self.outbox.events.take(row.record.id, sequence, event.email)?;
        self.count_ended(row, event)
    }

    /// Removes an event that has left the outbox from the counts. The caller writes `row`.
    fn count_ended(&mut self, row: &mut WebhookRow, event: &EventRow) -> Result<(), IndexError> {
        let octets = u64::from(event.place.content);
        row.events = row.events.saturating_sub(1);
        let pending = row.octets.saturating_sub(octets);
        self.set_pending_octets(row, pending)?;
        self.release_event(event.place)
    }

    /// Ends the oldest events without a delivery, as long as `is_meant` accepts them. The caller writes `row`.
    ///
    /// `true` if another change may have to end more.
    fn end_oldest_events(
        &mut self,
        row: &mut WebhookRow,
        is_meant: impl Fn(&EventRow) -> bool,
    ) -> Result<bool, IndexError> {
        while let Some((sequence, event)) =
            self.outbox.events.oldest(row.record.id)?.filter(|(_, event)| is_meant(event))
        {
            if self.ends_left == 0 {
                return Ok(true);
            }
            self.ends_left -= 1;
            self.end_event(row, sequence, &event)?;
            row.record.dropped = row.record.dropped.saturating_add(1);
        }
        Ok(false)
    }

    pub(super) fn end_events(&mut self, webhook: WebhookId, expired_by: Timestamp) -> Result<ChangeResult, IndexError> {
        let Some(mut row) = self.outbox.row(webhook)? else {
            return Ok(ChangeResult::Changed { number: 0, more: false });
        };
        let (is_disabled, before) = (row.record.status != WebhookStatus::Active, row.events);
        let more = self.end_oldest_events(&mut row, |event| is_disabled || event.expires_at < expired_by)?;
        let number = (before - row.events) as usize;
        self.outbox.webhooks.put(row);
        Ok(ChangeResult::Changed { number, more })
    }

    pub(super) fn event_id(&self, webhook: WebhookId, email: EmailId) -> EventId {
        event_id(&self.hash_key, webhook, email)
    }

    pub(super) fn register_webhook(
        &mut self,
        record: &WebhookRecord,
        limits: WebhookLimits,
    ) -> Result<ChangeResult, IndexError> {
        let ids = self.outbox.sets.of_mailbox(&record.mailbox)?;
        for id in &ids {
            if let Some(mut row) = self.outbox.row(*id)?
                && (&row.record.url, &row.record.secret) == (&record.url, &record.secret)
            {
                if row.record.status != WebhookStatus::Active {
                    row.record.status = WebhookStatus::Active;
                    (row.record.failures, row.record.failing_since) = (0, None);
                    row.record.last_mail_at = row.record.last_mail_at.max(record.last_mail_at);
                    self.outbox.webhooks.put(row.clone());
                }
                return Ok(ChangeResult::Webhook(WebhookRegistration::Same(Box::new(row.record))));
            }
        }
        if ids.len() >= limits.per_recipient as usize {
            return Ok(ChangeResult::Webhook(WebhookRegistration::FullForRecipient));
        }
        if let Some(registrant) = record.registrant
            && self.outbox.sets.has_at_least(registrant, limits.per_registrant)?
        {
            return Ok(ChangeResult::Webhook(WebhookRegistration::FullForRegistrant));
        }
        if self.state.webhooks >= u64::from(limits.total) {
            let Some(oldest) = self.outbox.sets.first_evictable(limits.unproven_before)? else {
                return Ok(ChangeResult::Webhook(WebhookRegistration::Full));
            };
            if self.delete_webhook(oldest)?.0 == 0 {
                return Ok(ChangeResult::Webhook(WebhookRegistration::Full));
            }
        }
        self.outbox.sets.add(record)?;
        self.outbox.webhooks.put(WebhookRow {
            record: record.clone(),
            events: 0,
            octets: 0,
            attempts: 0,
            health: ReceiverHealth::default(),
        });
        self.state.webhooks += 1;
        Ok(ChangeResult::Webhook(WebhookRegistration::New))
    }

    /// Deletes a webhook. Returns how many were deleted, and whether another change must end more of its events first.
    pub(super) fn delete_webhook(&mut self, id: WebhookId) -> Result<(usize, bool), IndexError> {
        let Some(mut row) = self.outbox.row(id)? else { return Ok((0, false)) };
        if self.end_oldest_events(&mut row, |_| true)? {
            self.outbox.webhooks.put(row);
            return Ok((0, true));
        }
        self.outbox.logs.remove(id)?;
        self.outbox.sets.remove(&row.record)?;
        self.outbox.webhooks.remove(id)?;
        self.state.webhooks = self.state.webhooks.saturating_sub(1);
        Ok((1, false))
    }

    /// Deletes those of `webhooks` that still match `filter`.
    pub(super) fn sweep_webhooks(
        &mut self,
        webhooks: &[WebhookId],
        filter: &SweepFilter,
    ) -> Result<ChangeResult, IndexError> {
        let mut swept = 0;
        for id in webhooks {
            if self.outbox.webhooks.get(*id)?.is_some_and(|row| filter.matches(&row.record)) {
                let (deleted, more) = self.delete_webhook(*id)?;
                swept += deleted;
                if more {
                    return Ok(ChangeResult::Changed { number: swept, more });
                }
            }
        }
        Ok(ChangeResult::Changed { number: swept, more: false })
    }

    pub(super) fn record_attempts(&mut self, attempts: &[AttemptRecord]) -> Result<ChangeResult, IndexError> {
        let (mut has_disabled, mut more) = (false, false);
        for attempt in attempts {
            if let Some(is_more) = self.record_attempt(attempt)? {
                (has_disabled, more) = (true, more | is_more);
            }
        }
        Ok(ChangeResult::Recorded { has_disabled, more })
    }

    /// Records an attempt. Returns `Some` if it disabled the webhook, with whether more events must be ended.
    ///
    /// Nothing is recorded if the webhook is gone. If the event is gone or has this attempt already, only the requested backoff
    /// is recorded: a caller that got no answer records the attempt again.
    fn record_attempt(&mut self, attempt: &AttemptRecord) -> Result<Option<bool>, IndexError> {
        let Some(mut row) = self.outbox.webhooks.take(attempt.webhook)? else { return Ok(None) };
        row.health.record_backoff(attempt);
        if let Some(email) = attempt.email {
            let Some(event) = self.outbox.events.take(attempt.webhook, attempt.sequence, email)? else {
                self.outbox.webhooks.put(row);
                return Ok(None);
            };
            match attempt.verdict {
                Verdict::Delivered | Verdict::GivenUp => self.count_ended(&mut row, &event)?,
                Verdict::Retry(_) if attempt.number <= event.attempts => {
                    self.outbox.events.put(attempt.webhook, attempt.sequence, &event)?;
                    self.outbox.webhooks.put(row);
                    return Ok(None);
                }
                Verdict::Retry(due_at) => {
                    let again = EventRow { attempts: attempt.number, due_at, ..event };
                    self.outbox.events.put(attempt.webhook, attempt.sequence, &again)?;
                }
            }
        }
        if is_delivery(attempt) {
            self.prove(&mut row, attempt.at)?;
        }
        let disables = row.health.record(&mut row.record, attempt);
        let mut more = None;
        if let Some(reason) = disables {
            self.counts.webhooks_disabled += u64::from(row.record.status == WebhookStatus::Active);
            row.record.status = WebhookStatus::Disabled(reason);
            more = Some(self.end_oldest_events(&mut row, |_| true)?);
        }
        self.log(&mut row, attempt)?;
        self.outbox.webhooks.put(row);
        Ok(more)
    }

    /// Records a delivery at `at`. The caller writes `row`.
    fn prove(&mut self, row: &mut WebhookRow, at: Timestamp) -> Result<(), IndexError> {
        let was_proven = row.record.is_proven();
        if was_proven {
            row.record.last_delivery_at = Some(at);
            return Ok(());
        }
        self.state.unproven_octets = self.state.unproven_octets.saturating_sub(row.octets);
        self.outbox.sets.change_usage(&row.record, usage(row), 0)?;
        row.record.last_delivery_at = Some(at);
        self.outbox.sets.remove_evictable(&row.record)?;
        self.outbox.sets.change_usage(&row.record, 0, usage(row))
    }

    /// Adds a record to the delivery log, which is written and trimmed at the end of the group. The caller writes `row`.
    pub(super) fn log(&mut self, row: &mut WebhookRow, record: &AttemptRecord) -> Result<(), IndexError> {
        self.outbox.logs.add(self.state.next_attempt, record)?;
        self.state.next_attempt += 1;
        row.attempts += 1;
        Ok(())
    }
}
