//! The spare: the file of the next segment, which a thread of its own makes ahead of need, so that no sender waits for it.
//!
//! The file has no number before it is used. It is new and full of zeros, or a dead segment that will soon be overwritten.
//! The same thread keeps the hints of sealed segments, for which no sender waits either.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::Hints;
use super::begin::cut;
use crate::store::StoreError;
use crate::store::disk::{Disk, DiskFile};
use crate::store::error::is_out_of_space;

/// The name of a new file.
const NEW: &str = "spare";
/// The name of a dead segment that waits to be written again.
const DEAD: &str = "dead";
/// The wait before a failed spare is tried again.
const RETRY_EVERY: Duration = Duration::from_millis(500);
/// The most hints that wait to be kept.
const HINTS_WAITING: usize = 4;
/// The size of a segment on a full disk. It is enough for deletions, which free space.
const LEAST_OCTETS: u64 = 128 << 10;

/// The handle of the spare.
#[derive(Debug)]
pub(super) struct Spare {
    maker: Arc<Maker>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread, the journal and the readers of [`SpareView`] share.
#[derive(Debug)]
struct Maker {
    disk: Arc<dyn Disk>,
    hints: Arc<dyn Hints>,
    octets: u64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    spare: Make,
    /// A dead segment waits to be the next spare.
    has_dead: bool,
    /// The last process may have left a spare.
    may_be_left: bool,
    /// Segments whose lengths and hints are not durable yet. The first one may be on its way.
    sealed: VecDeque<Sealed>,
    /// When the first of them failed.
    failed_at: Option<Instant>,
    is_stopped: bool,
}

/// A sealed segment.
#[derive(Debug)]
pub(super) struct Sealed {
    pub(super) number: u32,
    pub(super) end: u32,
    /// `None` if its segment is to be scanned.
    pub(super) hint: Option<Vec<u8>>,
}

#[derive(Debug)]
enum Make {
    /// Nobody has asked for a spare yet.
    Idle,
    /// A spare is wanted. If `makes_do`, a small one is enough.
    Wanted {
        makes_do: bool,
    },
    Ready(ReadySpare),
    /// The last attempt failed, with the error for the caller of a change. Another one follows.
    Failing {
        failure: StoreError,
        retry_at: Instant,
    },
}

/// A spare that can be used.
#[derive(Clone, Debug)]
pub(super) struct ReadySpare {
    pub(super) file: Arc<dyn DiskFile>,
    pub(super) name: &'static str,
}

impl ReadySpare {
    /// Whether it has octets of a dead segment in it.
    pub(super) fn is_recycled(&self) -> bool {
        self.name == DEAD
    }
}

impl Maker {
    /// Locks the state. A panic of another thread leaves it whole.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make(&self, octets: u64) -> io::Result<ReadySpare> {
        // A failed attempt or another process may have left the file.
        let _ = self.disk.remove(NEW);
        if self.disk.free_octets()? < octets {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let file = self.disk.create(NEW)?;
        let made = file.allocate(octets).and_then(|()| file.sync());
        if let Err(error) = made {
            let _ = self.disk.remove(NEW);
            return Err(error);
        }
        Ok(ReadySpare { file, name: NEW })
    }

    /// The spare that the last process left. It is full of zeros, or has the header of a segment that never came to be.
    fn left(&self, makes_do: bool) -> Option<ReadySpare> {
        let least = if makes_do { LEAST_OCTETS.min(self.octets) } else { self.octets };
        let file = self.disk.open(NEW).ok()?;
        (file.size().ok()? >= least).then_some(ReadySpare { file, name: NEW })
    }

    fn make_any(&self, has_dead: bool, may_be_left: bool, makes_do: bool) -> io::Result<ReadySpare> {
        if let Some(left) = may_be_left.then(|| self.left(makes_do)).flatten() {
            return Ok(left);
        }
        if has_dead && let Ok(file) = self.disk.open(DEAD) {
            return Ok(ReadySpare { file, name: DEAD });
        }
        match self.make(self.octets) {
            Err(error) if makes_do && is_out_of_space(&error) => self.make(LEAST_OCTETS.min(self.octets)),
            made => made,
        }
    }

