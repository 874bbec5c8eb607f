//! Registered domains. A name has one winner, which the cluster decides.

use super::state::ClusterState;
use crate::model::{DomainName, DomainRecord};
use crate::store::{Registration, StoreError};

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
        if self.domains().await?.len() >= limit {
            return Ok(Registration::Full);
        }
        let text = to_text(&record)?;
        let inserted = self.cluster.run_if(&self.statements.domain_insert, (record.name.as_str(), text)).await;
        match inserted {
            Ok(true) => Ok(Registration::Won),
            Ok(false) => {
                self.find_domain(&record.name).await?.map(Registration::Taken).ok_or(StoreError::OutcomeUnknown)
            }
            // A read that is serial finishes the registration or shows that it was not made.
            Err(StoreError::OutcomeUnknown) => match self.find_domain(&record.name).await? {
                Some(found) if found == record => Ok(Registration::Won),
                Some(found) => Ok(Registration::Taken(found)),
                None => Err(StoreError::OutcomeUnknown),
            },
            Err(error) => Err(error),
        }
    }

    pub(super) async fn update_domain(&self, record: DomainRecord) -> Result<bool, StoreError> {
        self.check_open()?;
        let text = to_text(&record)?;
        self.cluster.run_if(&self.statements.domain_update, (text, record.name.as_str())).await
    }

    pub(super) async fn remove_domain(&self, name: &DomainName) -> Result<bool, StoreError> {
        self.check_open()?;
        self.cluster.run_if(&self.statements.domain_delete, (name.as_str(),)).await
    }

    async fn find_domain(&self, name: &DomainName) -> Result<Option<DomainRecord>, StoreError> {
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
