//! One attempt from the outbox to the receiver and back: prepare, call, record.

use std::sync::Arc;
use std::time::Duration;

use super::ahead::{Queued, Rendered};
use super::attempt::{address, render};
use super::counters::Counters;
use super::octets::Share;
use super::outcome::Verdict as Answered;
use super::schedule::RETRY_AFTER_MAX;
use super::sign::Signer;
use super::steps::Steps;
use super::{Bodies, Busy, Caller, End, EventEmail, Outcome, Schedule, Target};
use crate::clock::Clock;
use crate::mime::Parser;
use crate::model::{AttemptRecord, EventId, PendingEvent, Timestamp, Verdict, WebhookId};
use crate::store::{ATTEMPTS_PER_NOTE, Outbox, OutboxVersion, StoreError};

/// How long an event rests when the store can't be read or written.
const STORE_PAUSE: Duration = Duration::from_secs(1);
/// How long a webhook rests at least whose address was called as often as permitted.
const BUSY_PAUSE: Duration = Duration::from_secs(1);
/// How often one looks whether an event still waits while others end, before it rests.
const LOOKS_MAX: usize = 8;

/// What attempts are made with.
pub struct Delivery {
    /// Where events wait.
    pub outbox: Arc<dyn Outbox>,
    /// What reads messages.
    pub parser: Parser,
    /// What was rendered just now.
    pub bodies: Bodies,
    /// What sends requests.
    pub caller: Caller,
    /// When an attempt that failed is made again.
    pub schedule: Schedule,
    /// How long after its Email's expiry an event is still sent.
    pub grace: Duration,
    /// What tells the time.
    pub clock: Arc<dyn Clock>,
    /// What counts attempts.
    pub counters: Arc<Counters>,
}

/// What came of an attempt.
#[derive(Default)]
pub(super) struct Attempt {
    /// What is to be noted; `None` if the event was there no more or could not be read.
    pub(super) record: Option<AttemptRecord>,
    /// How it ended for the endpoint; `None` if that was not called.
    pub(super) end: Option<End>,
    /// It is past its end by a clock that can't be relied on: it is neither sent nor ended until that can be.
    pub(super) rests: bool,
    /// How long the webhook rests: the receiver asks for no other event, which is cut to what is honoured, or its address was
    /// called as often as permitted.
    pub(super) asked: Option<Duration>,
}

/// What was read of an event.
enum Found {
    Event(Rendered),
    /// It waits no more.
    Ended,
    /// It waits, but can't be sent.
    Damaged,
}

impl Delivery {
    /// By how many milliseconds the time of day is ahead of the clock that never jumps.
    pub(super) fn ahead_millis(&self) -> i64 {
        let since_boot = i64::try_from(self.clock.boot().as_millis()).unwrap_or(i64::MAX);
        self.clock.now().millis().saturating_sub(since_boot)
    }

    /// Makes the next attempt of an event; ends none by the time of day while `steps` says that it jumped.
    /// `share` is what of memory it may use.
    pub(super) async fn attempt(&self, queued: Queued, steps: &Steps, share: Share) -> Attempt {
        let Queued { event, rendered } = queued;
        match self.try_attempt(&event, rendered, steps, share).await {
            Ok(attempt) => attempt,
            Err(StoreError::Stopping) => Attempt::default(),
            Err(error) => {
                tracing::error!(webhook = %event.webhook, %error, "an event could not be read; trying again");
                tokio::time::sleep(STORE_PAUSE).await;
                Attempt::default()
            }
        }
    }

    async fn try_attempt(
        &self,
        event: &PendingEvent,
        rendered: Option<Rendered>,
        steps: &Steps,
        mut share: Share,
    ) -> Result<Attempt, StoreError> {
        if self.clock.now() > event.expires_at.plus(self.grace) {
            if !steps.may_end(&*self.clock) {
                return Ok(Attempt { rests: true, ..Attempt::default() });
            }
            return Ok(self.given_up(event, AttemptRecord::TOO_LATE));
        }
        let rendered = match rendered {
            Some(rendered) => rendered,
            None => match Box::pin(self.render_now(event)).await? {
                Found::Event(rendered) => rendered,
                Found::Ended => return Ok(Attempt::default()),
                // It would come first in its webhook's lane for ever.
                Found::Damaged => return Ok(self.given_up(event, AttemptRecord::DAMAGED)),
            },
        };
        let Rendered { signer, target, body, version } = rendered;
        share.shrink_to(body.len());
        // Many that were dropped meanwhile come up at once where mail comes in faster than a receiver takes events: none of
        // them is signed.
        let Some(version) = self.still_holds(event, version).await? else { return Ok(Attempt::default()) };
        let id = uuid::Uuid::from_bytes(event.id.octets());
        let at = self.clock.now();
        let prepared = address(id, &target, signer.as_deref(), &body, at);
        // The last thing before the call: to sign a long body takes a while.
        if self.still_holds(event, version).await?.is_none() {
            return Ok(Attempt::default());
        }
        let called = self.caller.call(prepared).await;
        drop(share);
        let outcome = match called {
            Ok(outcome) => outcome,
            Err(Busy { wait }) => return Ok(Attempt { asked: Some(wait.max(BUSY_PAUSE)), ..Attempt::default() }),
        };
        self.counters.attempted(&outcome);
        let end = Some(End::of(&outcome));
        let asked = match outcome.verdict() {
            Answered::Retry { after } => after.map(|after| after.min(RETRY_AFTER_MAX)),
            Answered::Delivered | Answered::Gone => None,
        };
        let rests_until = asked.map(|asked| self.clock.now().plus(asked));
        let record = AttemptRecord { rests_until, ..self.record(event, at, outcome, steps) };
        Ok(Attempt { record: Some(record), end, asked, rests: false })
    }

