//! One event's way: it is claimed from the outbox, made a request, called, and recorded.
//!
//! [`Claim`] → [`Delivery::request`] → [`Prepared`] → [`Caller::call`] → [`Outcome`] → [`Delivery::record`] → `AttemptRecord`.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use super::counters::Counters;
use super::outcome::{ErrorClass, Verdict as Answered};
use super::schedule::RETRY_AFTER_MAX;
use super::{Caller, Event, EventEmail, Outcome, Prepared, Schedule, Signer, Target, prepare};
use crate::clock::Clock;
use crate::mime::Parser;
use crate::model::{AttemptRecord, EventId, PendingEvent, RoleAddresses, Timestamp, Verdict, WebhookId, WebhookRecord};
use crate::store::{ATTEMPTS_PER_RECORD, DueEvents, DueQuery, Outbox, StoreError};

/// How long an event rests when the store can't be read or written.
pub(super) const STORE_PAUSE: Duration = Duration::from_secs(1);

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
    /// The addresses of which nobody is told who is not the administrator.
    pub roles: RoleAddresses,
    /// What tells the time.
    pub clock: Arc<dyn Clock>,
    /// What counts attempts.
    pub counters: Arc<Counters>,
}

/// Who is told of events: what attempts need of a webhook.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    pub(super) target: Arc<Target>,
    signer: Option<Arc<Signer>>,
    /// Its address is a role address by now, and it is not the administrator's.
    is_closed: bool,
    /// The last attempt that was recorded succeeded.
    pub(super) is_good: bool,
    pub(super) failures: u32,
}

#[cfg(test)]
impl Receiver {
    pub(super) fn for_test(target: Target, is_good: bool) -> Self {
        Self { target: Arc::new(target), signer: None, is_closed: false, is_good, failures: 0 }
    }
}

/// An event that is to be attempted now.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub(super) event: PendingEvent,
    pub(super) receiver: Arc<Receiver>,
}

