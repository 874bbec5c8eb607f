//! The backup of a store in use.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream;
use tokio::sync::mpsc;

use super::shared::Shared;
use crate::model::Timestamp;
use crate::store::backup::{BATCHES_WAITING, BackupItem, BackupSource, Batch, Damage};
use crate::store::{BackupStream, StoreError};

/// Starts a backup. A thread of its own reads the store, no faster than the stream is read.
pub(super) fn stream(shared: Arc<Shared>, now: Timestamp) -> BackupStream {
    let (sender, receiver) = mpsc::channel(BATCHES_WAITING);
    let reader = sender.clone();
    tokio::task::spawn_blocking(move || {
        let mut sending = Sending { sender: reader, batch: Batch::default() };
        let read = AssertUnwindSafe(|| run(&shared, now, &mut sending).and_then(|()| sending.send_rest()));
        // After a panic the reader of the stream must see that the backup is not complete.
        let done = catch_unwind(read).unwrap_or_else(|_| Err(StoreError::Failed("a backup's reader panicked".into())));
        if let Err(error) = done {
            // This fails only if the reader of the stream has gone.
            let _ = sender.blocking_send(Err(error));
        }
    });
    stream::unfold(receiver, |mut receiver| async move { Some((receiver.recv().await?, receiver)) }).boxed()
}

fn run(shared: &Shared, now: Timestamp, sending: &mut Sending) -> Result<(), StoreError> {
    let Shared { registry, files, .. } = shared;
    let source = BackupSource {
        mail: &|| shared.mail(),
        registry,
        files,
        damage: Damage::Stops,
        now,
        emit: &mut |item| sending.take(item),
    };
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
