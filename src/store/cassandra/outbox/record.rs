//! What ends and changes events: attempts, sweeps, and the limits.
//!
//! The delivery log and what is known of the receiver are written before the events. If a node dies in between, the attempt is
//! made again. So no event ends without its record, and no answer that disables a webhook is lost.

use std::collections::{BTreeMap, HashMap};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use futures_util::future::{join_all, try_join_all};
use tokio::sync::oneshot;

use super::super::Shared;
use super::super::registry::StoredWebhook;
use super::Known;
use super::table::{all, row_micros};
use crate::model::{AttemptRecord, Mailbox, PendingEvent, Timestamp, WebhookId, WebhookStatus};
use crate::store::StoreError;
use crate::store::change::{Change, EventState};
use crate::store::mail::{Decided, Outcome, Pending, Receiver, Request, Webhooks};
use crate::store::outbox_rules::DroppedEvent;

/// How far back events may be due that the leader has not read yet: it reads all rows each minute, but not the youngest.
const WRITTEN_LATE_MAX: Duration = Duration::from_mins(3);

/// A request is about one webhook alone.
impl Webhooks for StoredWebhook {
    fn of(&self, _: &Mailbox) -> Vec<Receiver> {
        Vec::new()
    }

    fn get(&self, id: WebhookId) -> Option<Receiver> {
        Some(Receiver::of(&self.record)).filter(|receiver| receiver.id == id)
    }
}

impl Shared {
    /// Records attempts, together with what others bring meanwhile: each webhook has several under way, and its row is
    /// written once for all of them.
    pub(super) async fn record_attempts(&self, attempts: Vec<AttemptRecord>) -> Result<(), StoreError> {
        self.check_open()?;
        let (tell, told) = oneshot::channel();
        self.outbox.brought().push((attempts, tell));
        let mut known = self.outbox.known.lock().await;
        let (attempts, waiting): (Vec<_>, Vec<_>) = std::mem::take(&mut *self.outbox.brought()).into_iter().unzip();
        if !waiting.is_empty() {
            let recorded = self.record_all(&mut known, attempts.concat()).await;
            for tell in waiting {
                // Who is gone has nobody to tell.
                let _ = tell.send(recorded.clone());
            }
        }
        drop(known);
        // Whoever had the lock may have been cut off.
        told.await.unwrap_or_else(|_| Err(StoreError::Failed("recording was cut off".into())))
    }

    async fn record_all(&self, known: &mut Known, attempts: Vec<AttemptRecord>) -> Result<(), StoreError> {
        if self.may_lead() {
            self.settle(known).await?;
        }
        let mut by_webhook: BTreeMap<WebhookId, Vec<AttemptRecord>> = BTreeMap::new();
        for attempt in attempts {
            by_webhook.entry(attempt.webhook).or_default().push(attempt);
        }
        let recorded = by_webhook.into_iter().map(|(id, attempts)| self.record_of_webhook(id, attempts));
        let mut result = Ok(());
        for recorded in join_all(recorded).await {
            match recorded {
                Ok(Some(webhook)) if webhook.is_active() => {
                    known.receivers.insert(webhook.record.id, Receiver::of(&webhook.record));
                }
                Ok(Some(webhook)) => drop(known.receivers.remove(&webhook.record.id)),
                Ok(None) => {}
                Err(error) => result = Err(error),
            }
        }
        result
    }

    /// Writes what attempts change of a webhook and its events. `None` if it is gone.
    async fn record_of_webhook(
        &self,
        id: WebhookId,
        attempts: Vec<AttemptRecord>,
    ) -> Result<Option<StoredWebhook>, StoreError> {
        let Some(mut webhook) = self.stored_webhook(id).await? else { return Ok(None) };
        let before = (webhook.record.clone(), webhook.health.clone());
        let (counted, mut states) = self.decide(&webhook, &attempts);
        let since = attempts.iter().map(|attempt| attempt.at).fold(self.now(), Timestamp::min);
        let (logged, is_disabled) = judge(&mut webhook, attempts, &counted);
        let pending = self.events_of(id);
        if is_disabled {
            // All its events end with it. What has no attempt here was dropped.
            let kept = pending.iter().filter(|event| states.get(&event.email.sequence) != Some(&EventState::Ended));
            webhook.record.dropped = webhook.record.dropped.saturating_add(kept.count() as u64);
            states = pending.iter().map(|event| (event.email.sequence, EventState::Ended)).collect();
        }
        let micros: HashMap<u64, i64> = pending.iter().map(|event| (event.email.sequence, row_micros(event))).collect();
        let micros_of = |attempt: &AttemptRecord| micros.get(&attempt.sequence).copied().unwrap_or(0);
        try_join_all(logged.iter().map(|attempt| self.write_attempt(attempt, micros_of(attempt)))).await?;
        if self.may_lead() {
            webhook.low = low_of(&pending, &states, since);
            if before != (webhook.record.clone(), webhook.health.clone()) {
                self.write_health(&mut webhook).await?;
            }
        } else if is_disabled {
            // The new leader makes these attempts again.
            return Ok(None);
        } else {
            // The new leader may have ended the event: a retry would bring it back.
            states.retain(|_, state| *state == EventState::Ended);
        }
        let changes = pending.iter().filter_map(|event| Some((event, *states.get(&event.email.sequence)?)));
        all(changes.map(|(event, state)| self.change_row(event, state))).await?;
        for (sequence, state) in states {
            self.picture.mail_mut().change_event(id, sequence, state, 0);
        }
        Ok(Some(webhook))
    }

