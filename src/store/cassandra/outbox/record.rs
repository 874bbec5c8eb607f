//! What ends and changes events: attempts, sweeps, and the limits.
//!
//! The delivery log and what is known of the receiver are written before the events. If a node dies in between, the attempt is
//! made again. So no event ends without its record, and no answer that disables a webhook is lost.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use futures_util::future::{join_all, try_join_all};

use super::super::Shared;
use super::super::registry::StoredWebhook;
use super::table::{Stored, all};
use super::{Known, key_of, receiver_of};
use crate::model::{AttemptRecord, Mailbox, PendingEvent, Timestamp, WebhookId, WebhookStatus};
use crate::store::StoreError;
use crate::store::change::{Change, EventState};
use crate::store::mail::{Decided, Outcome, Pending, Receiver, Request, Webhooks};
use crate::store::outbox_rules::DroppedEvent;

/// How far back events are still written as due.
const WRITTEN_LATE_MAX: Duration = Duration::from_mins(1);

/// The only webhook that a request is about.
pub(super) struct Only(pub(super) Receiver);

impl Webhooks for Only {
    fn of(&self, _: &Mailbox) -> Vec<Receiver> {
        Vec::new()
    }

    fn get(&self, id: WebhookId) -> Option<Receiver> {
        Some(self.0).filter(|receiver| receiver.id == id)
    }
}

/// What attempts changed of one webhook and its events.
struct Changes {
    webhook: StoredWebhook,
    events: Vec<(Stored, EventState)>,
}

impl Shared {
    pub(super) async fn record_attempts(&self, attempts: Vec<AttemptRecord>) -> Result<(), StoreError> {
        self.check_open()?;
        let mut known = self.outbox.known.lock().await;
        if self.may_lead() {
            self.settle(&mut known).await?;
        }
        let mut by_webhook: BTreeMap<WebhookId, Vec<AttemptRecord>> = BTreeMap::new();
        for attempt in attempts {
            by_webhook.entry(attempt.webhook).or_default().push(attempt);
        }
        let recorded = by_webhook.into_iter().map(|(id, attempts)| self.record_of_webhook(&known, id, attempts));
        let mut result = Ok(());
        for recorded in join_all(recorded).await {
            match recorded {
                Ok(Some(changes)) => self.remember(&mut known, changes),
                Ok(None) => {}
                Err(error) => result = Err(error),
            }
        }
        result
    }

    /// Writes what attempts change of a webhook. `None` if it is gone.
    async fn record_of_webhook(
        &self,
        known: &Known,
        id: WebhookId,
        attempts: Vec<AttemptRecord>,
    ) -> Result<Option<Changes>, StoreError> {
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
        if self.may_lead() {
            webhook.low = low_of(&pending, &states, since);
        }
        let revision =
            |attempt: &AttemptRecord| known.written.get(&(id, attempt.sequence)).map_or(0, |written| written + 1);
        try_join_all(logged.iter().map(|attempt| self.write_attempt(attempt, revision(attempt)))).await?;
        if before != (webhook.record.clone(), webhook.health.clone()) {
            self.write_health(&mut webhook).await?;
        }
        let changed = pending.into_iter().filter_map(|event| {
            let (key, state) = (key_of(&event), *states.get(&event.email.sequence)?);
            Some((Stored { written: known.written.get(&key).copied()?, event }, state))
        });
        let events: Vec<(Stored, EventState)> = changed.collect();
        all(events.iter().map(|(stored, state)| self.change_row(stored, *state))).await?;
        if is_disabled {
            self.counters.webhook_disabled();
        }
        Ok(Some(Changes { webhook, events }))
    }

    /// Which attempts count, and what becomes of their events: an attempt of an event that has ended, or that has had this
    /// attempt already, does not count.
    fn decide(&self, webhook: &StoredWebhook, attempts: &[AttemptRecord]) -> (Vec<bool>, HashMap<u64, EventState>) {
        let (request, only) = (Request::record(attempts), Only(receiver_of(&webhook.record)));
        let Decided { facts, outcome, .. } = self.picture.mail().decide(&mut Pending::default(), &request, &only);
        let changed = facts.into_iter().flat_map(|fact| match fact {
            Change::EventsChanged { events } => events,
            _ => Vec::new(),
        });
        let states = changed.map(|(_, sequence, state)| (sequence, state)).collect();
        let counted = if let Outcome::Recorded { counted } = outcome { counted } else { Vec::new() };
        (counted, states)
    }

    /// Writes what became of an event. Its new row comes before the old one goes, so that one is always there.
    async fn change_row(&self, Stored { event, written }: &Stored, state: EventState) -> Result<(), StoreError> {
        let after = written.saturating_add(1);
        match state {
            EventState::Ended => self.delete_event(event, after).await,
            EventState::Retry { attempts, due_at } => {
                let again = PendingEvent { attempts, due_at, ..event.clone() };
                self.write_event(&again, after, self.event_ttl(&event.email)).await?;
                self.delete_event(event, *written).await
            }
        }
    }

    /// Takes over what was written.
    fn remember(&self, known: &mut Known, Changes { webhook, events }: Changes) {
        for (Stored { event, written }, state) in events {
            let key = key_of(&event);
            self.picture.mail_mut().change_event(key.0, key.1, state, 0);
            match state {
                EventState::Ended => {
                    known.end(key);
                }
                EventState::Retry { .. } => {
                    known.written.insert(key, written.saturating_add(1));
                }
            }
        }
        let receiver = receiver_of(&webhook.record);
        if webhook.is_active() {
            known.receivers.insert(receiver.id, receiver);
        } else {
            known.receivers.remove(&receiver.id);
        }
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
            let written = |event: PendingEvent| {
                let written = known.written.get(&key_of(&event)).copied();
                Stored { event, written: written.unwrap_or(0) }
            };
            let events: Vec<Stored> = events.into_iter().map(written).collect();
            self.end_rows(&events).await?;
            for Stored { event, .. } in &events {
                self.take_out(&mut known, event);
            }
            self.count_dropped(webhook, events.len() as u64).await?;
            ended += events.len();
        }
        Ok(ended)
    }

    /// Records that events were dropped, each at a time, and ends them in the table.
    pub(super) async fn drop_events(&self, dropped: Vec<(Stored, Timestamp)>) -> Result<(), StoreError> {
        if dropped.is_empty() {
            return Ok(());
        }
        let mut counts: BTreeMap<WebhookId, u64> = BTreeMap::new();
        for (Stored { event, .. }, _) in &dropped {
            *counts.entry(event.webhook).or_default() += 1;
        }
        self.counters.events_dropped(&counts);
        let drops = dropped.into_iter().map(|(Stored { event, written }, at)| async move {
            let (webhook, email, sequence) = (event.webhook, event.email.id, event.email.sequence);
            let dropped = DroppedEvent { webhook, id: event.id, email, sequence, attempts: event.attempts };
            let revision = written.saturating_add(1);
            self.write_attempt(&dropped.record(at), revision).await?;
            self.delete_event(&event, revision).await
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
