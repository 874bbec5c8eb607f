//! What people typed in: the trait `Registry`, and how the other nodes learn of changes.
//!
//! A name of a domain has one winner, and a change replaces only what it was made from: the cluster decides.

use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::try_join_all;
use scylla::statement::Consistency;
use tokio::time::sleep;

use super::log::Fact;
pub(super) use super::webhooks::StoredWebhook;
use super::webhooks::{parse, to_text};
use super::{CassandraStore, Shared};
use crate::model::{
    AttemptRecord, DomainName, DomainRecord, Mailbox, Timestamp, TokenRecord, WebhookId, WebhookRecord,
};
use crate::store::names::mailbox_hash;
use crate::store::registry::Registering;
use crate::store::{
    Registration, Registry, StoreError, WebhookFilter, WebhookLimits, WebhookPage, WebhookRegistration, WebhookSweep,
};

const DOMAIN: &str = "domain";
/// The row with all tokens.
const TOKENS: &str = "tokens";
/// How often a node tries to change a row while others have their turns.
const TURNS_MAX: u32 = 3;
/// How long the log says that something was changed, in seconds.
const CHANGED_SECONDS: i32 = 600;
/// How often a node reads all anew, in case another one died before it could say that it changed something.
const LOOK_EVERY: Duration = Duration::from_secs(10);

impl Shared {
    /// Has all nodes read anew what people typed in. The log says it as soon as the cluster takes it.
    pub(super) fn tell_change(&self) {
        drop(self.tell(Fact::RegistryChanged, CHANGED_SECONDS));
    }

    /// Reads anew now and then, forever.
    pub(super) async fn look_again(&self) {
        loop {
            sleep(LOOK_EVERY).await;
            self.apply(&[Fact::RegistryChanged]);
        }
    }

    /// The value of a row after every change of it that is still in progress.
    pub(super) async fn settled(&self, kind: &str, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let mut statement = self.statements.registry_select.clone();
        statement.set_consistency(Consistency::LocalSerial);
        Ok(self.session.first::<(Vec<u8>,)>(&statement, (kind, key)).await?.map(|(value,)| value))
    }

    /// Replaces the value of a row, if it still is `before`; `None` is no row.
    pub(super) async fn swap(
        &self,
        (kind, key): (&str, &str),
        before: Option<Vec<u8>>,
        after: Option<Vec<u8>>,
    ) -> Result<bool, StoreError> {
        let (session, statements, mut further) = (&self.session, &self.statements, 1..TURNS_MAX);
        loop {
            let swapped = match (&before, &after) {
                (Some(before), Some(after)) => {
                    session.run_if(&statements.registry_swap, (after, kind, key, before)).await
                }
                (Some(before), None) => session.run_if(&statements.registry_take, (kind, key, before)).await,
                (None, Some(after)) => session.run_if(&statements.registry_insert, (kind, key, after)).await,
                (None, None) => return Ok(true),
            };
            if swapped == Ok(true) {
                return swapped;
            }
            // A read that is serial finishes the change or shows that it was not made.
            match self.settled(kind, key).await {
                Ok(there) if there == after => return Ok(true),
                // Its turn was cut off by that of another.
                Ok(there) if there == before && swapped.is_err() && further.next().is_some() => {}
                _ => return swapped,
            }
        }
    }

    /// The same for what all nodes must learn of.
    async fn swap_and_tell(
        &self,
        row: (&str, &str),
        before: Option<Vec<u8>>,
        after: String,
    ) -> Result<bool, StoreError> {
        let swapped = self.swap(row, before, Some(after.into_bytes())).await;
        // Also after an error: the change may have been made.
        self.tell_change();
        swapped
    }

    /// The tokens after every change of them that is still in progress, and as they are stored.
    async fn stored_tokens(&self) -> Result<(Vec<TokenRecord>, Option<Vec<u8>>), StoreError> {
        let Some(text) = self.settled(TOKENS, "").await? else { return Ok((Vec::new(), None)) };
        Ok((parse(&text)?, Some(text)))
    }

    /// All domains, in the order of their names.
    pub(super) async fn domain_records(&self) -> Result<Vec<DomainRecord>, StoreError> {
        let rows = self.session.all::<(String, Vec<u8>)>(&self.statements.registry_scan, (DOMAIN,)).await?;
        rows.into_iter().map(|(_, record)| parse(&record)).collect()
    }

    async fn find_domain(&self, name: &DomainName) -> Result<Option<DomainRecord>, StoreError> {
        let row = self.session.first::<(Vec<u8>,)>(&self.statements.registry_select, (DOMAIN, name.as_str())).await?;
        row.map(|(record,)| parse(&record)).transpose()
    }

    /// Registers a domain of a backup, unless it is registered.
    pub(super) async fn insert_domain(&self, record: &DomainRecord) -> Result<(), StoreError> {
        let text = to_text(record)?.into_bytes();
        self.session.run_if(&self.statements.registry_insert, (DOMAIN, record.name.as_str(), text)).await.map(drop)
    }

