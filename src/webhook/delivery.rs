//! One attempt from the outbox to the receiver and back: prepare, call, record.

use std::sync::Arc;
use std::time::Duration;

use super::outcome::Verdict as Answered;
use super::{Caller, Event, EventEmail, Outcome, Prepared, Schedule, Target, prepare};
use crate::clock::Clock;
use crate::mime::Parser;
use crate::model::{
    AttemptRecord, EmailId, EventId, PendingEvent, Secret, Timestamp, Verdict, WebhookId, WebhookRecord,
};
use crate::store::{Outbox, StoreError};

/// A webhook that has had nothing but failures for so long is disabled.
const FAILING_MAX: Duration = Duration::from_hours(5 * 24);
/// What the log says of an event that was past its time when its turn came, as after a long stop.
const TOO_LATE: &str = "too_late";
/// How long an event rests when the store can't be read or written.
const STORE_PAUSE: Duration = Duration::from_secs(1);

/// What attempts are made with.
pub struct Delivery {
    /// Where events wait.
    pub outbox: Arc<dyn Outbox>,
    /// What reads messages.
    pub parser: Parser,
    /// What sends requests.
    pub caller: Caller,
    /// When an attempt that failed is made again.
    pub schedule: Schedule,
    /// How long after its Email's expiry an event is still sent.
    pub grace: Duration,
    /// What tells the time.
    pub clock: Arc<dyn Clock>,
}

impl Delivery {
    /// Makes the next attempt of an event and notes it.
    pub(super) async fn attempt(&self, event: &PendingEvent) {
        if let Err(error) = self.try_attempt(event).await
            && error != StoreError::Stopping
        {
            tracing::error!(webhook = %event.webhook, %error, "an event could not be sent or noted; it is sent again");
            tokio::time::sleep(STORE_PAUSE).await;
        }
    }

    async fn try_attempt(&self, event: &PendingEvent) -> Result<(), StoreError> {
        let Some(webhook) = self.outbox.webhook(event.webhook).await? else { return Ok(()) };
        let now = self.clock.now();
        if now > self.ends_at(event) {
            return self.outbox.record_attempt(too_late(event, now)).await;
        }
        let Some(prepared) = self.prepare(event, &webhook).await? else { return Ok(()) };
        let at = self.clock.now();
        let outcome = self.caller.call(&prepared).await;
        self.outbox.record_attempt(self.record(event, &webhook, at, outcome)).await
    }

    /// The last moment in which the event is worth something.
    fn ends_at(&self, event: &PendingEvent) -> Timestamp {
        event.expires_at.plus(self.grace)
    }

    /// `None` if the event has ended meanwhile.
    async fn prepare(&self, event: &PendingEvent, webhook: &WebhookRecord) -> Result<Option<Prepared>, StoreError> {
        let Some(email) = self.outbox.load_event(event).await? else { return Ok(None) };
        let content = self.parser.parse(email.raw.clone()).await;
        let Ok(target) = Target::parse(&webhook.url) else { return Ok(None) };
        let Some(email) = EventEmail::of(&email, &content) else { return Ok(None) };
        Ok(Some(prepare(&sent(event.id, webhook.secret.as_ref(), &target, email), self.clock.now())))
    }

    fn record(&self, event: &PendingEvent, webhook: &WebhookRecord, at: Timestamp, outcome: Outcome) -> AttemptRecord {
        let now = self.clock.now();
        let number = event.attempts.saturating_add(1);
        let mut disables = None;
        let verdict = match outcome.verdict() {
            Answered::Delivered => Verdict::Delivered,
            Answered::Gone => {
                disables = Some("the receiver answered 410 Gone".to_owned());
                Verdict::GivenUp
            }
            Answered::Retry { after } => {
                let next = self.schedule.next(number, now, rand::random(), after, self.ends_at(event));
                if webhook.failing_since.is_some_and(|since| now.since(since) >= FAILING_MAX) {
                    disables = Some("nothing but failures for 5 days".to_owned());
                }
                next.map_or(Verdict::GivenUp, Verdict::Retry)
            }
        };
        let line = attempt_line(event.webhook, event.id, at, outcome, verdict);
        AttemptRecord { email: Some(event.email), sequence: event.sequence, number, disables, ..line }
    }

    /// Sends a sample event, marked as one, and notes it in the log. It is not tried again.
    pub async fn test(&self, webhook: &WebhookRecord) -> Result<AttemptRecord, StoreError> {
        let now = self.clock.now();
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
        let Ok(target) = Target::parse(&webhook.url) else {
            return Err(StoreError::Failed("the webhook's URL does not read".into()));
        };
        let prepared = prepare(&sent(id, webhook.secret.as_ref(), &target, sample), now);
        let outcome = self.caller.call(&prepared).await;
        let verdict = match outcome.verdict() {
            Answered::Delivered => Verdict::Delivered,
            Answered::Gone | Answered::Retry { .. } => Verdict::GivenUp,
        };
        let line = attempt_line(webhook.id, id, now, outcome, verdict);
        self.outbox.record_attempt(line.clone()).await?;
        Ok(line)
    }
}

fn sent<'a>(id: EventId, secret: Option<&'a Secret>, target: &'a Target, email: EventEmail<'a>) -> Event<'a> {
    let secret = secret.map(|secret| secret.expose().as_bytes());
    Event { id: uuid::Uuid::from_bytes(id.octets()), target, secret, email }
}

/// The log's line of an event that was not sent, because it was past its time when its turn came.
fn too_late(event: &PendingEvent, now: Timestamp) -> AttemptRecord {
    AttemptRecord {
        webhook: event.webhook,
        event: event.id,
        email: Some(event.email),
        sequence: event.sequence,
        number: event.attempts,
        at: now,
        duration_millis: 0,
        status: None,
        error: Some(TOO_LATE.into()),
        response: String::new(),
        verdict: Verdict::GivenUp,
        disables: None,
    }
}

/// The log's line of an attempt that belongs to no Email.
fn attempt_line(
    webhook: WebhookId,
    event: EventId,
    at: Timestamp,
    outcome: Outcome,
    verdict: Verdict,
) -> AttemptRecord {
    let response = if outcome.status.is_some() { outcome.response } else { outcome.detail };
    AttemptRecord {
        webhook,
        event,
        email: None,
        sequence: 0,
        number: 1,
        at,
        duration_millis: u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
        status: outcome.status,
        error: outcome.class.map(|class| class.as_str().to_owned()),
        response,
        verdict,
        disables: None,
    }
}
