//! The store in a cluster of Apache Cassandra, for several nodes of the service that share their mail.
//!
//! ```text
//! mod           the traits; options   where the cluster is, and how it is asked
//! cluster       connections, and how a statement is run      statements   the prepared ones
//! server_settings   whether the servers keep the promise
//! schema, init  the tables and their version (schema.cql)    rows         what a row of mail means
//! state         what all operations share                    sequences    the order of a mailbox's Emails
//! message, receive, intent   the way of a message, and the sweeper that finishes it
//! mailbox, totals, email, newest     lists, one Email, the newest of all
//! expiry, stats, domains     expired mail, counts, registered domains
//! running, nodes, leases, hints   what a node does all the time, for itself and with the others
//! backup, restore, walk   as one file, and back          check, ranges    whether all rows are there
//! outbox                     webhooks and their events        counters    what this node did
//! ```
//!
//! Every write and every read of mail is answered by a quorum of the local data centre, so a read that begins after a
//! write has ended shows it. All writes of a message have the time of its receipt as their timestamp, and so has the
//! deletion of one of its Emails. The cluster prefers a deletion, so nothing that repeats a write brings mail back.
//!
//! A time to live only collects garbage: whether an Email is readable depends on the caller's `now`.

mod backup;
mod check;
mod cluster;
mod counters;
mod domains;
mod email;
mod expiry;
mod hints;
mod init;
mod intent;
mod leases;
mod mailbox;
mod message;
mod newest;
mod nodes;
mod options;
mod outbox;
mod ranges;
mod receive;
mod restore;
mod rows;
mod running;
mod schema;
mod sequences;
mod server_settings;
mod state;
mod statements;
mod stats;
mod totals;
mod walk;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use async_trait::async_trait;
use scylla::client::session::Session;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use super::names::{HashKey, tag, topic};
use super::{
    BackupStream, ClusterStatus, DetailedStats, EmailsAfter, Expired, MailboxPage, NewestPage, NewestQuery, OpenError,
    PageRequest, Storage, Store, StoreError, StoreOptions, StoreStats,
};
use crate::clock::Clock;
use crate::events::{Hub, Position, Subscription, Topic};
use crate::model::{Delivery, EmailId, Listed, Mailbox, StoredEmail, Timestamp};

use cluster::Cluster;
use counters::Counters;
use expiry::ExpiryPosition;
use hints::Outgoing;
pub use intent::Swept;
use leases::{Leases, Work};
pub use options::CassandraOptions;
use outbox::{OutboxState, OutboxStatements};
pub use restore::{RestoreInto, Survey};
use sequences::Sequences;
use state::ClusterState;
use statements::Statements;
use totals::Totals;

/// A store in a cluster.
#[derive(Debug)]
pub struct CassandraStore {
    state: Arc<ClusterState>,
}

impl CassandraStore {
    /// Connects to the cluster. The keyspace must have the schema of this version; [`CassandraStore::init`] makes it.
    pub async fn connect(options: &CassandraOptions, store: &StoreOptions) -> Result<Self, OpenError> {
        let session = cluster::connect_to_keyspace(options).await?;
        let found = schema::check(&session, &options.keyspace).await?;
        if found.restoring.is_some() {
            return Err(OpenError::Restoring { keyspace: options.keyspace.clone() });
        }
        server_settings::check(&session, &options.keyspace).await;
        Self::on(session, options, store, found.secret).await
    }

    /// The store in the keyspace of a session, whose schema is checked.
    async fn on(
        session: Session,
        options: &CassandraOptions,
        store: &StoreOptions,
        secret: HashKey,
    ) -> Result<Self, OpenError> {
        let cluster = Cluster::new(session, options.keyspace.clone());
        let statements = Statements::prepare(&cluster).await?;
        let node = Uuid::now_v7();
        let outbox = OutboxStatements::prepare(&cluster).await?;
        let state = ClusterState {
            vital: cluster.apart(),
            cluster,
            receiving: Semaphore::new(receive::RECIPIENTS_MAX as usize),
            statements,
            secret,
            options: *store,
            grace: options.grace,
            hub: Arc::new(Hub::default()),
            sequences: Sequences::default(),
            outbox: OutboxState::new(outbox),
            counters: Counters::default(),
            known_slots: std::sync::Mutex::default(),
            expired: std::sync::Mutex::new(ExpiryPosition::START),
            tasks: TaskTracker::new(),
            is_closed: AtomicBool::new(false),
            node,
            nodes: std::sync::Mutex::default(),
            leases: Leases::default(),
            totals: Totals::default(),
            last_count: std::sync::Mutex::default(),
            outgoing: Outgoing::default(),
            open_intents: AtomicU64::new(0),
            answer_micros: AtomicU64::new(0),
            answered_at: std::sync::Mutex::default(),
            clock: std::sync::Mutex::default(),
        };
        Ok(Self { state: Arc::new(state) })
    }

