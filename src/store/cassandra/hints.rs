//! Hints between nodes: what one node did to an Email, the subscribers of the others learn.
//!
//! A node collects its events for a short time and writes them as one numbered row. The others read the rows after the
//! last number that they know. So a hint costs no row of its own, and the rows that have ended are never read again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio::time::Instant;
use uuid::Uuid;

use super::state::ClusterState;
use crate::events::{Event, Happening, Topic};
use crate::model::{EmailId, Listed, Place, Timestamp};
use crate::store::StoreError;

/// How long events are collected for one row.
pub(super) const COLLECTED_FOR: Duration = Duration::from_millis(50);
/// How often the rows of other nodes are read.
pub(super) const READ_EVERY: Duration = Duration::from_millis(100);
/// The life of a row, in seconds.
const LIFE_SECONDS: i32 = 60;
/// A node that could not read hints for so long may have missed some.
const MISSED_AFTER: Duration = Duration::from_secs(40);
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
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum HintedHappening {
    Received,
    Deleted,
}

/// The events of one row.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Batch {
    events: Vec<HintedEvent>,
    /// There were more than fit.
    has_missed: bool,
}

/// The events that are to be sent.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    collected: Mutex<Batch>,
    pub(super) filled: Notify,
}

impl Outgoing {
    fn add(&self, event: HintedEvent) {
        let mut collected = self.collected.lock().unwrap_or_else(PoisonError::into_inner);
        if collected.events.len() < EVENTS_MAX {
            collected.events.push(event);
        } else {
            collected.has_missed = true;
        }
        drop(collected);
        self.filled.notify_one();
    }

    fn take(&self) -> Option<Batch> {
        let batch = std::mem::take(&mut *self.collected.lock().unwrap_or_else(PoisonError::into_inner));
        (!batch.events.is_empty() || batch.has_missed).then_some(batch)
    }

    /// Events were lost, so the next row says that some are missing.
    pub(super) fn miss(&self) {
        self.collected.lock().unwrap_or_else(PoisonError::into_inner).has_missed = true;
        self.filled.notify_one();
    }
}

/// How far the hints of other nodes are read.
#[derive(Debug, Default)]
pub(super) struct Reading {
    last: HashMap<Uuid, i64>,
    read_at: Option<Instant>,
}

impl HintedEvent {
    fn new(topic: Topic, event: &Event) -> Option<Self> {
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
    pub(super) fn hint(&self, topic: Topic, event: &Event) {
        if let Some(event) = HintedEvent::new(topic, event) {
            self.outgoing.add(event);
        }
    }

    /// Writes the collected events, if there are any, as row `number`. Returns whether it wrote one.
    pub(super) async fn write_hints(&self, number: i64) -> Result<bool, StoreError> {
        let Some(batch) = self.outgoing.take() else { return Ok(false) };
        let octets = postcard::to_stdvec(&batch).map_err(|error| StoreError::Failed(error.to_string()))?;
        self.cluster.run(&self.statements.hint_insert, (self.node, number, octets, LIFE_SECONDS)).await?;
        Ok(true)
    }

    /// Writes what is left when the store closes. A number that no other row has follows all others of this process.
    pub(super) async fn write_last_hints(&self) {
        if let Err(error) = self.write_hints(i64::MAX).await {
            tracing::debug!(%error, "the last hints for other nodes could not be written");
        }
    }

    /// Reads the rows that other nodes have written since the last time.
    pub(super) async fn read_hints(&self, reading: &mut Reading) {
        let peers = self.peers();
        reading.last.retain(|node, _| peers.contains_key(node));
        let mut is_complete = true;
        for peer in peers.keys() {
            let last = reading.last.entry(*peer).or_insert(0);
            match self.cluster.all::<(i64, Vec<u8>)>(&self.statements.hint_select, (peer, *last)).await {
                Ok(rows) => {
                    for (number, events) in rows {
                        *last = number;
                        self.take_hints(&events);
                    }
                }
                Err(error) => {
                    tracing::debug!(%error, "the hints of another node could not be read");
                    is_complete = false;
                }
            }
        }
        let now = Instant::now();
        if is_complete {
            let before = reading.read_at.replace(now);
            if before.is_some_and(|before| now - before > MISSED_AFTER) {
                self.hub.miss_before(self.hub.moment());
            }
        }
    }

    /// Passes the events of a row on to the subscribers of this node.
    fn take_hints(&self, octets: &[u8]) {
        let Ok(batch) = postcard::from_bytes::<Batch>(octets) else {
            tracing::warn!("hints of another node cannot be read; nodes of different versions run");
            self.hub.miss_before(self.hub.moment());
            return;
        };
        for event in &batch.events {
            self.sequences.observe(event.sequence);
            if self.hub.is_watched() {
                self.hub.publish(Topic::new(event.topic), &event.event());
            }
        }
        if batch.has_missed {
            self.hub.miss_before(self.hub.moment());
        }
    }
}
