//! A disk that another program fills to the last block while mail comes in.

use std::sync::Arc;
use std::time::Duration;

use tempmail::model::Timestamp;
use tempmail::store::disk::Disk;
use tempmail::store::{EmbeddedStore, OpenError, PageRequest, Store, StoreError, StoreOptions};

use crate::suites::options;
use crate::support::mail::{delivery, mailbox};
use crate::support::quota_disk::QuotaDisk;
use crate::support::until::{until, until_some};

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const PART: PageRequest = PageRequest { offset: 0, limit: 10_000 };

/// The answer of a store when its index is not being compacted. The small disk causes compactions.
async fn once_read<T>(ask: impl AsyncFn() -> Result<T, StoreError>) -> T {
    until_some("the index is not being compacted", async || ask().await.ok()).await
}

async fn emails(store: &EmbeddedStore) -> u64 {
    once_read(async || store.stats().await).await.emails
}

async fn expire_all(store: &EmbeddedStore) {
    let later = NOW.plus(Duration::from_hours(2));
    while once_read(async || store.expire(later, 500).await).await.next_due_at.is_some() {}
}

/// The index needs room for the rows that it has in memory. The next segment gives up its room for that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn accepted_mail_stays_and_can_be_deleted_on_a_disk_without_a_free_block() {
    let disk = QuotaDisk::with_room_for(64 << 20);
    let open = || EmbeddedStore::open_on(Arc::new(disk.clone()), &options());
    let names: Vec<String> = (0..10).map(|n| format!("user{n}@example.test")).collect();
    let recipients: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut store = open().expect("open");
    let mut stored = 0;
    for round in 0..300 {
        if round == 50 {
            disk.fill();
        }
        match store.receive(delivery(&recipients, vec![b'x'; 4000], NOW)).await {
            Ok(()) => stored += 1,
            Err(error) => assert_eq!(error, StoreError::Full),
        }
    }
    assert!((50..300).contains(&stored), "{stored}");
    assert_eq!(store.accepts(), Err(StoreError::Full));
    for when in ["running", "after an open"] {
        let mut part = store.list(&mailbox("user7@example.test"), PART, NOW).await.expect("list");
        assert_eq!(part.total, stored, "{when}");
        let newest = part.emails.remove(0);
        assert_eq!(store.load(&newest).await.expect("load").expect("listed").raw.len(), 4000);
        assert_eq!(store.delete(newest.id, NOW).await, Ok(true), "{when}");
        stored -= 1;
        if when == "running" {
            store.close().await.expect("close");
            drop(store);
            disk.fill();
            // Nothing is left to give up, so the open fails as full. Room for another index is enough.
            let mut given = 0;
            store = loop {
                match open() {
                    Ok(store) => break store,
                    Err(error) => assert!(matches!(error, OpenError::Full { .. }), "{error}"),
                }
                disk.give_room(256 << 10);
                given += 256 << 10;
                assert!(given <= disk.octets_of("index.redb"), "{given}");
            };
            // An index that is mostly free is compacted, and may give back more than it was given.
            let has_room = disk.free_octets().expect("a look") > disk.octets_of("index.redb");
            assert!(has_room || store.accepts() == Err(StoreError::Full));
        }
    }
    expire_all(&store).await;
    assert_eq!(emails(&store).await, 0);
    disk.give_room(64 << 20);
    until("there is room again", async || {
        store.receive(delivery(&recipients, "m", NOW)).await.is_ok() && store.accepts().is_ok()
    })
    .await;
}

/// Messages to many recipients need much of the index and little of the journal. Durable groups must still fit there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_disk_without_a_free_block_every_sender_gets_an_answer() {
    for (index_cache_octets, filled_at) in [(1 << 20, 3), (1 << 20, 40), (16 << 20, 20)] {
        let disk = QuotaDisk::with_room_for(256 << 20);
        let rare = StoreOptions {
            index_cache_octets,
            checkpoint_octets: 32 << 20,
            checkpoint_quiet: Duration::from_secs(3600),
            ..options()
        };
        let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &rare).expect("open");
        let mut stored = 0;
        for round in 0..120 {
            if round == filled_at {
                disk.fill();
            }
            let deliveries = (0..10).map(|message| {
                let names: Vec<String> = (0..80).map(|n| format!("{n}.{message}.{round}@example.test")).collect();
                let recipients: Vec<&str> = names.iter().map(String::as_str).collect();
                store.receive(delivery(&recipients, "m", NOW))
            });
            for received in futures_util::future::join_all(deliveries).await {
                match received {
                    Ok(()) => stored += 80,
                    Err(error) => assert_eq!(error, StoreError::Full, "after {stored}, filled at {filled_at}"),
                }
            }
        }
        assert!(stored >= filled_at * 800, "{stored}");
        assert_eq!(store.accepts(), Err(StoreError::Full));
        assert_eq!(emails(&store).await, stored);
        expire_all(&store).await;
        store.close().await.expect("close");
        drop(store);
        disk.give_room(64 << 20);
        let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &rare).expect("open again");
        assert_eq!(store.stats().await.expect("stats").emails, 0);
    }
}

