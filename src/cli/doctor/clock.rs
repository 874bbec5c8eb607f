//! The clock, as far as it can be known without the network: nothing here was written later than now, and a service of this
//! machine says whether it keeps the time.

use std::path::Path;
use std::time::Duration;

use super::finding::Finding;
use crate::cli::output::time;
use crate::model::Timestamp;

const CHECK: &str = "clock";
/// What systemd-timesyncd makes once it has the time from a server.
const SYNCHRONIZED: &str = "/run/systemd/timesync/synchronized";
/// 2025-01-01: the program is younger.
const EARLIEST: Timestamp = Timestamp::from_millis(1_735_689_600_000);
/// How far in the future a file may be before the clock is doubted.
const TOLERANCE: Duration = Duration::from_secs(60);

/// Compares the clock with the files of the data directory.
pub(super) fn check(data_dir: &Path, now: Timestamp) -> Vec<Finding> {
    vec![verdict(now, newest(data_dir), Path::new(SYNCHRONIZED).exists())]
}

/// When the last file of the directory was written.
fn newest(data_dir: &Path) -> Option<Timestamp> {
    let files = std::fs::read_dir(data_dir).ok()?.flatten();
    let written = files.filter_map(|file| {
        let since = file.metadata().ok()?.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(Timestamp::from_millis(0).plus(since))
    });
    written.max()
}

fn verdict(now: Timestamp, newest: Option<Timestamp>, is_synchronized: bool) -> Finding {
    let shown = now.to_rfc3339();
    let advice = "set the clock and keep it with an NTP service: retention and certificates depend on it";
    if now < EARLIEST {
        return Finding::failure(CHECK, format!("it says {shown}, which has passed"), advice);
    }
    if let Some(newest) = newest.filter(|newest| *newest > now.plus(TOLERANCE)) {
        let behind = time::duration(newest.since(now));
        return Finding::failure(
            CHECK,
            format!("it says {shown}, {behind} before a file in the data directory"),
            advice,
        );
    }
    let kept =
        if is_synchronized { "systemd-timesyncd keeps it" } else { "only the network can tell whether it is right" };
    Finding::ok(CHECK, format!("it says {shown}, and no file in the data directory is newer; {kept}"))
}

#[cfg(test)]
mod tests {
    use super::super::finding::Verdict;
    use super::*;

    #[test]
    fn a_clock_before_what_was_written_is_wrong() {
        let now = EARLIEST.plus(Duration::from_hours(24));
        let of = |newest| verdict(now, newest, false).verdict;
        assert_eq!((of(None), of(Some(now)), of(Some(now.plus(TOLERANCE)))), (Verdict::Ok, Verdict::Ok, Verdict::Ok));
        let ahead = verdict(now, Some(now.plus(Duration::from_hours(3))), true);
        assert_eq!(ahead.verdict, Verdict::Failure);
        assert!(ahead.found.contains("3 h before"), "{ahead:?}");
        assert_eq!(verdict(Timestamp::from_millis(0), None, true).verdict, Verdict::Failure);
    }

    #[test]
    fn it_says_what_it_knows() {
        assert!(verdict(EARLIEST, None, true).found.ends_with("systemd-timesyncd keeps it"));
        assert!(verdict(EARLIEST, None, false).found.ends_with("whether it is right"));
    }
}
