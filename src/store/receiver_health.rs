//! What a webhook's attempts say about its receiver: for how long it fails, and for how long it asked for no request.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::{AttemptRecord, Timestamp, Verdict, WebhookRecord};

/// A webhook is disabled after this time with nothing but failures.
const FAILING_MAX: Duration = Duration::from_hours(5 * 24);
/// The most of the time between two failures that counts as failing. The longest wait between two attempts is a day and a
/// fifth, so in a longer time there was no attempt, or the clock was wrong.
const IDLE_MAX: Duration = Duration::from_hours(48);
/// The longest time by which an attempt is recorded after a later one.
const RECORDED_LATE_MAX: Duration = Duration::from_mins(1);

/// The reason of a webhook that is disabled after [`FAILING_MAX`] of failures.
const ALWAYS_FAILING: &str = "nothing but failures for 5 days";

/// What a store keeps of a receiver beside the webhook's record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ReceiverHealth {
    /// When the last failed attempt was made.
    failed_at: Option<Timestamp>,
    /// The latest time before which the receiver has asked for no request.
    backs_off_until: Option<Timestamp>,
}

impl ReceiverHealth {
    /// Records the backoff that the receiver asked for at a failed attempt, before the failure itself is recorded.
    ///
    /// Of several attempts at a time the latest time counts.
    pub(super) fn record_backoff(&mut self, attempt: &AttemptRecord) {
        let ended_at = attempt.at.plus(Duration::from_millis(attempt.duration_millis));
        self.backs_off_until = self.backs_off_until(ended_at).max(attempt.backs_off_until);
    }

    /// Until when the webhook gets no request, as of `now`.
    ///
    /// If `now` is well before the last failure, the clock was set back, and a time by the old clock does not count.
    pub(super) fn backs_off_until(&self, now: Timestamp) -> Option<Timestamp> {
        let is_set_back = self.failed_at.is_some_and(|failed_at| failed_at > now.plus(RECORDED_LATE_MAX));
        self.backs_off_until.filter(|until| *until > now && !is_set_back)
    }

    /// Records an attempt in the webhook's record. Returns why the webhook must be disabled, if it must.
    pub(super) fn record(&mut self, webhook: &mut WebhookRecord, attempt: &AttemptRecord) -> Option<String> {
        let mut disables = attempt.disables.clone();
        if !is_of_event(attempt) {
            return disables;
        }
        if attempt.verdict == Verdict::Delivered {
            webhook.last_delivery_at = Some(attempt.at);
            (webhook.failures, webhook.failing_since) = (0, None);
        } else {
            webhook.failures = webhook.failures.saturating_add(1);
            if self.failing_for(webhook, attempt.at) >= FAILING_MAX {
                disables.get_or_insert_with(|| ALWAYS_FAILING.to_owned());
            }
        }
        disables
    }

    /// Records a failed attempt. Returns for how long all attempts have failed.
    fn failing_for(&mut self, webhook: &mut WebhookRecord, at: Timestamp) -> Duration {
        let idle = self.failed_at.map_or(Duration::ZERO, |last| at.since(last)).saturating_sub(IDLE_MAX);
        let since = webhook.failing_since.map_or(at, |since| since.plus(idle)).min(at);
        (webhook.failing_since, self.failed_at) = (Some(since), Some(at));
        at.since(since)
    }
}

/// Whether an attempt to send an event was made. A test request is in the log, but is neither a delivery nor a failure.
fn is_of_event(attempt: &AttemptRecord) -> bool {
    attempt.email.is_some() && attempt.was_made()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Address, EventId, Subaddressing, WebhookId, WebhookStatus};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_millis(1000 * second)
    }

    fn webhook() -> WebhookRecord {
        WebhookRecord {
            id: WebhookId::from_octets([1; 16]),
            recipient: "a@example.test".into(),
            mailbox: "a@example.test".parse::<Address>().expect("address").mailbox(Subaddressing::Keep),
            url: "https://a.example/".into(),
            origin: "https://a.example".into(),
            registrant: None,
            secret: None,
            status: WebhookStatus::Active,
            created_at: at(0),
            last_mail_at: at(0),
            last_delivery_at: None,
            failures: 0,
            failing_since: None,
            dropped: 0,
        }
    }

    /// Records failures that began at these times and took a second, each with the end of the backoff asked for.
    fn after(failures: &[(i64, Option<i64>)]) -> ReceiverHealth {
        let (mut webhook, mut health) = (webhook(), ReceiverHealth::default());
        for (began, backs_off_until) in failures {
            health.record_backoff(&AttemptRecord {
                webhook: webhook.id,
                event: EventId::from_octets([2; 16]),
                email: None,
                sequence: 0,
                number: 1,
                at: at(*began),
                duration_millis: 1000,
                status: Some(503),
                error: None,
                response: String::new(),
                verdict: Verdict::GivenUp,
                disables: None,
                backs_off_until: backs_off_until.map(at),
            });
            health.failing_for(&mut webhook, at(*began));
        }
        health
    }

    #[test]
    fn a_webhook_backs_off_until_the_latest_time_that_was_asked_for() {
        for (failures, now, backs_off_until) in [
            (&[(10, None)][..], 11, None),
            (&[(10, Some(70))], 11, Some(70)),
            (&[(10, Some(70))], 69, Some(70)),
            (&[(10, Some(70))], 70, None),
            // At the same time:
            (&[(10, Some(70)), (10, Some(20))], 11, Some(70)),
            (&[(10, Some(20)), (10, Some(70))], 11, Some(70)),
            (&[(11, Some(70)), (10, None)], 12, Some(70)),
            // Recorded before an attempt that had ended before:
            (&[(15, Some(70)), (10, None)], 16, Some(70)),
            // Later:
            (&[(10, Some(70)), (80, Some(90))], 81, Some(90)),
            (&[(10, Some(70)), (80, None)], 81, None),
        ] {
            assert_eq!(after(failures).backs_off_until(at(now)), backs_off_until.map(at), "{failures:?} at {now}");
        }
    }

    #[test]
    fn a_pause_by_a_clock_that_was_set_back_since_does_not_count() {
        let backs_off_until = |failures, now| after(failures).backs_off_until(at(now));
        assert_eq!(backs_off_until(&[(1000, Some(1060))], 500), None);
        assert_eq!(
            backs_off_until(&[(1000, Some(1060)), (500, Some(510))], 502),
            Some(at(510)),
            "the clock is right again"
        );
        assert_eq!(backs_off_until(&[(1000, Some(1060)), (500, None)], 502), None);
    }
}
