//! Backups and detailed counts of a store in use.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream;
use tokio::sync::mpsc;

use super::EmbeddedStore;
use super::state::StoreState;
use crate::model::Timestamp;
use crate::store::backup::{BATCHES_WAITING, BackupItem, BackupSource, Batch, Damage};
use crate::store::index::{IndexError, TABLES, View};
use crate::store::journal::SegmentFiles;
use crate::store::{BackupStream, DetailedStats, Store, StoreError};

/// Starts a backup. A thread of its own reads the store, no faster than the stream is read.
pub(super) fn stream(state: Arc<StoreState>) -> BackupStream {
    let (sender, receiver) = mpsc::channel(BATCHES_WAITING);
    let reader = sender.clone();
    tokio::task::spawn_blocking(move || {
        let mut sending = Sending { sender: reader, batch: Batch::default() };
        let read = AssertUnwindSafe(|| run(&state, &mut sending).and_then(|()| sending.send_rest()));
        // After a panic the reader of the stream must see that the backup is not complete.
        let done = catch_unwind(read).unwrap_or_else(|_| Err(StoreError::Failed("a backup's reader panicked".into())));
        if let Err(error) = done {
            // This fails only if the reader of the stream has gone.
            let _ = sender.blocking_send(Err(error));
        }
    });
    stream::unfold(receiver, |mut receiver| async move { Some((receiver.recv().await?, receiver)) }).boxed()
}

fn run(state: &StoreState, sending: &mut Sending) -> Result<(), StoreError> {
    let read = |ask: &mut dyn FnMut(&View) -> Result<(), IndexError>| state.read(|view| ask(view));
    let files = || SegmentFiles::of(state.segments());
    let source =
        BackupSource { read: &read, files: &files, damage: Damage::Stops, emit: &mut |item| sending.take(item) };
    source.run().map(|_| ())
}

/// The records on their way to the reader of the stream.
struct Sending {
    sender: mpsc::Sender<Result<Vec<BackupItem>, StoreError>>,
    batch: Batch,
}

impl Sending {
    fn take(&mut self, item: BackupItem) -> Result<(), StoreError> {
        self.batch.push(item).map_or(Ok(()), |items| self.send(items))
    }

    fn send_rest(&mut self) -> Result<(), StoreError> {
        let rest = self.batch.take();
        self.send(rest)
    }

    fn send(&self, items: Vec<BackupItem>) -> Result<(), StoreError> {
        // An error ends the backup, since the reader of the stream has gone.
        self.sender.blocking_send(Ok(items)).map_err(|_| StoreError::Stopping)
    }
}

impl EmbeddedStore {
    /// Counts in many short reads. Dropping the future ends it with the current read.
    pub(super) async fn count_in_steps(&self) -> Result<DetailedStats, StoreError> {
        let domains = self.read(View::domain_count).await?;
        let mut used_octets = 0;
        for octets in TABLES {
            used_octets += self.read(octets).await?;
        }
        let (mut oldest, mut newest) = (None, None);
        let mut next = Some([0; 24]);
        while let Some(from) = next {
            let (span, rest) = self.read(move |view| view.received(from)).await?;
            if let Some((first, last)) = span {
                oldest = Some(oldest.map_or(first, |oldest: Timestamp| oldest.min(first)));
                newest = newest.max(Some(last));
            }
            next = rest;
        }
        let stats = self.stats().await?;
        Ok(DetailedStats {
            domains,
            index_free_octets: stats.index_octets.saturating_sub(used_octets),
            oldest,
            newest,
            stats,
        })
    }
}
