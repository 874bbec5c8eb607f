//! What is read and rendered of a webhook's events before their turn: one look into the store and one into the parser for
//! several events, where each by itself would cost as much.
//!
//! What was read ahead may be outdated when its turn comes; [`Outbox::is_current`](crate::store::Outbox::is_current) says so.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;

use super::attempt::render;
use super::delivery::Delivery;
use super::{Endpoint, EventEmail, Target};
use crate::model::{PendingEvent, Timestamp, WebhookId, WebhookRecord};
use crate::store::{DueEvent, OutboxVersion, StoreError, Wanted};

/// An event whose turn comes, and what is there of it already.
#[derive(Debug)]
pub(super) struct Queued {
    pub(super) event: PendingEvent,
    pub(super) rendered: Option<Rendered>,
}

/// What an attempt needs but the time at which it is made.
#[derive(Debug)]
pub(super) struct Rendered {
    pub(super) webhook: Arc<WebhookRecord>,
    pub(super) target: Arc<Target>,
    pub(super) body: Bytes,
    /// When it was read.
    pub(super) version: OutboxVersion,
}

/// Events of one webhook that are due.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) endpoint: Endpoint,
    /// Whether the last attempt for the webhook was answered in time.
    pub(super) was_prompt: bool,
    pub(super) events: Vec<Queued>,
    /// Others are due.
    pub(super) has_more: bool,
    /// When the next one is due that is not.
    pub(super) next_due_at: Option<Timestamp>,
}

impl Queued {
    /// Octets of memory that were spent in advance.
    pub(super) fn octets(&self) -> usize {
        self.rendered.as_ref().map_or(0, |rendered| rendered.body.len())
    }
}

impl Delivery {
    /// Reads at most `limit` events of `webhook` that are due, without those in `held`, and renders as many as fit
    /// `octets_max`; `None` if there is nothing that could be sent.
    pub(super) async fn read_ahead(
        &self,
        webhook: WebhookId,
        held: HashSet<u64>,
        limit: usize,
        octets_max: u64,
    ) -> Result<Option<Batch>, StoreError> {
        let now = self.clock.now();
        let wanted =
            Wanted { due_by: now, due_after: now.plus(self.schedule.longest()), without: held, limit, octets_max };
        let Some(due) = self.outbox.due_events(webhook, wanted).await? else { return Ok(None) };
        let Ok(target) = Target::parse(&due.webhook.url) else {
            tracing::error!(%webhook, "a webhook with a URL that does not read is passed over");
            return Ok(None);
        };
        let was_prompt = due.webhook.last_delivery_at.is_some() && due.webhook.failures == 0;
        let (record, target) = (Arc::new(due.webhook), Arc::new(target));
        let endpoint = target.endpoint().clone();
        let raws = due.events.iter().filter_map(|due| Some(due.email.as_ref()?.raw.clone())).collect();
        let mut contents = self.parser.parse_all(raws).await.into_iter();
        let mut events = Vec::with_capacity(due.events.len());
        for DueEvent { event, email } in due.events {
            let content = email.as_ref().and_then(|_| contents.next());
            let body = email.as_ref().zip(content.as_ref()).and_then(|(email, content)| EventEmail::of(email, content));
            let (webhook, target, version) = (Arc::clone(&record), Arc::clone(&target), due.version);
            let rendered = body.map(|email| Rendered { webhook, target, body: render(&email), version });
            events.push(Queued { event, rendered });
        }
        Ok(Some(Batch { endpoint, was_prompt, events, has_more: due.has_more, next_due_at: due.next_due_at }))
    }
}