    /// Deletes the webhooks that a sweep is about. One that is registered meanwhile may be missed.
    async fn sweep(&self, sweep: &WebhookSweep) -> Result<usize, StoreError> {
        let mut webhooks = self.stored_webhooks().await?;
        webhooks.retain(|webhook| sweep.matches(&webhook.record));
        for webhook in &webhooks {
            self.remove_webhook(webhook).await?;
        }
        if !webhooks.is_empty() {
            self.tell_change();
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
        let shared = &self.shared;
        shared.check_open()?;
        if let Some(taken) = shared.find_domain(&record.name).await? {
            return Ok(Registration::Taken(taken));
        }
        // Webhooks of an earlier registration must not get the mail of the new owner.
        shared.sweep(&WebhookSweep::Domain(record.name.clone())).await?;
        if shared.domain_records().await?.len() >= limit {
            return Ok(Registration::Full);
        }
        let row = (DOMAIN, record.name.as_str());
        if shared.swap_and_tell(row, None, to_text(&record)?).await == Ok(true) {
            return Ok(Registration::Won);
        }
        match shared.settled(row.0, row.1).await {
            Ok(Some(found)) => Ok(Registration::Taken(parse(&found)?)),
            _ => Err(StoreError::OutcomeUnknown),
        }
    }

    async fn update_domain(&self, before: &DomainRecord, after: DomainRecord) -> Result<bool, StoreError> {
        self.shared.check_open()?;
        let row = (DOMAIN, before.name.as_str());
        let Some(stored) = self.shared.settled(row.0, row.1).await? else { return Ok(false) };
        if parse::<DomainRecord>(&stored)? != *before {
            return Ok(false);
        }
        self.shared.swap_and_tell(row, Some(stored), to_text(&after)?).await
    }

    async fn remove_domain(&self, name: &DomainName) -> Result<bool, StoreError> {
        let shared = &self.shared;
        shared.check_open()?;
        if shared.find_domain(name).await?.is_none() {
            return Ok(false);
        }
        let sweep = WebhookSweep::Domain(name.clone());
        // The webhooks go first: if this node dies in between, the next owner of the domain must not inherit them.
        shared.sweep(&sweep).await?;
        let was_removed = shared.session.run_if(&shared.statements.registry_delete, (DOMAIN, name.as_str())).await;
        shared.tell_change();
        // Those that were registered meanwhile.
        shared.sweep(&sweep).await?;
        was_removed
    }

    async fn tokens(&self) -> Result<Vec<TokenRecord>, StoreError> {
        // Not serial: the turns of all nodes that read would cut off those of whoever changes tokens.
        let row =
            self.shared.session.first::<(Vec<u8>,)>(&self.shared.statements.registry_select, (TOKENS, "")).await?;
        row.map_or(Ok(Vec::new()), |(text,)| parse(&text))
    }

    async fn replace_tokens(&self, before: &[TokenRecord], after: &[TokenRecord]) -> Result<bool, StoreError> {
        self.shared.check_open()?;
        let (records, stored) = self.shared.stored_tokens().await?;
        if records != before {
            return Ok(false);
        }
        self.shared.swap_and_tell((TOKENS, ""), stored, to_text(&after)?).await
    }

    async fn register_webhook(
        &self,
        record: WebhookRecord,
        limits: WebhookLimits,
    ) -> Result<WebhookRegistration, StoreError> {
        // Registrations of one moment may exceed a limit together, since each reads the counts and then writes.
        let shared = &self.shared;
        shared.check_open()?;
        let all = shared.stored_webhooks().await?;
        let find = |id: WebhookId| all.iter().find(|known| known.record.id == id).cloned();
        let replaces = match limits.decide(&record, all.iter().map(|known| &known.record)) {
            Registering::Same(same) if shared.is_found_by_mail(same).await? => {
                let Some(mut known) = find(same.id).filter(|known| !known.is_active()) else {
                    return Ok(WebhookRegistration::Same(Box::new(same.clone())));
                };
                shared.enable_webhook(&mut known, shared.now()).await?;
                shared.note_mail(&[known.record.id], record.last_mail_at).await;
                known.record.last_mail_at = known.record.last_mail_at.max(record.last_mail_at);
                shared.tell_change();
                return Ok(WebhookRegistration::Same(Box::new(known.record)));
            }
            Registering::Same(half_removed) => Some(half_removed.id),
            Registering::Refused(registration) => return Ok(registration),
            Registering::New { evicts } => evicts,
        };
        if let Some(replaced) = replaces.and_then(find) {
            shared.remove_webhook(&replaced).await?;
        }
        shared.insert_webhook(&record).await?;
        shared.tell_change();
        Ok(WebhookRegistration::New)
    }

    async fn webhooks(&self, mailbox: &Mailbox) -> Result<Vec<WebhookRecord>, StoreError> {
        let ids = self.shared.webhook_ids_of(&mailbox_hash(&self.shared.secret, mailbox)).await?;
        let found = try_join_all(ids.into_iter().map(|id| self.shared.stored_webhook(id))).await?;
        let mut records: Vec<WebhookRecord> = found.into_iter().flatten().map(|webhook| webhook.record).collect();
        records.sort_by_key(|record| (record.created_at, record.id));
        Ok(records)
    }

    async fn webhook(&self, id: WebhookId) -> Result<Option<WebhookRecord>, StoreError> {
        self.shared.settle_alone().await?;
        Ok(self.shared.stored_webhook(id).await?.map(|webhook| webhook.record))
    }

    async fn delete_webhook(&self, id: WebhookId) -> Result<bool, StoreError> {
        self.shared.check_open()?;
        let Some(webhook) = self.shared.stored_webhook(id).await? else { return Ok(false) };
        self.shared.remove_webhook(&webhook).await?;
        self.shared.tell_change();
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
        let all = self.shared.stored_webhooks().await?;
        let records = all.iter().map(|webhook| &webhook.record).filter(|record| after.is_none_or(|id| record.id > id));
        Ok(WebhookPage::of(records.filter(|record| filter.lets_through(record)), after, limit))
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
