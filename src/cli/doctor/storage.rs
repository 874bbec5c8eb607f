//! The data directory: whose it is, who may enter it, how much room it has, and how long its disk takes.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use super::finding::Finding;
use super::subject::Subject;
use crate::cli::output::time;
use crate::config::{Config, StoreLocation};

const DIRECTORY: &str = "data-dir";
const SPACE: &str = "space";
const DISK: &str = "disk";
/// The mode bits of everybody but the owner.
const OTHERS: u32 = 0o077;
/// How many writes are measured; the median counts.
const WRITES: usize = 5;
const WRITE_OCTETS: usize = 4096;
/// A disk that takes longer makes senders wait.
const SYNC_SLOW: Duration = Duration::from_millis(100);
const SYNC_TOO_SLOW: Duration = Duration::from_secs(2);

/// Examines the directory. It blocks as long as the disk does.
pub(super) fn check(subject: &Subject) -> Vec<Finding> {
    let (config, dir) = (&subject.config, &subject.config.data_dir);
    let metadata = match std::fs::metadata(dir) {
        Ok(metadata) => metadata,
        Err(error) => {
            let found = format!("{}: {error}", dir.display());
            return vec![Finding::failure(DIRECTORY, found, "run `tempmail doctor` as the user of the service")];
        }
    };
    let euid = rustix::process::geteuid().as_raw();
    let mut findings = vec![permissions(dir, metadata.uid(), euid, metadata.mode())];
    if config.store.location != StoreLocation::Embedded {
        // Mail is elsewhere, and the few small files here need neither room nor speed.
        return findings;
    }
    findings.push(match rustix::fs::statvfs(dir) {
        Ok(of) => {
            let octets = |blocks: u64| blocks.saturating_mul(of.f_frsize);
            space(dir, octets(of.f_bavail), octets(of.f_blocks), needed_octets(config))
        }
        Err(error) => Finding::warning(SPACE, format!("{}: {error}", dir.display()), "look at the file system"),
    });
    if metadata.uid() == euid {
        findings.push(match sync_time(dir) {
            Ok(time) => sync(time),
            Err(error) => {
                let found = format!("a file in {} cannot be written: {error}", dir.display());
                Finding::failure(DISK, found, "see that this user can write there and that the disk has room")
            }
        });
    }
    findings
}

/// A start sets the mode, so a wider one under a daemon is somebody's doing, and nothing else says it.
fn permissions(dir: &Path, owner: u32, user: u32, mode: u32) -> Finding {
    let (shown, mode) = (dir.display(), mode & 0o777);
    if owner != user {
        let found = format!("{shown} belongs to user {owner}, and this is user {user}");
        return Finding::failure(DIRECTORY, found, "run `tempmail doctor` as the user of the service");
    }
    if mode & OTHERS != 0 {
        let found = format!("{shown} has mode {mode:03o}: other users may look into it");
        return Finding::failure(DIRECTORY, found, format!("run chmod 700 {shown}"));
    }
    Finding::ok(DIRECTORY, format!("{shown} belongs to this user alone"))
}

/// What the store wants to have free before it takes a message: a segment, and one and a half times the message.
fn needed_octets(config: &Config) -> u64 {
    config.store.segment_octets.saturating_add(config.mail.message_octets_max.saturating_mul(3) / 2)
}

fn space(dir: &Path, free_octets: u64, total_octets: u64, needed_octets: u64) -> Finding {
    let found = format!("{} of {} are free at {}", time::size(free_octets), time::size(total_octets), dir.display());
    if free_octets < needed_octets {
        let advice = format!("make room: mail is refused below {}", time::size(needed_octets));
        return Finding::failure(SPACE, found, advice);
    }
    if free_octets < needed_octets.saturating_mul(4) || free_octets < total_octets / 20 {
        return Finding::warning(SPACE, found, "make room before mail is refused, or shorten retention");
    }
    Finding::ok(SPACE, found)
}

/// How long a small write takes until the disk has it, in a file that has no name any more.
fn sync_time(dir: &Path) -> io::Result<Duration> {
    let mut file = nameless(dir)?;
    let mut times = Vec::with_capacity(WRITES);
    for _ in 0..WRITES {
        let start = Instant::now();
        file.write_all(&[0; WRITE_OCTETS])?;
        file.sync_data()?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok(times[WRITES / 2])
}

fn nameless(dir: &Path) -> io::Result<File> {
    let path = dir.join(format!("doctor-{}", std::process::id()));
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    // At once, so that nothing stays behind however this ends.
    std::fs::remove_file(&path)?;
    Ok(file)
}

fn sync(time: Duration) -> Finding {
    let found = format!("a write of 4 KB is on the disk after {:.1} ms", time.as_secs_f64() * 1000.0);
    let advice = "use a faster disk: each mail is on the disk before it is acknowledged";
    match time {
        time if time > SYNC_TOO_SLOW => Finding::failure(DISK, found, advice),
        time if time > SYNC_SLOW => Finding::warning(DISK, found, advice),
        _ => Finding::ok(DISK, found),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Verdict;
    use super::*;
    use crate::config::Revision;

    const GB: u64 = 1 << 30;

    #[test]
    fn the_directory_is_its_users_alone() {
        let of = |owner, user, mode| permissions(Path::new("/data"), owner, user, mode).verdict;
        assert_eq!(of(7, 7, 0o40700), Verdict::Ok);
        for (owner, user, mode) in [(7, 0, 0o700), (7, 7, 0o750), (7, 7, 0o701), (7, 7, 0o777)] {
            assert_eq!(of(owner, user, mode), Verdict::Failure, "{owner} {user} {mode:o}");
        }
    }

    #[test]
    fn room_is_needed_for_a_segment_and_a_message() {
        let mut config = Config::of_revision(Revision::Two, "/nonexistent".into());
        (config.store.segment_octets, config.mail.message_octets_max) = (1000, 10);
        assert_eq!(needed_octets(&config), 1015);
    }

    #[test]
    fn a_disk_without_room_for_a_message_is_a_failure() {
        let of = |free_octets, total_octets| space(Path::new("/data"), free_octets, total_octets, GB / 10).verdict;
        assert_eq!(of(GB / 10 - 1, GB), Verdict::Failure);
        assert_eq!(of(GB / 10, GB), Verdict::Warning);
        assert_eq!(of(GB / 2, GB), Verdict::Ok);
        assert_eq!(of(4 * GB, 100 * GB), Verdict::Warning, "less than a twentieth is free");
        assert_eq!(of(5 * GB, 100 * GB), Verdict::Ok);
    }

    #[test]
    fn a_slow_disk_is_said() {
        assert_eq!(sync(Duration::from_millis(100)).verdict, Verdict::Ok);
        assert_eq!(sync(Duration::from_millis(101)).verdict, Verdict::Warning);
        assert_eq!(sync(Duration::from_millis(2001)).verdict, Verdict::Failure);
        assert!(sync(Duration::from_micros(1500)).found.contains("1.5 ms"));
    }

    #[test]
    fn the_measurement_leaves_nothing_behind() {
        let dir = tempfile::tempdir().expect("directory");
        assert!(sync_time(dir.path()).expect("a time") < Duration::from_mins(1));
        assert_eq!(std::fs::read_dir(dir.path()).expect("list").count(), 0);
    }
}