    /// Which attempts count, and what becomes of their events: an attempt of an event that has ended, or that has had this
    /// attempt already, does not count.
    fn decide(&self, webhook: &StoredWebhook, attempts: &[AttemptRecord]) -> (Vec<bool>, HashMap<u64, EventState>) {
        let request = Request::record(attempts);
        let Decided { facts, outcome, .. } = self.picture.mail().decide(&mut Pending::default(), &request, webhook);
        let changed = facts.into_iter().flat_map(|fact| match fact {
            Change::EventsChanged { events } => events,
            _ => Vec::new(),
        });
        let states = changed.map(|(_, sequence, state)| (sequence, state)).collect();
        let counted = if let Outcome::Recorded { counted } = outcome { counted } else { Vec::new() };
        (counted, states)
    }

    /// Writes what became of an event. Its new row comes before the old one goes, so that one is always there.
    async fn change_row(&self, event: &PendingEvent, state: EventState) -> Result<(), StoreError> {
        if let EventState::Retry { attempts, due_at } = state {
            self.write_event(&PendingEvent { attempts, due_at, ..event.clone() }).await?;
            if due_at == event.due_at {
                // It has replaced the old row.
                return Ok(());
            }
        }
        self.delete_event(event).await
    }

    /// Ends events that nobody will deliver: their webhook is disabled, or their Email expired before `expired_by`.
    pub(super) async fn end_events(&self, expired_by: Timestamp) -> Result<usize, StoreError> {
        self.check_open()?;
        if !self.may_lead() {
            return Ok(0);
        }
        let mut known = self.outbox.known.lock().await;
        self.settle(&mut known).await?;
        let (mut ended, pending) = (0, self.picture.mail().pending_webhooks());
        for (webhook, _) in pending {
            let is_active = known.receivers.contains_key(&webhook);
            let mut events = self.events_of(webhook);
            events.retain(|event| !is_active || event.email.expires_at < expired_by);
            if events.is_empty() {
                continue;
            }
            self.delete_events(&events).await?;
            for event in &events {
                self.take_out(event);
            }
            self.count_dropped(webhook, events.len() as u64).await?;
            ended += events.len();
        }
        Ok(ended)
    }

    /// Records that events were dropped, each at a time, and ends them in the table.
    pub(super) async fn drop_events(&self, dropped: Vec<(PendingEvent, Timestamp)>) -> Result<(), StoreError> {
        if dropped.is_empty() {
            return Ok(());
        }
        let mut counts: BTreeMap<WebhookId, u64> = BTreeMap::new();
        for (event, _) in &dropped {
            *counts.entry(event.webhook).or_default() += 1;
        }
        self.counters.events_dropped(counts.values().sum());
        self.drop_warnings.lock().unwrap_or_else(PoisonError::into_inner).add(&counts, Instant::now());
        let drops = dropped.iter().map(|(event, at)| async move {
            let (webhook, email, sequence) = (event.webhook, event.email.id, event.email.sequence);
            let dropped = DroppedEvent { webhook, id: event.id, email, sequence, attempts: event.attempts };
            self.write_attempt(&dropped.record(*at), row_micros(event)).await?;
            self.delete_event(event).await
        });
        all(drops).await?;
        for (webhook, dropped) in counts {
            self.count_dropped(webhook, dropped).await?;
        }
        Ok(())
    }

    /// Adds to the count of a webhook's dropped events.
    async fn count_dropped(&self, webhook: WebhookId, dropped: u64) -> Result<(), StoreError> {
        let Some(mut webhook) = self.stored_webhook(webhook).await? else { return Ok(()) };
        webhook.record.dropped = webhook.record.dropped.saturating_add(dropped);
        self.write_health(&mut webhook).await
    }
}

/// Applies attempts to a webhook, one after the other. Returns those for the delivery log, and whether they disable it.
fn judge(webhook: &mut StoredWebhook, attempts: Vec<AttemptRecord>, counted: &[bool]) -> (Vec<AttemptRecord>, bool) {
    let (mut logged, mut is_disabled) = (Vec::new(), false);
    for (attempt, is_counted) in attempts.into_iter().zip(counted) {
        webhook.health.record_backoff(&attempt);
        // With the webhook, all its events have ended.
        if !is_counted || is_disabled {
            continue;
        }
        if let Some(reason) = webhook.health.record(&mut webhook.record, &attempt) {
            is_disabled = webhook.is_active();
            webhook.record.status = WebhookStatus::Disabled(reason);
        }
        logged.push(attempt);
    }
    (logged, is_disabled)
}

/// The time before which no event of a webhook is due, neither now nor after a change. New ones are due at their receipt.
fn low_of(pending: &[PendingEvent], states: &HashMap<u64, EventState>, since: Timestamp) -> i64 {
    let again = states.values().filter_map(|state| match state {
        EventState::Retry { due_at, .. } => Some(*due_at),
        EventState::Ended => None,
    });
    let due = pending.iter().map(|event| event.due_at).chain(again);
    due.fold(since.before(WRITTEN_LATE_MAX), Timestamp::min).millis()
}
