//! Registered domains.

use super::EmbeddedRegistry;
use super::row::{Row, Table};
use crate::model::{DomainName, DomainRecord, WebhookId};
use crate::store::{Registration, StoreError};

impl EmbeddedRegistry {
    /// Every registered domain, in the order of the names.
    pub(crate) fn domains(&self) -> Vec<DomainRecord> {
        self.memory().domains.values().cloned().collect()
    }

    /// The record of one domain.
    pub(crate) fn domain(&self, name: &DomainName) -> Option<DomainRecord> {
        self.memory().domains.get(name.as_str()).cloned()
    }

    /// The number of registered domains.
    pub(crate) fn domain_count(&self) -> usize {
        self.memory().domains.len()
    }

    /// Registers a domain, unless it is registered already or `limit` domains are. Durable on return.
    ///
    /// Webhooks that the domain had in an earlier registration are deleted with it, and returned.
    pub(crate) fn register_domain(
        &self,
        record: DomainRecord,
        limit: usize,
    ) -> Result<(Registration, Vec<WebhookId>), StoreError> {
        let mut writer = self.writer()?;
        let gone = {
            let memory = self.memory();
            if let Some(taken) = memory.domains.get(record.name.as_str()) {
                return Ok((Registration::Taken(taken.clone()), Vec::new()));
            }
            if memory.domains.len() >= limit {
                return Ok((Registration::Full, Vec::new()));
            }
            memory.of_domain(record.name.as_str())
        };
        let mut rows = writer.without_webhooks(&gone)?;
        rows.push(row(&record)?);
        self.change(&mut writer, &rows)?;
        Ok((Registration::Won, gone))
    }

    /// Replaces the record of a registered domain, durably. `false` if it is not `before` any more.
    pub(crate) fn update_domain(&self, before: &DomainRecord, after: DomainRecord) -> Result<bool, StoreError> {
        let mut writer = self.writer()?;
        if self.memory().domains.get(before.name.as_str()) != Some(before) {
            return Ok(false);
        }
        if *before != after {
            self.change(&mut writer, &[row(&after)?])?;
        }
        Ok(true)
    }

    /// Removes a domain and its webhooks, which are returned. Durable on return. `None` if the domain is not registered.
    pub(crate) fn remove_domain(&self, name: &DomainName) -> Result<Option<Vec<WebhookId>>, StoreError> {
        let mut writer = self.writer()?;
        let gone = {
            let memory = self.memory();
            if !memory.domains.contains_key(name.as_str()) {
                return Ok(None);
            }
            memory.of_domain(name.as_str())
        };
        let mut rows = writer.without_webhooks(&gone)?;
        rows.push(Row::remove(Table::Domains, name.as_str().as_bytes()));
        self.change(&mut writer, &rows)?;
        Ok(Some(gone))
    }

    /// Takes over a domain of a backup. It is durable with the next flush.
    pub(crate) fn load_domain(&self, record: &DomainRecord) -> Result<(), StoreError> {
        self.load(&row(record)?)
    }
}

fn row(record: &DomainRecord) -> Result<Row, StoreError> {
    Row::put(Table::Domains, record.name.as_str().as_bytes(), record)
}
