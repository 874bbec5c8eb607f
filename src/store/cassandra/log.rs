//! What each node did, for all nodes: facts in rows by minute and node, with numbers without gaps.
//!
//! One task writes row after row, each with all facts that wait, and repeats each until it is written. Then the facts are
//! applied to this node's picture. Every other node reads the rows, and applies them to its own.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::try_join_all;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};
use tokio::sync::{Mutex as AsyncMutex, mpsc, oneshot};
use tokio::time::sleep;

use super::Shared;
use super::message::MessageId;
use crate::model::{EmailId, Timestamp, WebhookId};
use crate::store::StoreError;

/// The version of the facts in a row, as its first octet.
const VERSION: u8 = 1;
/// The most facts of one row.
const FACTS_MAX: usize = 500;
const RETRY_AFTER: Duration = Duration::from_millis(200);
const MINUTE_MILLIS: i64 = 60_000;
/// The partitions that are read at once when all logs are read.
const PARTITIONS_AT_ONCE: usize = 8;

/// Something that a node did, which all nodes know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Fact {
    /// A message is visible.
    Received(Received),
    /// Emails were deleted, or made way for others.
    Deleted(Vec<EmailId>),
    /// Events of a webhook were written that no message of this moment has.
    EventsAdded(WebhookId),
    /// Something that people typed in was changed.
    RegistryChanged,
    /// A message to leases alone is visible, whatever the retention is.
    ReceivedByLeases(Received),
}

/// An Email of a message: id, sequence, and the hashes of its mailbox and its domain.
pub(super) type NewEmail = (EmailId, u64, [u8; 16], u64);

/// A message that is visible.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Received {
    pub(super) message: MessageId,
    pub(super) octets: u32,
    pub(super) at: Timestamp,
    pub(super) expires_at: Timestamp,
    pub(super) emails: Vec<NewEmail>,
    /// Its events: Emails by their place above, with webhooks.
    pub(super) events: Vec<(u16, WebhookId)>,
}

/// A fact that waits to be written, and who waits for it.
#[derive(Debug)]
pub(super) struct Waiting {
    fact: Fact,
    /// How long the row must live, in seconds.
    life: i32,
    written: oneshot::Sender<()>,
}

/// The log of this node, and how far those of the others were read.
#[derive(Debug)]
pub(super) struct Log {
    to_write: Mutex<Option<mpsc::UnboundedSender<Waiting>>>,
    /// The last number read of each node. Held while rows are read and applied.
    read: AsyncMutex<HashMap<Vec<u8>, i64>>,
    /// Whether all logs were read once.
    is_loaded: AtomicBool,
}

impl Log {
    /// A log, and what its writer takes.
    pub(super) fn new() -> (Self, mpsc::UnboundedReceiver<Waiting>) {
        let (sender, to_write) = mpsc::unbounded_channel();
        let log =
            Self { to_write: Mutex::new(Some(sender)), read: AsyncMutex::default(), is_loaded: AtomicBool::new(false) };
        (log, to_write)
    }

