//! Space on a real disk becomes free as mail is removed. The tests count blocks in use, not lengths of files.
//! Promise: it outlives the code below it.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use tempmail::store::{EmbeddedStore, Store, StoreOptions};

use super::{HOUR, NOW, expire, list, receive_all, to_many, users};
use crate::suites::options;
use crate::support::mail::{delivery, mailbox};
use crate::support::until::until;

/// What an index of few rows takes. Beside it are allowed the segment in use, the spare, and one that waits for the next
/// checkpoint.
const INDEX_LEAST: u64 = 2 << 20;

fn blocks_octets(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).expect("list").map(|entry| entry.expect("entry").metadata());
    // A file may be removed meanwhile.
    entries.filter_map(|metadata| Some(metadata.ok()?.blocks() * 512)).sum()
}

fn index_octets(dir: &Path) -> u64 {
    std::fs::metadata(dir.join("index.redb")).expect("the index").len()
}

/// Octets of the index's file that its rows take. How long the file is says how much changed between two checkpoints, and so
/// how busy the machine is.
async fn row_octets(store: &EmbeddedStore) -> u64 {
    let detailed = store.detailed_stats().await.expect("survey");
    detailed.stats.index_octets - detailed.index_free_octets
}

/// The most blocks that were in use.
#[derive(Debug)]
struct Peak {
    live_octets: u64,
    allowance: u64,
}

impl Peak {
    fn of(options: &StoreOptions) -> Self {
        Self { live_octets: 0, allowance: 3 * options.segment_octets + INDEX_LEAST }
    }

    /// Waits until the blocks in use are within one and a half times what lived at most, and the allowance.
    async fn hold(&mut self, store: &EmbeddedStore, dir: &Path, when: &str) {
        self.live_octets = self.live_octets.max(store.stats().await.expect("stats").live_octets);
        let bound = self.live_octets * 3 / 2 + self.allowance;
        let state = std::fmt::from_fn(|f| {
            let (used, live) = (blocks_octets(dir), self.live_octets);
            write!(f, "{when}: at most {bound} octets are in use, where {used} are and {live} were live at most")
        });
        until(state, async || blocks_octets(dir) <= bound).await;
    }
}

/// `per_hour` messages of `octets` in each of `hours`; each lives for an hour.
async fn turn_over(hours: u32, per_hour: usize, octets: usize) {
    let dir = tempfile::tempdir().expect("directory");
    let options = StoreOptions { retention: Some(HOUR), ..options() };
    let store = EmbeddedStore::open(dir.path(), &options).expect("open");
    let mut peak = Peak::of(&options);
    let mut early = 0;
    for hour in 0..hours {
        for quarter in 0..4 {
            let now = NOW.plus(HOUR * hour + HOUR / 4 * quarter);
            expire(&store, now).await;
            receive_all(&store, users(per_hour / 4).map(|to| delivery(&[&to], vec![b'x'; octets], now))).await;
        }
        peak.hold(&store, dir.path(), &format!("hour {hour}")).await;
        if hour == hours / 4 {
            early = row_octets(&store).await;
        }
    }
    // Four times the turnover needs no larger index, but for pages that are filled less well.
    let late = row_octets(&store).await;

    assert!(late <= early * 5 / 4, "the rows of the index grew from {early} octets to {late}");
}

#[tokio::test]
async fn a_day_of_steady_turnover_uses_what_lives_and_a_bit() {
    turn_over(24, 100, 20_000).await;
}

#[tokio::test]
async fn a_day_of_small_messages_uses_what_lives_and_a_bit() {
    turn_over(24, 200, 1500).await;
}

#[tokio::test]
async fn a_trickle_uses_little() {
    turn_over(24, 4, 3000).await;
}

/// Deleted mail is punched out at once, although other mail in the segment stays.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_message_that_stays_in_each_segment_does_not_keep_the_others() {
    let dir = tempfile::tempdir().expect("directory");
    let store = EmbeddedStore::open(dir.path(), &options()).expect("open");
    let mut peak = Peak::of(&options());
    for segment in 0..8 {
        let to = |n| if n == 0 { "kept@example.test" } else { "read@example.test" };
        receive_all(&store, (0..40).map(|n| delivery(&[to(n)], vec![b'x'; 25_000], NOW))).await;
        peak.live_octets = peak.live_octets.max(store.stats().await.expect("stats").live_octets);
        store.delete_all(&mailbox("read@example.test"), u64::MAX, NOW).await.expect("delete");
        peak.hold(&store, dir.path(), &format!("segment {segment}")).await;
    }
    let stored = list(&store, "kept@example.test", NOW).await.emails;
    assert_eq!(stored.len(), 8);
    for email in &stored {
        assert_eq!(store.load(email).await.expect("load").expect("kept").raw.len(), 25_000);
    }
}

/// A compaction needs no stop, and all other rows stay.
#[tokio::test]
async fn what_was_deleted_is_in_no_file_after_the_next_checkpoint() {
    let dir = tempfile::tempdir().expect("directory");
    let store = EmbeddedStore::open(dir.path(), &options()).expect("open");
    let marked = |n: usize| format!("the-mark-{n:05}-").repeat(60);
    for n in 0..200 {
        let to = if n % 10 == 0 { "kept@example.test" } else { "read@example.test" };
        store.receive(delivery(&[to], marked(n), NOW)).await.expect("receive");
    }
    let found = || -> Vec<usize> {
        let files = std::fs::read_dir(dir.path()).expect("list").map(|entry| entry.expect("entry").path());
        let octets: Vec<u8> = files.flat_map(|file| std::fs::read(file).unwrap_or_default()).collect();
        let mut found: Vec<usize> = octets
            .windows(14)
            .filter(|part| part.starts_with(b"the-mark-"))
            .filter_map(|part| std::str::from_utf8(&part[9..]).ok()?.parse().ok())
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    };
    assert_eq!(found().len(), 200);
    assert_eq!(store.delete_all(&mailbox("read@example.test"), u64::MAX, NOW).await, Ok(180));
    let state = std::fmt::from_fn(|f| write!(f, "20 messages are on the disk, where {} are", found().len()));
    until(state, async || found().len() == 20).await;
    assert!(found().iter().all(|n| n % 10 == 0));
}

#[tokio::test]
async fn an_index_that_is_mostly_free_is_compacted_when_the_store_is_opened() {
    let dir = tempfile::tempdir().expect("directory");
    let large = StoreOptions { checkpoint_octets: 8 << 20, ..options() };
    let store = EmbeddedStore::open(dir.path(), &large).expect("open");
    for n in 0..100 {
        // The remaining rows are all over the file, so that the store cannot just cut off its end.
        let at = if n % 10 == 0 { NOW.plus(HOUR) } else { NOW };
        store.receive(to_many(users(100), "m", at)).await.expect("receive");
    }
    expire(&store, NOW.plus(HOUR)).await;
    drop(store);
    let before = index_octets(dir.path());
    let store = EmbeddedStore::open(dir.path(), &large).expect("open again");
    let after = index_octets(dir.path());
    assert!(after * 2 < before, "{before} to {after}");
    assert_eq!(list(&store, "user7@example.test", NOW.plus(HOUR)).await.total, 10);
}
