//! Files that a store leaves behind and holds open.
//! Mechanism: it goes with the writer's thread and its files; its regressions become cases of `each_call` or `crash`.

use std::path::Path;

use futures_util::StreamExt;
use tempmail::store::{EmbeddedStore, Store, StoreOptions};

use super::{HOUR, NOW, TO, expire, list, locked, open, receive, receive_all, total};
use crate::suites::options;
use crate::support::mail::delivery;
use crate::support::test_disk::TestDisk;
use crate::support::until::until;

/// The segment of the mail, the one in use, the next one, and one that waits for its hint.
const SEGMENTS_MAX: usize = 4;
/// Segments that are open at most, the registry, the lock, and the directory itself.
const OPEN_MAX: usize = 64 + 8;

/// Small segments: a message each.
fn small() -> StoreOptions {
    StoreOptions { message_octets_max: 4 << 10, segment_octets: 256 << 10, ..options() }
}

fn segments_in(dir: &Path) -> usize {
    let names = std::fs::read_dir(dir.join("store")).expect("list").map(|entry| entry.expect("an entry").file_name());
    names.filter(|name| name.to_string_lossy().starts_with("journal-")).count()
}

/// How many descriptors of this process are for files in a directory, removed ones among them.
fn open_in(dir: &Path) -> usize {
    let links = std::fs::read_dir("/proc/self/fd").expect("descriptors").map(|entry| entry.expect("an entry").path());
    // Another test may close one meanwhile.
    links.filter_map(|link| std::fs::read_link(link).ok()).filter(|file| file.starts_with(dir)).count()
}

/// Receives until there are so many segments.
async fn fill(store: &EmbeddedStore, dir: &Path, segments: usize) {
    while segments_in(dir) < segments {
        receive_all(store, (0..32).map(|_| delivery(&[TO], vec![b'x'; 4000], NOW))).await;
    }
}

#[tokio::test]
async fn an_opening_without_a_change_leaves_no_segment_behind() {
    let dir = tempfile::tempdir().expect("directory");
    let store = EmbeddedStore::open(dir.path(), &options()).expect("open");
    receive(&store, "kept").await.expect("receive");
    drop(store);
    for opening in 0..50 {
        let store = EmbeddedStore::open_on(locked(dir.path()), &options()).expect("open again");
        assert_eq!(total(&store).await, 1);
        let (segments, open) = (segments_in(dir.path()), open_in(dir.path()));
        assert!(segments <= SEGMENTS_MAX && open <= SEGMENTS_MAX + 6, "opening {opening}: {segments}, {open} open");
        if opening % 2 == 0 {
            store.close().await.expect("close");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_of_many_segments_keeps_few_of_them_open() {
    let dir = tempfile::tempdir().expect("directory");
    let mut store = EmbeddedStore::open(dir.path(), &small()).expect("open");
    fill(&store, dir.path(), 100).await;
    for when in ["running", "after an opening"] {
        let part = list(&store, TO, NOW).await;
        for listed in &part.emails {
            assert_eq!(store.load(listed).await.expect("load").expect("an Email").raw.len(), 4000);
        }
        let mut backup = store.backup(NOW);
        while let Some(batch) = backup.next().await {
            batch.expect("no error");
        }
        let open = open_in(dir.path());
        assert!(open <= OPEN_MAX, "{when}: {open} files are open");
        drop(store);
        store = EmbeddedStore::open_on(locked(dir.path()), &small()).expect("open again");
    }
}

/// A regression: a slow backup held every segment open to its end, so mail that expired meanwhile still took room.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_of_a_backup_holds_one_segment_and_stats_count_it() {
    let disk = TestDisk::default();
    let segments = || disk.files().keys().filter(|name| name.starts_with("journal-")).count();
    let store = open(&disk, &small());
    while segments() < 40 {
        receive_all(&store, (0..32).map(|_| delivery(&[TO], vec![b'x'; 4000], NOW))).await;
    }
    let held = disk.hold(|call| call.is_by_reader_of("journal-"));
    let mut backup = store.backup(NOW);
    let reader = tokio::spawn(async move { while backup.next().await.is_some() {} });
    until("the backup is read", async || held.waiting() > 0).await;
    expire(&store, NOW.plus(2 * HOUR)).await;
    until("the segments are removed", async || segments() <= SEGMENTS_MAX).await;
    let held_octets = store.stats().await.expect("stats").held_octets;
    let room = small().segment_octets;
    assert!((1..=2 * room).contains(&held_octets), "{held_octets} octets are held");
    drop(held);
    reader.await.expect("the end of the backup");
    until("no reader has a removed segment open", async || store.stats().await.expect("stats").held_octets == 0).await;
}
