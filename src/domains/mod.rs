//! The domains that the service receives mail for.
//!
//! ```text
//! table      the domains in memory: which of them are served     registry   registers, pins and removes domains
//! changes    changes of domains, in the store first              verifier   checks the MX of every domain once a period
//! storm      what a round of checks may deactivate; pure         turns      shares callers' checks between clients
//! counters   counts domains and MX checks
//! ```
//!
//! The store is authoritative. A change goes to the store first, and then to memory.

pub mod registry;
pub mod table;
pub mod verifier;

mod changes;
mod counters;
mod storm;
mod turns;

use crate::dns::{Failure, MxReport};
use crate::model::{DomainName, DomainStatus};
use crate::store::StoreError;

pub use registry::Registry;
pub use table::{DomainTable, Record, Served};
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

/// A domain after its registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    /// The domain as it is listed now.
    pub entry: DomainEntry,
    /// Whether this registration created it.
    pub created: bool,
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

/// Why a request about a domain failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DomainError {
    /// No `mx-host` is set, so no domain can point at one.
    #[error("no mx-host is set, so no domain's MX record can be checked")]
    MxHostUnset,
    /// The domain's MX points elsewhere. The report says where, and which record to create.
    #[error("{}", .0.message)]
    MxMismatch(Box<MxReport>),
    /// The DNS gave no answer. This says nothing about the domain, and a later attempt may succeed.
    #[error("the MX record could not be looked up: {0}")]
    Dns(Failure),
    /// The client's checks in progress, or those of all clients, are as many as permitted. DNS was not asked.
    #[error("too many checks are in progress")]
    Busy,
    /// The limit of registered domains is reached.
    #[error("the limit max-domains of registered domains is reached")]
    TooMany,
    /// The limit of registered domains of one client is reached.
    #[error("the limit of {0} registered domains of one client is reached")]
    TooManyOfClient(usize),
    /// The domain is fixed in the settings, and can be changed only there.
    #[error("the domain is fixed in the daemon's settings and can be changed only there")]
    Fixed,
    /// The domain is not registered.
    #[error("the domain is not registered")]
    NotRegistered,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[cfg(test)]
mod tests;
