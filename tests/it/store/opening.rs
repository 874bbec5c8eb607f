//! Power cuts while the store is being opened, during work that only an opening does.

use std::sync::Arc;
use std::time::Duration;

use rand::RngExt;
use tempmail::model::Timestamp;
use tempmail::store::{EmbeddedStore, PageRequest, Store, StoreOptions};

use crate::suites::options;
use crate::support::mail::{delivery, mailbox};
use crate::support::recording_disk::{RecordingDisk, rng};

const START: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const HOUR: Duration = Duration::from_hours(1);
const IMAGES: u64 = 20;

/// The files of a store that was killed, whose index is mostly free once the journal is replayed: one message to each of a
/// hundred mailboxes is left.
async fn thinned() -> RecordingDisk {
    let disk = RecordingDisk::default();
    let rare = StoreOptions { checkpoint_octets: 8 << 20, checkpoint_quiet: HOUR, ..options() };
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &rare).expect("open");
    let names: Vec<String> = (0..100).map(|n| format!("user{n}@example.test")).collect();
    let recipients: Vec<&str> = names.iter().map(String::as_str).collect();
    for n in 0..100 {
        let at = if n == 30 { START.plus(HOUR) } else { START };
        store.receive(delivery(&recipients, format!("message {n}"), at)).await.expect("receive");
    }
    // A file with all of it. The process that removes most of it does not live to make a checkpoint.
    store.close().await.expect("close");
    drop(store);
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &rare).expect("open again");
    while store.expire(START.plus(HOUR), 500).await.expect("expire").removed > 0 {}
    RecordingDisk::with(disk.files())
}

/// Checks the contents of the store: the life of its mail was shortened to half an hour, once.
async fn check(store: &EmbeddedStore, when: &str) {
    let part = PageRequest { offset: 0, limit: 9 };
    for name in ["user0@example.test", "user99@example.test"] {
        let at = |minutes: u32| START.plus(HOUR + Duration::from_mins(minutes.into()));
        let listed = store.list(&mailbox(name), part, at(29)).await.expect("list");
        assert_eq!(listed.total, 1, "{when}: {name}");
        let email = store.load(&listed.emails[0]).await.expect("load").expect("an Email");
        assert_eq!(email.raw, "message 30", "{when}: {name}");
        assert_eq!(store.list(&mailbox(name), part, at(30)).await.expect("list").total, 0, "{when}: {name}");
    }
    assert_eq!(store.stats().await.expect("stats").emails, 100, "{when}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_power_cut_while_the_index_is_compacted_and_lives_are_shortened_costs_nothing() {
    let short = StoreOptions { retention: Some(HOUR / 2), ..options() };
    let disk = thinned().await;
    let before = disk.files()["index.redb"].len();
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &short).expect("open");
    let opened = disk.operations();
    let after = disk.files()["index.redb"].len();
    assert!(after * 2 < before, "it was not compacted: {before}, {after}");
    check(&store, "without a cut").await;
    for seed in 0..IMAGES {
        let mut random = rng(seed);
        let cut = random.random_range(1..=opened);
        let image = RecordingDisk::with(disk.crash(cut, &mut random));
        let when = format!("seed {seed}, cut at {cut} of {opened}");
        let again = EmbeddedStore::open_on(Arc::new(image), &short).unwrap_or_else(|error| panic!("{when}: {error}"));
        check(&again, &when).await;
    }
}
