//! Hints between nodes: what one node did to an Email, the subscribers of the others learn.
//!
//! Each event of a node has a number. The node sends its events to the others at once, where they take them, and writes
//! what it collected in a short time as one row. The others read the rows after the last number that they know. So a hint
//! costs no row of its own, the rows that have ended are never read again, and nothing is lost with a connection.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio::time::Instant;
use uuid::Uuid;

use super::state::ClusterState;
use crate::events::{Event, Happening, Topic};
use crate::model::{EmailId, Listed, Place, Timestamp};
use crate::store::names::named_hash;
use crate::store::{PeerHints, Peers, StoreError};

/// The shortest time from one row of a node to its next. Events of that time are collected for the next row.
pub(super) const COLLECTED_FOR: Duration = Duration::from_millis(50);
/// How often the rows of other nodes are read.
pub(super) const READ_EVERY: Duration = Duration::from_millis(100);
/// The life of a row, in seconds.
const LIFE_SECONDS: i32 = 60;
/// A node that could not read hints for so long may have missed some.
const MISSED_AFTER: Duration = Duration::from_secs(40);
/// For how long the rows of a node are read after it has said that it stops.
const STOPS_WITHIN: Duration = Duration::from_secs(20);
/// The most events of a row. With more, subscribers of other nodes look at the store.
const EVENTS_MAX: usize = 2000;
/// The most events of a node that came by a connection and whose rows are not read yet.
const SENT_MAX: usize = 50_000;

/// An event on its way to another node.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct HintedEvent {
    topic: [u8; 16],
    happening: HintedHappening,
    id: [u8; 16],
    message: [u8; 16],
    sequence: u64,
    received_at: i64,
    expires_at: i64,
    octets: u64,
    /// There may be events of webhooks about it.
    has_events: bool,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum HintedHappening {
    Received,
    Deleted,
}

/// Some events of a node, in their order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Batch {
    node: [u8; 16],
    /// The number of the first event.
    first: u64,
    events: Vec<HintedEvent>,
    /// There were more than fit.
    has_missed: bool,
}

/// The events that are to be sent, and those that are to be written.
#[derive(Debug)]
pub(super) struct Outgoing {
    node: [u8; 16],
    collected: Mutex<Collected>,
    /// The rows so far, which a task that begins again goes on counting.
    rows: AtomicI64,
    pub(super) to_send: Notify,
    pub(super) to_write: Notify,
}

#[derive(Debug, Default)]
struct Collected {
    /// The number of the next event.
    next: u64,
    unsent: Vec<HintedEvent>,
    unwritten: Vec<HintedEvent>,
    has_missed: bool,
}

impl Outgoing {
    pub(super) fn new(node: Uuid) -> Self {
        let collected = Mutex::new(Collected { next: 1, ..Collected::default() });
        Self {
            node: node.into_bytes(),
            collected,
            rows: AtomicI64::new(0),
            to_send: Notify::new(),
            to_write: Notify::new(),
        }
    }

    fn locked(&self) -> MutexGuard<'_, Collected> {
        self.collected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, event: HintedEvent) {
        let mut collected = self.locked();
        if collected.unwritten.len() < EVENTS_MAX {
            collected.next += 1;
            // Without anybody who sends, the newest stay.
            if collected.unsent.len() == EVENTS_MAX {
                collected.unsent.clear();
            }
            collected.unsent.push(event.clone());
            collected.unwritten.push(event);
        } else {
            collected.has_missed = true;
        }
        drop(collected);
        self.to_send.notify_one();
        self.to_write.notify_one();
    }

    fn unsent(&self) -> Option<Batch> {
        let mut collected = self.locked();
        let events = std::mem::take(&mut collected.unsent);
        let first = collected.next - events.len() as u64;
        (!events.is_empty()).then_some(Batch { node: self.node, first, events, has_missed: false })
    }

    fn unwritten(&self) -> Option<Batch> {
        let mut collected = self.locked();
        let events = std::mem::take(&mut collected.unwritten);
        let has_missed = std::mem::take(&mut collected.has_missed);
        let first = collected.next - events.len() as u64;
        (!events.is_empty() || has_missed).then_some(Batch { node: self.node, first, events, has_missed })
    }

    /// Events were lost, so the next row says that some are missing.
    pub(super) fn miss(&self) {
        self.locked().has_missed = true;
        self.to_write.notify_one();
    }
}

