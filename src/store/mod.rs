//! What is kept: Emails and domains, behind one trait.
//!
//! Owns durability, order, counts and removal. Knows neither SMTP nor HTTP, reads no MIME, and shows no type of the
//! database below it. The trait is made so that a cluster can stand behind it as well: every method is a whole
//! intention, ids and times are the caller's, and whether an Email is still readable is decided by `now` when it is read.
//!
//! ```text
//! change      every write, as one value of one enum      outbox    webhooks and their pending events, as a trait
//! embedded    the store itself: one writer thread, opening, recovery, checkpoints
//! journal     the truth: groups of records in preallocated segments
//! index       redb, for questions; `index/tables` has the rows, `index/apply` what a change does to them
//! disk        all I/O, as one small trait                backup    a store as one file
//! check       what is damaged                            salvage   a new store from what can be read
//! ```
//!
//! Every write is one `Change`. The same changes in the same order decide the same again, so replay needs nothing else. A
//! group of changes is appended to the journal with one fdatasync, then applied to the index in one transaction that also
//! writes the position in the journal up to which the index is complete. A checkpoint makes the index durable: every 32 MB,
//! after 2 s of quiet, after 15 s of traffic, at the stop. Then segments in which nothing lives are unlinked, and what
//! somebody deleted is punched out.
//!
//! A group that is durable is never given up. If the index fails after the fdatasync, it is opened again and the journal is
//! replayed onto it; the senders of the group are answered when the index shows it, or not at all. The writer alone syncs the
//! segment in use, the puncher alone older ones. What a process finds in another one's journal may be in memory only, so it
//! is written again before anything follows it.

pub mod backup;
mod change;
pub mod check;
pub mod disk;
mod embedded;
mod error;
mod index;
mod journal;
mod outbox;
mod salvage;

use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::BoxStream;

use crate::config::{Config, Revision};
use crate::model::{Caps, Delivery, DomainName, DomainRecord, EmailId, Listed, Mailbox, StoredEmail, Timestamp};

use backup::BackupItem;
pub use embedded::EmbeddedStore;
pub use error::{OpenError, StoreError};
pub use index::Compacted;
use index::IndexError;
pub use outbox::{
    ATTEMPTS_PER_RECORD, DueEvents, DueQuery, Outbox, OutboxLimits, OutboxVersion, Replay, Replayed, WebhookFilter,
    WebhookPage, WebhookRegistration,
};
pub use salvage::{Salvaged, salvage};

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

/// What became of a registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Registration {
    /// The domain was not registered and is now.
    Won,
    /// It was registered before; nothing changed.
    Taken(DomainRecord),
    /// As many domains as permitted are registered; nothing changed.
    Full,
}

/// What one pass of expiry did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expired {
    /// How many Emails were removed.
    pub removed: usize,
    /// When the next one is due; at or before `now` when the pass stopped at its bound. `None` in an empty store.
    pub next_due_at: Option<Timestamp>,
    /// When the last one is due.
    pub last_due_at: Option<Timestamp>,
}

impl Expired {
    /// A pass that removed nothing from a store whose first and last Emails are due at these times.
    pub(crate) fn nothing(due: Option<(Timestamp, Timestamp)>) -> Self {
        Self { removed: 0, next_due_at: due.map(|(next, _)| next), last_due_at: due.map(|(_, last)| last) }
    }
}

/// How much is kept, as far as it is known without counting rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoreStats {
    /// Emails, those included that have expired and wait to be removed.
    pub emails: u64,
    /// Mailboxes with at least one Email.
    pub mailboxes: u64,
    /// Messages that are needed, by an Email or by an event; one with several recipients counts once.
    pub messages: u64,
    /// Octets of these.
    pub live_octets: u64,
    /// Webhooks.
    pub webhooks: u64,
    /// Events that wait.
    pub events: u64,
    /// Segments of the journal.
    pub segments: u64,
    /// Octets of the files, as the file system counts their length.
    pub disk_octets: u64,
    /// Octets of the index's file.
    pub index_octets: u64,
    /// Octets of removed segments that a backup, or whoever reads mail, still holds.
    pub held_octets: u64,
}

/// What is kept, counted: more than [`StoreStats`], and dearer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DetailedStats {
    /// Registered domains.
    pub domains: u64,
    /// Octets of the index's file that no row takes.
    pub index_free_octets: u64,
    /// When the oldest Email was received.
    pub oldest: Option<Timestamp>,
    /// When the newest was.
    pub newest: Option<Timestamp>,
    /// The rest.
    pub stats: StoreStats,
}

/// A backup on its way, in batches of at most a few hundred Kilobytes or one record; the last record is
/// [`backup::BackupRecord::End`]. After an error nothing more comes.
pub type BackupStream = BoxStream<'static, Result<Vec<BackupItem>, StoreError>>;

