//! The store: Emails, pending events, leases, domains, webhooks and tokens, each behind a trait.
//!
//! The store is responsible for durability, order, counts and removal. It does not know SMTP, HTTP or MIME, and its
//! interface has no type of its database: each method is a whole operation, and callers choose ids and times, so that a
//! cluster implements the traits as well. Whether an Email is readable depends on the caller's `now`.
//!
//! ```text
//! error         why opening or using a store fails       drop_warnings  log lines about dropped events
//! mod           the trait Store for mail, and Storage for all of a store
//! registry      the trait Registry for domains, webhooks and tokens: what people typed in
//! outbox        the trait Outbox for pending events
//! leases        the trait Leases for leases of addresses
//! options       the settings of a store        counters   what it did
//! newest        questions about the newest Emails of all mailboxes      numbers   tables of rows by hashes
//! outbox_rules, receiver_health   limits, shares and logs of webhooks, and when one is disabled, in every store
//! names         short names of mailboxes and domains, under the store's secret
//! embedded      the store in a directory: one writer thread, opening, sweeps, the registry in redb
//! change        facts: what the journal stores
//! journal       the bytes of mail and all facts: groups of records in preallocated segments
//! mail          what finds things in the journal: rows and pending events, in memory
//! disk          all I/O, as one small trait
//! cluster       the trait Cluster, and how the store in cassandra is opened, where the build has it
//! cassandra     the store in a cluster of Apache Cassandra
//! backup        a store as one file
//! check         finds damage, and makes a new store from what can still be read
//! ```
//!
//! A request is decided by the rows in memory. What it changes are facts, which the writer appends to the journal as one group
//! with one fdatasync. Then it applies them to the rows, which cannot fail, and answers. A start applies all facts again;
//! those of sealed segments come from hints.
//!
//! Expiry is no fact: it follows from time. A sweep each second removes expired rows, unlinks segments that nothing needs,
//! and punches dead messages out of the others.
//!
//! Only the writer syncs segments. The journal of an earlier process may be in the page cache only, so an opening writes its
//! last group again before anything follows it.

pub mod backup;
#[cfg(feature = "cassandra")]
pub mod cassandra;
mod change;
pub mod check;
mod cluster;
mod counters;
pub mod disk;
mod drop_warnings;
mod embedded;
mod error;
mod journal;
mod leases;
mod mail;
mod names;
mod newest;
mod numbers;
mod options;
mod outbox;
mod outbox_rules;
mod receiver_health;
mod registry;

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::events::{Position, Subscription};
use crate::metrics::Measured;
use crate::model::{Delivery, EmailId, Listed, Mailbox, StoredEmail, Timestamp};

use backup::BackupItem;
pub use check::{Salvaged, salvage};
pub use cluster::{Cluster, ClusterStatus, check_cluster, open_cluster, restore_into_cluster};
pub use embedded::EmbeddedStore;
pub use embedded::carry_tokens;
pub use error::{OpenError, StoreError};
pub use leases::Leases;
pub use newest::{NewestCursor, NewestCursorError, NewestEmail, NewestPage, NewestQuery};
pub use options::{MAKES_WAY_AFTER, StoreOptions};
pub use outbox::{ATTEMPTS_PER_RECORD, DueEvents, DueQuery, Outbox, OutboxLimits, Replay, Replayed};
pub use registry::{
    Registration, Registry, WebhookFilter, WebhookLimits, WebhookPage, WebhookRegistration, WebhookSweep,
};

/// Which Emails of a mailbox to list, newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// How many of the newest Emails to skip.
    pub offset: u64,
    /// The most Emails to return.
    pub limit: usize,
}

/// One page of a mailbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailboxPage {
    /// Newest first.
    pub emails: Vec<Listed>,
    /// How many readable Emails the whole mailbox holds.
    pub total: u64,
}

/// Emails of a mailbox after a sequence number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmailsAfter {
    /// Oldest first.
    pub emails: Vec<Listed>,
    /// Where to go on: after this sequence number. `None` if there are no further Emails.
    pub next: Option<u64>,
}

