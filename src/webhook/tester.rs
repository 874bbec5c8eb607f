//! Sample events, sent when the administrator asks for one: beside the outbox, and within bounds of their own.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::attempt::attempt_line;
use super::outcome::Verdict as Answered;
use super::{Busy, Delivery, Event, EventEmail, Signer, Target, prepare};
use crate::model::{AttemptRecord, EmailId, EventId, Verdict, WebhookId, WebhookRecord};
use crate::store::StoreError;

/// Sample events under way at once, whichever webhooks they are for.
const TESTS_MAX: usize = 4;

/// What sends sample events.
pub struct Tester {
    delivery: Arc<Delivery>,
    places: Semaphore,
}

/// Why there was no attempt, or none that was noted.
#[derive(Clone, Debug, thiserror::Error)]
pub enum TestError {
    /// Other tests are under way, as many as there may be.
    #[error("{TESTS_MAX} tests are under way")]
    Full,
    /// The address was called as often as permitted.
    #[error(transparent)]
    Busy(#[from] Busy),
    /// The attempt could not be noted.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Tester {
    /// Sends with what `delivery` sends with.
    pub fn new(delivery: Arc<Delivery>) -> Self {
        Self { delivery, places: Semaphore::new(TESTS_MAX) }
    }

    /// Sends a sample event, marked as one, and notes it in the webhook's log. It is not tried again, and it waits for nothing:
    /// at most 4 are under way at once, and their address may be called as often as permitted.
    pub async fn test(&self, webhook: &WebhookRecord) -> Result<AttemptRecord, TestError> {
        let _place = self.places.try_acquire().map_err(|_| TestError::Full)?;
        let now = self.delivery.clock.now();
        let id = EventId::from_octets(WebhookId::fresh().octets());
        let sample = EventEmail {
            id: EmailId::fresh(now),
            recipient: &webhook.recipient,
            from: "test@tempmail.invalid",
            subject: "Test event",
            message: "This is a test event. No mail was received.",
            body_text: "This is a test event. No mail was received.",
            received_at: now,
        };
        let target = Target::parse(&webhook.url).map(Arc::new);
        let target = target.map_err(|_| StoreError::Failed("the webhook's URL does not read".into()))?;
        let signer = webhook.secret.as_ref().map(Signer::of);
        let id_sent = uuid::Uuid::from_bytes(id.octets());
        let event = Event { id: id_sent, target: &target, signer: signer.as_ref(), email: sample };
        let outcome = self.delivery.caller.call(prepare(&event, now)).await?;
        let verdict = match outcome.verdict() {
            Answered::Delivered => Verdict::Delivered,
            Answered::Gone | Answered::Retry { .. } => Verdict::GivenUp,
        };
        let line = attempt_line(webhook.id, id, now, outcome, verdict);
        self.delivery.outbox.record_attempt(line.clone()).await?;
        Ok(line)
    }
}
