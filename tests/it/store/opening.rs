//! Power cuts while the store is being opened, during work that only an opening does.
//! Promise: it outlives the code below it.

use std::time::Duration;

use rand::RngExt;
use tempmail::store::{EmbeddedStore, Store, StoreOptions};

use super::{HOUR, NOW, expire, list, open, texts, to_many, try_open, users};
use crate::suites::options;
use crate::support::test_disk::{TestDisk, rng};

const IMAGES: u64 = 20;

/// The files of a store that was killed, of which one message to each of a hundred mailboxes is left.
async fn thinned() -> TestDisk {
    let disk = TestDisk::default();
    let rare = options();
    let store = open(&disk, &rare);
    for n in 0..100 {
        let at = if n == 30 { NOW.plus(HOUR) } else { NOW };
        store.receive(to_many(users(100), format!("message {n}"), at)).await.expect("receive");
    }
    expire(&store, NOW.plus(HOUR)).await;
    disk.copy()
}

/// Checks the contents of the store: the life of its mail was shortened to half an hour, once.
async fn check(store: &EmbeddedStore, when: &str) {
    for name in ["user0@example.test", "user99@example.test"] {
        let at = |minutes: u32| NOW.plus(HOUR + Duration::from_mins(minutes.into()));
        assert_eq!(texts(store, name, at(29)).await.expect("texts"), ["message 30"], "{when}: {name}");
        assert_eq!(list(store, name, at(30)).await.total, 0, "{when}: {name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_power_cut_while_lives_are_shortened_costs_nothing() {
    let short = StoreOptions { retention: Some(HOUR / 2), ..options() };
    let disk = thinned().await;
    let store = open(&disk, &short);
    let opened = disk.operations();
    check(&store, "without a cut").await;
    for seed in 0..IMAGES {
        let cut = rng(seed).random_range(1..=opened);
        let when = format!("seed {seed}, cut at {cut} of {opened}");
        let again = try_open(&disk.power_cut(cut, seed), &short).unwrap_or_else(|error| panic!("{when}: {error}"));
        check(&again, &when).await;
    }
}
