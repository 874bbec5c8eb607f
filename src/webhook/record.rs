//! What follows from an attempt: the line of the delivery log, and whether the event ends or is retried.

use std::time::Duration;

use super::attempt::{DEFERRED_PAUSE, EventSender};
use super::outcome::{ErrorClass, Outcome};
use super::schedule::RETRY_AFTER_MAX;
use crate::model::{AttemptRecord, EventId, PendingEvent, Timestamp, Verdict, WebhookId};
use crate::store::StoreError;

impl EventSender {
    /// The record of an attempt that began at `at`.
    pub(super) fn attempt_record(&self, event: &PendingEvent, at: Timestamp, outcome: Outcome) -> AttemptRecord {
        self.counters.attempted(&outcome);
        let (now, number) = (self.clock.now(), event.attempts.saturating_add(1));
        let asked = outcome.retry_after.map(|after| after.min(RETRY_AFTER_MAX));
        let is_gone = outcome.is_gone();
        let verdict = if outcome.is_delivered() {
            Verdict::Delivered
        } else if is_gone {
            Verdict::GivenUp
        } else {
            let ends_at = event.email.expires_at.plus(self.grace);
            let next = self.schedule.next(number, now, rand::random(), asked, ends_at);
            next.map_or(Verdict::GivenUp, Verdict::Retry)
        };
        self.counters.decided(&verdict);
        AttemptRecord {
            email: Some(event.email.id),
            sequence: event.email.sequence,
            number,
            disables: is_gone.then(|| "the receiver answered 410 Gone".to_owned()),
            backs_off_until: asked.map(|after| now.plus(after)),
            ..attempt_record(event.webhook, event.id, at, outcome, verdict)
        }
    }

    /// The record of an event that ends without another request.
    pub(super) fn end_record(&self, event: &PendingEvent, why: &str) -> AttemptRecord {
        self.counters.decided(&Verdict::GivenUp);
        let unsent = Outcome::unanswered(ErrorClass::Other, "", Duration::ZERO);
        AttemptRecord {
            email: Some(event.email.id),
            sequence: event.email.sequence,
            number: event.attempts,
            error: Some(why.to_owned()),
            ..attempt_record(event.webhook, event.id, self.clock.now(), unsent, Verdict::GivenUp)
        }
    }

    /// Records an attempt. It retries until the store has it: an unrecorded attempt would be made again.
    pub(super) async fn record(&self, attempt: AttemptRecord) {
        loop {
            match self.outbox.record_attempt(attempt.clone()).await {
                Ok(()) | Err(StoreError::Stopping) => return,
                Err(error) => {
                    tracing::error!(%error, "an attempt could not be recorded; trying again");
                    tokio::time::sleep(DEFERRED_PAUSE).await;
                }
            }
        }
    }
}

/// The record of an attempt that belongs to no Email.
pub(super) fn attempt_record(
    webhook: WebhookId,
    event: EventId,
    at: Timestamp,
    outcome: Outcome,
    verdict: Verdict,
) -> AttemptRecord {
    AttemptRecord {
        webhook,
        event,
        email: None,
        sequence: 0,
        number: 1,
        at,
        duration_millis: u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
        status: outcome.status,
        error: outcome.error.map(|class| class.as_str().to_owned()),
        response: outcome.text,
        verdict,
        disables: None,
        backs_off_until: None,
    }
}
