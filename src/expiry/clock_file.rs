//! Keeps the state of the step detector over a restart of the process, in a file of the data directory.
//!
//! Both clocks continue without a process, so the detector continues as if it had slept. After another boot of the
//! machine the file is ignored, so it needs no fsync. The file is removed together with its store, since other mail
//! may have arrived by another clock. It is written in place, since a full disk has no room for a second file.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::StepDetector;
use super::clock_step::ClockStep;
use crate::clock::Clock;
use crate::model::Timestamp;
use crate::store::Store;
use crate::store::disk::CLOCK_NAME;

/// A step detector, with the file that keeps its state over a restart.
#[derive(Debug)]
pub struct ClockWatch {
    detector: StepDetector,
    file: Option<ClockFile>,
}

/// A watch without a file.
impl From<StepDetector> for ClockWatch {
    fn from(detector: StepDetector) -> Self {
        Self { detector, file: None }
    }
}

impl ClockWatch {
    /// Begins the watch of a process that starts on `store`, with its file in `directory`. It must begin before any
    /// mail is received.
    pub(crate) async fn begin(store: &dyn Store, clock: &dyn Clock, directory: &Path) -> Self {
        let (now, boot) = (clock.now(), clock.boot());
        let file =
            clock.boot_id().map(|boot_id| ClockFile { path: directory.join(CLOCK_NAME), boot_id, written: None });
        let detector = match (file.as_ref().and_then(ClockFile::read), store.stats().await) {
            (Some(saved), _) => saved,
            // An empty store has no mail with an expiry from another clock, so no pause is needed.
            (None, Ok(stats)) if stats.emails == 0 => StepDetector::settled(now, boot),
            // If the store can't say whether it is empty, it counts as one with mail.
            (None, _) => StepDetector::new(now, boot),
        };
        Self { detector, file }
    }

    /// A copy of the detector for another worker. The copy logs nothing.
    pub(crate) fn detector(&self) -> StepDetector {
        self.detector.clone()
    }

    /// Observes both clocks and logs a step. Returns whether expired mail may be removed now.
    pub(super) fn may_remove(&mut self, now: Timestamp, boot: Duration) -> bool {
        match self.detector.observe(now, boot) {
            Some(ClockStep::Forward(by)) => tracing::warn!(
                seconds = by.as_secs(),
                "the clock stepped forward; no expired mail is removed for ten minutes, so check the clock now"
            ),
            Some(ClockStep::Back(by)) => tracing::warn!(seconds = by.as_secs(), "the clock stepped back"),
            None => {}
        }
        if let Some(file) = &mut self.file {
            file.keep(&self.detector);
        }
        self.detector.is_reliable()
    }
}

/// The file of a detector, with the boot of the machine for which it is valid.
#[derive(Debug)]
struct ClockFile {
    path: PathBuf,
    boot_id: String,
    written: Option<StepDetector>,
}

impl ClockFile {
    /// Reads the detector of this boot; `None` if the file has no readable one.
    fn read(&self) -> Option<StepDetector> {
        let text = std::fs::read_to_string(&self.path).ok()?;
        let (boot_id, detector) = text.lines().next()?.split_once(' ')?;
        if boot_id == self.boot_id { StepDetector::from_text(detector) } else { None }
    }

    /// Writes the detector if the file is out of date. Without an fsync this does not wait for the disk.
    fn keep(&mut self, detector: &StepDetector) {
        if self.written.as_ref().is_some_and(|written| written.is_equivalent_to(detector)) {
            return;
        }
        // After a failure, the next start pauses or reads the older state.
        if let Err(error) = self.write(detector) {
            tracing::warn!(%error, path = %self.path.display(), "the state of the clock could not be written; after a restart nothing is removed for ten minutes");
        }
        self.written = Some(detector.clone());
    }

    fn write(&self, detector: &StepDetector) -> io::Result<()> {
        let file: File = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&self.path)?;
        file.write_all_at(format!("{} {}\n", self.boot_id, detector.to_text()).as_bytes(), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_hours(1);
    const MINUTE: Duration = Duration::from_mins(1);
    const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

    fn file(directory: &Path, boot_id: &str) -> ClockFile {
        ClockFile { path: directory.join(CLOCK_NAME), boot_id: boot_id.into(), written: None }
    }

    /// A watch that has observed the clocks at `NOW` and `HOUR`. The function reads its detector in the next process
    /// of a boot.
    fn saved(detector: StepDetector) -> (tempfile::TempDir, impl Fn(&str) -> Option<StepDetector>) {
        let dir = tempfile::tempdir().expect("directory");
        let mut watch = ClockWatch { detector, file: Some(file(dir.path(), "this")) };
        watch.may_remove(NOW, HOUR);
        let path = dir.path().to_owned();
        (dir, move |boot_id| file(&path, boot_id).read())
    }

    /// The log lines of `work`.
    fn logged(work: impl FnOnce()) -> Vec<String> {
        let file = tempfile::NamedTempFile::new().expect("file");
        let writer = file.reopen().expect("the same file");
        let subscriber =
            tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.try_clone().expect("fd"));
        tracing::subscriber::with_default(subscriber.finish(), work);
        std::fs::read_to_string(file.path()).expect("the lines").lines().map(str::to_owned).collect()
    }

    /// Copies of the detector must not repeat the warning.
    #[test]
    fn the_watch_alone_warns_of_a_step() {
        let mut watch = ClockWatch::from(StepDetector::settled(NOW, HOUR));
        let mut copy = watch.detector();
        assert_eq!(logged(|| assert!(!copy.may_remove(NOW.plus(HOUR), HOUR))), [""; 0]);
        let lines = logged(|| {
            assert!(!watch.may_remove(NOW.plus(HOUR), HOUR));
            assert!(!watch.may_remove(NOW.plus(HOUR), HOUR));
        });
        assert!(matches!(&lines[..], [line] if line.contains("the clock stepped forward")), "{lines:?}");
    }

    #[test]
    fn a_detector_goes_on_in_the_next_process() {
        let (_dir, next) = saved(StepDetector::settled(NOW, HOUR));
        let next = || next("this").expect("a detector");
        assert!(next().may_remove(NOW.plus(HOUR), 2 * HOUR), "the clock did not jump");
        assert!(!next().may_remove(NOW.plus(HOUR), HOUR + MINUTE), "it did while nobody looked");
    }

    #[test]
    fn a_pause_goes_on_and_does_not_begin_anew() {
        let (_dir, next) = saved(StepDetector::new(NOW, HOUR));
        let next = || next("this").expect("a detector");
        assert!(!next().may_remove(NOW.plus(9 * MINUTE), HOUR + 9 * MINUTE));
        assert!(next().may_remove(NOW.plus(10 * MINUTE), HOUR + 10 * MINUTE));
    }

    #[test]
    fn another_boot_and_what_does_not_read_back_say_nothing() {
        let (dir, next) = saved(StepDetector::settled(NOW, HOUR));
        assert!(next("another").is_none());
        for text in ["", "this", "this \n", "this 1 2 3\n", "this 1 2 3 x\n", "this 1 2 3 4 5\n"] {
            std::fs::write(dir.path().join(CLOCK_NAME), text).expect("write");
            assert!(next("this").is_none(), "{text:?}");
        }
    }

    #[test]
    fn what_changes_is_written_and_nothing_else_is() {
        let dir = tempfile::tempdir().expect("directory");
        let mut watch = ClockWatch { detector: StepDetector::settled(NOW, HOUR), file: Some(file(dir.path(), "this")) };
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