/// How far the rows of other nodes are read.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// The last row of each node, and when the node was last known to live.
    last: HashMap<Uuid, (i64, Instant)>,
    read_at: Option<Instant>,
}

/// The events of other nodes that came by a connection, until their rows are read.
#[derive(Debug, Default)]
pub(super) struct Sent(Mutex<HashMap<[u8; 16], SentByNode>>);

#[derive(Debug, Default)]
struct SentByNode {
    numbers: HashSet<u64>,
    /// The events before this number were in rows that are read.
    read_before: u64,
}

impl Sent {
    /// Takes note of an event that came by a connection. Returns whether it is new.
    fn insert(&self, node: [u8; 16], number: u64) -> bool {
        let mut nodes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let SentByNode { numbers, read_before } = nodes.entry(node).or_default();
        if numbers.len() >= SENT_MAX {
            numbers.clear();
        }
        number >= *read_before && numbers.insert(number)
    }

    /// Whether an event that is in a row came by a connection before. It is not new from then on.
    fn remove(&self, node: [u8; 16], number: u64) -> bool {
        let mut nodes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let SentByNode { numbers, read_before } = nodes.entry(node).or_default();
        *read_before = number + 1;
        numbers.remove(&number)
    }

    /// Forgets the nodes that live no longer.
    fn retain(&self, lives: impl Fn(Uuid) -> bool) {
        let mut nodes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        nodes.retain(|node, _| lives(Uuid::from_bytes(*node)));
    }
}

impl HintedEvent {
    fn new(topic: Topic, event: &Event, has_events: bool) -> Option<Self> {
        let happening = match event.happening {
            Happening::Received => HintedHappening::Received,
            Happening::Deleted => HintedHappening::Deleted,
            // Each node finds expired mail by itself.
            Happening::Expired => return None,
        };
        let Listed { id, sequence, received_at, expires_at, size_octets, place: Place(message) } = event.email;
        Some(Self {
            topic: topic.octets(),
            happening,
            id: id.octets(),
            message,
            sequence,
            received_at: received_at.millis(),
            expires_at: expires_at.millis(),
            octets: size_octets,
            has_events,
        })
    }

    fn event(&self) -> Event {
        Event {
            happening: match self.happening {
                HintedHappening::Received => Happening::Received,
                HintedHappening::Deleted => Happening::Deleted,
            },
            email: Listed {
                id: EmailId::from_octets(self.id),
                sequence: self.sequence,
                received_at: Timestamp::from_millis(self.received_at),
                expires_at: Timestamp::from_millis(self.expires_at),
                size_octets: self.octets,
                place: Place(self.message),
            },
        }
    }
}

impl ClusterState {
    /// Tells the other nodes of an event.
    pub(super) fn hint(&self, topic: Topic, event: &Event, has_events: bool) {
        if let Some(event) = HintedEvent::new(topic, event, has_events) {
            self.outgoing.add(event);
        }
    }

    /// Writes the collected events, if there are any, as the next row of this node.
    pub(super) async fn write_hints(&self) -> Result<(), StoreError> {
        let Some(batch) = self.outgoing.unwritten() else { return Ok(()) };
        let number = self.outgoing.rows.fetch_add(1, Ordering::Relaxed) + 1;
        let octets = postcard::to_stdvec(&batch).map_err(|error| StoreError::Failed(error.to_string()))?;
        self.vital.run(&self.statements.hint_insert, (self.node, number, octets, LIFE_SECONDS)).await
    }

    /// Writes what is left when the store closes.
    pub(super) async fn write_last_hints(&self) {
        if let Err(error) = self.write_hints().await {
            tracing::debug!(%error, "the last hints for other nodes could not be written");
        }
    }