    /// Reads and renders an event that was not read ahead, or no more than its row was.
    async fn render_now(&self, event: &PendingEvent) -> Result<Found, StoreError> {
        let version = self.outbox.version();
        let Some(webhook) = self.outbox.webhook(event.webhook).await? else { return Ok(Found::Ended) };
        let email = match self.outbox.load_event(event).await {
            Ok(Some(email)) => email,
            Ok(None) => return Ok(Found::Ended),
            Err(error @ StoreError::Damaged { .. }) => {
                tracing::error!(webhook = %event.webhook, %error, "an event is given up");
                return Ok(Found::Damaged);
            }
            Err(error) => return Err(error),
        };
        let content = self.parser.parse(email.raw.clone()).await;
        let Ok(target) = Target::parse(&webhook.url) else { return Ok(Found::Ended) };
        let Some(email) = EventEmail::of(&email, &content) else {
            tracing::error!(webhook = %event.webhook, "an event is given up: its Email is not in its message's envelope");
            return Ok(Found::Damaged);
        };
        let signer = webhook.secret.as_ref().map(|secret| Arc::new(Signer::of(secret)));
        Ok(Found::Event(Rendered { signer, target: Arc::new(target), body: render(&email), version }))
    }

    /// Until which version the event that was read at `version` still waits; `None` if it doesn't. What else was read of it
    /// never changes.
    async fn still_holds(
        &self,
        event: &PendingEvent,
        mut version: OutboxVersion,
    ) -> Result<Option<OutboxVersion>, StoreError> {
        for _ in 0..LOOKS_MAX {
            if self.outbox.is_current(version) {
                return Ok(Some(version));
            }
            version = self.outbox.version();
            if !self.outbox.is_pending(event).await? {
                return Ok(None);
            }
        }
        // The outbox changes faster than one can look: the event has another turn.
        tokio::time::sleep(STORE_PAUSE).await;
        Ok(None)
    }

    /// Notes attempts, however long the store can't: the receivers must not be called again and again meanwhile.
    pub(super) async fn note_all(&self, attempts: Vec<AttemptRecord>) {
        let notes = attempts.chunks(ATTEMPTS_PER_NOTE).map(|attempts| self.note(attempts));
        futures_util::future::join_all(notes).await;
    }

    async fn note(&self, attempts: &[AttemptRecord]) {
        loop {
            match self.outbox.record_attempts(attempts.to_vec()).await {
                Ok(()) | Err(StoreError::Stopping) => return,
                Err(error) => {
                    tracing::error!(attempts = attempts.len(), %error, "attempts could not be noted; trying again");
                    tokio::time::sleep(STORE_PAUSE).await;
                }
            }
        }
    }

    fn record(&self, event: &PendingEvent, at: Timestamp, outcome: Outcome, steps: &Steps) -> AttemptRecord {
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
                let may_end = steps.may_end(&*self.clock);
                let ends_at = if may_end { event.expires_at.plus(self.grace) } else { Timestamp::MAX };
                let next = self.schedule.next(number, now, rand::random(), after, ends_at);
                next.map_or(Verdict::GivenUp, Verdict::Retry)
            }
        };
        self.counters.decided(&verdict);
        let line = attempt_line(event.webhook, event.id, at, outcome, verdict);
        AttemptRecord { email: Some(event.email), sequence: event.sequence, number, disables, ..line }
    }

    /// An event that ends without another call.
    fn given_up(&self, event: &PendingEvent, why: &str) -> Attempt {
        self.counters.decided(&Verdict::GivenUp);
        let record = AttemptRecord {
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
        };
        Attempt { record: Some(record), ..Attempt::default() }
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