/// What became of a claim.
#[derive(Debug)]
pub(super) enum Attempted {
    /// The receiver was called then.
    Called(Timestamp, Outcome),
    /// The event ends without a call, for this reason.
    Ended(&'static str),
    /// The event is no longer pending.
    Gone,
    /// The event can't be attempted now: its address was called as often as permitted, or the store can't be read. It is
    /// attempted again after so long.
    Deferred(Duration),
}

impl Delivery {
    /// Reads who is told, and the events that are due, as `wanted` says; `None` if nothing could be sent.
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
            tracing::error!(webhook = %webhook.id, "a webhook with a URL that does not read is passed over");
            return None;
        };
        Some(Receiver {
            target: Arc::new(target),
            signer: webhook.secret.as_ref().map(|secret| Arc::new(Signer::of(secret))),
            is_closed: webhook.registrant.is_some() && self.roles.contains(&webhook.mailbox),
            is_good: webhook.is_proven() && webhook.failures == 0,
            failures: webhook.failures,
        })
    }

    /// Makes one attempt, which ends as one that timed out when the sender of `is_cut_off` is dropped.
    pub(super) async fn attempt_until(&self, claim: &Claim, is_cut_off: oneshot::Receiver<()>) -> Attempted {
        let (at, begun) = (self.clock.now(), self.clock.boot());
        tokio::select! {
            attempted = self.attempt(claim) => attempted,
            _ = is_cut_off => {
                let duration = self.clock.boot().saturating_sub(begun);
                Attempted::Called(at, Outcome::unanswered(ErrorClass::Timeout, duration, "cut off: too many others were slow"))
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
            Ok(Ok(prepared)) => match self.caller.call(prepared).await {
                Ok(outcome) => Attempted::Called(at, outcome),
                Err(busy) => Attempted::Deferred(busy.wait),
            },
            Ok(Err(instead)) => instead,
            Err(StoreError::Damaged { .. }) => Attempted::Ended(AttemptRecord::DAMAGED),
            Err(error) => {
                if error != StoreError::Stopping {
                    tracing::error!(webhook = %claim.event.webhook, %error, "an event could not be read; trying again");
                }
                Attempted::Deferred(STORE_PAUSE)
            }
        }
    }

    /// The request that tells of an event, or what becomes of the event without one.
    async fn request(&self, claim: &Claim, at: Timestamp) -> Result<Result<Prepared, Attempted>, StoreError> {
        let Claim { event, receiver } = claim;
        let version = self.outbox.version();
        let Some(email) = self.outbox.load_event(event).await? else { return Ok(Err(Attempted::Gone)) };
        let content = self.parser.parse(email.raw.clone()).await;
        let Some(email) = EventEmail::of(&email, &content) else {
            tracing::error!(webhook = %event.webhook, "an event ends: its Email is not in its message's envelope");
            return Ok(Err(Attempted::Ended(AttemptRecord::DAMAGED)));
        };
        let id = uuid::Uuid::from_bytes(event.id.octets());
        let prepared = prepare(&Event { id, target: &receiver.target, signer: receiver.signer.as_deref(), email }, at);
        // The last thing before the call: to read and sign a long message takes a while.
        if !self.outbox.is_current(version) && !self.outbox.is_pending(event).await? {
            return Ok(Err(Attempted::Gone));
        }
        Ok(Ok(prepared))
    }

    /// Whether an event's time is over.
    pub(super) fn is_late(&self, event: &PendingEvent) -> bool {
        self.clock.now() > event.expires_at.plus(self.grace)
    }

    /// What is noted of an attempt that began at `at`. Unless it `may_end`, the event is tried again however late that is.
    pub(super) fn record(&self, event: &PendingEvent, at: Timestamp, outcome: Outcome, may_end: bool) -> AttemptRecord {
        self.counters.attempted(&outcome);
        let (now, number) = (self.clock.now(), event.attempts.saturating_add(1));
        let (mut disables, mut rests_until) = (None, None);
        let verdict = match outcome.verdict() {
            Answered::Delivered => Verdict::Delivered,
            Answered::Gone => {
                disables = Some("the receiver answered 410 Gone".to_owned());
                Verdict::GivenUp
            }
            Answered::Retry { after } => {
                rests_until = after.map(|after| now.plus(after.min(RETRY_AFTER_MAX)));
                let ends_at = if may_end { event.expires_at.plus(self.grace) } else { Timestamp::MAX };
                let next = self.schedule.next(number, now, rand::random(), after, ends_at);
                next.map_or(Verdict::GivenUp, Verdict::Retry)
            }
        };
        self.counters.decided(&verdict);
        let line = attempt_line(event.webhook, event.id, at, outcome, verdict);
        AttemptRecord { email: Some(event.email), sequence: event.sequence, number, disables, rests_until, ..line }
    }

    /// What is noted of an event that ends without another call.
    pub(super) fn record_end(&self, event: &PendingEvent, why: &str) -> AttemptRecord {
        self.counters.decided(&Verdict::GivenUp);
        AttemptRecord {
            webhook: event.webhook,
            event: event.id,
            email: Some(event.email),
            sequence: event.sequence,
            number: event.attempts,
            at: self.clock.now(),
            duration_millis: 0,
            status: None,
            error: Some(why.to_owned()),
            response: String::new(),
            verdict: Verdict::GivenUp,
            disables: None,
            rests_until: None,
        }
    }

    /// Notes at most [`ATTEMPTS_PER_RECORD`] attempts, however long the store can't: the receivers must not be called again and
    /// again meanwhile.
    pub(super) async fn note(&self, attempts: Vec<AttemptRecord>) {
        debug_assert!(attempts.len() <= ATTEMPTS_PER_RECORD);
        loop {
            match self.outbox.record_attempts(attempts.clone()).await {
                Ok(()) | Err(StoreError::Stopping) => return,
                Err(error) => {
                    tracing::error!(attempts = attempts.len(), %error, "attempts could not be noted; trying again");
                    tokio::time::sleep(STORE_PAUSE).await;
                }
            }
        }
    }
}

/// The log's line of an attempt that belongs to no Email.
pub(super) fn attempt_line(
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
        rests_until: None,
    }
}