    /// Reads the rows that other nodes have written since the last time.
    pub(super) async fn read_hints(&self, reading: &mut Reading) {
        let peers = self.peers();
        let now = Instant::now();
        for peer in peers.keys() {
            reading.last.entry(*peer).or_insert((0, now)).1 = now;
        }
        // A node that stops takes mail until its last sessions have ended.
        reading.last.retain(|_, (_, lived_at)| now - *lived_at < STOPS_WITHIN);
        self.sent.retain(|node| reading.last.contains_key(&node));
        let reads = reading.last.iter_mut().map(|(peer, (last, _))| self.read_hints_of(*peer, last));
        let is_complete = join_all(reads).await.into_iter().all(|is_read| is_read);
        if is_complete {
            let before = reading.read_at.replace(now);
            if before.is_some_and(|before| now - before > MISSED_AFTER) {
                self.hub.miss_before(self.hub.moment());
            }
        }
    }

    /// Reads the rows of a node after its row `last`. Returns whether they could be read.
    async fn read_hints_of(&self, peer: Uuid, last: &mut i64) -> bool {
        let rows = self.vital.all::<(i64, Vec<u8>)>(&self.statements.hint_select, (peer, *last)).await;
        match rows {
            Ok(rows) => {
                for (number, events) in rows {
                    *last = number;
                    self.take_row(&events);
                }
                true
            }
            Err(error) => {
                tracing::debug!(%error, "the hints of another node could not be read");
                false
            }
        }
    }

    /// Passes the events of a row on to the subscribers of this node.
    fn take_row(&self, octets: &[u8]) {
        let Ok(batch) = postcard::from_bytes::<Batch>(octets) else {
            tracing::warn!("the hints of another node cannot be read; it has another version");
            self.hub.miss_before(self.hub.moment());
            return;
        };
        for (number, event) in (batch.first..).zip(&batch.events) {
            if !self.sent.remove(batch.node, number) {
                self.pass_on(event);
            }
        }
        if batch.has_missed {
            self.hub.miss_before(self.hub.moment());
        }
    }

    /// Passes events that came by a connection on to the subscribers of this node. `false` if they cannot be read.
    fn take_sent(&self, octets: &[u8]) -> bool {
        let Ok(batch) = postcard::from_bytes::<Batch>(octets) else { return false };
        for (number, event) in (batch.first..).zip(&batch.events) {
            if self.sent.insert(batch.node, number) {
                self.pass_on(event);
            }
        }
        true
    }

    fn pass_on(&self, event: &HintedEvent) {
        self.sequences.observe(event.sequence);
        self.totals.forget(event.topic);
        if event.has_events {
            self.ring_outbox();
        }
        if self.hub.is_watched() {
            self.hub.publish(Topic::new(event.topic), &event.event());
        }
    }
}

#[async_trait]
impl Peers for ClusterState {
    fn token(&self) -> String {
        let token = u128::from_be_bytes(named_hash(&self.secret, "peers", "hints"));
        format!("{token:032x}")
    }

    fn set_address(&self, address: String) {
        *self.address.lock().unwrap_or_else(PoisonError::into_inner) = address;
    }

    async fn next(&self) -> PeerHints {
        loop {
            self.outgoing.to_send.notified().await;
            let Some(batch) = self.outgoing.unsent() else { continue };
            let addresses: Vec<String> =
                self.peers().into_values().map(|peer| peer.address).filter(|address| !address.is_empty()).collect();
            match postcard::to_stdvec(&batch) {
                Ok(octets) if !addresses.is_empty() => return PeerHints { addresses, octets: octets.into() },
                _ => {}
            }
        }
    }

    fn take(&self, octets: &[u8]) -> bool {
        self.take_sent(octets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_that_comes_both_ways_is_new_once() {
        let (sent, node) = (Sent::default(), [1; 16]);
        assert!(sent.insert(node, 1) && !sent.insert(node, 1), "the connection is first");
        assert!(sent.remove(node, 1), "then the row knows it");
        assert!(!sent.remove(node, 2), "the row is first");
        assert!(!sent.insert(node, 2), "then the connection brings nothing new");
        assert!(sent.insert([2; 16], 2), "each node counts by itself");
    }
}
