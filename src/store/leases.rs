//! Leases of addresses, and addresses that somebody has opened, behind one trait.

use async_trait::async_trait;

use super::StoreError;
use crate::model::{Client, DomainName, LeaseRecord, Mailbox, Share, Timestamp};

/// The operations on leases. They know no rules: a lease is found whether it lives or not.
///
/// Every method can return any error of [`StoreError`].
#[async_trait]
pub trait Leases: Send + Sync + 'static {
    /// The record of an address, by its public mailbox without a `+tag`. Costs one look.
    ///
    /// It shows every replacement that has returned, at this node or another.
    async fn lease(&self, mailbox: &Mailbox) -> Result<Option<LeaseRecord>, StoreError>;

    /// The records with this key that have not ended, in the order of their creation.
    async fn leases_of(&self, key: &[u8; 32]) -> Result<Vec<LeaseRecord>, StoreError>;

    /// Replaces the record of an address, durably; `None` is no record. `false` if the record is not `before` any more:
    /// then nothing changed. Both are of one mailbox, and one of them is there.
    ///
    /// After [`StoreError::OutcomeUnknown`] and [`StoreError::Unconfirmed`] a later look tells.
    async fn replace_lease(
        &self,
        before: Option<&LeaseRecord>,
        after: Option<&LeaseRecord>,
    ) -> Result<bool, StoreError>;

    /// Records that are due at `now`, as [`LeaseRecord::due_at`] says, about the earliest first and at most `limit`. A node
    /// of a cluster that does not lead may have none.
    async fn due_leases(&self, now: Timestamp, limit: usize) -> Result<Vec<LeaseRecord>, StoreError>;

    /// Makes `now` the end of all living leases of a domain, so that they are due, or only counts them. Returns how many there
    /// are.
    async fn end_leases(&self, domain: &DomainName, now: Timestamp, is_dry_run: bool) -> Result<u64, StoreError>;

    /// How many leases that have not ended a client and its network have, and how many records there are in all. `None` has
    /// none of its own.
    async fn lease_counts(&self, client: Option<Client>) -> Result<Share, StoreError>;

    /// Notes that a public mailbox is open until a time. `false` if it is not open and `limit` mailboxes are: then nothing
    /// changed. It may be forgotten if the process is killed within some seconds.
    ///
    /// Costs no write while the mailbox is open for nearly as long.
    async fn open_mailbox(&self, mailbox: &Mailbox, until: Timestamp, limit: u64) -> Result<bool, StoreError>;

    /// Whether a public mailbox is open at `now`.
    async fn is_mailbox_open(&self, mailbox: &Mailbox, now: Timestamp) -> Result<bool, StoreError>;

    /// Forgets which mailboxes were open before `now`.
    async fn close_mailboxes(&self, now: Timestamp) -> Result<(), StoreError>;
}
