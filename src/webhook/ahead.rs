//! What is read and rendered of a webhook's events before their turn: one look into the store and one into the parser for
//! several events, where each by itself would cost as much.
//!
//! What was read ahead may be outdated when its turn comes; [`Outbox::is_current`](crate::store::Outbox::is_current) says so.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use super::attempt::render;
use super::body::Body;
use super::delivery::Delivery;
use super::octets::Octets;
use super::sign::Signer;
use super::{Endpoint, EventEmail, Known, Target};
use crate::model::{PendingEvent, Timestamp, WebhookId, WebhookRecord};
use crate::store::{OutboxVersion, StoreError, Wanted};

/// An event whose turn comes, and what is there of it already.
#[derive(Debug)]
pub(super) struct Queued {
    pub(super) event: PendingEvent,
    pub(super) rendered: Option<Rendered>,
}

/// What an attempt needs but the time at which it is made.
#[derive(Debug)]
pub(super) struct Rendered {
    /// What signs it, if the webhook has a secret.
    pub(super) signer: Option<Arc<Signer>>,
    pub(super) target: Arc<Target>,
    pub(super) body: Body,
    /// When it was read.
    pub(super) version: OutboxVersion,
}

/// Events of one webhook that are due.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) endpoint: Endpoint,
    /// What is known of it by the last attempt for the webhook.
    pub(super) known: Known,
    pub(super) events: Vec<Queued>,
    /// Others are due.
    pub(super) has_more: bool,
    /// When the next one is due that is not.
    pub(super) next_due_at: Option<Timestamp>,
    /// None is here because the webhook is to rest for so long first.
    pub(super) rest: Option<Duration>,
}

impl Queued {
    /// Octets of memory that its attempt needs at most.
    pub(super) fn octets_in_flight(&self) -> usize {
        self.rendered.as_ref().map_or_else(|| Octets::at_most(self.event.size_octets), |rendered| rendered.body.len())
    }

    /// Octets of memory that were spent in advance.
    pub(super) fn octets(&self) -> usize {
        self.rendered.as_ref().map_or(0, |rendered| rendered.body.len())
    }
}

impl Delivery {
    /// Reads at most `limit` events of `webhook` that are due or rest for longer than `rests_max`
    /// ([`Wanted::rests_max`]), without those in `held`, and renders as many as fit `octets_max`; none where the webhook rests,
    /// for no longer than `webhook_rest_max`. `None` if there is nothing that could be sent.
    pub(super) async fn read_ahead(
        &self,
        webhook: WebhookId,
        rests_max: Vec<Duration>,
        webhook_rest_max: Duration,
        held: HashSet<u64>,
        limit: usize,
        octets_max: u64,
    ) -> Result<Option<Batch>, StoreError> {
        let now = self.clock.now();
        let due_after = now.plus(self.schedule.longest());
        let wanted = Wanted { due_by: now, due_after, rests_max, without: held, limit };
        let Some(due) = self.outbox.due_events(webhook, wanted).await? else { return Ok(None) };
        let Ok(target) = Target::parse(&due.webhook.url) else {
            tracing::error!(%webhook, "a webhook with a URL that does not read is passed over");
            return Ok(None);
        };
        let known = known_of(&due.webhook);
        let rest = due.rests_until.map(|until| until.since(now)).filter(|rest| *rest <= webhook_rest_max);
        if rest.is_some() {
            let endpoint = target.endpoint().clone();
            return Ok(Some(Batch { endpoint, known, events: Vec::new(), has_more: true, next_due_at: None, rest }));
        }
        let signer = due.webhook.secret.as_ref().map(|secret| Arc::new(Signer::of(secret)));
        let (target, version) = (Arc::new(target), due.version);
        let endpoint = target.endpoint().clone();
        let bodies = self.bodies_of(&due.events, octets_max).await?;
        let with_body = |(event, body): (PendingEvent, Option<Body>)| {
            let (signer, target) = (signer.clone(), Arc::clone(&target));
            Queued { event, rendered: body.map(|body| Rendered { signer, target, body, version }) }
        };
        let events = due.events.into_iter().zip(bodies).map(with_body).collect();
        let (has_more, next_due_at) = (due.has_more, due.next_due_at);
        Ok(Some(Batch { endpoint, known, events, has_more, next_due_at, rest }))
    }

    /// The bodies of events, of those that are known or whose messages have no more than `octets_max` together.
    async fn bodies_of(&self, events: &[PendingEvent], octets_max: u64) -> Result<Vec<Option<Body>>, StoreError> {
        let mut bodies = self.bodies.of(events.iter().map(|event| event.email));
        let mut octets_left = octets_max;
        let mut missing = Vec::new();
        for (place, event) in events.iter().enumerate().filter(|(place, _)| bodies[*place].is_none()) {
            let left = octets_left.checked_sub(event.size_octets);
            octets_left = left.unwrap_or(0);
            missing.extend(left.map(|_| place));
        }
        if missing.is_empty() {
            return Ok(bodies);
        }
        let emails = self.outbox.emails(missing.iter().map(|place| events[*place].clone()).collect()).await?;
        let read: Vec<_> = missing.into_iter().zip(emails).filter_map(|(place, email)| Some((place, email?))).collect();
        let contents = self.parser.parse_all(read.iter().map(|(_, email)| email.raw.clone()).collect()).await;
        for ((place, email), content) in read.iter().zip(&contents) {
            bodies[*place] = EventEmail::of(email, content).map(|email| render(&email));
        }
        self.bodies.keep(read.iter().filter_map(|(place, email)| Some((email.listed.id, bodies[*place].clone()?))));
        Ok(bodies)
    }
}

fn known_of(webhook: &WebhookRecord) -> Known {
    match (webhook.failures, webhook.last_delivery_at) {
        (0, Some(_)) => Known::Good,
        (0, None) => Known::Nothing,
        _ => Known::Bad,
    }
}
