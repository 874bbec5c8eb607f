//! Refused commands, which must leave everything unchanged.
//! Promise: it outlives the code below it.

use std::path::Path;

use super::{files, segments, send, serve};
use crate::support::command::{outcome, tempmail};
use crate::support::program::{local, refused};

/// What is said of the files of an earlier version.
const WAY: &str = "Make a backup with the version that wrote it (`tempmail db backup FILE`), and restore that with this version \
     (`tempmail db restore FILE --with-events`)";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restore_replaces_nothing_unasked_and_nothing_half() {
    let dir = tempfile::tempdir().expect("directory");
    let data = dir.path().join("data");
    let daemon = serve(&data);
    send(&daemon, "a@example.test", "Subject: x\r\n\r\nx").await;
    let good = dir.path().join("good");
    daemon.tempmail(&["db", "backup", good.to_str().expect("path")]).ok();
    daemon.stop();
    let before = files(&data);
    let restore = |file: &Path, yes: bool| {
        let args = ["db", "restore", file.to_str().expect("path"), "--yes"];
        local(&data, &args[..if yes { 4 } else { 3 }])
    };
    let refused = restore(&good, false);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("--yes"), "{}", refused.stderr);

    let octets = std::fs::read(&good).expect("octets");
    let bad = dir.path().join("bad");
    let newer = {
        let mut octets = octets.clone();
        octets[16] = 99;
        let crc = crc32c::crc32c(&octets[..20]);
        octets[20..24].copy_from_slice(&crc.to_le_bytes());
        octets
    };
    let mut changed = octets.clone();
    let end = changed.len() - 60;
    changed[end] ^= 1;
    for (octets, said) in [
        (&octets[..octets.len() - 1], "cut short"),
        (b"something else", "not a backup of tempmail"),
        (b"", "not a backup of tempmail"),
        (&newer, "format 99"),
        (&changed, "damaged at offset"),
    ] {
        std::fs::write(&bad, octets).expect("write");
        let refused = restore(&bad, true);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{}", refused.stderr);
        assert!(refused.stderr.contains(said), "{said}: {}", refused.stderr);
        assert!(files(&data) == before, "{said}: something was changed");
        assert!(std::fs::read(&bad).expect("octets") == octets, "{said}: the file was changed");
    }
    assert_eq!(restore(&good, true).code, Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_of_another_format_are_left_as_they_are() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = serve(dir.path());
    send(&daemon, "a@example.test", "Subject: x\r\n\r\nx").await;
    daemon.stop();
    let segment = segments(dir.path())[0].clone();
    let octets = std::fs::read(&segment).expect("octets");
    for (format, said) in [(9, WAY), (99, "Use the version that wrote it, or a newer one")] {
        let mut other = octets.clone();
        other[8] = format;
        let crc = crc32c::crc32c(&other[..48]);
        other[48..52].copy_from_slice(&crc.to_le_bytes());
        std::fs::write(&segment, other).expect("write");
        are_left_as_they_are(dir.path(), said);
    }
}

/// Each command refuses the directory, says this, and changes nothing.
fn are_left_as_they_are(dir: &Path, said: &str) {
    let before = files(dir);
    let served = refused(dir, &[]);
    assert!(served.code == Some(1) && served.stderr.contains(said), "{served:?}");
    for args in [&["db", "check"][..], &["db", "check", "--salvage", "--yes"], &["db", "backup", "-"]] {
        let refused = local(dir, args);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{args:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(said), "{args:?}: {}", refused.stderr);
    }
    assert!(files(dir) == before, "{said}: something was changed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_of_an_earlier_version_is_refused_until_a_backup_of_it_is_restored() {
    let dir = tempfile::tempdir().expect("directory");
    let data = dir.path().join("data");
    let daemon = serve(&data);
    send(&daemon, "a@example.test", "Subject: x\r\n\r\nx").await;
    let backup = dir.path().join("backup");
    daemon.tempmail(&["db", "backup", backup.to_str().expect("path")]).ok();
    daemon.stop();
    std::fs::remove_dir_all(data.join("store")).expect("remove");
    for name in ["index.redb", "journal-0000000000000001"] {
        std::fs::write(data.join(name), "of an earlier version").expect("write");
    }
    are_left_as_they_are(&data, WAY);
    let restored = local(&data, &["db", "restore", backup.to_str().expect("path"), "--with-events", "--yes"]);
    assert_eq!(restored.code, Some(0), "{}", restored.stderr);
    assert!(!data.join("index.redb").exists(), "its octets are in the backup");
    serve(&data).stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_nobody_named_is_named_before_it_is_replaced() {
    let home = tempfile::tempdir().expect("directory");
    let (data, backup) = (home.path().join("tempmail"), home.path().join("backup"));
    let daemon = serve(&data);
    send(&daemon, "a@example.test", "Subject: x\r\n\r\nx").await;
    daemon.tempmail(&["db", "backup", backup.to_str().expect("path")]).ok();
    daemon.stop();
    let place = format!("the store is {};", data.display());
    for (flags, is_said) in [(&[][..], true), (&["--data-dir", data.to_str().expect("path")], false)] {
        let args = [&["db", "restore", backup.to_str().expect("path"), "--yes"], flags].concat();
        let restored = outcome(tempmail(home.path()).args(args)).ok();
        assert_eq!(restored.stderr.contains(&place), is_said, "{restored:?}");
    }
}