/// The operations that the rest of the program needs. Errors are [`StoreError`]'s, for every method.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Keeps a message: one Email per recipient, all or none.
    ///
    /// `Ok` means that the message is on disk and visible to every later read. [`StoreError::OutcomeUnknown`] means that
    /// it may or may not be kept; after any other error it is not. Handing the same ids over again changes nothing.
    async fn receive(&self, delivery: Delivery) -> Result<(), StoreError>;

    /// Whether a message of the largest size could be kept now; the error is what [`Store::receive`] would say.
    fn accepts(&self) -> Result<(), StoreError>;

    /// Whether a message for the last of `mailboxes` would be kept at `now` if it is for the others too, as far as caps on
    /// mailboxes and domains go; the error is what [`Store::receive`] would say. Costs nothing without caps and else a few
    /// short reads of the index for each mailbox of that domain; waits for nobody.
    fn check_caps(&self, mailboxes: &[Mailbox], now: Timestamp) -> Result<(), StoreError>;

    /// A part of a mailbox and its total, as of `now`. A mailbox that never was is empty.
    async fn list(&self, mailbox: &Mailbox, page: PageRequest, now: Timestamp) -> Result<MailboxPage, StoreError>;

    /// The Email with this id, if it is readable at `now`, without its octets.
    async fn find(&self, id: EmailId, now: Timestamp) -> Result<Option<Listed>, StoreError>;

    /// The mailbox and octets of a listed Email; `None` if it is gone by now.
    async fn load(&self, listed: &Listed) -> Result<Option<StoredEmail>, StoreError>;

    /// Deletes one Email. `false` if there is none that is readable at `now`.
    async fn delete(&self, id: EmailId, now: Timestamp) -> Result<bool, StoreError>;

    /// Deletes the Emails of a mailbox that were there at the call; how many of them were readable at `now`.
    async fn delete_all(&self, mailbox: &Mailbox, now: Timestamp) -> Result<u64, StoreError>;

    /// Removes Emails that have expired by `now`, at most `limit` of them.
    async fn expire(&self, now: Timestamp, limit: usize) -> Result<Expired, StoreError>;

    /// Removes Emails that expire after `latest`, at most `limit` of them; how many.
    async fn remove_overlong(&self, latest: Timestamp, limit: usize) -> Result<usize, StoreError>;

    /// Every registered domain, in the order of their names.
    async fn domains(&self) -> Result<Vec<DomainRecord>, StoreError>;

    /// Registers a domain unless it is registered or `limit` domains are. Webhooks of an earlier time go before that.
    async fn register_domain(&self, record: DomainRecord, limit: usize) -> Result<Registration, StoreError>;

    /// Replaces the record of a registered domain. `false` if it is not registered (any more).
    async fn update_domain(&self, record: DomainRecord) -> Result<bool, StoreError>;

    /// Removes a domain. Its Emails stay until they expire. `false` if it is not registered.
    async fn remove_domain(&self, name: &DomainName) -> Result<bool, StoreError>;

    /// Whether changes are still being made: `Ok` as soon as whoever makes them has got round to saying so, which is after
    /// all that was handed over before. Changes nothing.
    async fn answers(&self) -> Result<(), StoreError>;

    /// How much is kept. Costs a few reads of the index, and one look at each file.
    async fn stats(&self) -> Result<StoreStats, StoreError>;

    /// How much is kept, in all detail. Reads every row of mail.
    async fn detailed_stats(&self) -> Result<DetailedStats, StoreError>;

    /// Everything that lives: what was there at the call, without what goes before its turn comes. Domains and webhooks
    /// are from one moment. Dropping the stream ends it.
    fn backup(&self) -> BackupStream;

    /// Takes no more changes, finishes those at hand, and makes everything durable. Calling it again does nothing.
    async fn close(&self) -> Result<(), StoreError>;
}

/// Settings of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreOptions {
    /// How long an Email is readable; applied to what is already there if that shortens its life, for good. `None`, for
    /// whoever opens the store in passing: every life is left as it is.
    pub retention: Option<Duration>,
    /// The largest message in octets.
    pub message_octets_max: u64,
    /// Size of a segment of the journal in octets, at least twice `message_octets_max`.
    pub segment_octets: u64,
    /// How much of the index may be held in memory, in octets.
    pub index_cache_octets: usize,
    /// How much journal may have to be replayed after a crash, in octets: a checkpoint is due after as much.
    pub checkpoint_octets: u64,
    /// A checkpoint is due after this long without a change.
    pub checkpoint_quiet: Duration,
    /// How much may wait for webhooks.
    pub outbox: OutboxLimits,
    /// How many Emails a mailbox and a domain may have; what is there already stays.
    pub caps: Caps,
}

impl StoreOptions {
    /// [`StoreOptions::checkpoint_octets`] unless there is a reason for another.
    pub const CHECKPOINT_OCTETS: u64 = 32 << 20;
    /// [`StoreOptions::checkpoint_quiet`] unless there is a reason for another.
    pub const CHECKPOINT_QUIET: Duration = Duration::from_secs(2);

    /// The options for a process that opens the store for one command: its segments are as small as messages permit, so
    /// that a look at an inbox does not write megabytes of zeros, and it shortens no life, since it need not know the
    /// settings of the daemon whose store it is.
    pub fn for_a_moment(config: &Config) -> Self {
        let options = Self::from_config(config);
        Self {
            retention: None,
            segment_octets: options.segment_octets.min(journal::least_segment_octets(config.message_octets_max)),
            ..options
        }
    }

    /// The same, with segments that take a message of `octets` as well.
    #[must_use]
    pub fn taking(self, octets: u64) -> Self {
        let message_octets_max = self.message_octets_max.max(octets);
        let least = 2 * journal::least_segment_octets(message_octets_max);
        Self { message_octets_max, segment_octets: self.segment_octets.max(least), ..self }
    }

    /// The options that the daemon's settings ask for.
    pub fn from_config(config: &Config) -> Self {
        // In revision 1 webhooks of an earlier start are kept, but nobody sends their events.
        let events_per_webhook = match config.revision {
            Revision::One => 0,
            Revision::Two => config.outbox_events_max,
        };
        Self {
            retention: Some(config.retention),
            message_octets_max: config.message_octets_max,
            segment_octets: config.segment_octets,
            index_cache_octets: config.index_cache_octets,
            checkpoint_octets: Self::CHECKPOINT_OCTETS,
            checkpoint_quiet: Self::CHECKPOINT_QUIET,
            outbox: OutboxLimits {
                events_per_webhook,
                octets_per_webhook: config.outbox_octets_per_webhook_max,
                octets: config.outbox_octets_max,
            },
            caps: config.caps,
        }
    }
}
