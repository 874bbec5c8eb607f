//! The domains that the service receives mail for.
//!
//! ```text
//! table     says from memory which domains are served            registry  registers, pins and removes domains
//! verifier  checks the MX of every domain once a period          round     decides what a round may deactivate; pure
//! records   the records in the store, and their copy in memory   counters  counts domains and MX checks
//! look_up   asks a shared store about a domain that is unknown here
//! turns     shares the checks that callers ask for between clients  removal   removes domains that stay deactivated
//! ```
//!
//! The store is authoritative. A change goes to the store first, and then to memory.

pub mod registry;
pub mod round;
pub mod table;
pub mod verifier;

mod counters;
mod look_up;
mod records;
mod removal;
mod turns;

use crate::dns::{Failure, MxReport};
use crate::model::{Client, DomainName, DomainPattern, DomainRecord, DomainStatus, Timestamp};
use crate::store::StoreError;

pub use look_up::LookUps;
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

/// A domain after its registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    /// The domain as it is listed now.
    pub entry: DomainEntry,
    /// Whether this registration created it.
    pub created: bool,
}

/// A domain in a list: a registered one, or a name or pattern that is fixed in the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainEntry {
    /// The domain in canonical form, or the pattern.
    pub domain: String,
    /// Whether mail is received for it.
    pub status: DomainStatus,
    /// Whether the settings fix it. A fixed domain is active without DNS, never stored and never verified.
    pub fixed: bool,
    /// Whether the administrator pinned it. A pinned domain is active without DNS and never verified.
    pub pinned: bool,
    /// When it was registered; `None` for a fixed one.
    pub added_at: Option<Timestamp>,
    /// When its MX was last checked.
    pub last_checked_at: Option<Timestamp>,
    /// The result of the last check, in one sentence.
    pub last_check_result: Option<String>,
    /// Name of the owner: personal data, for the administrator only.
    pub owner: Option<String>,
    /// Contact address of the owner: personal data, for the administrator only.
    pub email: Option<String>,
    /// The client that registered it, for the administrator only; `None` for the administrator's own.
    pub registrant: Option<Client>,
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
            registrant: None,
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
            registrant: record.registrant,
        }
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
    MxMismatch(MxReport),
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
    #[error("the limit max-domains-per-client of {0} registered domains is reached")]
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
