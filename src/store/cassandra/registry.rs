//! What people typed in: the trait `Registry`, and how the other nodes learn of changes.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use scylla::statement::Consistency;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

pub(super) use super::webhooks::StoredWebhook;
use super::webhooks::to_text;
use super::{CassandraStore, Shared};
use crate::model::{
    AttemptRecord, DomainName, DomainRecord, Mailbox, Timestamp, TokenRecord, WebhookId, WebhookRecord,
};
use crate::store::names::mailbox_hash;
use crate::store::{
    Registration, Registry, StoreError, WebhookFilter, WebhookLimits, WebhookPage, WebhookRegistration, WebhookSweep,
};

/// The row with all tokens.
const TOKENS: &str = "tokens";
/// How often a node looks whether another one has changed something.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How often it reads all anew, in case the other one died before it could say so.
const FULL_LOOK_EVERY: Duration = Duration::from_secs(10);
/// The pauses before the tries to change the version, in milliseconds: many may change it at one moment.
const CHANGE_PAUSES: [u64; 4] = [0, 100, 300, 1000];

/// What a node remembers of the registry.
#[derive(Debug, Default)]
pub(super) struct RegistryState {
    /// When this node wrote for each webhook that mail came.
    mail_written: Mutex<HashMap<WebhookId, i64>>,
    /// Raised when another node has changed something.
    changes: watch::Sender<u64>,
}

impl RegistryState {
    fn mail_times(&self) -> MutexGuard<'_, HashMap<WebhookId, i64>> {
        self.mail_written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes at once, since something may have changed before the call, and whenever there may be a change.
    pub(super) fn changed(&self) -> watch::Receiver<u64> {
        let mut changes = self.changes.subscribe();
        changes.mark_changed();
        changes
    }

    /// The last mail of a webhook that this node has written, in milliseconds.
    pub(super) fn mail_written_at(&self, id: WebhookId) -> Option<i64> {
        self.mail_times().get(&id).copied()
    }

    /// Remembers that, of `max` webhooks at most.
    pub(super) fn mail_written(&self, id: WebhookId, at: i64, max: usize) {
        let mut times = self.mail_times();
        if times.len() >= max {
            times.clear();
        }
        times.insert(id, at);
    }
}

impl Shared {
    /// A number that every change replaces by another one.
    async fn version(&self) -> Result<u64, StoreError> {
        let row = self.vital.first::<(Vec<u8>,)>(&self.statements.registry_select, ("version", "")).await?;
        Ok(row.and_then(|(octets,)| octets.try_into().ok()).map_or(0, u64::from_be_bytes))
    }

    /// Makes all nodes read anew what people typed in. If that fails, they do so within ten seconds.
    pub(super) async fn change_version(&self) {
        for pause in CHANGE_PAUSES {
            sleep(Duration::from_millis(pause)).await;
            match self.replace_version().await {
                Ok(()) => break,
                Err(error) => {
                    tracing::warn!(%error, "the version was not changed; other nodes look again by themselves");
                }
            }
        }
        self.outbox.reload();
    }

    async fn replace_version(&self) -> Result<(), StoreError> {
        // Conditional, so that it does not depend on the clocks of servers which of two changes is the later one.
        let version = &rand::random::<u64>().to_be_bytes()[..];
        if !self.session.run_if(&self.statements.registry_replace, (version, "version", "")).await? {
            self.session.run_if(&self.statements.registry_insert, ("version", "", version)).await?;
        }
        Ok(())
    }

    /// The value of a row after every change of it that is still in progress.
    pub(super) async fn settled(&self, kind: &str, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let mut statement = self.statements.registry_select.clone();
        statement.set_consistency(Consistency::LocalSerial);
        Ok(self.session.first::<(Vec<u8>,)>(&statement, (kind, key)).await?.map(|(value,)| value))
    }

    /// Replaces the value of a row, if it still is `before`; `None` is no row. All nodes learn of it.
    pub(super) async fn swap(
        &self,
        (kind, key): (&str, &str),
        before: Option<Vec<u8>>,
        after: Vec<u8>,
    ) -> Result<bool, StoreError> {
        let swapped = match before {
            Some(before) => self.session.run_if(&self.statements.registry_swap, (&after, kind, key, before)).await,
            None => self.session.run_if(&self.statements.registry_insert, (kind, key, &after)).await,
        };
        let is_there = match swapped {
            // A read that is serial finishes the change or shows that it was not made.
            Ok(false) | Err(StoreError::OutcomeUnknown) => {
                self.settled(kind, key).await.is_ok_and(|there| there.as_ref() == Some(&after))
            }
            _ => false,
        };
        // Also after an error: the change may have been made.
        self.change_version().await;
        if is_there { Ok(true) } else { swapped }
    }

    /// The tokens after every change of them that is still in progress, and as they are stored.
    async fn stored_tokens(&self) -> Result<(Vec<TokenRecord>, Option<Vec<u8>>), StoreError> {
        let Some(text) = self.settled(TOKENS, "").await? else { return Ok((Vec::new(), None)) };
        let records = serde_json::from_slice(&text)
            .map_err(|error| StoreError::Failed(format!("the record of the tokens is damaged: {error}")))?;
        Ok((records, Some(text)))
    }

