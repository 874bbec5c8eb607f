//! The trait `Outbox` of the embedded store.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::Notify;

use super::EmbeddedStore;
use crate::model::{AttemptRecord, PendingEvent, StoredEmail, Timestamp, WebhookId, WebhookRecord, WebhookStatus};
use crate::store::mail::{Due, Mail, Outcome, Request};
use crate::store::{ATTEMPTS_PER_RECORD, DueEvents, DueQuery, Outbox, Replay, Replayed, StoreError};

#[async_trait]
impl Outbox for EmbeddedStore {
    async fn pending_webhooks(&self) -> Result<Vec<(WebhookId, Option<Timestamp>)>, StoreError> {
        let mut pending = self.shared.mail().pending_webhooks();
        pending.retain(|(webhook, _)| self.is_active(*webhook));
        Ok(pending)
    }

    async fn due_events(&self, webhook: WebhookId, query: DueQuery) -> Result<Option<DueEvents>, StoreError> {
        let known = self.shared.registry.receiver_at(webhook, query.due_by);
        let is_active = |(webhook, _): &(WebhookRecord, _)| webhook.status == WebhookStatus::Active;
        let Some((record, backs_off_until)) = known.filter(is_active) else { return Ok(None) };
        let Due { events, next_due_at } = self.shared.mail().due_events(webhook, &query);
        Ok(Some(DueEvents { webhook: record, events, next_due_at, backs_off_until }))
    }

    async fn load_event(&self, event: &PendingEvent) -> Result<Option<StoredEmail>, StoreError> {
        let email = self.shared.load(event.email.clone(), |mail, _| is_pending(mail, event));
        let is_pending = is_pending(&self.shared.mail(), event) && self.is_active(event.webhook);
        if is_pending { email } else { Ok(None) }
    }

    async fn record_attempts(&self, attempts: Vec<AttemptRecord>) -> Result<(), StoreError> {
        assert!(attempts.len() <= ATTEMPTS_PER_RECORD, "{} attempts at once", attempts.len());
        // The journal alone says that an event has ended. What is known of the receiver follows.
        let outcome = self.request(Request::record(&attempts), Bytes::new()).await?;
        let Outcome::Recorded { counted } = outcome else { return Ok(()) };
        let disabled = self.blocking(move |shared| shared.registry.record(&attempts, &counted)).await?;
        for webhook in disabled {
            // The attempts are recorded, so this must not fail. The next sweep ends the events.
            if let Err(error) = self.end(webhook, None).await {
                tracing::warn!(%error, "events of a disabled webhook could not be ended; the next sweep tries again");
            }
        }
        Ok(())
    }

    async fn end_events(&self, expired_by: Timestamp) -> Result<usize, StoreError> {
        let mut ended = 0;
        let pending = self.shared.mail().pending_webhooks();
        for (webhook, _) in pending {
            ended += self.end(webhook, self.is_active(webhook).then_some(expired_by)).await?;
        }
        Ok(ended)
    }

    async fn replay(&self, webhook: WebhookId, which: Replay, now: Timestamp) -> Result<Replayed, StoreError> {
        let log = self.blocking(move |shared| shared.registry.log_for_replay(webhook, now)).await?;
        let request = Request::Replay { webhook, emails: which.select(log), now };
        let Outcome::Replayed(replayed) = self.request(request, Bytes::new()).await? else {
            return Ok(Replayed::default());
        };
        if replayed.replayed > 0 {
            self.blocking(move |shared| shared.registry.activate(webhook)).await?;
            self.shared.outbox_hint.notify_one();
        }
        Ok(replayed)
    }

    fn outbox_hint(&self) -> Arc<Notify> {
        Arc::clone(&self.shared.outbox_hint)
    }
}

fn is_pending(mail: &Mail, event: &PendingEvent) -> bool {
    mail.place_of_event(event.webhook, event.email.sequence).is_some()
}

impl EmbeddedStore {
    fn is_active(&self, webhook: WebhookId) -> bool {
        self.shared.registry.webhook(webhook).is_some_and(|record| record.status == WebhookStatus::Active)
    }

    /// Ends events of a webhook without a delivery: all, or those whose Emails expired before `expired_by`. Returns how many.
    async fn end(&self, webhook: WebhookId, expired_by: Option<Timestamp>) -> Result<usize, StoreError> {
        let mut ended = 0;
        loop {
            match self.request(Request::EndEvents { webhook, expired_by }, Bytes::new()).await? {
                Outcome::Ended(0) => return Ok(ended),
                Outcome::Ended(some) => {
                    self.shared.registry.count_dropped(webhook, some as u64);
                    ended += some;
                }
                _ => return Ok(ended),
            }
        }
    }
}
