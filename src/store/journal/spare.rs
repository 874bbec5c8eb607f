//! The next segment, made ahead of need by a thread of its own, so that no sender waits for it.

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

/// How long to wait before a segment that could not be made is tried again.
const RETRY_EVERY: Duration = Duration::from_millis(500);
/// What the journal makes do with on a full disk when it has no segment to write to: enough to delete, which is what makes
/// room.
const LEAST_OCTETS: u64 = 128 << 10;
/// By how much each segment may be larger than the one before, so that it is made sooner than that is full.
const GROWTH: u64 = 4;

/// The segment that will be used next.
#[derive(Debug)]
pub(crate) struct Spare {
    maker: Arc<Maker>,
    thread: Option<JoinHandle<()>>,
}

/// Makes segments; what its thread, the journal and those who ask about room have in common.
#[derive(Debug)]
struct Maker {
    disk: Arc<dyn Disk>,
    /// From the first segment to those that are made when all is well.
    octets: RangeInclusive<u64>,
    /// Room that must be left on the disk beside the spare: the index's.
    reserved_octets: AtomicU64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
enum State {
    /// The segment with this number is wanted; a small one will do if `makes_do`.
    Wanted {
        number: u64,
        makes_do: bool,
    },
    Ready(u64, Arc<dyn DiskFile>),
    /// The segment with this number could not be made yet.
    Failing(u64, SpareFailure),
    Stopped,
}

/// Why there is no next segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SpareFailure {
    /// There is no room; else the disk failed.
    pub(crate) is_full: bool,
    pub(crate) reason: String,
}

impl SpareFailure {
    fn of(error: &io::Error) -> Self {
        Self { is_full: is_out_of_space(error), reason: error.to_string() }
    }

    /// What it means for whoever needs the room.
    pub(crate) fn to_store_error(&self) -> StoreError {
        if self.is_full { StoreError::Full } else { StoreError::Failed(self.reason.clone()) }
    }
}

impl Maker {
    /// A panic elsewhere leaves the state whole: every change of it is one assignment.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make(&self, number: u64, octets: u64) -> io::Result<Arc<dyn DiskFile>> {
        let name = segment_name(number);
        // What an attempt that failed left behind.
        let _ = self.disk.remove(&name);
        // An attempt that can't succeed would take the last room from the index, each time for a moment.
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

    /// The same for a store in use, which must keep what is reserved.
    fn make_beside_reserve(&self, number: u64, octets: u64) -> io::Result<Arc<dyn DiskFile>> {
        let needed = octets.saturating_add(self.reserved_octets.load(Ordering::Relaxed));
        if self.disk.free_octets()? < needed {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.make(number, octets)
    }

    /// The one without which nothing can be deleted.
    fn make_any(&self, number: u64, octets: u64) -> io::Result<Arc<dyn DiskFile>> {
        match self.make_beside_reserve(number, octets) {
            Err(error) if is_out_of_space(&error) => self.make(number, LEAST_OCTETS.min(octets)),
            made => made,
        }
    }

    /// The number of the segment to make next, and whether a small one will do; `None` when the store closes.
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
            // A panic costs this attempt; whoever waits for the segment would else wait for ever.
            let made = catch_unwind(AssertUnwindSafe(attempt));
            let made = made.unwrap_or_else(|_| Err(io::Error::other("making the next segment panicked")));
            // After a failure somebody waits again.
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
    /// Starts to make segment `number`, which and each after a failure has the least of `octets`; they grow from there.
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

    /// Takes segment `number` when it is made, and has the one after it made. An error if it can't be made now, be it as a
    /// small one if `makes_do`.
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

    /// Gives back the number of a segment whose file turned out to be unusable: it is made anew.
    pub(super) fn again(&self, number: u64) {
        *self.maker.state() = State::Wanted { number, makes_do: false };
        self.maker.changed.notify_all();
    }

    /// Gives the room of the spare to the index, which has none. It is made anew once there is room for both.
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

    /// What a look at the spare says about taking more mail.
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

/// Tells from any thread whether the next segment can be had.
#[derive(Clone, Debug)]
pub(crate) struct SpareView(Arc<Maker>);

impl SpareView {
    /// `None` while it is there or being made.
    pub(crate) fn failure(&self) -> Option<SpareFailure> {
        match &*self.0.state() {
            State::Failing(_, failure) => Some(failure.clone()),
            State::Wanted { .. } | State::Ready(..) | State::Stopped => None,
        }
    }

    /// How many octets the spare has, none while it is not there.
    pub(crate) fn octets(&self) -> u64 {
        match &*self.0.state() {
            State::Ready(_, file) => file.size().unwrap_or(0),
            State::Wanted { .. } | State::Failing(..) | State::Stopped => 0,
        }
    }

    /// How much room the next spare must leave on the disk.
    pub(crate) fn reserve(&self, octets: u64) {
        self.0.reserved_octets.store(octets, Ordering::Relaxed);
    }
}
