//! The guard over a restart of the process: what it knows is kept in a file of the data directory.
//!
//! Both clocks go on while no process looks at them, so a guard of the same boot of the machine goes on as if it had slept.
//! After another boot the file says nothing. So it needs no fsync: whatever a power cut makes of it is of an earlier boot.
//! It goes with the store that it was kept beside, since of mail that was received by another clock it knows nothing.
//! It is written in place, since on a full disk there is room for no second one.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::StepGuard;
use crate::clock::Clock;
use crate::model::Timestamp;
use crate::store::Store;
use crate::store::disk::CLOCK_NAME;

/// A guard, and the file that it is kept in.
#[derive(Debug)]
pub struct Watch {
    guard: StepGuard,
    file: Option<GuardFile>,
}

/// Of a guard that is not kept.
impl From<StepGuard> for Watch {
    fn from(guard: StepGuard) -> Self {
        Self { guard, file: None }
    }
}

impl Watch {
    /// The watch of a process that begins with `store`, kept in `directory`. Made before any mail is taken.
    pub(crate) async fn begin(store: &dyn Store, clock: &dyn Clock, directory: &Path) -> Self {
        let (now, boot) = (clock.now(), clock.boot());
        let file =
            clock.boot_id().map(|boot_id| GuardFile { path: directory.join(CLOCK_NAME), boot_id, written: None });
        let guard = match (file.as_ref().and_then(GuardFile::read), store.stats().await) {
            (Some(kept), _) => kept,
            // In an empty store nothing is due by a time that another clock set, so that nothing has to wait.
            (None, Ok(stats)) if stats.emails == 0 => StepGuard::settled(now, boot),
            // What is not known to be empty is taken to be full.
            (None, _) => StepGuard::new(now, boot),
        };
        Self { guard, file }
    }

    /// What it knows of the clock so far, for a worker that has a guard of its own.
    pub(crate) fn guard(&self) -> StepGuard {
        self.guard.clone()
    }

    /// See [`StepGuard::may_remove`].
    pub(super) fn may_remove(&mut self, now: Timestamp, boot: Duration) -> bool {
        let may_remove = self.guard.may_remove(now, boot);
        if let Some(file) = &mut self.file {
            file.keep(&self.guard);
        }
        may_remove
    }
}

/// Where a guard is kept, and for which boot of the machine.
#[derive(Debug)]
struct GuardFile {
    path: PathBuf,
    boot_id: String,
    written: Option<StepGuard>,
}

impl GuardFile {
    /// The guard of this boot; `None` if there is none that reads back.
    fn read(&self) -> Option<StepGuard> {
        let text = std::fs::read_to_string(&self.path).ok()?;
        let (boot_id, guard) = text.lines().next()?.split_once(' ')?;
        if boot_id == self.boot_id { StepGuard::from_text(guard) } else { None }
    }

    /// Writes what has changed, if that is worth it: a few octets, into memory.
    fn keep(&mut self, guard: &StepGuard) {
        if self.written.as_ref().is_some_and(|written| written.says_as_much_as(guard)) {
            return;
        }
        // The next start waits, or goes by what was written before.
        if let Err(error) = self.write(guard) {
            tracing::warn!(%error, path = %self.path.display(), "what is known of the clock could not be written");
        }
        self.written = Some(guard.clone());
    }

    fn write(&self, guard: &StepGuard) -> io::Result<()> {
        let file: File = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&self.path)?;
        file.write_all_at(format!("{} {}\n", self.boot_id, guard.to_text()).as_bytes(), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_hours(1);
    const MINUTE: Duration = Duration::from_mins(1);
    const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

    fn file(directory: &Path, boot_id: &str) -> GuardFile {
        GuardFile { path: directory.join(CLOCK_NAME), boot_id: boot_id.into(), written: None }
    }

    /// A watch that has seen the clocks at `NOW` and `HOUR`, and what the next process of a boot makes of it.
    fn kept(guard: StepGuard) -> (tempfile::TempDir, impl Fn(&str) -> Option<StepGuard>) {
        let dir = tempfile::tempdir().expect("directory");
        let mut watch = Watch { guard, file: Some(file(dir.path(), "this")) };
        watch.may_remove(NOW, HOUR);
        let path = dir.path().to_owned();
        (dir, move |boot_id| file(&path, boot_id).read())
    }

    #[test]
    fn a_guard_goes_on_in_the_next_process() {
        let (_dir, next) = kept(StepGuard::settled(NOW, HOUR));
        let next = || next("this").expect("a guard");
        assert!(next().may_remove(NOW.plus(HOUR), 2 * HOUR), "the clock did not jump");
        assert!(!next().may_remove(NOW.plus(HOUR), HOUR + MINUTE), "it did while nobody looked");
    }

    #[test]
    fn a_pause_goes_on_and_does_not_begin_anew() {
        let (_dir, next) = kept(StepGuard::new(NOW, HOUR));
        let next = || next("this").expect("a guard");
        assert!(!next().may_remove(NOW.plus(9 * MINUTE), HOUR + 9 * MINUTE));
        assert!(next().may_remove(NOW.plus(10 * MINUTE), HOUR + 10 * MINUTE));
    }

    #[test]
    fn another_boot_and_what_does_not_read_back_say_nothing() {
        let (dir, next) = kept(StepGuard::settled(NOW, HOUR));
        assert!(next("another").is_none());
        for text in ["", "this", "this \n", "this 1 2 3\n", "this 1 2 3 x\n", "this 1 2 3 4 5\n"] {
            std::fs::write(dir.path().join(CLOCK_NAME), text).expect("write");
            assert!(next("this").is_none(), "{text:?}");
        }
    }

    #[test]
    fn what_changes_is_written_and_nothing_else_is() {
        let dir = tempfile::tempdir().expect("directory");
        let mut watch = Watch { guard: StepGuard::settled(NOW, HOUR), file: Some(file(dir.path(), "this")) };
        let path = dir.path().join(CLOCK_NAME);
        let mut writes = |now: Timestamp, boot: Duration| {
            let _ = std::fs::remove_file(&path);
            watch.may_remove(now, boot);
            path.exists()
        };
        assert!(writes(NOW, HOUR), "for the first time");
        assert!(!writes(NOW.plus(HOUR), 2 * HOUR));
        assert!(writes(NOW.plus(HOUR + 2 * Duration::from_secs(1)), 2 * HOUR), "the clock was put forward a little");
        assert!(writes(NOW, 2 * HOUR), "it was put back");
        assert!(writes(NOW.plus(HOUR), 2 * HOUR), "it stepped forward, and a pause begins");
        assert!(!writes(NOW.plus(HOUR + MINUTE), 2 * HOUR + MINUTE));
        assert!(writes(NOW.plus(HOUR + 10 * MINUTE), 2 * HOUR + 10 * MINUTE), "the pause is over");
    }
}
