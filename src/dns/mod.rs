//! DNS: queries, and what their answers mean for the mail of a domain.
//!
//! [`check`] makes the queries of an MX check through [`resolver`], the only module that knows hickory. [`mx`], which
//! is pure, decides where the mail goes. [`report`] puts the result into words. Nothing here knows which domains are
//! registered.

pub mod check;
pub mod mx;
pub mod report;
pub mod resolver;

use async_trait::async_trait;

use crate::model::DomainName;

pub use check::MxCheck;
pub use mx::{Addresses, Failure, MxAnswer, MxRecord, MxVerdict};
pub use report::{FoundDetail, MxReport};
pub use resolver::{DnsResolver, ResolverSettings};

/// A DNS client without a cache: every call makes a query.
#[async_trait]
pub trait Resolver: Send + Sync + 'static {
    /// Looks up the MX records of `domain`, following aliases (CNAME).
    async fn mx(&self, domain: &DomainName) -> MxAnswer;

    /// Looks up the A and AAAA records of `host`, following aliases. A name that does not exist has no addresses.
    async fn addresses(&self, host: &str) -> Addresses;
}