    /// Ends the writer once it has written all that waits.
    pub(super) fn close(&self) {
        self.to_write.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// Starts the task that writes the log of this node.
pub(super) fn spawn_writer(shared: &Arc<Shared>, mut to_write: mpsc::UnboundedReceiver<Waiting>) {
    // The store holds the sender, so the task must not hold the store while it waits.
    let store = Arc::downgrade(shared);
    shared.tasks.spawn(async move {
        let mut seq = 0;
        let mut waiting = Vec::new();
        while to_write.recv_many(&mut waiting, FACTS_MAX).await > 0 {
            let Some(shared) = store.upgrade() else { return };
            seq += 1;
            // A clock that was ahead and is set right takes the minute back: others look at the minutes around their own time.
            shared.write_row(minute_of(shared.now()), seq, std::mem::take(&mut waiting)).await;
        }
    });
}

/// The minute of a time, since 1970.
pub(super) fn minute_of(at: Timestamp) -> i64 {
    at.millis().div_euclid(MINUTE_MILLIS)
}

impl Shared {
    /// Adds a fact, which must be known for so many seconds. On return it is written, and applied to this node's picture.
    pub(super) async fn append(&self, fact: Fact, life: i32) -> Result<(), StoreError> {
        self.tell(fact, life).await.map_err(|_| StoreError::Stopping)
    }

    /// Adds a fact, and does not wait until it is written. Whoever waits for the answer does.
    pub(super) fn tell(&self, fact: Fact, life: i32) -> oneshot::Receiver<()> {
        let (written, is_written) = oneshot::channel();
        if let Some(to_write) = &*self.log.to_write.lock().unwrap_or_else(PoisonError::into_inner) {
            // If the writer has gone, so has `written`.
            let _ = to_write.send(Waiting { fact, life, written });
        }
        is_written
    }

    /// Writes a row until it is written, or nobody waits for it any more while the store closes.
    async fn write_row(&self, minute: i64, seq: i64, waiting: Vec<Waiting>) {
        let life = waiting.iter().map(|waiting| waiting.life).max().unwrap_or(1);
        let facts: Vec<&Fact> = waiting.iter().map(|waiting| &waiting.fact).collect();
        let mut row = vec![VERSION];
        row.extend(postcard::to_stdvec(&facts).unwrap_or_default());
        let values = (minute, &self.node.id()[..], seq, &row[..], life);
        while let Err(error) = self.vital.run(&self.statements.log_insert, values).await {
            tracing::debug!(%error, "a row of the log was not written; it is written again");
            let has_waiters = waiting.iter().any(|waiting| !waiting.written.is_closed());
            if self.check_open().is_err() && !has_waiters {
                return;
            }
            sleep(RETRY_AFTER).await;
        }
        let (facts, written): (Vec<Fact>, Vec<_>) =
            waiting.into_iter().map(|waiting| (waiting.fact, waiting.written)).unzip();
        self.apply(&facts);
        for written in written {
            // Who waited may have gone.
            let _ = written.send(());
        }
    }

    /// Applies facts of any node to this one's picture, and tells who waits.
    pub(super) fn apply(&self, facts: &[Fact]) {
        for fact in facts {
            self.outbox.note(fact);
            if *fact == Fact::RegistryChanged {
                self.changes.send_modify(|changes| *changes += 1);
            }
            for (topic, event) in self.picture.apply(fact) {
                if self.hub.is_watched() {
                    self.hub.publish(topic, &event);
                }
            }
        }
    }

    /// Makes sure that the picture has what all nodes did up to now: in a daemon since its start, otherwise up to this call.
    pub(super) async fn catch_up(&self) -> Result<(), StoreError> {
        if self.is_running() && self.log.is_loaded.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut read = self.log.read.lock().await;
        if self.is_running() && self.log.is_loaded.load(Ordering::Acquire) {
            return Ok(());
        }
        self.read_all(&mut read).await?;
        self.log.is_loaded.store(true, Ordering::Release);
        Ok(())
    }

    /// Reads what is new in all logs, minute by minute.
    async fn read_all(&self, read: &mut HashMap<Vec<u8>, i64>) -> Result<(), StoreError> {
        let mut partitions = self.vital.all::<(i64, Vec<u8>)>(&self.statements.log_partitions, ()).await?;
        partitions.retain(|(_, node)| node[..] != self.node.id()[..]);
        partitions.sort_unstable();
        // Not the last number that this pass has read: the clock of a node may have gone back, and its minutes with it.
        let known = read.clone();
        let rows = stream::iter(partitions).map(|(minute, node)| {
            let after = known.get(&node).copied().unwrap_or(0);
            async move {
                let values = (minute, &node[..], after);
                let rows = self.vital.all::<(i64, Vec<u8>)>(&self.statements.log_select, values).await?;
                Ok::<_, StoreError>((node, rows))
            }
        });
        let mut rows = rows.buffered(PARTITIONS_AT_ONCE);
        while let Some((node, rows)) = rows.try_next().await? {
            for (seq, row) in rows {
                self.take_row(&row);
                let last = read.entry(node.clone()).or_insert(0);
                *last = seq.max(*last);
            }
        }
        Ok(())
    }

    /// Reads what living nodes did lately. Rows that this one missed, or may have missed, are looked for in all minutes.
    pub(super) async fn follow_logs(&self, may_have_missed: bool) -> Result<(), StoreError> {
        let mut read = self.log.read.lock().await;
        let minute = minute_of(self.now());
        let minutes = [minute - 1, minute, minute + 1];
        let mut is_whole = !may_have_missed;
        let follows = self.node.others().into_iter().map(|node| {
            let after = read.get(&node).copied().unwrap_or(0);
            async move {
                let values = (&minutes[..], &node[..], after);
                let rows = self.vital.all::<(i64, Vec<u8>)>(&self.statements.log_follow, values).await?;
                Ok::<_, StoreError>((node, rows))
            }
        });
        for (node, mut rows) in try_join_all(follows).await? {
            rows.sort_unstable_by_key(|(seq, _)| *seq);
            let last = read.entry(node).or_insert(0);
            let Some(newest) = rows.last().map(|(seq, _)| *seq) else { continue };
            if i64::try_from(rows.len()) == Ok(newest - *last) {
                for (_, row) in &rows {
                    self.take_row(row);
                }
                *last = newest;
            } else {
                is_whole = false;
            }
        }
        if !is_whole {
            tracing::info!("rows of another node's log were missed; all logs are read");
            self.read_all(&mut read).await?;
            self.hub.miss();
        }
        Ok(())
    }

    fn take_row(&self, row: &[u8]) {
        let facts = row.strip_prefix(&[VERSION]).and_then(|facts| postcard::from_bytes::<Vec<Fact>>(facts).ok());
        if let Some(facts) = facts {
            self.apply(&facts);
        } else {
            tracing::warn!("a row of another node's log cannot be read; it may have another version");
            self.hub.miss();
        }
    }
}
