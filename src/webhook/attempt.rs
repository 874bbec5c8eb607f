//! One attempt: an event is claimed from the outbox, becomes a request, is sent, and its outcome is recorded.
//!
//! [`Claim`] → [`EventSender::request`] → [`EventRequest`] → [`Caller::call`] → [`Outcome`] →
//! [`EventSender::attempt_record`] → [`AttemptRecord`] → [`EventSender::record`].

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use super::counters::Counters;
use super::outcome::{Disposition, ErrorClass};
use super::schedule::RETRY_AFTER_MAX;
use super::{Caller, Event, EventEmail, EventRequest, Outcome, Schedule, Signer, Target};
use crate::clock::Clock;
use crate::model::{
    AttemptRecord, DomainName, EventId, PendingEvent, RoleAddresses, Timestamp, Verdict, WebhookId, WebhookRecord,
};
use crate::reader::{self, Reader};
use crate::store::{ATTEMPTS_PER_RECORD, DueEvents, DueQuery, Outbox, StoreError};

/// How long a webhook backs off when the store can't be read or written.
pub(super) const STORE_BACKOFF: Duration = Duration::from_secs(1);

/// Sends events: everything that an attempt needs.
pub struct EventSender {
    /// The store of pending events.
    pub outbox: Arc<dyn Outbox>,
    /// Reads messages.
    pub reader: Reader,
    /// Sends requests.
    pub caller: Caller,
    /// When a failed attempt is retried.
    pub schedule: Schedule,
    /// How long after its Email's expiry an event may still be sent.
    pub grace: Duration,
    /// The role addresses. Only webhooks of the administrator get events for them.
    pub roles: RoleAddresses,
    /// The name of the service.
    pub hostname: DomainName,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Counts attempts and events that were given up.
    pub counters: Arc<Counters>,
}

/// The receiver of a webhook's events: what an attempt needs to know of the webhook.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    pub(super) target: Arc<Target>,
    signer: Option<Arc<Signer>>,
    /// The webhook's address has become a role address, and the webhook is not the administrator's.
    is_closed: bool,
    /// The last recorded attempt was delivered.
    pub(super) was_delivered: bool,
    pub(super) failures: u32,
}

#[cfg(test)]
impl Receiver {
    pub(super) fn for_test(target: Target, was_delivered: bool) -> Self {
        Self { target: Arc::new(target), signer: None, is_closed: false, was_delivered, failures: 0 }
    }
}

/// An event to send now, and its receiver.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub(super) event: PendingEvent,
    pub(super) receiver: Arc<Receiver>,
}

/// The result of a claim.
#[derive(Debug)]
pub(super) enum Attempted {
    /// A request was sent, or connecting failed. The attempt began at this time.
    Called(Timestamp, Outcome),
    /// The attempt panicked. It began at this time, and a request may have been sent.
    Panicked(Timestamp),
    /// The event ends without a request, for this reason.
    Ended(&'static str),
    /// The event is no longer pending.
    Gone,
    /// The event can't be attempted now, because its address is at its rate limit or the store can't be read. The event is
    /// attempted after this wait.
    Deferred(Duration),
}

impl EventSender {
    /// Reads a webhook's receiver and its due events, as `query` says. `None` if there is nothing that could be sent.
    pub(super) async fn read(
        &self,
        webhook: WebhookId,
        query: DueQuery,
    ) -> Result<Option<(Arc<Receiver>, DueEvents)>, StoreError> {
        let Some(due) = self.outbox.due_events(webhook, query).await? else { return Ok(None) };
        Ok(self.receiver(&due.webhook).map(|receiver| (Arc::new(receiver), due)))
    }

    fn receiver(&self, webhook: &WebhookRecord) -> Option<Receiver> {
        let Ok(target) = Target::parse(&webhook.url) else {
            tracing::error!(webhook = %webhook.id, "no events are sent: the stored URL is not valid; delete this webhook");
            return None;
        };
        Some(Receiver {
            target: Arc::new(target),
            signer: webhook.secret.as_ref().map(|secret| Arc::new(Signer::of(secret))),
            is_closed: webhook.registrant.is_some() && self.roles.contains(&webhook.mailbox, &self.hostname),
            was_delivered: webhook.is_proven() && webhook.failures == 0,
            failures: webhook.failures,
        })
    }

    /// Makes one attempt. When the other end of `is_cut_off` is dropped, the attempt ends like one that timed out.
    pub(super) async fn attempt_until(&self, claim: &Claim, is_cut_off: oneshot::Receiver<()>) -> Attempted {
        let (at, begun) = (self.clock.now(), self.clock.boot());
        tokio::select! {
            attempted = self.attempt(claim) => attempted,
            _ = is_cut_off => {
                let duration = self.clock.boot().saturating_sub(begun);
                Attempted::Called(at, Outcome::unanswered(ErrorClass::Timeout, duration, "cut off: too many were slow"))
            }
        }
    }

