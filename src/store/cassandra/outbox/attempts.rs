//! Recording attempts.
//!
//! The log and the webhook are written before the events. If a node dies in between, the attempt is made again, and what was
//! written is written again. So no event ends without its record, and no answer that disables a webhook is lost.

use std::collections::BTreeMap;

use futures_util::future::{try_join, try_join_all};

use super::super::state::ClusterState;
use super::event::EventRow;
use super::webhook::StoredWebhook;
use crate::model::{AttemptRecord, EmailId, Verdict, WebhookId, WebhookStatus};
use crate::store::StoreError;

/// What attempts of one webhook change.
#[derive(Default)]
struct Changes {
    /// With their revisions.
    logged: Vec<(AttemptRecord, i64)>,
    /// With the new row, or `None` if the event ends.
    events: Vec<(EventRow, Option<EventRow>)>,
    is_changed: bool,
    is_disabled: bool,
}

impl ClusterState {
    pub(super) async fn record_attempts(&self, attempts: Vec<AttemptRecord>) -> Result<(), StoreError> {
        self.check_open()?;
        let mut by_webhook: BTreeMap<WebhookId, Vec<AttemptRecord>> = BTreeMap::new();
        for attempt in attempts {
            by_webhook.entry(attempt.webhook).or_default().push(attempt);
        }
        let recorded = by_webhook.into_iter().map(|(webhook, attempts)| self.record_of_webhook(webhook, attempts));
        try_join_all(recorded).await.map(drop)
    }

    async fn record_of_webhook(&self, id: WebhookId, attempts: Vec<AttemptRecord>) -> Result<(), StoreError> {
        let rows = attempts.iter().map(async |attempt| match attempt.email {
            Some(email) => self.find_event(id, attempt.sequence, email).await,
            None => Ok(None),
        });
        let (webhook, rows) = try_join(self.stored_webhook(id), try_join_all(rows)).await?;
        let Some(mut webhook) = webhook else { return Ok(()) };
        let pending = rows.into_iter().flatten().map(|row| (row.email_id(), row)).collect();
        let changes = decide(&mut webhook, attempts, pending);
        let logged = changes.logged.iter().map(|(record, revision)| self.write_log(record, *revision));
        try_join_all(logged).await?;
        if changes.is_changed {
            self.write_webhook_state(&mut webhook).await?;
        }
        self.outbox.usages.update(&webhook.record);
        let events = changes.events.iter().map(async |(before, after)| match after {
            Some(after) => self.write_event(id, after).await,
            None => self.delete_event(id, before, before.written_at.saturating_add(1)).await,
        });
        try_join_all(events).await?;
        for (before, _) in changes.events.iter().filter(|(_, after)| after.is_none()) {
            self.outbox.usages.remove(id, (before.sequence, before.email));
        }
        if changes.is_disabled {
            self.counters.webhook_disabled();
            // The attempts are recorded, so this must not fail. The next sweep ends the remaining events.
            if let Err(error) = self.end_all_events(id).await {
                tracing::warn!(%error, "events of a disabled webhook could not be ended; the next sweep tries again");
            }
        }
        Ok(())
    }

    /// Ends the pending events of a webhook, and returns how many.
    pub(super) async fn end_all_events(&self, webhook: WebhookId) -> Result<usize, StoreError> {
        let events = self.events_of(webhook).await?;
        self.end_without_delivery(webhook, events).await
    }
}

/// Applies attempts to a webhook, one after the other.
///
/// If an event is gone or has this attempt already, only the requested backoff is recorded: a caller that got no answer records
/// the attempt again.
fn decide(
    webhook: &mut StoredWebhook,
    attempts: Vec<AttemptRecord>,
    mut pending: BTreeMap<EmailId, EventRow>,
) -> Changes {
    let mut changes = Changes::default();
    for attempt in attempts {
        let before = webhook.health.clone();
        webhook.health.record_backoff(&attempt);
        changes.is_changed |= webhook.health != before;
        let mut revision = 0;
        if let Some(email) = attempt.email {
            // With the webhook, all its events have ended.
            if changes.is_disabled {
                continue;
            }
            let Some(event) = pending.get(&email).cloned() else { continue };
            revision = event.written_at.saturating_add(1);
            let after = match attempt.verdict {
                Verdict::Retry(_) if attempt.number <= event.attempts() => continue,
                Verdict::Retry(due_at) => Some(EventRow {
                    attempts: attempt.number.cast_signed(),
                    due_at: due_at.millis(),
                    written_at: revision,
                    ..event.clone()
                }),
                Verdict::Delivered | Verdict::GivenUp => None,
            };
            match &after {
                Some(after) => pending.insert(email, after.clone()),
                None => pending.remove(&email),
            };
            changes.events.push((event, after));
        }
        let failures_before = webhook.record.clone();
        if let Some(reason) = webhook.health.record(&mut webhook.record, &attempt) {
            changes.is_disabled |= webhook.record.status == WebhookStatus::Active;
            webhook.record.status = WebhookStatus::Disabled(reason);
        }
        changes.is_changed |= webhook.record != failures_before;
        changes.logged.push((attempt, revision));
    }
    changes
}
