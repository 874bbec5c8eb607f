//! The trait `Outbox` of the embedded store.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::Notify;

use super::state::StoreState;
use super::{EmbeddedStore, blocking, damaged, unexpected};
use crate::model::{
    AttemptRecord, Mailbox, PendingEvent, StoredEmail, Timestamp, WebhookId, WebhookRecord, WebhookStatus,
};
use crate::store::change::{Change, ChangeResult, SweepFilter};
use crate::store::index::{Due, View, record_place};
use crate::store::{
    ATTEMPTS_PER_RECORD, DueEvents, DueQuery, Outbox, OutboxVersion, Replay, Replayed, StoreError, WebhookFilter,
    WebhookLimits, WebhookPage, WebhookRegistration,
};

/// The most webhooks that one change of a sweep deletes. Each deletion ends events.
const SWEEP_STEP: usize = 8;
/// The most webhooks that one read of a sweep examines.
const SWEEP_ROWS_READ: usize = 1_000;
/// The most webhooks that one read of a list examines.
const LIST_ROWS_READ: usize = 10_000;
/// A time before every expiry.
const NEVER: Timestamp = Timestamp::from_millis(i64::MIN);

#[async_trait]
impl Outbox for EmbeddedStore {
    async fn register_webhook(
        &self,
        record: WebhookRecord,
        limits: WebhookLimits,
    ) -> Result<WebhookRegistration, StoreError> {
        match self.change(Change::WebhookRegistered { record: Box::new(record), limits }, Bytes::new()).await? {
            ChangeResult::Webhook(registration) => Ok(registration),
            other => Err(unexpected(&other)),
        }
    }

    async fn webhooks(&self, mailbox: &Mailbox) -> Result<Vec<WebhookRecord>, StoreError> {
        let mailbox = mailbox.clone();
        self.read(move |view| view.webhooks(&mailbox)).await
    }

    async fn webhook(&self, id: WebhookId) -> Result<Option<WebhookRecord>, StoreError> {
        self.read(move |view| view.webhook(id)).await
    }

    async fn delete_webhook(&self, id: WebhookId) -> Result<bool, StoreError> {
        // An unknown id must not cause a write, since anybody may send one.
        if self.webhook(id).await?.is_none() {
            return Ok(false);
        }
        Ok(self.changed(Change::WebhookDeleted { id }).await? > 0)
    }

    async fn delete_idle_webhooks(&self, idle_since: Timestamp) -> Result<usize, StoreError> {
        self.sweep(SweepFilter::IdleSince(idle_since)).await
    }

    async fn delete_unproven_webhooks(&self, registered_before: Timestamp) -> Result<usize, StoreError> {
        self.sweep(SweepFilter::UnprovenSince(registered_before)).await
    }

    async fn delete_webhooks_of_origin(&self, origin: String) -> Result<usize, StoreError> {
        self.sweep(SweepFilter::Origin(origin)).await
    }

    async fn all_webhooks(
        &self,
        filter: WebhookFilter,
        after: Option<WebhookId>,
        limit: usize,
    ) -> Result<WebhookPage, StoreError> {
        let is_wanted = move |webhook: &WebhookRecord| filter.lets_through(webhook);
        self.read(move |view| view.webhook_page(is_wanted, after, LIST_ROWS_READ, limit)).await
    }

    async fn pending_webhooks(&self) -> Result<Vec<(WebhookId, Option<Timestamp>)>, StoreError> {
        self.read(View::pending_webhooks).await
    }

    async fn due_events(&self, webhook: WebhookId, query: DueQuery) -> Result<Option<DueEvents>, StoreError> {
        let state = Arc::clone(&self.state);
        blocking(move || state.due_events(webhook, &query)).await
    }

    fn version(&self) -> OutboxVersion {
        self.state.outbox_version()
    }

    fn is_current(&self, version: OutboxVersion) -> bool {
        self.state.outbox_version() == version
    }

    async fn is_pending(&self, event: &PendingEvent) -> Result<bool, StoreError> {
        let (webhook, sequence) = (event.webhook, event.email.sequence);
        self.read(move |view| view.is_pending(webhook, sequence)).await
    }

    async fn load_event(&self, event: &PendingEvent) -> Result<Option<StoredEmail>, StoreError> {
        self.state.load_event(event)
    }

