//! The registration of webhooks, and their deletion.
//!
//! A registration reads the counts and then writes. So each limit may be exceeded by registrations that other nodes make at the
//! same moment, and two equal ones may both be new.

use super::super::state::ClusterState;
use crate::model::{WebhookId, WebhookRecord, WebhookStatus};
use crate::store::WebhookSweep;
use crate::store::{StoreError, WebhookLimits, WebhookRegistration};

use super::webhook::registrant_hash;

/// The most webhooks that one read of a sweep examines.
const SWEEP_ROWS_READ: usize = 1_000;

impl ClusterState {
    pub(super) async fn register_webhook(
        &self,
        record: &WebhookRecord,
        limits: WebhookLimits,
    ) -> Result<WebhookRegistration, StoreError> {
        self.check_open()?;
        let of_mailbox = self.webhooks_of(&record.mailbox).await?;
        let is_same = |known: &WebhookRecord| (&known.url, &known.secret) == (&record.url, &record.secret);
        if let Some(known) = of_mailbox.iter().find(|known| is_same(&known.record)) {
            let mut known = known.clone();
            if known.record.status != WebhookStatus::Active {
                known.record.status = WebhookStatus::Active;
                (known.record.failures, known.record.failing_since) = (0, None);
                self.write_webhook_state(&mut known).await?;
                self.write_last_mail(known.record.id, record.last_mail_at).await?;
                known.record.last_mail_at = known.record.last_mail_at.max(record.last_mail_at);
            }
            return Ok(WebhookRegistration::Same(Box::new(known.record)));
        }
        if of_mailbox.len() >= limits.per_recipient as usize {
            return Ok(WebhookRegistration::FullForRecipient);
        }
        let (all, of_registrant) = self.count_webhooks(registrant_hash(&self.secret, record)).await?;
        if record.registrant.is_some() && of_registrant >= u64::from(limits.per_registrant) {
            return Ok(WebhookRegistration::FullForRegistrant);
        }
        if all >= u64::from(limits.total) && !self.evict(limits).await? {
            return Ok(WebhookRegistration::Full);
        }
        self.insert_webhook(record).await?;
        Ok(WebhookRegistration::New)
    }

    /// Deletes the evictable webhook that was registered first. `false` if none may go.
    async fn evict(&self, limits: WebhookLimits) -> Result<bool, StoreError> {
        let is_wanted = |webhook: &WebhookRecord| webhook.is_evictable() && webhook.created_at < limits.unproven_before;
        let evictable = self.webhook_page(is_wanted, None, usize::MAX, usize::MAX).await?.webhooks;
        match evictable.iter().min_by_key(|webhook| (webhook.created_at, webhook.id)) {
            Some(oldest) => self.delete_webhook(oldest.id).await,
            None => Ok(false),
        }
    }

    /// Deletes a webhook, its events and its log.
    pub(super) async fn delete_webhook(&self, id: WebhookId) -> Result<bool, StoreError> {
        self.check_open()?;
        let Some(webhook) = self.stored_webhook(id).await? else { return Ok(false) };
        self.delete_webhook_rows(&webhook).await?;
        self.outbox.usages.forget(id);
        // The webhook is deleted, so this must not fail. The next sweep ends events that are left, and records grow old.
        let rest = async {
            self.end_all_events(id).await?;
            self.delete_log(id).await
        };
        if let Err(error) = rest.await {
            tracing::warn!(%error, "events of a deleted webhook could not be ended; the next sweep tries again");
        }
        Ok(true)
    }

    /// Deletes the webhooks that match `filter`, and returns how many. A webhook that is registered meanwhile may be missed.
    pub(in super::super) async fn sweep_webhooks(&self, filter: &WebhookSweep) -> Result<usize, StoreError> {
        let (mut swept, mut after) = (0, None);
        loop {
            let page = self.webhook_page(|webhook| filter.matches(webhook), after, SWEEP_ROWS_READ, usize::MAX).await?;
            for webhook in page.webhooks {
                swept += usize::from(self.delete_webhook(webhook.id).await?);
            }
            if page.next.is_none() {
                return Ok(swept);
            }
            after = page.next;
        }
    }
}
