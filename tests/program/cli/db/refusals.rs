//! Refused commands, which must leave everything unchanged.
//! Promise: it outlives the code below it.

use std::path::Path;

use super::{files, segments, send, serve};
use crate::support::program::{local, refused};

/// What is said of the files of an earlier version.
const WAY: &str =
    "Make a backup with the version that wrote it (`tempmail db backup`), and restore that with this version";

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
async fn files_of_another_format_or_of_others_are_left_as_they_are() {
    let dir = tempfile::tempdir().expect("directory");
    serve(dir.path()).stop();
    let (index, segment) = (dir.path().join("index.redb"), segments(dir.path())[0].clone());
    let (of_index, of_segment) = (std::fs::read(&index).expect("octets"), std::fs::read(&segment).expect("octets"));
    let of_format = |format: u8| {
        let mut octets = of_segment.clone();
        octets[8] = format;
        octets
    };
    for (path, octets, said) in [
        (&segment, &of_format(9)[..], WAY),
        (&segment, &of_format(99), "Use the version that wrote it, or a newer one"),
        (&index, b"somebody's own notes, which are long enough", "is not a file of tempmail"),
    ] {
        std::fs::write(path, octets).expect("write");
        let before = files(dir.path());
        let served = refused(dir.path(), &[]);
        assert!(served.code == Some(1) && served.stderr.contains(said), "{served:?}");
        for args in [&["db", "check"][..], &["db", "check", "--salvage", "--yes"], &["inbox"], &["db", "backup", "-"]] {
            let refused = local(dir.path(), args);
            assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{args:?}: {}", refused.stderr);
            assert!(refused.stderr.contains(said), "{args:?}: {}", refused.stderr);
        }
        assert!(files(dir.path()) == before, "{said}: something was changed");
        std::fs::write(&index, &of_index).expect("write");
        std::fs::write(&segment, &of_segment).expect("write");
    }
}
