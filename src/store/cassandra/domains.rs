//! Registered domains. A name has one winner, and a change replaces only what it was made from: the cluster decides.

use super::Shared;
use super::webhooks::to_text;
use crate::model::{DomainName, DomainRecord};
use crate::store::{Registration, StoreError, WebhookSweep};

const KIND: &str = "domain";

fn parse(text: &[u8]) -> Result<DomainRecord, StoreError> {
    serde_json::from_slice(text)
        .map_err(|error| StoreError::Failed(format!("the record of a domain is damaged: {error}")))
}

impl Shared {
    /// All domains, in the order of their names.
    pub(super) async fn domain_records(&self) -> Result<Vec<DomainRecord>, StoreError> {
        let rows = self.session.all::<(String, Vec<u8>)>(&self.statements.registry_scan, (KIND,)).await?;
        rows.into_iter().map(|(_, record)| parse(&record)).collect()
    }

    pub(super) async fn find_domain(&self, name: &DomainName) -> Result<Option<DomainRecord>, StoreError> {
        let row = self.session.first::<(Vec<u8>,)>(&self.statements.registry_select, (KIND, name.as_str())).await?;
        row.map(|(record,)| parse(&record)).transpose()
    }

    pub(super) async fn register_name(&self, record: DomainRecord, limit: usize) -> Result<Registration, StoreError> {
        self.check_open()?;
        if let Some(taken) = self.find_domain(&record.name).await? {
            return Ok(Registration::Taken(taken));
        }
        // Webhooks of an earlier registration must not get the mail of the new owner.
        self.sweep(&WebhookSweep::Domain(record.name.clone())).await?;
        if self.domain_records().await?.len() >= limit {
            return Ok(Registration::Full);
        }
        let row = (KIND, record.name.as_str());
        if self.swap(row, None, to_text(&record)?.into_bytes()).await == Ok(true) {
            return Ok(Registration::Won);
        }
        match self.settled(row.0, row.1).await {
            Ok(Some(found)) => Ok(Registration::Taken(parse(&found)?)),
            _ => Err(StoreError::OutcomeUnknown),
        }
    }

    /// Registers a domain of a backup, unless it is registered.
    pub(super) async fn insert_domain(&self, record: &DomainRecord) -> Result<(), StoreError> {
        let text = to_text(record)?.into_bytes();
        self.session.run_if(&self.statements.registry_insert, (KIND, record.name.as_str(), text)).await.map(drop)
    }

    /// Replaces a record, if it still is `before`.
    pub(super) async fn replace_domain(&self, before: &DomainRecord, after: &DomainRecord) -> Result<bool, StoreError> {
        self.check_open()?;
        let name = before.name.as_str();
        let Some(stored) = self.settled(KIND, name).await? else { return Ok(false) };
        if parse(&stored)? != *before {
            return Ok(false);
        }
        self.swap((KIND, name), Some(stored), to_text(after)?.into_bytes()).await
    }

    pub(super) async fn remove_name(&self, name: &DomainName) -> Result<bool, StoreError> {
        self.check_open()?;
        if self.find_domain(name).await?.is_none() {
            return Ok(false);
        }
        let sweep = WebhookSweep::Domain(name.clone());
        // The webhooks go first: if this node dies in between, the next owner of the domain must not inherit them.
        self.sweep(&sweep).await?;
        let was_removed = self.session.run_if(&self.statements.registry_delete, (KIND, name.as_str())).await;
        self.change_version().await;
        // Those that were registered meanwhile.
        self.sweep(&sweep).await?;
        was_removed
    }
}
