//! Files that a store leaves behind and holds open.

use std::path::Path;
use std::time::Duration;

use futures_util::StreamExt;
use tempmail::model::Timestamp;
use tempmail::store::{EmbeddedStore, PageRequest, Store, StoreOptions};

use crate::suites::options;
use crate::support::mail::{delivery, mailbox};
use crate::support::until::until;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const EVERYTHING: PageRequest = PageRequest { offset: 0, limit: usize::MAX };
/// The segment of the mail, the one in use, the next one, and one that waits for the next checkpoint.
const SEGMENTS_MAX: usize = 4;
/// Segments that are open at most, the index, the lock, and the directory itself.
const OPEN_MAX: usize = 64 + 6;

/// Small segments: a message each.
fn small() -> StoreOptions {
    StoreOptions { message_octets_max: 4 << 10, segment_octets: 128 << 10, ..options() }
}

fn segments_in(dir: &Path) -> usize {
    let names = std::fs::read_dir(dir).expect("list").map(|entry| entry.expect("an entry").file_name());
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
        let sent = (0..32).map(|_| store.receive(delivery(&["a@example.test"], vec![b'x'; 4000], NOW)));
        for received in futures_util::future::join_all(sent).await {
            received.expect("receive");
        }
    }
}

#[tokio::test]
async fn an_opening_without_a_change_leaves_no_segment_behind() {
    let dir = tempfile::tempdir().expect("directory");
    let store = EmbeddedStore::open(dir.path(), &options()).expect("open");
    store.receive(delivery(&["a@example.test"], "kept", NOW)).await.expect("receive");
    drop(store);
    for opening in 0..50 {
        let store = EmbeddedStore::open_on(super::locked(dir.path()), &options()).expect("open again");
        assert_eq!(store.list(&mailbox("a@example.test"), EVERYTHING, NOW).await.expect("list").total, 1);
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
        let part = store.list(&mailbox("a@example.test"), EVERYTHING, NOW).await.expect("list");
        for listed in &part.emails {
            assert_eq!(store.load(listed).await.expect("load").expect("an Email").raw.len(), 4000);
        }
        let mut backup = store.backup();
        while let Some(batch) = backup.next().await {
            batch.expect("no error");
        }
        let open = open_in(dir.path());
        assert!(open <= OPEN_MAX, "{when}: {open} files are open");
        drop(store);
        store = EmbeddedStore::open_on(super::locked(dir.path()), &small()).expect("open again");
    }
}

/// A regression: a slow backup held every segment open to its end, so mail that expired meanwhile still took room.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_of_a_backup_holds_one_segment_and_stats_count_it() {
    let dir = tempfile::tempdir().expect("directory");
    let store = EmbeddedStore::open(dir.path(), &small()).expect("open");
    fill(&store, dir.path(), 40).await;
    let mut backup = store.backup();
    backup.next().await.expect("a batch").expect("no error");
    let later = NOW.plus(Duration::from_hours(2));
    while store.expire(later, 500).await.expect("expire").removed > 0 {}
    until("the segments are removed", async || segments_in(dir.path()) <= SEGMENTS_MAX).await;
    let held_octets = store.stats().await.expect("stats").held_octets;
    let room = small().segment_octets;
    assert!((1..=2 * room).contains(&held_octets), "{held_octets} octets are held");
    drop(backup);
    until("no reader has a removed segment open", async || store.stats().await.expect("stats").held_octets == 0).await;
}
