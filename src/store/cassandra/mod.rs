//! The store in a cluster of Apache Cassandra, for several nodes of the service that share their mail.
//!
//! ```text
//! mod           the store and its traits; options   where the cluster is, and how it is asked
//! session       connections, and how a statement is run      statements   the prepared ones
//! schema        keyspace and tables (schema.cql), and the store's secret
//! message       the octets of messages               receive      the way of a message
//! mailbox       lists of a mailbox                   delete       what ends Emails
//! log           what each node did, for all          picture      what the log says is there: newest, counts, expiry
//! node          what a node does all the time: signs of life, the lead
//! leases        leases of addresses
//! registry, webhooks   what people typed in, tokens too, and how other nodes learn of changes
//! outbox        events of webhooks
//! backup, restore     as one file, and back          server_settings   whether the servers keep the promise
//! ```
//!
//! Four rules make it whole:
//!
//! 1. A row is written at a time that is part of the row, never at a clock's. Its deletion has the same time, and the cluster
//!    prefers a deletion. So nothing that repeats a write brings mail back.
//! 2. Announce, number, show. A mail announces itself in its mailbox before it reads the mailbox's highest sequence. A reader
//!    waits for what is announced.
//! 3. One cell shows a message that has several recipients or events.
//! 4. Each node keeps one log of facts. All nodes apply all logs to a `picture` in memory, as an embedded store
//!    applies its journal.
//!
//! Every write and every read is answered by a quorum of the local data centre, so a read that begins after a write has ended
//! shows it.

mod backup;
mod delete;
mod leases;
mod log;
mod mailbox;
mod message;
mod node;
mod options;
mod outbox;
mod picture;
mod receive;
mod registry;
mod restore;
mod schema;
mod server_settings;
mod session;
mod statements;
mod webhooks;

use std::fmt;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::counters::Counters;
use super::drop_warnings::DropWarnings;
use super::names::{HashKey, named_hash, tag, topic};
use super::{
    BackupStream, ClusterStatus, DetailedStats, EmailsAfter, Expired, MailboxPage, NewestPage, NewestQuery, OpenError,
    PageRequest, Storage, Store, StoreError, StoreOptions, StoreStats,
};
use crate::clock::{Clock, SystemClock};
use crate::events::{Hub, Position, Subscription, Topic};
use crate::metrics::{Measured, MetricFamily};
use crate::model::{Delivery, EmailId, Listed, Mailbox, StoredEmail, Timestamp};

use leases::LeaseState;
use log::Log;
use mailbox::{COUNTED_MAX, Range, Read, sequence_at};
use node::Node;
pub use options::CassandraOptions;
use outbox::OutboxState;
use picture::Picture;
pub use restore::{RestoreInto, Survey};
use session::Session;
use statements::Statements;

/// A store in a cluster.
#[derive(Debug)]
pub struct CassandraStore {
    shared: Arc<Shared>,
}

/// What all operations of a store share.
struct Shared {
    session: Session,
    /// The same for signs of life, the lead and the log, which wait for no mail.
    vital: Session,
    statements: Statements,
    secret: HashKey,
    keyspace: String,
    options: StoreOptions,
    /// How long messages of events outlive their mail.
    grace: Duration,
    hub: Arc<Hub>,
    /// The recipients of the messages that may be written at once.
    receiving: Semaphore,
    /// The last microsecond of a sequence that this node gave.
    numbered: AtomicI64,
    log: Log,
    picture: Picture,
    leases: LeaseState,
    node: Node,
    /// Raised when something that people typed in has changed.
    changes: watch::Sender<u64>,
    outbox: OutboxState,
    counters: Counters,
    drop_warnings: Mutex<DropWarnings>,
    /// Work that nobody waits for. A stop closes it, and waits for it.
    tasks: TaskTracker,
    /// The clock of the daemon that runs the store.
    clock: OnceLock<Arc<dyn Clock>>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("keyspace", &self.keyspace).finish_non_exhaustive()
    }
}

impl Shared {
    fn check_open(&self) -> Result<(), StoreError> {
        if self.tasks.is_closed() { Err(StoreError::Stopping) } else { Ok(()) }
    }

    /// Whether a daemon runs the store. Otherwise each question reads what other nodes did.
    fn is_running(&self) -> bool {
        self.clock.get().is_some()
    }

    fn clock(&self) -> &dyn Clock {
        self.clock.get().map_or(&SystemClock, |clock| &**clock)
    }

