//! Punching: removing the octets of deleted messages from the disk, in batches on a thread of its own.
//!
//! The thread syncs the holes in older segments. Only the writer syncs the segment in use: the system reports a failed write
//! to only one sync, and that error concerns every group of the file.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::store::journal::{RecordPlace, Segments};

/// How many records are punched between two checks of the stop flag, with one sync of their segment.
const PIECE: usize = 128;

/// The running batch, if there is one.
#[derive(Debug, Default)]
pub(super) struct Punching(Option<Batch>);

#[derive(Debug)]
struct Batch {
    records: usize,
    /// The segment in use when the batch began.
    in_use: u64,
    thread: JoinHandle<Vec<RecordPlace>>,
    /// Stops the batch early. The next start does the rest.
    stop: Arc<AtomicBool>,
}

/// The result of a batch.
#[derive(Debug)]
pub(super) struct Punched {
    /// The number of records in the batch.
    pub(super) records: usize,
    /// The records that were punched. Their holes are durable, except in segment `in_use`.
    pub(super) places: Vec<RecordPlace>,
    pub(super) in_use: u64,
}

impl Punching {
    /// How often an idle writer checks whether a batch has ended.
    pub(super) const POLL_EVERY: Duration = Duration::from_millis(20);

    /// Starts a batch. No replay may still need the records at `places`. Segment `in_use` is being written.
    pub(super) fn start(segments: Segments, places: Vec<RecordPlace>, in_use: u64) -> Self {
        let records = places.len();
        let stop = Arc::<AtomicBool>::default();
        let punch = {
            let stop = Arc::clone(&stop);
            move || {
                let pieces = places.chunks(PIECE).take_while(|_| !stop.load(Ordering::Relaxed));
                pieces.flat_map(|piece| segments.punch(piece, in_use)).collect()
            }
        };
        match std::thread::Builder::new().name("segment-puncher".into()).spawn(punch) {
            Ok(thread) => Self(Some(Batch { records, in_use, thread, stop })),
            Err(error) => {
                tracing::warn!(%error, "no thread to take deleted messages off the disk; it is tried again");
                Self(None)
            }
        }
    }

    /// Whether there is a batch whose result was not taken yet.
    pub(super) fn is_running(&self) -> bool {
        self.0.is_some()
    }

    /// Takes the result of the batch, if it has ended.
    pub(super) fn take_ended(&mut self) -> Option<Punched> {
        if self.0.as_ref().is_some_and(|batch| batch.thread.is_finished()) { self.take() } else { None }
    }

    /// Waits for the batch and takes its result. The batch stops soon after `deadline`.
    pub(super) fn take_by(&mut self, deadline: Instant) -> Option<Punched> {
        let batch = self.0.as_ref()?;
        while !batch.thread.is_finished() && Instant::now() < deadline {
            std::thread::sleep(Self::POLL_EVERY);
        }
        batch.stop.store(true, Ordering::Relaxed);
        self.take()
    }

    fn take(&mut self) -> Option<Punched> {
        let Batch { records, in_use, thread, .. } = self.0.take()?;
        // After a panic the next checkpoint names these records again.
        Some(Punched { records, places: thread.join().unwrap_or_default(), in_use })
    }
}
