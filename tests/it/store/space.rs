//! Space on a real disk becomes free as mail is removed. The tests count blocks in use, not lengths of files.
//! Promise: it outlives the code below it.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use tempmail::store::{EmbeddedStore, Store, StoreOptions};

use super::{HOUR, NOW, expire, list, receive_all, users};
use crate::suites::options;
use crate::support::mail::{delivery, mailbox};
use crate::support::until::until;

/// What a registry with little in it takes. Beside it are allowed the segment in use, the spare, and one that is dying.
const REGISTRY_OCTETS: u64 = 2 << 20;

fn blocks_octets(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir.join("store")).expect("list").map(|entry| entry.expect("entry").metadata());
    // A file may be removed meanwhile.
    entries.filter_map(|metadata| Some(metadata.ok()?.blocks() * 512)).sum()
}

/// The most blocks that were in use.
#[derive(Debug)]
struct Peak {
    live_octets: u64,
    allowance: u64,
}

impl Peak {
    fn of(options: &StoreOptions) -> Self {
        Self { live_octets: 0, allowance: 3 * options.segment_octets + REGISTRY_OCTETS }
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
    for hour in 0..hours {
        for quarter in 0..4 {
            let now = NOW.plus(HOUR * hour + HOUR / 4 * quarter);
            expire(&store, now).await;
            receive_all(&store, users(per_hour / 4).map(|to| delivery(&[&to], vec![b'x'; octets], now))).await;
        }
        peak.hold(&store, dir.path(), &format!("hour {hour}")).await;
    }
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
        for seconds in [0, 30] {
            expire(&store, NOW.plus(Duration::from_secs(seconds))).await;
        }
        peak.hold(&store, dir.path(), &format!("segment {segment}")).await;
    }
    let stored = list(&store, "kept@example.test", NOW).await.emails;
    assert_eq!(stored.len(), 8);
    for email in &stored {
        assert_eq!(store.load(email).await.expect("load").expect("kept").raw.len(), 25_000);
    }
}

#[tokio::test]
async fn what_was_deleted_is_in_no_file_a_minute_later() {
    let dir = tempfile::tempdir().expect("directory");
    let store = EmbeddedStore::open(dir.path(), &options()).expect("open");
    let marked = |n: usize| format!("the-mark-{n:05}-").repeat(60);
    for n in 0..200 {
        let to = if n % 10 == 0 { "kept@example.test" } else { "read@example.test" };
        store.receive(delivery(&[to], marked(n), NOW)).await.expect("receive");
    }
    let found = || -> Vec<usize> {
        let files =
            std::fs::read_dir(dir.path().join("store")).expect("list").map(|entry| entry.expect("entry").path());
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
    for seconds in [0, 30, 60] {
        expire(&store, NOW.plus(Duration::from_secs(seconds))).await;
    }
    assert_eq!(found().len(), 20);
    assert!(found().iter().all(|n| n % 10 == 0));
}
