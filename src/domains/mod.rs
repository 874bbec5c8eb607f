//! Which domains mail is received for, and how that changes.
//!
//! ```text
//! table     answers SMTP from memory            registry  registers, pins and removes domains
//! verifier  asks for every MX once a period     round     decides what a round may deactivate; pure
//! records   the records of the store, and their copy in memory
//! counters  what the questions for MX records found
//! ```
//!
//! The store has the truth. A change goes to the store first, and to memory after it.

pub mod registry;
pub mod round;
pub mod table;
pub mod verifier;

mod counters;
mod records;

use crate::dns::{Failure, MxReport};
use crate::model::{DomainName, DomainPattern, DomainRecord, DomainStatus, Timestamp};
use crate::store::StoreError;

pub use registry::Registry;
pub use round::Round;
pub use table::{DomainTable, Served};

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

/// What became of a registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    /// The domain as it is listed now.
    pub entry: DomainEntry,
    /// Whether it was not registered before.
    pub created: bool,
}

/// What a list shows: a registered domain, or one (or a pattern) that is fixed in flags or file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainEntry {
    /// The domain in canonical form, or the pattern.
    pub domain: String,
    /// Whether mail is received for it.
    pub status: DomainStatus,
    /// Fixed in flags or file: active without DNS, never stored, never verified.
    pub fixed: bool,
    /// Pinned by the administrator: active without DNS and never verified.
    pub pinned: bool,
    /// When it was registered; `None` for a fixed one.
    pub added_at: Option<Timestamp>,
    /// When its MX was last asked for.
    pub last_checked_at: Option<Timestamp>,
    /// What that found, in one sentence.
    pub last_check_result: Option<String>,
    /// Name of the owner: personal data, for the administrator only.
    pub owner: Option<String>,
    /// Contact address of the owner: personal data, for the administrator only.
    pub email: Option<String>,
}

impl DomainEntry {
    fn fixed(domain: String) -> Self {
        Self {
            domain,
            status: DomainStatus::Active,
            fixed: true,
            pinned: false,
            added_at: None,
            last_checked_at: None,
            last_check_result: None,
            owner: None,
            email: None,
        }
    }
}

impl From<&DomainPattern> for DomainEntry {
    fn from(pattern: &DomainPattern) -> Self {
        Self::fixed(pattern.to_string())
    }
}

impl From<DomainRecord> for DomainEntry {
    fn from(record: DomainRecord) -> Self {
        Self {
            domain: record.name.into(),
            status: record.status,
            fixed: false,
            pinned: record.pinned,
            added_at: Some(record.added_at),
            last_checked_at: record.last_checked_at,
            last_check_result: record.last_check_result,
            owner: record.owner,
            email: record.email,
        }
    }
}

/// Why nothing could be done for a domain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DomainError {
    /// No `mx-host` is set, so there is nothing that a domain could point at.
    #[error("no mx-host is set, so no domain's MX record can be checked")]
    MxHostUnset,
    /// The domain's MX points elsewhere; the report says where, and which record to create.
    #[error("{}", .0.message)]
    MxMismatch(MxReport),
    /// The DNS gave no answer. It says nothing about the domain; trying again later may help.
    #[error("the MX record could not be asked for: {0}")]
    Dns(Failure),
    /// As many domains as permitted are registered.
    #[error("as many domains as permitted are registered")]
    TooMany,
    /// The domain is fixed in flags or file, and changes only there.
    #[error("the domain is fixed in the daemon's settings and can be changed only there")]
    Fixed,
    /// The domain is not registered.
    #[error("the domain is not registered")]
    NotRegistered,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
