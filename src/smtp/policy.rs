//! Who is refused, and why.

use super::budget::{Budget, Share};
use super::reply::Reply;
use crate::domains::{DomainTable, Served};
use crate::model::Address;
use crate::store::Store;

/// What a session asks before it answers MAIL, RCPT and DATA. The answers come from memory and one system call, without waiting.
pub trait Policy: Send + Sync {
    /// Whether a message may begin now; the error is the reply to MAIL.
    fn sender(&self) -> Result<(), Reply>;

    /// Whether mail for `address` is received; the error is the reply to RCPT.
    fn recipient(&self, address: &Address) -> Result<(), Reply>;

    /// Memory for a message of so many octets; the error is the reply to DATA.
    fn memory(&self, octets: u64) -> Result<Share, Reply>;
}

/// The rules of the daemon: there must be room on the disk and in memory, and the domain must be active.
pub(super) struct Rules<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) domains: &'a DomainTable,
    pub(super) bodies: &'a Budget,
}

impl Policy for Rules<'_> {
    fn sender(&self) -> Result<(), Reply> {
        // At MAIL nothing has been handed over, so even an unknown outcome is a plain failure.
        self.store.accepts().map_err(|error| Reply::of_store_error(&error).unwrap_or(Reply::STORE_FAILED))
    }

    fn recipient(&self, address: &Address) -> Result<(), Reply> {
        match self.domains.served(address.domain()) {
            Served::Active => Ok(()),
            Served::Deactivated => Err(Reply::domain_deactivated(address.domain())),
            Served::Unknown => Err(Reply::domain_unknown(address.domain())),
        }
    }

    fn memory(&self, octets: u64) -> Result<Share, Reply> {
        self.bodies.share(octets).ok_or(Reply::NO_MEMORY)
    }
}
