//! Registered domains. A name has one winner, which the cluster decides.

use scylla::statement::Consistency;

use super::state::ClusterState;
use crate::model::{DomainName, DomainRecord};
use crate::store::WebhookSweep;
use crate::store::{Registration, StoreError};

/// The row that tells whether domains have changed.
const DOMAIN_VERSION: &str = "domains";

impl ClusterState {
    pub(super) async fn domains(&self) -> Result<Vec<DomainRecord>, StoreError> {
        let rows = self.cluster.all::<(String,)>(&self.statements.domain_select, ()).await?;
        rows.into_iter().map(|(record,)| parse(&record)).collect()
    }

    pub(super) async fn register_domain(&self, record: DomainRecord, limit: usize) -> Result<Registration, StoreError> {
        self.check_open()?;
        if let Some(taken) = self.find_domain(&record.name).await? {
            return Ok(Registration::Taken(taken));
        }
        // Webhooks of an earlier registration must not get the mail of the new owner.
        self.sweep_webhooks(&WebhookSweep::Domain(record.name.clone())).await?;
        if self.domains().await?.len() >= limit {
            return Ok(Registration::Full);
        }
        let text = to_text(&record)?;
        let inserted = self.cluster.run_if(&self.statements.domain_insert, (record.name.as_str(), text)).await;
        match inserted {
            Ok(true) => {
                self.change_domain_version().await;
                Ok(Registration::Won)
            }
            Ok(false) => {
                self.find_domain(&record.name).await?.map(Registration::Taken).ok_or(StoreError::OutcomeUnknown)
            }
            // A read that is serial finishes the registration or shows that it was not made.
            Err(StoreError::OutcomeUnknown) => match self.settled_domain(&record.name).await? {
                Some(found) if found == record => Ok(Registration::Won),
                Some(found) => Ok(Registration::Taken(found)),
                None => Err(StoreError::OutcomeUnknown),
            },
            Err(error) => Err(error),
        }
    }

    /// Registers a domain of a backup, unless it is registered.
    pub(super) async fn insert_domain(&self, record: &DomainRecord) -> Result<(), StoreError> {
        let text = to_text(record)?;
        self.cluster.run_if(&self.statements.domain_insert, (record.name.as_str(), text)).await.map(drop)
    }

    pub(super) async fn update_domain(&self, record: DomainRecord) -> Result<bool, StoreError> {
        self.check_open()?;
        let text = to_text(&record)?;
        let changed = self.cluster.run_if(&self.statements.domain_update, (text, record.name.as_str())).await;
        self.change_domain_version().await;
        changed
    }

    pub(super) async fn remove_domain(&self, name: &DomainName) -> Result<bool, StoreError> {
        self.check_open()?;
        if self.find_domain(name).await?.is_none() {
            return Ok(false);
        }
        let filter = WebhookSweep::Domain(name.clone());
        // The webhooks go first: if this node dies in between, the next owner of the domain must not inherit them.
        self.sweep_webhooks(&filter).await?;
        let was_removed = self.cluster.run_if(&self.statements.domain_delete, (name.as_str(),)).await;
        self.change_domain_version().await;
        // Delete webhooks that were registered meanwhile.
        self.sweep_webhooks(&filter).await?;
        was_removed
    }

    /// A number that every change of a domain replaces by another one.
    pub(super) async fn domain_version(&self) -> Result<u64, StoreError> {
        let row = self.cluster.first::<(Vec<u8>,)>(&self.statements.meta_select, (DOMAIN_VERSION,)).await?;
        Ok(row.and_then(|(octets,)| octets.try_into().ok()).map_or(0, u64::from_be_bytes))
    }

    /// Makes the other nodes read the domains again.
    pub(super) async fn change_domain_version(&self) {
        let version = rand::random::<u64>().to_be_bytes();
        if let Err(error) = self.cluster.run(&self.statements.meta_insert, (DOMAIN_VERSION, &version[..])).await {
            tracing::warn!(%error, "other nodes learn of a changed domain only at their next full look");
        }
    }

    /// The record of a domain after every change of it that is still in progress.
    async fn settled_domain(&self, name: &DomainName) -> Result<Option<DomainRecord>, StoreError> {
        let mut statement = self.statements.domain_find.clone();
        statement.set_consistency(Consistency::LocalSerial);
        let row = self.cluster.first::<(String,)>(&statement, (name.as_str(),)).await?;
        row.map(|(record,)| parse(&record)).transpose()
    }

    pub(super) async fn find_domain(&self, name: &DomainName) -> Result<Option<DomainRecord>, StoreError> {
        let row = self.cluster.first::<(String,)>(&self.statements.domain_find, (name.as_str(),)).await?;
        row.map(|(record,)| parse(&record)).transpose()
    }
}

fn to_text(record: &DomainRecord) -> Result<String, StoreError> {
    serde_json::to_string(record).map_err(|error| StoreError::Failed(error.to_string()))
}

fn parse(text: &str) -> Result<DomainRecord, StoreError> {
    serde_json::from_str(text)
        .map_err(|error| StoreError::Failed(format!("the record of a domain is damaged: {error}")))
}