    fn run(&self) {
        let mut state = self.state();
        while !state.is_stopped {
            let makes_do = match &state.spare {
                Make::Wanted { makes_do } => Some(*makes_do),
                Make::Failing { retry_at, .. } => (*retry_at <= Instant::now()).then_some(false),
                Make::Idle | Make::Ready(_) => None,
            };
            let is_due = state.failed_at.is_none_or(|failed_at| failed_at.elapsed() >= RETRY_EVERY);
            let has_failed = state.failed_at.is_some() || matches!(state.spare, Make::Failing { .. });
            // It stays in the queue until it is durable.
            let first = state.sealed.front_mut().filter(|_| makes_do.is_none() && is_due);
            let first =
                first.map(|Sealed { number, end, hint }| Sealed { number: *number, end: *end, hint: hint.take() });
            state = match (makes_do, first) {
                // Senders may wait for the spare, and nobody for a hint.
                (Some(makes_do), _) => self.attempt(state, makes_do),
                (None, Some(mut sealed)) => {
                    drop(state);
                    let kept = self.keep(&mut sealed);
                    let mut state = self.state();
                    state.failed_at = kept.is_err().then(Instant::now);
                    state.sealed.pop_front();
                    if let Err(error) = kept {
                        let segment = sealed.number;
                        tracing::warn!(segment, %error, "a finished segment could not be cut; that is tried again");
                        state.sealed.push_back(sealed);
                    }
                    state
                }
                (None, None) if has_failed => {
                    self.changed.wait_timeout(state, RETRY_EVERY).unwrap_or_else(PoisonError::into_inner).0
                }
                (None, None) => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Makes the length of a sealed segment durable, and then its hint.
    fn keep(&self, sealed: &mut Sealed) -> io::Result<()> {
        cut(&*self.disk, sealed.number, sealed.end)?;
        if let Some(hint) = sealed.hint.take() {
            self.hints.put(sealed.number, hint);
        }
        Ok(())
    }

    /// Tries to make the spare.
    fn attempt<'s>(&'s self, mut state: MutexGuard<'s, State>, makes_do: bool) -> MutexGuard<'s, State> {
        let has_dead = state.has_dead;
        let may_be_left = std::mem::take(&mut state.may_be_left);
        drop(state);
        // A panic must only fail this attempt, or the writer would wait for ever.
        let made = catch_unwind(AssertUnwindSafe(|| self.make_any(has_dead, may_be_left, makes_do)))
            .unwrap_or_else(|_| Err(io::Error::other("making the next segment panicked")));
        let mut state = self.state();
        match made {
            Ok(ready) => {
                state.has_dead &= !ready.is_recycled();
                state.spare = Make::Ready(ready);
            }
            // Meanwhile somebody may have asked for a small one.
            Err(_) if !makes_do && matches!(state.spare, Make::Wanted { makes_do: true }) => {}
            Err(error) => {
                let retry_at = Instant::now() + RETRY_EVERY;
                state.spare = Make::Failing { failure: StoreError::from_io(&error), retry_at };
            }
        }
        self.changed.notify_all();
        state
    }
}

impl Spare {
    /// Starts the thread. It makes nothing before somebody asks.
    pub(super) fn start(disk: Arc<dyn Disk>, hints: Arc<dyn Hints>, octets: u64) -> io::Result<Self> {
        // A killed process may have left it.
        let _ = disk.remove(DEAD);
        let state = State {
            spare: Make::Idle,
            has_dead: false,
            may_be_left: true,
            sealed: VecDeque::new(),
            failed_at: None,
            is_stopped: false,
        };
        let maker = Arc::new(Maker { disk, hints, octets, state: Mutex::new(state), changed: Condvar::new() });
        let thread = std::thread::Builder::new().name("segment-maker".into()).spawn({
            let maker = Arc::clone(&maker);
            move || maker.run()
        })?;
        Ok(Self { maker, thread: Some(thread) })
    }

    /// Looks for the spare, and waits for it if need be. It stays the spare until [`Spare::used`].
    ///
    /// Fails if it cannot be made now. If `makes_do`, a small one is enough.
    pub(super) fn get(&self, makes_do: bool) -> Result<ReadySpare, StoreError> {
        let mut state = self.maker.state();
        let mut is_asked = false;
        loop {
            match &state.spare {
                Make::Ready(ready) => return Ok(ready.clone()),
                Make::Failing { failure, .. } if !makes_do || is_asked => return Err(failure.clone()),
                Make::Idle | Make::Failing { .. } => {
                    state.spare = Make::Wanted { makes_do };
                    is_asked = true;
                    self.maker.changed.notify_all();
                }
                Make::Wanted { .. } => {
                    state = self.maker.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    /// Orders the next spare, since the last one was used or is unusable.
    pub(super) fn used(&self) {
        self.maker.state().spare = Make::Wanted { makes_do: false };
        self.maker.changed.notify_all();
    }

    /// Removes octets of dead segments that nobody has written over.
    pub(super) fn drop_recycled(&self) {
        let mut state = self.maker.state();
        let was_spare = matches!(&state.spare, Make::Ready(ready) if ready.is_recycled());
        if was_spare {
            state.spare = Make::Wanted { makes_do: false };
            self.maker.changed.notify_all();
        }
        if std::mem::take(&mut state.has_dead) || was_spare {
            let _ = self.maker.disk.remove(DEAD);
        }
    }

    /// Gives the file of a dead segment its new name. `false` if there is such a file, or that does not work.
    pub(super) fn rename_dead(&self, segment: &str) -> bool {
        let state = self.maker.state();
        let is_dead_there = state.has_dead || matches!(&state.spare, Make::Ready(ready) if ready.is_recycled());
        !is_dead_there && self.maker.disk.rename(segment, DEAD).is_ok()
    }

    /// Takes the renamed file for the next spare. The new name must be durable: with the old one, what is written into the
    /// file would be damage.
    pub(super) fn take_dead(&self) {
        self.maker.state().has_dead = true;
    }

    /// Makes a sealed segment's length and hint durable, soon. Where many wait already the hint is dropped.
    pub(super) fn keep_hint(&self, mut sealed: Sealed) {
        let mut state = self.maker.state();
        sealed.hint = sealed.hint.filter(|_| state.sealed.len() < HINTS_WAITING);
        state.sealed.push_back(sealed);
        self.maker.changed.notify_all();
    }

    /// Whether the length or the hint of a segment is not durable yet. Until then the segment must stay: a hint without its
    /// segment means that the segment is missing.
    pub(super) fn is_sealing(&self, number: u32) -> bool {
        self.maker.state().sealed.iter().any(|sealed| sealed.number == number)
    }

    /// A view of the spare for other threads.
    pub(super) fn view(&self) -> SpareView {
        SpareView(Arc::clone(&self.maker))
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        self.maker.state().is_stopped = true;
        self.maker.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let mut state = self.maker.state();
        for sealed in &mut state.sealed {
            // What fails now is done by the next start.
            let _ = self.maker.keep(sealed);
        }
        // Octets of mail that is gone must not stay. A new spare stays: on a full disk the next process needs it.
        let _ = self.maker.disk.remove(DEAD);
    }
}

/// A view of the spare that any thread may use.
#[derive(Clone, Debug)]
pub(crate) struct SpareView(Arc<Maker>);

impl SpareView {
    /// Why there is no spare. `None` while it is ready or being made.
    pub(crate) fn failure(&self) -> Option<StoreError> {
        match &self.0.state().spare {
            Make::Failing { failure, .. } => Some(failure.clone()),
            Make::Idle | Make::Wanted { .. } | Make::Ready(_) => None,
        }
    }
}
