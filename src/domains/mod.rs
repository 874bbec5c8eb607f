//! The domains that the service receives mail for.
//!
//! ```text
//! registry   registers, pins and removes domains             table     the domains in memory
//! changes    changes of domains, in the store first          verifier  checks the MX of every domain once a period
//! storm      what a round of checks may deactivate; pure     counters  counts domains and MX checks
//! ```

pub mod registry;
pub mod table;
pub mod verifier;

mod changes;
mod counters;
mod storm;

use crate::dns::{Failure, MxReport};
use crate::model::{DomainName, DomainStatus};
use crate::store::StoreError;

pub use registry::Registry;
pub use table::{DomainTable, Record};
pub use verifier::Round;

/// A domain to register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDomain {
    /// The domain.
    pub name: DomainName,
    /// Name of the owner.
    pub owner: Option<String>,
    /// Contact address of the owner.
    pub email: Option<String>,
}

/// A domain in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainEntry {
    /// The domain in canonical form, or a pattern of the settings.
    pub domain: String,
    /// The record of a registered domain. The settings fix a domain without one: it is active without DNS, never stored
    /// and never verified.
    pub record: Option<Record>,
}

impl DomainEntry {
    /// Whether mail is received for it.
    pub fn status(&self) -> DomainStatus {
        self.record.as_ref().map_or(DomainStatus::Active, |record| record.status)
    }
}

impl From<Record> for DomainEntry {
    fn from(record: Record) -> Self {
        Self { domain: record.name.to_string(), record: Some(record) }
    }
}

/// Why a request about a domain failed, in words for whoever made it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant says what it is")]
pub enum DomainError {
    #[error("the service has no mx-host set, so no domain can be checked")]
    MxHostUnset,
    /// The domain's MX points elsewhere. The report says where, and which record to create.
    #[error("{}", .0.message)]
    MxMismatch(Box<MxReport>),
    #[error("DNS gave no answer, so nothing is known about the domain; try again later")]
    Dns(Failure),
    /// The client's checks in progress, or those of all clients, are as many as permitted.
    #[error("too many checks of domains are in progress, so DNS was not asked; try again")]
    Busy,
    #[error("the service's limit max-domains of registered domains is reached")]
    TooMany,
    #[error("your limit of {0} registered domains is reached")]
    TooManyOfClient(usize),
    #[error("the domain is fixed in the settings of the service and can be changed only there")]
    Fixed,
    #[error("the domain is not registered")]
    NotRegistered,
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[cfg(test)]
mod tests;
