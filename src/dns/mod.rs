//! DNS: the questions, and what their answers mean for the mail of a domain.
//!
//! [`mx`] decides, pure; [`resolver`] asks, and is the only module that knows hickory; [`check`] asks what the decision
//! needs; [`report`] says it to people. Nothing here knows which domains are registered.

pub mod check;
pub mod mx;
pub mod report;
pub mod resolver;

use async_trait::async_trait;

use crate::model::DomainName;

pub use check::MxCheck;
pub use mx::{Addresses, Failure, MxAnswer, MxRecord, MxVerdict};
pub use report::MxReport;
pub use resolver::{DnsResolver, ResolverSettings};

/// What asks the DNS. Every call really asks: an implementation remembers no answer.
#[async_trait]
pub trait Resolver: Send + Sync + 'static {
    /// The MX records of `domain`, aliases (CNAME) followed.
    async fn mx(&self, domain: &DomainName) -> MxAnswer;

    /// The addresses of `host`, its A and AAAA records, aliases followed. A name that does not exist has none.
    async fn addresses(&self, host: &str) -> Addresses;
}
