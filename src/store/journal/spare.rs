//! The next segment, made ahead of need by a thread of its own, so that no sender waits for it.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::segment_name;
use crate::store::disk::{Disk, DiskFile};
use crate::store::error::is_out_of_space;

/// How long to wait before a segment that could not be made is tried again.
const RETRY_EVERY: Duration = Duration::from_millis(500);
/// What the first segment after an open makes do with on a full disk: enough to delete, which is what makes room.
const LEAST_OCTETS: u64 = 128 << 10;

/// The segment that will be used next.
#[derive(Debug)]
pub(crate) struct Spare {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    disk: Arc<dyn Disk>,
    octets: u64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
enum State {
    /// The segment with this number is wanted.
    Wanted(u64),
    Ready(u64, Arc<dyn DiskFile>),
    /// It could not be made yet: the number, and whether there was no room.
    Failing {
        number: u64,
        is_full: bool,
        reason: String,
    },
    Stopped,
}

impl Shared {
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

    /// The number of the segment to make next; `None` when the store closes.
    fn next_wanted(&self) -> Option<u64> {
        let mut state = self.state();
        loop {
            state = match &*state {
                State::Stopped => return None,
                State::Wanted(number) => return Some(*number),
                State::Ready(..) => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                State::Failing { number, .. } => {
                    let number = *number;
                    let (state, wait) =
                        self.changed.wait_timeout(state, RETRY_EVERY).unwrap_or_else(PoisonError::into_inner);
                    if wait.timed_out() && matches!(*state, State::Failing { .. }) {
                        return Some(number);
                    }
                    state
                }
            };
        }
    }

    fn run(&self) {
        let mut is_first = true;
        while let Some(number) = self.next_wanted() {
            let mut made = self.make(number, self.octets);
            if is_first && made.as_ref().is_err_and(is_out_of_space) {
                made = self.make(number, LEAST_OCTETS.min(self.octets));
            }
            is_first = false;
            let mut state = self.state();
            let is_still_wanted = match &*state {
                State::Wanted(wanted) | State::Failing { number: wanted, .. } => *wanted == number,
                State::Ready(..) | State::Stopped => false,
            };
            if is_still_wanted {
                *state = match made {
                    Ok(file) => State::Ready(number, file),
                    Err(error) => {
                        State::Failing { number, is_full: is_out_of_space(&error), reason: error.to_string() }
                    }
                };
                self.changed.notify_all();
            }
        }
    }
}

impl Spare {
    /// Starts to make segment `number`.
    pub(super) fn start(disk: Arc<dyn Disk>, octets: u64, number: u64) -> io::Result<Self> {
        let shared =
            Arc::new(Shared { disk, octets, state: Mutex::new(State::Wanted(number)), changed: Condvar::new() });
        let thread = std::thread::Builder::new().name("segment-maker".into()).spawn({
            let shared = Arc::clone(&shared);
            move || shared.run()
        })?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Takes segment `number` when it is made, and has the one after it made. An error if it can't be made now.
    pub(super) fn take(&self, number: u64) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.shared.state();
        loop {
            match &*state {
                State::Ready(ready, file) if *ready == number => {
                    let file = Arc::clone(file);
                    *state = State::Wanted(number + 1);
                    self.shared.changed.notify_all();
                    return Ok(file);
                }
                State::Ready(..) => {
                    *state = State::Wanted(number);
                    self.shared.changed.notify_all();
                }
                State::Failing { is_full, reason, .. } => {
                    let kind = if *is_full { io::ErrorKind::StorageFull } else { io::ErrorKind::Other };
                    return Err(io::Error::new(kind, reason.clone()));
                }
                State::Stopped => return Err(io::Error::other("the store is closed")),
                State::Wanted(_) => state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// Gives back the number of a segment whose file turned out to be unusable: it is made anew.
    pub(super) fn again(&self, number: u64) {
        *self.shared.state() = State::Wanted(number);
        self.shared.changed.notify_all();
    }

    /// What a look at the spare says about taking more mail.
    pub(crate) fn view(&self) -> SpareView {
        SpareView(Arc::clone(&self.shared))
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        *self.shared.state() = State::Stopped;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Tells from any thread whether the next segment can be had.
#[derive(Clone, Debug)]
pub(crate) struct SpareView(Arc<Shared>);

impl SpareView {
    /// `None` while it is there or being made; else whether it is room that lacks, and the reason.
    pub(crate) fn failure(&self) -> Option<(bool, String)> {
        match &*self.0.state() {
            State::Failing { is_full, reason, .. } => Some((*is_full, reason.clone())),
            State::Wanted(_) | State::Ready(..) | State::Stopped => None,
        }
    }
}
