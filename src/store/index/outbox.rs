//! Webhooks and their outbox: the part of applying a group that decides who is told of what.
//!
//! An event is written by the change that receives its message, and holds a share in the message's record until it ends.

use redb::WriteTransaction;

use super::IndexError;
use super::apply::Apply;
use super::delivery_log::DeliveryLogs;
use super::keys::{HashKey, event_id};
use super::outbox_events::Events;
use super::outbox_usage::usage;
use super::rows::EventRow;
use super::webhook_rows::{FAILING_MAX, WebhookRow, WebhookRows};
use super::webhook_sets::WebhookSets;
use crate::model::{
    AttemptRecord, EmailId, EventId, Mailbox, Timestamp, Verdict, WebhookId, WebhookLimits, WebhookRecord,
    WebhookStatus,
};
use crate::store::WebhookRegistration;
use crate::store::change::{Outcome, Sweep};

/// Why a webhook is disabled that has failed for [`FAILING_MAX`], as it is shown.
const ALWAYS_FAILING: &str = "nothing but failures for 5 days";

/// The tables of webhooks, open for writing.
pub(super) struct Outbox<'t> {
    pub(super) webhooks: WebhookRows<'t>,
    pub(super) sets: WebhookSets<'t>,
    pub(super) events: Events<'t>,
    pub(super) logs: DeliveryLogs<'t>,
}

impl<'t> Outbox<'t> {
    /// Opens the tables, making those that are missing.
    pub(super) fn open(transaction: &'t WriteTransaction, hash_key: HashKey) -> Result<Self, IndexError> {
        Ok(Self {
            webhooks: WebhookRows::open(transaction)?,
            sets: WebhookSets::open(transaction, hash_key)?,
            events: Events::open(transaction)?,
            logs: DeliveryLogs::open(transaction)?,
        })
    }

    /// A copy, to be changed and [`WebhookRows::put`] back.
    pub(super) fn row(&mut self, id: WebhookId) -> Result<Option<WebhookRow>, IndexError> {
        Ok(self.webhooks.get(id)?.cloned())
    }
}

