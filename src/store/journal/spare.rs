//! The spare: the next segment, which a thread of its own makes in advance, so that no sender waits for it.

use std::io;
use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::segment_name;
use crate::store::StoreError;
use crate::store::disk::{Disk, DiskFile};
use crate::store::error::is_out_of_space;

/// The wait before a failed segment is tried again.
const RETRY_EVERY: Duration = Duration::from_millis(500);
/// The smallest segment on a full disk. It is enough for deletions, which free space.
const LEAST_OCTETS: u64 = 128 << 10;
/// The largest factor between two segments, so that the next one is ready before the one in use is full.
const GROWTH: u64 = 4;

/// The handle of the spare.
#[derive(Debug)]
pub(crate) struct Spare {
    maker: Arc<Maker>,
    thread: Option<JoinHandle<()>>,
}

/// The maker of segments, which its thread, the journal and the readers of [`SpareView`] share.
#[derive(Debug)]
struct Maker {
    disk: Arc<dyn Disk>,
    /// The sizes of segments: the first one's, and the largest.
    octets: RangeInclusive<u64>,
    /// Octets that must stay free on the disk for the index.
    reserved_octets: AtomicU64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
enum State {
    /// The segment with this number is wanted. If `makes_do`, a small one is enough.
    Wanted {
        number: u64,
        makes_do: bool,
    },
    Ready(u64, Arc<dyn DiskFile>),
    /// The last attempt to make the segment with this number failed.
    Failing(u64, SpareFailure),
    Stopped,
}

/// Why there is no next segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SpareFailure {
    /// The disk has no room. Otherwise it failed.
    pub(crate) is_full: bool,
    pub(crate) reason: String,
}

impl SpareFailure {
    fn of(error: &io::Error) -> Self {
        Self { is_full: is_out_of_space(error), reason: error.to_string() }
    }

    /// Translates the failure for the caller of a change.
    pub(crate) fn to_store_error(&self) -> StoreError {
        if self.is_full { StoreError::Full } else { StoreError::Failed(self.reason.clone()) }
    }
}

impl Maker {
    /// Locks the state. A panic of another thread leaves it whole, since every change of it is one assignment.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make(&self, number: u64, octets: u64) -> io::Result<Arc<dyn DiskFile>> {
        let name = segment_name(number);
        // A failed attempt may have left the file.
        let _ = self.disk.remove(&name);
        // An attempt that cannot succeed would take the last room from the index for a moment.
        if self.disk.free_octets()? < octets {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let file = self.disk.create(&name)?;
        let made = file.allocate(octets).and_then(|()| file.sync()).and_then(|()| self.disk.sync_dir());
        if let Err(error) = made {
            let _ = self.disk.remove(&name);
            return Err(error);
        }
        Ok(file)
    }

    /// Makes a segment if that leaves the reserved octets free.
    fn make_beside_reserve(&self, number: u64, octets: u64) -> io::Result<Arc<dyn DiskFile>> {
        let needed = octets.saturating_add(self.reserved_octets.load(Ordering::Relaxed));
        if self.disk.free_octets()? < needed {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.make(number, octets)
    }

    /// Makes a segment of any size, without which nothing could be deleted.
    fn make_any(&self, number: u64, octets: u64) -> io::Result<Arc<dyn DiskFile>> {
        match self.make_beside_reserve(number, octets) {
            Err(error) if is_out_of_space(&error) => self.make(number, LEAST_OCTETS.min(octets)),
            made => made,
        }
    }

    /// Waits for the number of the next segment, and whether a small one is enough. `None` when the store closes.
    fn next_wanted(&self) -> Option<(u64, bool)> {
        let mut state = self.state();
        loop {
            state = match &*state {
                State::Stopped => return None,
                State::Wanted { number, makes_do } => return Some((*number, *makes_do)),
                State::Ready(..) => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                State::Failing(number, _) => {
                    let number = *number;
                    let (state, wait) =
                        self.changed.wait_timeout(state, RETRY_EVERY).unwrap_or_else(PoisonError::into_inner);
                    if wait.timed_out() && matches!(*state, State::Failing(..)) {
                        return Some((number, false));
                    }
                    state
                }
            };
        }
    }

    fn run(&self) {
        let mut octets = *self.octets.start();
        while let Some((number, makes_do)) = self.next_wanted() {
            let attempt =
                || if makes_do { self.make_any(number, octets) } else { self.make_beside_reserve(number, octets) };
            // A panic must only fail this attempt, or the writer would wait for ever.
            let made = catch_unwind(AssertUnwindSafe(attempt));
            let made = made.unwrap_or_else(|_| Err(io::Error::other("making the next segment panicked")));
            // After a failure the writer may be waiting, so the next segment is small again.
            let grown = octets.saturating_mul(GROWTH).min(*self.octets.end());
            octets = if made.is_ok() { grown } else { *self.octets.start() };
            let mut state = self.state();
            let is_still_wanted = match &*state {
                State::Wanted { number: wanted, .. } | State::Failing(wanted, _) => *wanted == number,
                State::Ready(..) | State::Stopped => false,
            };
            if is_still_wanted {
                *state = match made {
                    Ok(file) => State::Ready(number, file),
                    Err(error) => State::Failing(number, SpareFailure::of(&error)),
                };
                self.changed.notify_all();
            }
        }
    }
}

impl Spare {
    /// Starts the thread and makes segment `number`. It has the least of `octets`, and later ones grow to the largest.
    pub(super) fn start(disk: Arc<dyn Disk>, octets: RangeInclusive<u64>, number: u64) -> io::Result<Self> {
        let maker = Arc::new(Maker {
            disk,
            octets,
            reserved_octets: AtomicU64::new(0),
            state: Mutex::new(State::Wanted { number, makes_do: true }),
            changed: Condvar::new(),
        });
        let thread = std::thread::Builder::new().name("segment-maker".into()).spawn({
            let maker = Arc::clone(&maker);
            move || maker.run()
        })?;
        Ok(Self { maker, thread: Some(thread) })
    }

