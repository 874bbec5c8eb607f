//! Hints between nodes: what one node did to an Email, the subscribers of the others learn.
//!
//! A node writes the events that it collected in a short time as one row with a number. The others read the rows after the
//! last number that they know. So a hint costs no row of its own, and the rows that have ended are never read again.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio::time::Instant;
use uuid::Uuid;

use super::state::ClusterState;
use crate::events::{Event, Happening, Topic};
use crate::model::{EmailId, Listed, Place, Timestamp};
use crate::store::StoreError;

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
    events: Vec<HintedEvent>,
    /// There were more than fit.
    has_missed: bool,
}

impl Batch {
    /// Decodes a row. `None` if a node of another build wrote it.
    fn decode(octets: &[u8]) -> Option<Self> {
        // Octets that are left over are no part of this layout.
        let Ok((batch, [])) = postcard::take_from_bytes(octets) else { return None };
        Some(batch)
    }
}

/// The events that are to be written.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    collected: Mutex<Batch>,
    /// The rows so far, which a task that begins again goes on counting.
    rows: AtomicI64,
    pub(super) to_write: Notify,
}

impl Outgoing {
    fn locked(&self) -> MutexGuard<'_, Batch> {
        self.collected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, event: HintedEvent) {
        let mut collected = self.locked();
        if collected.events.len() < EVENTS_MAX {
            collected.events.push(event);
        } else {
            collected.has_missed = true;
        }
        drop(collected);
        self.to_write.notify_one();
    }

    fn unwritten(&self) -> Option<Batch> {
        let batch = std::mem::take(&mut *self.locked());
        (!batch.events.is_empty() || batch.has_missed).then_some(batch)
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
    peers: HashMap<Uuid, Peer>,
    read_at: Option<Instant>,
}

/// How far the rows of a node are read.
#[derive(Debug)]
struct Peer {
    last_row: i64,
    /// When it was last known to live.
    lived_at: Instant,
    /// One of its rows could not be decoded, and the log has it.
    has_other_build: bool,
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
            let new = Peer { last_row: 0, lived_at: now, has_other_build: false };
            reading.peers.entry(*peer).or_insert(new).lived_at = now;
        }
        // A node that stops takes mail until its last sessions have ended.
        reading.peers.retain(|_, peer| now - peer.lived_at < STOPS_WITHIN);
        let reads = reading.peers.iter_mut().map(|(id, peer)| self.read_hints_of(*id, peer));
        let is_complete = join_all(reads).await.into_iter().all(|is_read| is_read);
        if is_complete {
            let before = reading.read_at.replace(now);
            if before.is_some_and(|before| now - before > MISSED_AFTER) {
                self.hub.miss();
            }
        }
    }

    /// Reads the next rows of a node. Returns whether they could be read.
    async fn read_hints_of(&self, id: Uuid, peer: &mut Peer) -> bool {
        let rows = self.vital.all::<(i64, Vec<u8>)>(&self.statements.hint_select, (id, peer.last_row)).await;
        match rows {
            Ok(rows) => {
                for (number, events) in rows {
                    peer.last_row = number;
                    match Batch::decode(&events) {
                        Some(batch) => self.take_row(&batch),
                        None => self.take_unreadable(id, peer),
                    }
                }
                true
            }
            Err(error) => {
                tracing::debug!(%error, "the hints of another node could not be read");
                false
            }
        }
    }

    /// Anything may have happened at a node whose row cannot be decoded, so this node looks at all that a row can change.
    fn take_unreadable(&self, id: Uuid, peer: &mut Peer) {
        if !std::mem::replace(&mut peer.has_other_build, true) {
            tracing::warn!(node = %id, "the hints of another node cannot be read; it has another version");
        }
        self.totals.forget_all();
        self.ring_outbox();
        self.hub.miss();
    }

    /// Passes the events of a row on to the subscribers of this node.
    fn take_row(&self, batch: &Batch) {
        for event in &batch.events {
            self.pass_on(event);
        }
        if batch.has_missed {
            self.hub.miss();
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_another_build_is_no_batch() {
        let row = postcard::to_stdvec(&Batch { events: Vec::new(), has_missed: true }).expect("encode");
        assert!(Batch::decode(&row).is_some_and(|batch| batch.has_missed));
        assert!(Batch::decode(&[&row[..], &[0]].concat()).is_none(), "something is left over");
        assert!(Batch::decode(&row[..1]).is_none(), "something is missing");
    }
}