    /// Connects as [`CassandraStore::connect`] does, for callers of any store.
    pub async fn open(options: &CassandraOptions, store: &StoreOptions) -> Result<Arc<dyn Storage>, OpenError> {
        Ok(Arc::new(Self::connect(options, store).await?))
    }

    /// Finishes messages for several recipients that were received since `since` by nodes that died.
    pub async fn sweep_intents(&self, since: Timestamp, now: Timestamp) -> Swept {
        self.state.sweep(since, now).await
    }
}

#[async_trait]
impl Storage for CassandraStore {
    /// Waits forever: a process loses nothing that the cluster does not have.
    async fn ended(&self) {
        std::future::pending::<()>().await;
    }

    async fn run(&self, clock: Arc<dyn Clock>, shutdown: CancellationToken) {
        Box::pin(self.state.run(clock, &shutdown)).await;
    }
}

#[async_trait]
impl super::Cluster for CassandraStore {
    fn is_shared(&self) -> bool {
        true
    }

    fn cluster(&self) -> Option<ClusterStatus> {
        Some(self.state.status())
    }

    fn leads(&self) -> bool {
        self.state.holds(Work::Verification)
    }

    async fn domain_version(&self) -> Result<u64, StoreError> {
        self.state.domain_version().await
    }
}

#[async_trait]
impl Store for CassandraStore {
    async fn receive(&self, delivery: Delivery) -> Result<(), StoreError> {
        self.state.receive(delivery).await
    }

    fn accepts(&self) -> Result<(), StoreError> {
        self.state.check_open()?;
        self.state.check_answers()
    }

    fn check_cap(&self, _: &Mailbox, _: Timestamp) -> Result<(), StoreError> {
        // The counts are in the cluster, so a message is refused when it is received.
        Ok(())
    }

    async fn list(&self, mailbox: &Mailbox, page: PageRequest, now: Timestamp) -> Result<MailboxPage, StoreError> {
        self.state.list(mailbox, page, now).await
    }

    async fn list_before(
        &self,
        mailbox: &Mailbox,
        before: u64,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<Listed>, StoreError> {
        self.state.list_before(mailbox, before, limit, now).await
    }

    async fn list_after(
        &self,
        mailbox: &Mailbox,
        after: u64,
        limit: usize,
        now: Timestamp,
    ) -> Result<EmailsAfter, StoreError> {
        self.state.list_after(mailbox, after, limit, now).await
    }

    fn subscribe(&self, mailbox: Option<&Mailbox>, events_max: usize) -> Subscription {
        let topic = mailbox.map_or(Topic::ALL, |mailbox| topic(&self.state.secret, mailbox));
        self.state.hub.subscribe(topic, events_max)
    }

    async fn position(&self, mailbox: Option<&Mailbox>) -> Result<Position, StoreError> {
        let sequence = match mailbox {
            Some(mailbox) => self.state.newest_of(mailbox).await?,
            None => self.state.sequences.last(),
        };
        Ok(Position { tag: tag(&self.state.secret, mailbox), sequence })
    }

    async fn newest(&self, query: NewestQuery, now: Timestamp) -> Result<NewestPage, StoreError> {
        self.state.newest(query, now).await
    }

    async fn find(&self, id: EmailId, now: Timestamp) -> Result<Option<Listed>, StoreError> {
        self.state.find(id, now).await
    }

    async fn load(&self, listed: &Listed) -> Result<Option<StoredEmail>, StoreError> {
        self.state.load(listed).await
    }

    async fn delete(&self, id: EmailId, now: Timestamp) -> Result<bool, StoreError> {
        self.state.delete(id, now).await
    }

    async fn delete_all(&self, mailbox: &Mailbox, before: u64, now: Timestamp) -> Result<u64, StoreError> {
        self.state.delete_all(mailbox, before, now).await
    }

    async fn expire(&self, now: Timestamp, limit: usize) -> Result<Expired, StoreError> {
        self.state.expire(now, limit).await
    }

    async fn answers(&self) -> Result<(), StoreError> {
        // Changes do not queue, and a new start of this node mends no cluster.
        self.state.check_open()
    }

    async fn stats(&self) -> Result<StoreStats, StoreError> {
        self.state.count().await
    }

    async fn detailed_stats(&self) -> Result<DetailedStats, StoreError> {
        self.state.count_in_detail().await
    }

    fn backup(&self, _: Timestamp) -> BackupStream {
        backup::stream(Self { state: Arc::clone(&self.state) })
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.state.is_closed.store(true, Ordering::Release);
        self.state.receiving.close();
        self.state.tasks.close();
        self.state.tasks.wait().await;
        self.state.write_last_hints().await;
        Ok(())
    }
}