    async fn record_attempts(&self, attempts: Vec<AttemptRecord>) -> Result<(), StoreError> {
        debug_assert!(attempts.len() <= ATTEMPTS_PER_RECORD, "{} attempts at once", attempts.len());
        match self.change(Change::Attempted { attempts }, Bytes::new()).await? {
            ChangeResult::Recorded { more: false, .. } => Ok(()),
            ChangeResult::Recorded { more: true, .. } => {
                // The attempts are recorded, so this must not fail. The next sweep ends the remaining events.
                if let Err(error) = self.end_events(NEVER).await {
                    tracing::warn!(%error, "events of a disabled webhook could not be ended; the next sweep tries again");
                }
                Ok(())
            }
            other => Err(unexpected(&other)),
        }
    }

    async fn end_events(&self, expired_by: Timestamp) -> Result<usize, StoreError> {
        let mut ended = 0;
        for webhook in self.read(move |view| view.with_ended_events(expired_by)).await? {
            ended += self.changed(Change::EventsEnded { webhook, expired_by }).await?;
        }
        Ok(ended)
    }

    async fn attempts(
        &self,
        webhook: WebhookId,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<AttemptRecord>, StoreError> {
        self.read(move |view| view.attempts(webhook, limit, now)).await
    }

    async fn replay(&self, webhook: WebhookId, which: Replay, now: Timestamp) -> Result<Replayed, StoreError> {
        let outbox = self.state.options().outbox;
        match self.change(Change::Replayed { webhook, which, now, outbox }, Bytes::new()).await? {
            ChangeResult::Replayed(replayed) => {
                self.state.outbox_hint().notify_one();
                Ok(replayed)
            }
            other => Err(unexpected(&other)),
        }
    }

    fn outbox_hint(&self) -> Arc<Notify> {
        self.state.outbox_hint()
    }
}

impl EmbeddedStore {
    /// Deletes the webhooks that match `filter`, and returns how many. A webhook that is registered meanwhile may be missed.
    pub(super) async fn sweep(&self, filter: SweepFilter) -> Result<usize, StoreError> {
        let (mut swept, mut after) = (0, None);
        loop {
            let wanted = filter.clone();
            let is_wanted = move |webhook: &WebhookRecord| wanted.matches(webhook);
            let page = self.read(move |view| view.webhook_page(is_wanted, after, SWEEP_ROWS_READ, SWEEP_STEP)).await?;
            if !page.webhooks.is_empty() {
                let webhooks = page.webhooks.into_iter().map(|webhook| webhook.id).collect();
                swept += self.changed(Change::WebhooksSwept { webhooks, filter: filter.clone() }).await?;
            }
            if page.next.is_none() {
                return Ok(swept);
            }
            after = page.next;
        }
    }
}

impl StoreState {
    fn due_events(&self, webhook: WebhookId, query: &DueQuery) -> Result<Option<DueEvents>, StoreError> {
        let read = |view: &View| match view.webhook_at(webhook, query.due_by)? {
            Some((record, backs_off_until)) if record.status == WebhookStatus::Active => {
                Ok(Some((record, backs_off_until, view.due_events(webhook, query)?)))
            }
            _ => Ok(None),
        };
        let Some((webhook, backs_off_until, due)) = self.read(read)? else { return Ok(None) };
        let Due { events, has_more, next_due_at } = due;
        Ok(Some(DueEvents { webhook, events, has_more, next_due_at, backs_off_until }))
    }

    /// Loads the Email of an event. `None` if its record is not readable at the known place.
    fn email(&self, event: &PendingEvent) -> Result<Option<StoredEmail>, StoreError> {
        let listed = event.email.clone();
        let content = self.segments().content(record_place(&listed)).map_err(|error| StoreError::from_io(&error))?;
        Ok(content.map(|content| StoredEmail { listed, envelope: content.envelope, raw: content.raw }))
    }

    fn load_event(&self, event: &PendingEvent) -> Result<Option<StoredEmail>, StoreError> {
        let place_now = || self.read(|view| view.place_of_pending(event.webhook, event.email.sequence));
        let mut event = event.clone();
        let mut now = place_now()?;
        while let Some(place) = now {
            event.email.place = place;
            if let Some(email) = self.email(&event)? {
                return Ok(Some(email));
            }
            // The event ended meanwhile, or its message was relocated, or else the record is damaged.
            now = place_now()?;
            if now.as_ref() == Some(&event.email.place) {
                return Err(damaged(record_place(&event.email)));
            }
        }
        Ok(None)
    }
}