/// The result of one pass of expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expired {
    /// The number of Emails that were removed.
    pub removed: usize,
    /// When the next Email expires. At or before `now` if the pass reached its limit, `None` in an empty store.
    pub next_due_at: Option<Timestamp>,
}

/// Counts that are known without reading every row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoreStats {
    /// Emails, including expired ones that are not removed yet.
    pub emails: u64,
    /// Mailboxes with at least one Email.
    pub mailboxes: u64,
    /// Messages that an Email or an event refers to. A message with several recipients counts once.
    pub messages: u64,
    /// Octets of these messages.
    pub live_octets: u64,
    /// Webhooks.
    pub webhooks: u64,
    /// Pending events.
    pub events: u64,
    /// Leases of addresses that have not ended; in a cluster, with those whose address rests.
    pub leases: u64,
    /// Segments of the journal.
    pub segments: u64,
    /// Octets of all files by their length.
    pub disk_octets: u64,
    /// Octets of the registry's file.
    pub registry_octets: u64,
    /// Octets of removed segments that a backup or another reader still has open.
    pub held_octets: u64,
}

/// [`StoreStats`], and figures that take longer to find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DetailedStats {
    /// Registered domains.
    pub domains: u64,
    /// When the oldest Email was received.
    pub oldest: Option<Timestamp>,
    /// When the newest Email was received.
    pub newest: Option<Timestamp>,
    /// The other figures.
    pub stats: StoreStats,
}

/// A backup as batches of records. A batch has at most a few hundred kilobytes, or one record.
///
/// The last record is [`backup::BackupRecord::End`]. The stream ends after an error.
pub type BackupStream = BoxStream<'static, Result<Vec<BackupItem>, StoreError>>;

