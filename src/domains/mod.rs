//! Registered and fixed domains: the plain data that the rest of the program sees of them.

use serde::Serialize;

use crate::model::{DomainName, DomainStatus, Timestamp};
use crate::store::StoreError;

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

/// What a registration led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    /// The domain as it is now.
    pub entry: DomainEntry,
    /// It was not registered before.
    pub created: bool,
}

/// What a list shows: a stored record, or a domain or pattern fixed in flags or file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainEntry {
    /// The domain or pattern.
    pub domain: String,
    /// Whether mail is received for it.
    pub status: DomainStatus,
    /// It stands in flags or file.
    pub fixed: bool,
    /// It is active without DNS.
    pub pinned: bool,
    /// When it was registered; never for a fixed one.
    pub added_at: Option<Timestamp>,
    /// When its MX was last asked for.
    pub last_checked_at: Option<Timestamp>,
    /// What was found then, in one sentence.
    pub last_check_result: Option<String>,
    /// Name of the owner.
    pub owner: Option<String>,
    /// Contact address of the owner.
    pub email: Option<String>,
}

/// What a check of a domain's MX found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MxReport {
    /// It points here.
    pub ok: bool,
    /// The finding in one sentence.
    pub message: String,
    /// The domain.
    pub domain: DomainName,
    /// Names it may point to.
    pub expected: Vec<String>,
    /// What it points to.
    pub found: Vec<String>,
}

/// What a round of verification did, in domains.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Round {
    /// Asked for.
    pub checked: usize,
    /// Now deactivated.
    pub deactivated: usize,
    /// Active again.
    pub reactivated: usize,
    /// Without an answer.
    pub failed: usize,
    /// Would have been deactivated, had there not been so many.
    pub held_back: usize,
}

/// Why something could not be done with a domain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DomainError {
    /// No mx-host is configured.
    #[error("no mail host is configured")]
    MxHostUnset,
    /// The MX points elsewhere.
    #[error("{}", .0.message)]
    MxMismatch(MxReport),
    /// There was no answer.
    #[error("DNS gave no answer: {0}")]
    Dns(String),
    /// As many domains as permitted are registered.
    #[error("too many domains are registered")]
    TooMany,
    /// The domain stands in flags or file.
    #[error("the domain is fixed in the configuration")]
    Fixed,
    /// The domain is not registered.
    #[error("the domain is not registered")]
    NotRegistered,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