    /// The time since some fixed point, suspension included.
    fn boot(&self) -> Duration {
        self.clock().boot()
    }

    /// The time of day.
    fn now(&self) -> Timestamp {
        self.clock().now()
    }
}

impl CassandraStore {
    /// Makes the keyspace with its tables, as far as they are not there. Returns whether this made them.
    ///
    /// A cluster with fewer servers than [`CassandraOptions::replication`] is refused.
    pub async fn create(options: &CassandraOptions, store: &StoreOptions) -> Result<bool, OpenError> {
        schema::create(options, store).await
    }

    /// Connects to the cluster. The keyspace must have the schema of this version; [`CassandraStore::create`] makes it.
    pub async fn connect(options: &CassandraOptions, store: &StoreOptions) -> Result<Self, OpenError> {
        let session = session::connect_to_keyspace(options).await?;
        let found = schema::check(&session, &options.keyspace).await?;
        if found.is_restoring {
            return Err(OpenError::Restoring { keyspace: options.keyspace.clone() });
        }
        server_settings::check(&session, &options.keyspace).await;
        Self::on(session, options, store, found.secret).await
    }

    /// The store in the keyspace of a session, whose schema is checked.
    async fn on(
        session: scylla::client::session::Session,
        options: &CassandraOptions,
        store: &StoreOptions,
        secret: HashKey,
    ) -> Result<Self, OpenError> {
        let session = Session::new(session, options.keyspace.clone());
        let statements = Statements::prepare(&session).await?;
        let node = Node::draw(&session, &statements).await?;
        let (log, to_write) = Log::new();
        let shared = Arc::new(Shared {
            vital: session.apart(),
            session,
            statements,
            secret,
            keyspace: options.keyspace.clone(),
            options: *store,
            grace: options.grace,
            hub: Arc::default(),
            receiving: Semaphore::new(receive::RECIPIENTS_MAX as usize),
            numbered: AtomicI64::new(0),
            log,
            picture: Picture::new(secret, store),
            leases: LeaseState::default(),
            node,
            changes: watch::Sender::new(0),
            outbox: OutboxState::default(),
            counters: Counters::default(),
            drop_warnings: Mutex::default(),
            tasks: TaskTracker::new(),
            clock: OnceLock::new(),
        });
        log::spawn_writer(&shared, to_write);
        Ok(Self { shared })
    }
}

#[async_trait]
impl Storage for CassandraStore {
    /// Waits forever: a process loses nothing that the cluster does not have.
    async fn ended(&self) {
        std::future::pending::<()>().await;
    }

    fn derived_secret(&self, purpose: &str) -> [u8; 16] {
        named_hash(&self.shared.secret, "secret", purpose)
    }

    async fn run(&self, clock: Arc<dyn Clock>, shutdown: CancellationToken) {
        let _ = self.shared.clock.set(clock);
        Box::pin(self.shared.run(&shutdown)).await;
    }
}

impl Measured for CassandraStore {
    fn metrics(&self) -> Vec<MetricFamily> {
        self.shared.counters.metrics()
    }
}

impl super::Cluster for CassandraStore {
    fn is_shared(&self) -> bool {
        true
    }

    fn cluster(&self) -> Option<ClusterStatus> {
        Some(self.shared.status())
    }

    fn leads(&self) -> bool {
        self.shared.leads()
    }

    fn changed(&self) -> watch::Receiver<u64> {
        let mut changes = self.shared.changes.subscribe();
        // Something may have changed before the call.
        changes.mark_changed();
        changes
    }
}

#[async_trait]
impl Store for CassandraStore {
    async fn receive(&self, delivery: Delivery) -> Result<(), StoreError> {
        self.shared.receive(delivery).await
    }

    fn accepts(&self) -> Result<(), StoreError> {
        self.shared.check_open()?;
        self.shared.check_answers()?;
        self.shared.picture.check_room()
    }

    fn shortage(&self) -> Option<String> {
        self.shared.picture.shortage()
    }

    fn check_cap(&self, mailbox: &Mailbox, now: Timestamp) -> Result<(), StoreError> {
        if self.shared.picture.mail().has_room(mailbox, now) { Ok(()) } else { Err(StoreError::MailboxFull) }
    }

