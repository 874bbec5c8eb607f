//! Sample events, which the administrator requests. They do not go through the outbox and have a limit of their own.

use std::sync::Arc;

use super::record::attempt_record;
use super::{Busy, Event, EventEmail, EventSender, Target};
use crate::admission::{What, Who};
use crate::model::{AttemptRecord, Verdict, WebhookRecord};
use crate::random;
use crate::store::StoreError;

/// Why there was no attempt, or none that was recorded.
#[derive(Clone, Debug, thiserror::Error)]
pub enum TestError {
    /// As many tests as permitted are in flight.
    #[error("too many tests are in flight; try again when one of them has ended")]
    Full,
    /// The receiver's host is at its limit.
    #[error(transparent)]
    Busy(#[from] Busy),
    /// The attempt could not be recorded.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl EventSender {
    /// Sends a sample event once and records the attempt in the webhook's log. The event says that it is a test.
    ///
    /// A test never waits: it fails if there are 4 others in flight, or if the receiver's host is at its limit.
    pub async fn test(&self, webhook: &WebhookRecord) -> Result<AttemptRecord, TestError> {
        let _permit = self.admission.admit(Who::Server, What::WebhookTest, 1).map_err(|_| TestError::Full)?;
        let now = self.clock.now();
        let id = random::event_id();
        let sample = EventEmail {
            id: random::email_id(now),
            recipient: &webhook.recipient,
            from: "test@tempmail.invalid",
            subject: "Test event",
            message: "This is a test event. No mail was received.",
            body_text: "This is a test event. No mail was received.",
            received_at: now,
        };
        let target = Target::parse(&webhook.url).map(Arc::new);
        let target = target.map_err(|_| StoreError::Failed("the stored URL of the webhook is not valid".into()))?;
        let id_sent = uuid::Uuid::from_bytes(id.octets());
        let event = Event { id: id_sent, target: &target, secret: webhook.secret.as_ref(), email: sample };
        let outcome = self.caller.call(event.request(now)).await?;
        let verdict = if outcome.is_delivered() { Verdict::Delivered } else { Verdict::GivenUp };
        let record = attempt_record(webhook.id, id, now, outcome, verdict);
        self.outbox.record_attempt(record.clone()).await?;
        Ok(record)
    }
}
