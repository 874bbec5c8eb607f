//! Taking what was deleted off the disk: a batch at a time, on a thread of its own, so that no sender waits for it.
//!
//! The thread makes its work durable in segments that nobody writes. In the one in use that is the writer's: the system
//! reports a failed write once, and whoever hears of it has to answer for every octet of the file.

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
    /// The segment in use when the batch began.
    in_use: u64,
    thread: JoinHandle<Vec<RecordPlace>>,
    /// What is not done yet is left to the next start.
    stop: Arc<AtomicBool>,
}

/// A batch that has ended.
#[derive(Debug)]
pub(super) struct Punched {
    /// Records of the batch.
    pub(super) records: usize,
    /// Those that are gone, durable but for those in the segment `in_use`.
    pub(super) places: Vec<RecordPlace>,
    pub(super) in_use: u64,
}

impl Punching {
    /// How often an idle writer looks whether a batch has ended.
    pub(super) const POLL_EVERY: Duration = Duration::from_millis(20);

    /// Begins with the records at `places`, which no replay reads any more, while segment `in_use` is written.
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

    /// Whether there is a batch that nobody has taken.
    pub(super) fn is_running(&self) -> bool {
        self.0.is_some()
    }

    /// What came of the batch, if it has ended.
    pub(super) fn take_ended(&mut self) -> Option<Punched> {
        if self.0.as_ref().is_some_and(|batch| batch.thread.is_finished()) { self.take() } else { None }
    }

    /// The same, after waiting for its end, which comes soon after `deadline`.
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
        // A panic costs this batch; the records are named again.
        Some(Punched { records, places: thread.join().unwrap_or_default(), in_use })
    }
}