    async fn list(&self, mailbox: &Mailbox, page: PageRequest, now: Timestamp) -> Result<MailboxPage, StoreError> {
        let offset = usize::try_from(page.offset).unwrap_or(usize::MAX);
        let enough = offset.saturating_add(page.limit).max(COUNTED_MAX);
        let read = self.shared.read(mailbox, Range { enough, ..Range::ALL }, now).await?;
        let counted = read.emails.len() as u64;
        let total = if read.end.is_some() { self.shared.total(mailbox, now).await?.max(counted) } else { counted };
        let emails = read.emails.into_iter().skip(offset).take(page.limit).collect();
        Ok(MailboxPage { emails, total })
    }

    async fn list_before(
        &self,
        mailbox: &Mailbox,
        before: u64,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<Listed>, StoreError> {
        let mut read = self.shared.read(mailbox, Range { before, enough: limit, ..Range::ALL }, now).await?;
        read.emails.truncate(limit);
        Ok(read.emails)
    }

    async fn list_after(
        &self,
        mailbox: &Mailbox,
        after: u64,
        limit: usize,
        now: Timestamp,
    ) -> Result<EmailsAfter, StoreError> {
        let range = Range { after, oldest_first: true, enough: limit.saturating_add(1), ..Range::ALL };
        let Read { mut emails, end } = self.shared.read(mailbox, range, now).await?;
        let has_more = emails.len() > limit || end.is_some();
        emails.truncate(limit);
        // No row behind the end has a sequence before its time.
        let end = end.map_or(after, |end| sequence_at(end).saturating_sub(1).max(after + 1));
        let next = emails.last().map_or(end, |last| last.sequence);
        Ok(EmailsAfter { emails, next: has_more.then_some(next) })
    }

    async fn begin_of(&self, _: &Mailbox, since: Timestamp) -> Result<u64, StoreError> {
        Ok(sequence_at(since).saturating_sub(1))
    }

    fn subscribe(&self, mailbox: Option<&Mailbox>, events_max: usize) -> Subscription {
        let topic = mailbox.map_or(Topic::ALL, |mailbox| topic(&self.shared.secret, mailbox));
        self.shared.hub.subscribe(topic, events_max)
    }

    async fn position(&self, mailbox: Option<&Mailbox>) -> Result<Position, StoreError> {
        let sequence = match mailbox {
            Some(mailbox) => {
                let newest = self.list_before(mailbox, u64::MAX, 1, self.shared.now()).await?;
                newest.first().map_or(0, |newest| newest.sequence)
            }
            None => self.shared.picture.mail().last_sequence(),
        };
        Ok(Position { tag: tag(&self.shared.secret, mailbox), sequence })
    }

    async fn newest(&self, query: NewestQuery, now: Timestamp) -> Result<NewestPage, StoreError> {
        self.shared.catch_up().await?;
        Ok(self.shared.picture.mail().newest(&query, now))
    }

    async fn find(&self, id: EmailId, now: Timestamp) -> Result<Option<Listed>, StoreError> {
        self.shared.find(id, now).await
    }

    async fn load(&self, listed: &Listed) -> Result<Option<StoredEmail>, StoreError> {
        self.shared.load_listed(listed).await
    }

    async fn delete(&self, id: EmailId, now: Timestamp) -> Result<bool, StoreError> {
        self.shared.delete(id, now).await
    }

    async fn delete_all(&self, mailbox: &Mailbox, before: u64, now: Timestamp) -> Result<u64, StoreError> {
        self.shared.delete_all(mailbox, before, now).await
    }

    async fn expire(&self, now: Timestamp, limit: usize) -> Result<Expired, StoreError> {
        self.shared.expire(now, limit).await
    }

    async fn answers(&self) -> Result<(), StoreError> {
        // Changes do not queue, and a new start of this node mends no cluster.
        self.shared.check_open()
    }

    async fn stats(&self) -> Result<StoreStats, StoreError> {
        self.shared.stats().await
    }

    async fn detailed_stats(&self) -> Result<DetailedStats, StoreError> {
        let stats = self.shared.stats().await?;
        let span = self.shared.picture.mail().span();
        let domains = self.shared.domain_records().await?.len() as u64;
        Ok(DetailedStats { domains, oldest: span.map(|(first, _)| first), newest: span.map(|(_, last)| last), stats })
    }

    fn backup(&self, now: Timestamp) -> BackupStream {
        backup::stream(Arc::clone(&self.shared), now)
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.shared.tasks.close();
        self.shared.receiving.close();
        self.shared.log.close();
        self.shared.tasks.wait().await;
        Ok(())
    }
}