/// The spare segment of the last process has room for the writes of an opening.
#[tokio::test]
async fn a_store_that_had_a_spare_opens_on_a_disk_without_a_free_block() {
    let disk = QuotaDisk::with_room_for(16 << 20);
    let open = || EmbeddedStore::open_on(Arc::new(disk.clone()), &options());
    let store = open().expect("open");
    for _ in 0..50 {
        store.receive(delivery(&["a@example.test"], vec![b'x'; 5000], NOW)).await.expect("receive");
    }
    drop(store);
    disk.fill();
    let store = open().expect("open on a full disk");
    assert_eq!(store.accepts(), Err(StoreError::Full));
    assert_eq!(store.delete_all(&mailbox("a@example.test"), u64::MAX, NOW).await, Ok(50));
}

/// Nothing shows in advance that a user's quota is used up. A durable group without room in the index may get
/// no answer, but no sender gets a wrong one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn under_a_hidden_quota_no_answer_is_wrong_and_the_store_comes_back() {
    let disk = QuotaDisk::with_room_for(64 << 20);
    // The index writes to its file with each group.
    let uncached = StoreOptions { index_cache_octets: 0, ..options() };
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &uncached).expect("open");
    disk.hide();
    let (mut stored, mut unknown, mut refused) = (0, 0, 0);
    for round in 0..120 {
        if round == 20 {
            disk.fill();
        }
        let names: Vec<String> = (0..50).map(|n| format!("user{n}.{round}@example.test")).collect();
        let mut recipients: Vec<&str> = names.iter().map(String::as_str).collect();
        recipients.push("all@example.test");
        match store.receive(delivery(&recipients, vec![b'x'; 3000], NOW)).await {
            Ok(()) => stored += 1,
            Err(StoreError::OutcomeUnknown) => unknown += 1,
            Err(error) => {
                assert!(matches!(error, StoreError::Full | StoreError::Failed(_)), "{error}");
                refused += 1;
            }
        }
        // Each of them waits for the index to come back.
        if unknown + refused == 3 {
            break;
        }
    }
    assert!(stored >= 20, "{stored}");
    disk.give_room(64 << 20);
    until("there is room again", async || store.accepts().is_ok()).await;
    let total = store.list(&mailbox("all@example.test"), PART, NOW).await.expect("list").total;
    assert!((stored..=stored + unknown).contains(&total), "{stored} kept, {unknown} unknown, {total} there");
    store.receive(delivery(&["all@example.test"], "m", NOW)).await.expect("receive");
}

/// A regression: the index file only grew while a store ran. Mail to many recipients made it larger than the rest
/// of the disk, so no mail was accepted although none was stored.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_filled_by_mail_to_many_accepts_mail_again_after_it_expired() {
    let disk = QuotaDisk::with_room_for(12 << 20);
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &options()).expect("open");
    for round in 0.. {
        let names: Vec<String> = (0..100).map(|n| format!("{n}.{round}@example.test")).collect();
        let recipients: Vec<&str> = names.iter().map(String::as_str).collect();
        match store.receive(delivery(&recipients, "m", NOW)).await {
            Ok(()) if store.accepts().is_ok() => {}
            Ok(()) | Err(StoreError::Full) => break,
            Err(error) => panic!("{error}"),
        }
    }
    // The store may have compacted the index again before this line.
    let grown = disk.largest_octets_of("index.redb");
    assert!(grown >= 4 << 20, "{grown}");
    expire_all(&store).await;
    let state = std::fmt::from_fn(|f| {
        let octets = disk.octets_of("index.redb");
        write!(f, "mail is accepted, where the answer is {:?} and the index has {octets} octets", store.accepts())
    });
    until(state, async || store.accepts().is_ok()).await;
    assert_eq!(emails(&store).await, 0);
    assert!(disk.octets_of("index.redb") < grown);
    store.receive(delivery(&["a@example.test"], "m", NOW)).await.expect("receive");
}

/// A regression: after each failed sync the store goes on in the next segment. On a full disk, none was left after the second
/// failure, and no mail could be deleted to make room.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_full_disk_whose_syncs_fail_mail_can_be_deleted() {
    let disk = QuotaDisk::with_room_for(16 << 20);
    let rare = StoreOptions { checkpoint_octets: u64::MAX, checkpoint_quiet: Duration::from_hours(1), ..options() };
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &rare).expect("open");
    for _ in 0..20 {
        store.receive(delivery(&["a@example.test"], vec![b'x'; 40_000], NOW)).await.expect("receive");
    }
    until("mail is accepted", async || store.accepts().is_ok()).await;
    disk.fill();
    // Another program leaves little room.
    disk.give_room(256 << 10);
    disk.fail_sync_of("journal-0000000000000001", 0);
    // Its header is synced.
    disk.fail_sync_of("journal-0000000000000002", 1);
    for _ in 0..2 {
        store.delete_all(&mailbox("a@example.test"), u64::MAX, NOW).await.expect_err("a sync fails");
    }
    assert!(disk.have_syncs_failed());
    until("mail can be deleted", async || store.delete_all(&mailbox("a@example.test"), u64::MAX, NOW).await.is_ok())
        .await;
    assert_eq!(emails(&store).await, 0);
}
