//! DNS: queries, and what their answers mean for the mail of a domain.
//!
//! `mx` has the one rule of whose mail comes here, and its words. `resolver` makes the queries. Nothing here
//! knows which domains are registered.

mod mx;
mod resolver;

use std::net::IpAddr;

use async_trait::async_trait;

use crate::model::DomainName;

pub use mx::{FoundDetail, MxReport, Ours, check};
pub use resolver::DnsResolver;

/// A DNS client without a cache: every call makes a query.
#[async_trait]
pub trait Resolver: Send + Sync + 'static {
    /// Looks up the MX records of `domain`, following aliases (CNAME).
    async fn mx(&self, domain: &DomainName) -> MxAnswer;

    /// Looks up the A and AAAA records of `host`, following aliases. A name that does not exist has no addresses.
    async fn addresses(&self, host: &str) -> Addresses;
}

/// The answer to a query for MX records: a preference (a lower number is preferred) and the host's name, in any letter
/// case, with or without trailing dot, in A-labels or U-labels (RFC 1035 section 3.3.9).
pub type MxAnswer = Answer<(u16, String)>;

/// The answer to a query for records of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<T> {
    /// At least one record, in no particular order.
    Records(Vec<T>),
    /// The name exists, but has no such record (NODATA).
    NoRecords,
    /// The name does not exist (NXDOMAIN).
    NoSuchName,
    /// There was no answer.
    Failed(Failure),
}

/// The answers to the queries for the A and AAAA records of one name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Addresses {
    /// What was found.
    pub found: Vec<IpAddr>,
    /// Why `found` may be incomplete: one of the queries got no answer.
    pub missing: Option<Failure>,
}

/// Why there is no answer. A failure says nothing about the domain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant says what it is")]
pub enum Failure {
    /// Also the answer of a resolver about a zone that fails DNSSEC validation.
    #[error("the name server failed (SERVFAIL)")]
    ServerFailed,
    #[error("the name server refused to answer (REFUSED)")]
    Refused,
    #[error("the name server answered with an error ({0})")]
    ErrorCode(String),
    #[error("the name server did not answer in time")]
    TimedOut,
    /// There is no network, or no server at the address.
    #[error("the name server cannot be reached")]
    Unreachable,
    /// The answer is truncated over TCP, a referral, an endless chain of aliases, or no DNS message.
    #[error("the name server's answer is not usable")]
    Unusable,
    #[error("the answer fails DNSSEC validation")]
    Bogus,
    /// Neither the settings nor the system name a server.
    #[error("no name server is configured")]
    NoServer,
    #[error("too many queries are in progress")]
    Busy,
    /// The check panicked.
    #[error("the check failed")]
    Panicked,
}
