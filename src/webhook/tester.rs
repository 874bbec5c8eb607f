//! Sample events, which the administrator requests. They do not go through the outbox and have a limit of their own.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::attempt::attempt_record;
use super::{Busy, Disposition, Event, EventEmail, EventSender, Signer, Target};
use crate::model::{AttemptRecord, Verdict, WebhookRecord};
use crate::random;
use crate::store::StoreError;

/// Sample events in flight at once, for all webhooks together.
const TESTS_MAX: usize = 4;

/// Sends sample events.
pub struct Tester {
    sender: Arc<EventSender>,
    slots: Semaphore,
}

/// Why there was no attempt, or none that was recorded.
#[derive(Clone, Debug, thiserror::Error)]
pub enum TestError {
    /// As many tests as permitted are in flight.
    #[error("{TESTS_MAX} tests are in flight; try again when one of them has ended")]
    Full,
    /// The receiver's address is at its rate limit.
    #[error(transparent)]
    Busy(#[from] Busy),
    /// The attempt could not be recorded.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Tester {
    /// A tester that sends its events as `sender` does.
    pub fn new(sender: Arc<EventSender>) -> Self {
        Self { sender, slots: Semaphore::new(TESTS_MAX) }
    }

    /// Sends a sample event once and records the attempt in the webhook's log. The event says that it is a test.
    ///
    /// A test never waits: it fails if 4 others are in flight, or if the receiver's address is at its rate limit.
    pub async fn test(&self, webhook: &WebhookRecord) -> Result<AttemptRecord, TestError> {
        let _slot = self.slots.try_acquire().map_err(|_| TestError::Full)?;
        let now = self.sender.clock.now();
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
        let signer = webhook.secret.as_ref().map(Signer::of);
        let id_sent = uuid::Uuid::from_bytes(id.octets());
        let event = Event { id: id_sent, target: &target, signer: signer.as_ref(), email: sample };
        let outcome = self.sender.caller.call(event.request(now)).await?;
        let verdict = match outcome.disposition() {
            Disposition::Delivered => Verdict::Delivered,
            Disposition::Gone | Disposition::Retry { .. } => Verdict::GivenUp,
        };
        let record = attempt_record(webhook.id, id, now, outcome, verdict);
        self.sender.outbox.record_attempt(record.clone()).await?;
        Ok(record)
    }
}
