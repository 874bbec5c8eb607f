//! DNS: queries, and what their answers mean for the mail of a domain.
//!
//! [`mx`] has the one rule of whose mail comes here, and its words. [`resolver`] makes the queries; no other module
//! knows hickory. Nothing here knows which domains are registered.

pub mod mx;
pub mod resolver;

use std::net::IpAddr;
use std::time::Duration;

use async_trait::async_trait;

use crate::model::DomainName;

pub use mx::{FoundDetail, MxReport, Ours};
pub use resolver::{DnsResolver, ResolverSettings};

/// How long a whole check may take, however many queries it makes.
const DEADLINE: Duration = Duration::from_secs(15);

/// A DNS client without a cache: every call makes a query.
#[async_trait]
pub trait Resolver: Send + Sync + 'static {
    /// Looks up the MX records of `domain`, following aliases (CNAME).
    async fn mx(&self, domain: &DomainName) -> MxAnswer;

    /// Looks up the A and AAAA records of `host`, following aliases. A name that does not exist has no addresses.
    async fn addresses(&self, host: &str) -> Addresses;
}

/// Finds out whether the mail of `domain` comes to us. A check of more than 15 s ends with [`Failure::TimedOut`].
pub async fn check(
    dns: &dyn Resolver,
    ours: &Ours,
    domain: &DomainName,
    detail: FoundDetail,
) -> Result<MxReport, Failure> {
    tokio::time::timeout(DEADLINE, mx::check(dns, ours, domain, detail)).await.unwrap_or(Err(Failure::TimedOut))
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
pub enum Failure {
    /// SERVFAIL, which is also the answer of a resolver about a zone that fails DNSSEC validation.
    #[error("the name server failed (SERVFAIL)")]
    ServerFailed,
    /// REFUSED.
    #[error("the name server refused to answer (REFUSED)")]
    Refused,
    /// The name of another response code.
    #[error("the name server answered with an error ({0})")]
    ErrorCode(String),
    /// The server did not answer in time.
    #[error("the name server did not answer in time")]
    TimedOut,
    /// There is no network, or no server at the address.
    #[error("the name server cannot be reached")]
    Unreachable,
    /// The answer is truncated over TCP, a referral, an endless chain of aliases, or no DNS message.
    #[error("the name server's answer is not usable")]
    Unusable,
    /// The answer's signatures are wrong.
    #[error("the answer fails DNSSEC validation")]
    Bogus,
    /// Neither the settings nor the system name a server.
    #[error("no name server is configured")]
    NoServer,
    /// The resolver has too many queries in progress.
    #[error("too many queries are in progress")]
    Busy,
    /// The check panicked.
    #[error("the check failed")]
    Panicked,
}
