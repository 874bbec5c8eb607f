//! Taking what was deleted off the disk: a batch at a time, on a thread of its own, so that no sender waits for it.

use std::thread::JoinHandle;
use std::time::Duration;

use crate::store::journal::{RecordPlace, Segments};

/// A batch of records that are taken off the disk, if there is one.
#[derive(Debug, Default)]
pub(super) struct Punching(Option<Batch>);

#[derive(Debug)]
struct Batch {
    records: usize,
    thread: JoinHandle<Vec<RecordPlace>>,
}

impl Punching {
    /// How often an idle writer looks whether a batch has ended.
    pub(super) const LOOK_EVERY: Duration = Duration::from_millis(20);

    /// Begins with the records at `places`, which no replay reads any more.
    pub(super) fn start(segments: Segments, places: Vec<RecordPlace>) -> Self {
        let records = places.len();
        let spawned = std::thread::Builder::new().name("segment-puncher".into()).spawn(move || segments.punch(&places));
        match spawned {
            Ok(thread) => Self(Some(Batch { records, thread })),
            Err(error) => {
                tracing::warn!(%error, "no thread to take deleted messages off the disk; it is tried again");
                Self(None)
            }
        }
    }

    /// Whether there is a batch that nobody has taken.
    pub(super) fn is_running(&self) -> bool {
        self.0.is_some()
    }

    /// How many records the batch had and which are gone from the disk, if it has ended.
    pub(super) fn take_ended(&mut self) -> Option<(usize, Vec<RecordPlace>)> {
        if self.0.as_ref().is_some_and(|batch| batch.thread.is_finished()) { self.take() } else { None }
    }

    /// The same, after waiting for its end.
    pub(super) fn take(&mut self) -> Option<(usize, Vec<RecordPlace>)> {
        let Batch { records, thread } = self.0.take()?;
        // A panic costs this batch; the records are named again.
        Some((records, thread.join().unwrap_or_default()))
    }
}
