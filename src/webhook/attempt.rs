//! One attempt to send an event: the way is asked, the request prepared and sent, and what became of it recorded.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::Instant;

use super::counters::Counters;
use super::outcome::ErrorClass;
use super::places::{Places, SLOW_AFTER};
use super::send::Refusal;
use super::{Caller, Event, EventEmail, EventRequest, Outcome, Schedule, Target};
use crate::admission::Admission;
use crate::clock::Clock;
use crate::model::{AttemptRecord, DomainName, PendingEvent, RoleAddresses, Timestamp, WebhookRecord};
use crate::reader::{self, Reader};
use crate::store::{Outbox, StoreError};

/// The pause of a webhook whose attempt can't be made now: there is no place for it, or the store can't be read or written.
pub(super) const DEFERRED_PAUSE: Duration = Duration::from_secs(1);
/// The pause of a webhook whose stored URL is not valid.
const UNUSABLE_PAUSE: Duration = Duration::from_mins(1);
/// A body has about so many octets for each octet of its message: it has the message as HTML and as text, with escapes.
const OCTETS_PER_OCTET: u64 = 3;

/// Sends events: everything that an attempt needs.
pub struct EventSender {
    /// The store of pending events.
    pub outbox: Arc<dyn Outbox>,
    /// Reads messages.
    pub reader: Reader,
    /// Sends requests.
    pub caller: Caller,
    /// Has the places of attempts, by how good their receivers are.
    pub admission: Arc<Admission>,
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

/// How an attempt ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ended {
    /// The receiver has the event.
    Delivered,
    /// The receiver does not have it.
    Failed,
    /// The event ended without a request.
    Unsent,
    /// The event can't be attempted now. It is attempted after this wait.
    Deferred(Duration),
}

/// Why no request was sent.
enum Unsent {
    /// The event ends, for this reason.
    Ended(&'static str),
    /// The event is no longer pending.
    Gone,
    /// It can't be attempted before this wait, because its host is at its limit, there is no place, or the store can't be read.
    Deferred(Duration),
}

impl EventSender {
    /// Makes one attempt. Once it returns, what became of it is in the store.
    pub(super) async fn attempt(&self, event: &PendingEvent, webhook: &Arc<WebhookRecord>, places: &Places) -> Ended {
        // A panic fails this attempt alone. A request may have been sent, so it counts like any other failure.
        let sent = AssertUnwindSafe(self.send_in_turn(event, webhook, places)).catch_unwind().await;
        let sent = sent.unwrap_or_else(|_| {
            tracing::error!(webhook = %event.webhook, "an attempt panicked; the event is retried");
            Ok((self.clock.now(), Outcome::unanswered(ErrorClass::Other, "internal error", Duration::ZERO)))
        });
        match sent {
            Ok((at, outcome)) => {
                places.learn(event.webhook, outcome.duration);
                let is_delivered = outcome.is_delivered();
                self.record(self.attempt_record(event, at, outcome)).await;
                if is_delivered { Ended::Delivered } else { Ended::Failed }
            }
            Err(Unsent::Ended(why)) => {
                self.record(self.end_record(event, why)).await;
                Ended::Unsent
            }
            Err(Unsent::Gone) => Ended::Unsent,
            Err(Unsent::Deferred(wait)) => Ended::Deferred(wait),
        }
    }

    /// Waits for a place and makes the attempt. Returns when it began, too.
    async fn send_in_turn(
        &self,
        event: &PendingEvent,
        webhook: &Arc<WebhookRecord>,
        places: &Places,
    ) -> Result<(Timestamp, Outcome), Unsent> {
        if webhook.registrant.is_some() && self.roles.contains(&webhook.mailbox, &self.hostname) {
            return Err(Unsent::Ended(AttemptRecord::ROLE_ADDRESS));
        }
        let Ok(target) = Target::parse(&webhook.url).map(Arc::new) else {
            tracing::error!(webhook = %webhook.id, "no events are sent: the stored URL is not valid; delete this webhook");
            return Err(Unsent::Deferred(UNUSABLE_PAUSE));
        };
        let octets = event.email.size_octets * OCTETS_PER_OCTET;
        let mut place = places.take(webhook, octets).await.ok_or(Unsent::Deferred(DEFERRED_PAUSE))?;
        let at = self.clock.now();
        if at > event.email.expires_at.plus(self.grace) {
            return Err(Unsent::Ended(AttemptRecord::TOO_LATE));
        }
        // The way first, since a request that may not be sent is not to be prepared each time.
        let route = match place.during(self.caller.permitted(&target, octets)).await {
            Some(Ok(route)) => route,
            Some(Err(Refusal::Failed(outcome))) => return Ok((at, outcome)),
            Some(Err(Refusal::Busy(busy))) => return Err(Unsent::Deferred(busy.wait)),
            None => {
                // Nothing was sent, and nothing is known of the receiver but that its name is slow.
                places.learn(event.webhook, SLOW_AFTER);
                return Err(Unsent::Deferred(DEFERRED_PAUSE));
            }
        };
        let reading = read_request(Arc::clone(&self.outbox), event.clone(), Arc::clone(webhook), target, at);
        let request = self.reader.run(reading).await?;
        place.weigh(request.body.len() as u64).ok_or(Unsent::Deferred(DEFERRED_PAUSE))?;
        let begun = Instant::now();
        let outcome = match place.during(self.caller.send(request, route)).await {
            Some(Ok(mut answered)) => {
                let body = place.during(answered.finish()).await.unwrap_or_default();
                answered.outcome(&body)
            }
            Some(Err(outcome)) => outcome,
            None => Outcome::unanswered(ErrorClass::Timeout, "cut off: too many were slow", begun.elapsed()),
        };
        Ok((at, outcome))
    }
}

/// Reads an event's message and makes the request from it, unless the event is no longer pending: that is asked last.
async fn read_request(
    outbox: Arc<dyn Outbox>,
    event: PendingEvent,
    webhook: Arc<WebhookRecord>,
    target: Arc<Target>,
    at: Timestamp,
) -> Result<EventRequest, Unsent> {
    let email = match outbox.load_event(&event).await {
        Ok(email) => email.ok_or(Unsent::Gone)?,
        Err(StoreError::Damaged { .. }) => return Err(Unsent::Ended(AttemptRecord::DAMAGED)),
        Err(StoreError::Stopping) => return Err(Unsent::Deferred(DEFERRED_PAUSE)),
        Err(error) => {
            tracing::error!(webhook = %event.webhook, %error, "an event could not be read; it is retried");
            return Err(Unsent::Deferred(DEFERRED_PAUSE));
        }
    };
    let id = uuid::Uuid::from_bytes(event.id.octets());
    let request = reader::read(&email.raw, |message| {
        let email = EventEmail::of(&email, message)?;
        Some(Event { id, target: &target, secret: webhook.secret.as_ref(), email }.request(at))
    });
    request.ok_or_else(|| {
        tracing::error!(webhook = %event.webhook, "an event is given up: its Email is not in its envelope");
        Unsent::Ended(AttemptRecord::DAMAGED)
    })
}