    /// Makes one attempt.
    async fn attempt(&self, claim: &Claim) -> Attempted {
        if claim.receiver.is_closed {
            return Attempted::Ended(AttemptRecord::ROLE_ADDRESS);
        }
        let at = self.clock.now();
        match self.request(claim, at).await {
            Ok(Ok(request)) => match self.caller.call(request).await {
                Ok(outcome) => Attempted::Called(at, outcome),
                Err(busy) => Attempted::Deferred(busy.wait),
            },
            Ok(Err(instead)) => instead,
            Err(StoreError::Damaged { .. }) => Attempted::Ended(AttemptRecord::DAMAGED),
            Err(error) => {
                if error != StoreError::Stopping {
                    tracing::error!(webhook = %claim.event.webhook, %error, "an event could not be read; it is retried");
                }
                Attempted::Deferred(STORE_BACKOFF)
            }
        }
    }

    /// The request that carries an event, or the claim's result without a request.
    async fn request(&self, claim: &Claim, at: Timestamp) -> Result<Result<EventRequest, Attempted>, StoreError> {
        let Claim { event, receiver } = claim;
        let reading = {
            let (outbox, event, receiver) = (Arc::clone(&self.outbox), event.clone(), receiver.clone());
            async move { read_request(&*outbox, &event, &receiver, at).await }
        };
        self.reader.run(reading).await
    }

    /// Whether the event's Email has expired by more than the grace.
    pub(super) fn is_late(&self, event: &PendingEvent) -> bool {
        self.clock.now() > event.email.expires_at.plus(self.grace)
    }

    /// The record of an attempt that began at `at`.
    pub(super) fn attempt_record(&self, event: &PendingEvent, at: Timestamp, outcome: Outcome) -> AttemptRecord {
        self.counters.attempted(&outcome);
        let (now, number) = (self.clock.now(), event.attempts.saturating_add(1));
        let (mut disables, mut backs_off_until) = (None, None);
        let verdict = match outcome.disposition() {
            Disposition::Delivered => Verdict::Delivered,
            Disposition::Gone => {
                disables = Some("the receiver answered 410 Gone".to_owned());
                Verdict::GivenUp
            }
            Disposition::Retry { after } => {
                backs_off_until = after.map(|after| now.plus(after.min(RETRY_AFTER_MAX)));
                let ends_at = event.email.expires_at.plus(self.grace);
                let next = self.schedule.next(number, now, rand::random(), after, ends_at);
                next.map_or(Verdict::GivenUp, Verdict::Retry)
            }
        };
        self.counters.decided(&verdict);
        let record = attempt_record(event.webhook, event.id, at, outcome, verdict);
        AttemptRecord {
            email: Some(event.email.id),
            sequence: event.email.sequence,
            number,
            disables,
            backs_off_until,
            ..record
        }
    }

    /// The record of an event that ends without another request.
    pub(super) fn end_record(&self, event: &PendingEvent, why: &str) -> AttemptRecord {
        self.counters.decided(&Verdict::GivenUp);
        AttemptRecord {
            webhook: event.webhook,
            event: event.id,
            email: Some(event.email.id),
            sequence: event.email.sequence,
            number: event.attempts,
            at: self.clock.now(),
            duration_millis: 0,
            status: None,
            error: Some(why.to_owned()),
            response: String::new(),
            verdict: Verdict::GivenUp,
            disables: None,
            backs_off_until: None,
        }
    }

    /// Records at most [`ATTEMPTS_PER_RECORD`] attempts. It retries until the store has them: an unrecorded attempt would be
    /// made again.
    pub(super) async fn record(&self, attempts: Vec<AttemptRecord>) {
        debug_assert!(attempts.len() <= ATTEMPTS_PER_RECORD);
        loop {
            match self.outbox.record_attempts(attempts.clone()).await {
                Ok(()) | Err(StoreError::Stopping) => return,
                Err(error) => {
                    tracing::error!(attempts = attempts.len(), %error, "attempts could not be recorded; trying again");
                    tokio::time::sleep(STORE_BACKOFF).await;
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
        backs_off_until: None,
    }
}

/// Reads an event's message and makes the request from it, or says the claim's result without a request.
async fn read_request(
    outbox: &dyn Outbox,
    event: &PendingEvent,
    receiver: &Receiver,
    at: Timestamp,
) -> Result<Result<EventRequest, Attempted>, StoreError> {
    let Some(email) = outbox.load_event(event).await? else { return Ok(Err(Attempted::Gone)) };
    let content = reader::parse(&email.raw);
    let Some(email) = EventEmail::of(&email, &content) else {
        tracing::error!(webhook = %event.webhook, "an event is given up: its Email is not in its envelope");
        return Ok(Err(Attempted::Ended(AttemptRecord::DAMAGED)));
    };
    let id = uuid::Uuid::from_bytes(event.id.octets());
    let event_sent = Event { id, target: &receiver.target, signer: receiver.signer.as_deref(), email };
    Ok(Ok(event_sent.request(at)))
}