    /// Looks forever whether other nodes have changed something.
    pub(super) async fn follow_registry(&self) {
        let (mut known, mut looked_at) = (0, Instant::now());
        loop {
            sleep(LOOK_EVERY).await;
            match self.version().await {
                Ok(version) if version != known || looked_at.elapsed() > FULL_LOOK_EVERY => {
                    (known, looked_at) = (version, Instant::now());
                    self.outbox.reload();
                    self.registry.changes.send_modify(|changes| *changes += 1);
                }
                Ok(_) => {}
                Err(error) => tracing::debug!(%error, "the version of what people typed in was not read"),
            }
        }
    }

    /// Deletes the webhooks that a sweep is about. One that is registered meanwhile may be missed.
    pub(super) async fn sweep(&self, sweep: &WebhookSweep) -> Result<usize, StoreError> {
        let mut webhooks = self.stored_webhooks().await?;
        webhooks.retain(|webhook| sweep.matches(&webhook.record));
        for webhook in &webhooks {
            self.remove_webhook(webhook).await?;
        }
        if !webhooks.is_empty() {
            self.change_version().await;
        }
        Ok(webhooks.len())
    }
}

#[async_trait]
impl Registry for CassandraStore {
    async fn domains(&self) -> Result<Vec<DomainRecord>, StoreError> {
        self.shared.domain_records().await
    }

    async fn domain(&self, name: &DomainName) -> Result<Option<DomainRecord>, StoreError> {
        self.shared.find_domain(name).await
    }

    async fn register_domain(&self, record: DomainRecord, limit: usize) -> Result<Registration, StoreError> {
        self.shared.register_name(record, limit).await
    }

    async fn update_domain(&self, before: &DomainRecord, after: DomainRecord) -> Result<bool, StoreError> {
        self.shared.replace_domain(before, &after).await
    }

    async fn remove_domain(&self, name: &DomainName) -> Result<bool, StoreError> {
        self.shared.remove_name(name).await
    }

    async fn tokens(&self) -> Result<Vec<TokenRecord>, StoreError> {
        Ok(self.shared.stored_tokens().await?.0)
    }

    async fn replace_tokens(&self, before: &[TokenRecord], after: &[TokenRecord]) -> Result<bool, StoreError> {
        self.shared.check_open()?;
        let (records, stored) = self.shared.stored_tokens().await?;
        if records != before {
            return Ok(false);
        }
        self.shared.swap((TOKENS, ""), stored, to_text(&after)?.into_bytes()).await
    }

    async fn register_webhook(
        &self,
        record: WebhookRecord,
        limits: WebhookLimits,
    ) -> Result<WebhookRegistration, StoreError> {
        self.shared.register(&record, limits).await
    }

    async fn webhooks(&self, mailbox: &Mailbox) -> Result<Vec<WebhookRecord>, StoreError> {
        let webhooks = self.shared.webhooks_of(&mailbox_hash(&self.shared.secret, mailbox)).await?;
        Ok(webhooks.into_iter().map(|webhook| webhook.record).collect())
    }

    async fn webhook(&self, id: WebhookId) -> Result<Option<WebhookRecord>, StoreError> {
        self.shared.settle_alone().await?;
        Ok(self.shared.stored_webhook(id).await?.map(|webhook| webhook.record))
    }

    async fn delete_webhook(&self, id: WebhookId) -> Result<bool, StoreError> {
        self.shared.check_open()?;
        let Some(webhook) = self.shared.stored_webhook(id).await? else { return Ok(false) };
        self.shared.remove_webhook(&webhook).await?;
        self.shared.change_version().await;
        Ok(true)
    }

    async fn delete_webhooks(&self, sweep: WebhookSweep) -> Result<usize, StoreError> {
        self.shared.check_open()?;
        let is_of_one_node = matches!(sweep, WebhookSweep::IdleSince(_) | WebhookSweep::UnprovenSince(_));
        if is_of_one_node && !self.shared.may_lead() {
            return Ok(0);
        }
        self.shared.sweep(&sweep).await
    }

    async fn all_webhooks(
        &self,
        filter: WebhookFilter,
        after: Option<WebhookId>,
        limit: usize,
    ) -> Result<WebhookPage, StoreError> {
        let all = self.shared.stored_webhooks().await?.into_iter().map(|webhook| webhook.record);
        let mut matching =
            all.filter(|webhook| after.is_none_or(|after| webhook.id > after) && filter.lets_through(webhook));
        let webhooks: Vec<WebhookRecord> = matching.by_ref().take(limit).collect();
        let next = matching.next().and_then(|_| webhooks.last().map(|webhook| webhook.id).or(after));
        Ok(WebhookPage { webhooks, next })
    }

    async fn attempts(
        &self,
        webhook: WebhookId,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<AttemptRecord>, StoreError> {
        self.shared.settle_alone().await?;
        self.shared.log_of(webhook, limit, now).await
    }
}