/// The operations on mail.
///
/// Every method can return any error of [`StoreError`].
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Stores a message: one Email for each recipient, all or none.
    ///
    /// `Ok` means that the message is on disk and that every later read shows it. After [`StoreError::OutcomeUnknown`] and
    /// [`StoreError::Unconfirmed`] it may or may not be stored; after any other error it is not. A second call with the same
    /// ids changes nothing.
    async fn receive(&self, delivery: Delivery) -> Result<(), StoreError>;

    /// Checks whether a message of the largest size could be stored now. The error is that of [`Store::receive`].
    fn accepts(&self) -> Result<(), StoreError>;

    /// Why [`Store::accepts`] says [`StoreError::Full`], in words: how much there is and how much is needed.
    fn shortage(&self) -> Option<String> {
        None
    }

    /// Checks whether the cap permits a message for a mailbox at `now`.
    ///
    /// The error is that of [`Store::receive`]. Without a cap this costs nothing. With one it makes a few short reads. It
    /// never waits.
    fn check_cap(&self, mailbox: &Mailbox, now: Timestamp) -> Result<(), StoreError>;

    /// Lists a page of a mailbox, as of `now`. An unknown mailbox is empty. A page of 0 Emails costs least.
    async fn list(&self, mailbox: &Mailbox, page: PageRequest, now: Timestamp) -> Result<MailboxPage, StoreError>;

    /// Lists the newest Emails of a mailbox with sequence numbers below `before`, at most `limit`.
    ///
    /// A caller that goes on below the last number sees each Email once, whatever arrives meanwhile.
    async fn list_before(
        &self,
        mailbox: &Mailbox,
        before: u64,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<Listed>, StoreError>;

    /// Lists the oldest Emails of a mailbox with sequence numbers above `after`, at most `limit`, among some hundred rows.
    async fn list_after(
        &self,
        mailbox: &Mailbox,
        after: u64,
        limit: usize,
        now: Timestamp,
    ) -> Result<EmailsAfter, StoreError>;

    /// Where the Emails of a mailbox begin that were received at `since` or later: after this sequence number. 0 if that is
    /// not known.
    async fn begin_of(&self, _mailbox: &Mailbox, _since: Timestamp) -> Result<u64, StoreError> {
        Ok(0)
    }

    /// Subscribes to the events of a mailbox, or of all. See [`Subscription`] for what a store owes its subscribers.
    ///
    /// The subscriber may be late by `events_max` events before it misses any. A store that may have lost an event of
    /// another node tells its subscribers now and then that they missed one.
    fn subscribe(&self, mailbox: Option<&Mailbox>, events_max: usize) -> Subscription;

    /// The position in the events of a mailbox, or of all, behind every Email that is readable now.
    async fn position(&self, mailbox: Option<&Mailbox>) -> Result<Position, StoreError>;

    /// Lists the newest Emails of all mailboxes as of `now`. Examines a bounded number of rows, however much is stored.
    async fn newest(&self, query: NewestQuery, now: Timestamp) -> Result<NewestPage, StoreError>;

    /// Finds the Email with this id, without its octets, if it is readable at `now`.
    async fn find(&self, id: EmailId, now: Timestamp) -> Result<Option<Listed>, StoreError>;

    /// Loads the envelope and the octets of a listed Email. `None` if it was removed meanwhile.
    ///
    /// May block the calling thread while it reads the disk. `list` and `find` read only a few rows in memory there.
    async fn load(&self, listed: &Listed) -> Result<Option<StoredEmail>, StoreError>;

    /// Loads a listed Email without waiting for the disk. `None` if that can't be done, for whatever reason: then
    /// [`Store::load`] says what is the matter.
    fn load_cached(&self, _listed: &Listed) -> Option<StoredEmail> {
        None
    }

    /// Whether [`Store::read_content_cached`] ever reads anything.
    fn reads_content_cached(&self) -> bool {
        false
    }

    /// Fills `out` with the octets of a listed Email from `start`, without waiting for the disk. `false` if that can't be
    /// done, for whatever reason.
    ///
    /// They are not checked: on a damaged disk, or after the Email was removed, they are any octets. The caller must know
    /// those that it looks for.
    fn read_content_cached(&self, _listed: &Listed, _start: usize, _out: &mut [u8]) -> bool {
        false
    }

    /// Deletes one Email. `false` if no Email with this id is readable at `now`.
    async fn delete(&self, id: EmailId, now: Timestamp) -> Result<bool, StoreError>;

    /// Deletes the Emails with a sequence number below `before` that a mailbox had at the call. Returns how many of them
    /// were readable at `now`.
    async fn delete_all(&self, mailbox: &Mailbox, before: u64, now: Timestamp) -> Result<u64, StoreError>;

    /// Removes Emails that have expired by `now`, at most `limit` of them.
    async fn expire(&self, now: Timestamp, limit: usize) -> Result<Expired, StoreError>;

    /// Waits until every change that was queued before this call is made and shown, or has failed. Changes nothing.
    ///
    /// This shows that the store still makes changes. A change that waits for room in a full queue may be answered later.
    async fn answers(&self) -> Result<(), StoreError>;

    /// Counts what is stored. Costs a few reads of rows, and one look at each file.
    async fn stats(&self) -> Result<StoreStats, StoreError>;

    /// Counts what is stored in detail. Reads every row of mail.
    async fn detailed_stats(&self) -> Result<DetailedStats, StoreError>;

    /// Reads all live data as a backup.
    ///
    /// It has what the store had at the call and what is readable at `now`, except for mail that is removed before the backup
    /// reaches it. Domains and webhooks are from one moment. Dropping the stream ends the backup.
    fn backup(&self, now: Timestamp) -> BackupStream;

    /// Refuses new changes, finishes the submitted ones, and makes everything durable. A second call does nothing.
    async fn close(&self) -> Result<(), StoreError>;
}

/// A whole store, as a daemon needs it.
#[async_trait]
pub trait Storage: Store + Registry + Leases + Outbox + Cluster + Measured {
    /// Waits until the store can make no more changes in this process, which should then end.
    async fn ended(&self);

    /// A secret of the store for one purpose, the same in each process that shares it and after a restart.
    fn derived_secret(&self, purpose: &str) -> [u8; 16];

    /// Does what the store of a daemon must do all the time, until `shutdown`.
    async fn run(&self, _clock: Arc<dyn Clock>, shutdown: CancellationToken) {
        shutdown.cancelled().await;
    }
}
