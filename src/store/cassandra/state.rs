//! What all operations of a store share.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use super::cluster::Cluster;
use super::counters::Counters;
use super::expiry::ExpiryPosition;
use super::hints::Outgoing;
use super::leases::Leases;
use super::nodes::Node;
use super::outbox::OutboxState;
use super::rows::EmailRow;
use super::sequences::{self, Sequences};
use super::statements::Statements;
use super::stats::LastCount;
use super::totals::Totals;
use crate::clock::Clock;
use crate::events::{Event, Happening, Hub};
use crate::model::Timestamp;
use crate::store::names::HashKey;
use crate::store::{StoreError, StoreOptions};

pub(super) struct ClusterState {
    /// This process among the nodes.
    pub(super) node: Uuid,
    pub(super) cluster: Cluster,
    /// The same for signs of life and hints, which wait for no mail.
    pub(super) vital: Cluster,
    /// The recipients of the messages that may be written at once.
    pub(super) receiving: Semaphore,
    pub(super) statements: Statements,
    pub(super) secret: HashKey,
    pub(super) options: StoreOptions,
    /// How long messages of events outlive their mail.
    pub(super) grace: Duration,
    pub(super) hub: Arc<Hub>,
    pub(super) sequences: Sequences,
    pub(super) outbox: OutboxState,
    pub(super) counters: Counters,
    /// The slots of expiry that this node has entered in their list.
    pub(super) known_slots: Mutex<HashSet<i64>>,
    /// Up to where this node has announced expired mail.
    pub(super) expired: Mutex<ExpiryPosition>,
    /// Work that nobody waits for. A stop waits for it.
    pub(super) tasks: TaskTracker,
    pub(super) is_closed: AtomicBool,
    /// The nodes that live, as of the last look.
    pub(super) nodes: Mutex<HashMap<Uuid, Node>>,
    pub(super) leases: Leases,
    pub(super) totals: Totals,
    pub(super) last_count: Mutex<Option<LastCount>>,
    pub(super) outgoing: Outgoing,
    /// Intents that the last sweep of this node left, and parts of their table that it could not read.
    pub(super) open_intents: AtomicU64,
    /// How long the cluster took for the last sign of life, in microseconds.
    pub(super) answer_micros: AtomicU64,
    /// When the cluster last answered; `None` before a daemon runs the store.
    pub(super) answered_at: Mutex<Option<Instant>>,
    /// The clock of the daemon that runs the store.
    pub(super) clock: Mutex<Option<Arc<dyn Clock>>>,
}

impl fmt::Debug for ClusterState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterState").field("node", &self.node).finish_non_exhaustive()
    }
}

impl ClusterState {
    pub(super) fn check_open(&self) -> Result<(), StoreError> {
        if self.is_closed.load(Ordering::Acquire) { Err(StoreError::Stopping) } else { Ok(()) }
    }

    /// When an Email expires in effect: a shorter retention than at its receipt holds for it as well.
    pub(super) fn expiry_of(&self, row: &EmailRow) -> i64 {
        let Some(retention) = self.options.retention else { return row.expires_at };
        Timestamp::from_millis(row.received_at).plus(retention).millis().min(row.expires_at)
    }

    /// Whether an Email is readable at `now`.
    pub(super) fn is_readable(&self, row: &EmailRow, now: Timestamp) -> bool {
        now.millis() < self.expiry_of(row) && !self.is_announced(row)
    }

    /// Whether the expiry of an Email was announced. From then on it is gone, even if the clock goes back.
    pub(super) fn is_announced(&self, row: &EmailRow) -> bool {
        ExpiryPosition::of(row) <= self.expired()
    }

    pub(super) fn expired(&self) -> ExpiryPosition {
        *self.expired.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number below that of every Email that is readable at `now`. Reading from there passes over no rows of long ago.
    pub(super) fn least_sequence(&self, now: Timestamp) -> u64 {
        let oldest = self.options.retention.map_or(Timestamp::from_millis(0), |retention| now.before(retention));
        sequences::least_of(oldest).saturating_sub(1)
    }

    /// Tells subscribers on this node and on the others what happened to an Email.
    pub(super) fn publish(&self, happening: Happening, row: &EmailRow) {
        let event = Event { happening, email: row.listed() };
        self.totals.forget(row.topic().octets());
        if self.hub.is_watched() {
            self.hub.publish(row.topic(), &event);
        }
        self.hint(row.topic(), &event, row.shared && happening == Happening::Received);
    }
}