impl Apply<'_> {
    /// The webhooks that are to be told of mail for `mailbox` received at `now`. It has come for the others as well.
    pub(super) fn webhooks_of(&mut self, mailbox: &Mailbox, now: Timestamp) -> Result<Vec<WebhookId>, IndexError> {
        let mut told = Vec::new();
        if self.state.webhooks == 0 {
            return Ok(told);
        }
        for id in self.outbox.sets.of_mailbox(mailbox)? {
            if self.outbox.webhooks.record_mail(id, now)? && self.limits.events_per_webhook > 0 {
                told.push(id);
            }
        }
        Ok(told)
    }

    /// Puts an event into the outbox, with a share in its record; `false` if there is no room for it.
    pub(super) fn add_event(
        &mut self,
        webhook: WebhookId,
        sequence: u64,
        event: &EventRow,
    ) -> Result<bool, IndexError> {
        Ok(self.make_room(webhook, sequence, event)? && self.begin_event(webhook, sequence, event)?)
    }

    /// The same where there is room; `false` if there is no such webhook.
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
        let waiting = row.octets + octets;
        self.set_pending_octets(&mut row, waiting)?;
        self.outbox.webhooks.put(row);
        Ok(true)
    }

    /// Takes an event out of the outbox; the caller writes `row`.
    pub(super) fn end_event(
        &mut self,
        row: &mut WebhookRow,
        sequence: u64,
        event: &EventRow,
    ) -> Result<(), IndexError> {
        self.outbox.events.take(row.record.id, sequence, event.email)?;
        self.settle(row, event)
    }

    /// Counts an event out that is no longer in the outbox; the caller writes `row`.
    fn settle(&mut self, row: &mut WebhookRow, event: &EventRow) -> Result<(), IndexError> {
        let octets = u64::from(event.place.content);
        row.events = row.events.saturating_sub(1);
        let waiting = row.octets.saturating_sub(octets);
        self.set_pending_octets(row, waiting)?;
        self.release_event(event.place)
    }

    /// Ends the oldest events while they are `meant`, untold; `true` if some of these may be left for another change. The
    /// caller writes `row`.
    fn end_oldest_events(
        &mut self,
        row: &mut WebhookRow,
        meant: impl Fn(&EventRow) -> bool,
    ) -> Result<bool, IndexError> {
        while let Some((sequence, event)) = self.outbox.events.oldest(row.record.id)?.filter(|(_, event)| meant(event))
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

    pub(super) fn end_events(&mut self, webhook: WebhookId, expired_by: Timestamp) -> Result<Outcome, IndexError> {
        let Some(mut row) = self.outbox.row(webhook)? else {
            return Ok(Outcome::Changed { number: 0, more: false });
        };
        let (is_disabled, before) = (row.record.status != WebhookStatus::Active, row.events);
        let more = self.end_oldest_events(&mut row, |event| is_disabled || event.expires_at < expired_by)?;
        let number = (before - row.events) as usize;
        self.outbox.webhooks.put(row);
        Ok(Outcome::Changed { number, more })
    }

    pub(super) fn event_id(&self, webhook: WebhookId, email: EmailId) -> EventId {
        event_id(&self.hash_key, webhook, email)
    }

    pub(super) fn register_webhook(
        &mut self,
        record: &WebhookRecord,
        limits: WebhookLimits,
    ) -> Result<Outcome, IndexError> {
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
                return Ok(Outcome::Webhook(WebhookRegistration::Same(Box::new(row.record))));
            }
        }
        if ids.len() >= limits.per_recipient as usize {
            return Ok(Outcome::Webhook(WebhookRegistration::FullForRecipient));
        }
        if let Some(registrant) = record.registrant
            && self.outbox.sets.has_at_least(registrant, limits.per_registrant)?
        {
            return Ok(Outcome::Webhook(WebhookRegistration::FullForRegistrant));
        }
        if self.state.webhooks >= u64::from(limits.total) {
            let Some(oldest) = self.outbox.sets.first_evictable(limits.unproven_before)? else {
                return Ok(Outcome::Webhook(WebhookRegistration::Full));
            };
            if self.delete_webhook(oldest)?.0 == 0 {
                return Ok(Outcome::Webhook(WebhookRegistration::Full));
            }
        }
        self.outbox.sets.add(record)?;
        self.outbox.webhooks.put(WebhookRow {
            record: record.clone(),
            events: 0,
            octets: 0,
            attempts: 0,
            failed_at: None,
            rests_until: None,
        });
        self.state.webhooks += 1;
        Ok(Outcome::Webhook(WebhookRegistration::New))
    }

    /// How many were deleted; `true` if it has too many events to be deleted by one change.
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

    /// Deletes those of `webhooks` that are still what a sweep is after.
    pub(super) fn sweep_webhooks(&mut self, webhooks: &[WebhookId], of: &Sweep) -> Result<Outcome, IndexError> {
        let mut swept = 0;
        for id in webhooks {
            if self.outbox.webhooks.get(*id)?.is_some_and(|row| of.is_after(&row.record)) {
                let (deleted, more) = self.delete_webhook(*id)?;
                swept += deleted;
                if more {
                    return Ok(Outcome::Changed { number: swept, more });
                }
            }
        }
        Ok(Outcome::Changed { number: swept, more: false })
    }

    pub(super) fn record_attempts(&mut self, attempts: &[AttemptRecord]) -> Result<Outcome, IndexError> {
        let (mut has_disabled, mut more) = (false, false);
        for attempt in attempts {
            if let Some(is_more) = self.record_attempt(attempt)? {
                (has_disabled, more) = (true, more | is_more);
            }
        }
        Ok(Outcome::Recorded { has_disabled, more })
    }

    /// `Some` if that disabled the webhook: whether events of it are left to be ended. Does nothing where the webhook is gone,
    /// and notes no more than a rest where the event is, or has the attempt already: whoever was not told that it is noted
    /// notes it again.
    fn record_attempt(&mut self, attempt: &AttemptRecord) -> Result<Option<bool>, IndexError> {
        let Some(mut row) = self.outbox.webhooks.take(attempt.webhook)? else { return Ok(None) };
        row.note_rest(attempt);
        if let Some(email) = attempt.email {
            let Some(event) = self.outbox.events.take(attempt.webhook, attempt.sequence, email)? else {
                self.outbox.webhooks.put(row);
                return Ok(None);
            };
            match attempt.verdict {
                Verdict::Delivered | Verdict::GivenUp => self.settle(&mut row, &event)?,
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
        let mut disables = attempt.disables.clone();
        // A test tells of the receiver, but not of what it has had of mail.
        match attempt.verdict {
            _ if attempt.email.is_none() || !attempt.was_made() => {}
            Verdict::Delivered => {
                self.prove(&mut row, attempt.at)?;
                row.record.failures = 0;
                row.record.failing_since = None;
            }
            Verdict::Retry(_) | Verdict::GivenUp => {
                row.record.failures = row.record.failures.saturating_add(1);
                if row.failing_for(attempt.at) >= FAILING_MAX {
                    disables.get_or_insert_with(|| ALWAYS_FAILING.to_owned());
                }
            }
        }
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

    /// Notes that a receiver took an event at `at`; the caller writes `row`.
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

    /// Adds a line to the log, which is written and trimmed when the group ends; the caller writes `row`.
    pub(super) fn log(&mut self, row: &mut WebhookRow, line: &AttemptRecord) -> Result<(), IndexError> {
        self.outbox.logs.add(self.state.next_attempt, line)?;
        self.state.next_attempt += 1;
        row.attempts += 1;
        Ok(())
    }
}