    /// Takes segment `number`, waits for it if need be, and orders the one after it.
    ///
    /// Fails if the segment cannot be made now. If `makes_do`, a small one is enough.
    pub(super) fn take(&self, number: u64, makes_do: bool) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.maker.state();
        if makes_do && matches!(*state, State::Failing(..)) {
            *state = State::Wanted { number, makes_do };
            self.maker.changed.notify_all();
        }
        loop {
            match &*state {
                State::Ready(ready, file) if *ready == number => {
                    let file = Arc::clone(file);
                    *state = State::Wanted { number: number + 1, makes_do: false };
                    self.maker.changed.notify_all();
                    return Ok(file);
                }
                State::Ready(..) => {
                    *state = State::Wanted { number, makes_do };
                    self.maker.changed.notify_all();
                }
                State::Failing(_, SpareFailure { is_full, reason }) => {
                    let kind = if *is_full { io::ErrorKind::StorageFull } else { io::ErrorKind::Other };
                    return Err(io::Error::new(kind, reason.clone()));
                }
                State::Stopped => return Err(io::Error::other("the store is closed")),
                State::Wanted { .. } => state = self.maker.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// Orders segment `number` again, since its file was unusable.
    pub(super) fn again(&self, number: u64) {
        *self.maker.state() = State::Wanted { number, makes_do: false };
        self.maker.changed.notify_all();
    }

    /// Removes the spare, so that the index can use its space. It is made again once there is room for both.
    pub(super) fn give_up(&self) {
        let mut state = self.maker.state();
        if let State::Ready(number, _) = &*state {
            let number = *number;
            match self.maker.disk.remove(&segment_name(number)) {
                Ok(()) => {
                    let reason = io::Error::from(io::ErrorKind::StorageFull).to_string();
                    *state = State::Failing(number, SpareFailure { is_full: true, reason });
                    self.maker.changed.notify_all();
                }
                Err(error) => tracing::warn!(segment = number, %error, "the next segment's room could not be given up"),
            }
        }
    }

    /// A view of the spare for other threads.
    pub(crate) fn view(&self) -> SpareView {
        SpareView(Arc::clone(&self.maker))
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        *self.maker.state() = State::Stopped;
        self.maker.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A view of the spare that any thread may use.
#[derive(Clone, Debug)]
pub(crate) struct SpareView(Arc<Maker>);

impl SpareView {
    /// Why there is no spare. `None` while it is ready or being made.
    pub(crate) fn failure(&self) -> Option<SpareFailure> {
        match &*self.0.state() {
            State::Failing(_, failure) => Some(failure.clone()),
            State::Wanted { .. } | State::Ready(..) | State::Stopped => None,
        }
    }

    /// The octets of the spare, 0 while there is none.
    pub(crate) fn octets(&self) -> u64 {
        match &*self.0.state() {
            State::Ready(_, file) => file.size().unwrap_or(0),
            State::Wanted { .. } | State::Failing(..) | State::Stopped => 0,
        }
    }

    /// Sets how many octets the next spare must leave free on the disk.
    pub(crate) fn reserve(&self, octets: u64) {
        self.0.reserved_octets.store(octets, Ordering::Relaxed);
    }
}
