//! Taking what was deleted off the disk: a batch at a time, on a thread of its own, so that no sender waits for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::store::journal::{RecordPlace, Segments};

/// Records that are taken off the disk with one sync of their segment, before a batch looks whether it is to stop.
const PIECE: usize = 128;

/// A batch of records that are taken off the disk, if there is one.
#[derive(Debug, Default)]
pub(super) struct Punching(Option<Batch>);

#[derive(Debug)]
struct Batch {
    records: usize,
    thread: JoinHandle<Vec<RecordPlace>>,
    /// What is not done yet is left to the next start.
    is_to_stop: Arc<AtomicBool>,
}

impl Punching {
    /// How often an idle writer looks whether a batch has ended.
    pub(super) const LOOK_EVERY: Duration = Duration::from_millis(20);

    /// Begins with the records at `places`, which no replay reads any more.
    pub(super) fn start(segments: Segments, places: Vec<RecordPlace>) -> Self {
        let records = places.len();
        let is_to_stop = Arc::<AtomicBool>::default();
        let punch = {
            let is_to_stop = Arc::clone(&is_to_stop);
            move || {
                let pieces = places.chunks(PIECE).take_while(|_| !is_to_stop.load(Ordering::Relaxed));
                pieces.flat_map(|piece| segments.punch(piece)).collect()
            }
        };
        match std::thread::Builder::new().name("segment-puncher".into()).spawn(punch) {
            Ok(thread) => Self(Some(Batch { records, thread, is_to_stop })),
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

    /// The same, after waiting for its end, which comes soon after `deadline`.
    pub(super) fn take_by(&mut self, deadline: Instant) -> Option<(usize, Vec<RecordPlace>)> {
        let batch = self.0.as_ref()?;
        while !batch.thread.is_finished() && Instant::now() < deadline {
            std::thread::sleep(Self::LOOK_EVERY);
        }
        batch.is_to_stop.store(true, Ordering::Relaxed);
        self.take()
    }

    fn take(&mut self) -> Option<(usize, Vec<RecordPlace>)> {
        let Batch { records, thread, .. } = self.0.take()?;
        // A panic costs this batch; the records are named again.
        Some((records, thread.join().unwrap_or_default()))
    }
}
