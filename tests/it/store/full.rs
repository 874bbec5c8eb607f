//! A disk that another program fills to the last block while mail comes in.
//! Promise: it outlives the code below it.

use tempmail::store::{EmbeddedStore, OpenError, Store, StoreError, StoreOptions};

use super::{
    HOUR, IN_USE, INDEX, NEXT, NOW, delete_all, list, open, rare_checkpoints, receive, to_many, try_open, users,
};
use crate::suites::options;
use crate::support::test_disk::{Kind, TestDisk};
use crate::support::until::{until, until_some};

/// The answer of a store when its index is not being compacted. The small disk causes compactions.
async fn once_read<T>(ask: impl AsyncFn() -> Result<T, StoreError>) -> T {
    until_some("the index is not being compacted", async || ask().await.ok()).await
}

fn disk_of(octets: u64) -> TestDisk {
    let disk = TestDisk::default();
    disk.room(octets);
    disk
}

async fn emails(store: &EmbeddedStore) -> u64 {
    once_read(async || store.stats().await).await.emails
}

async fn expire_all(store: &EmbeddedStore) {
    let later = NOW.plus(2 * HOUR);
    while once_read(async || store.expire(later, 500).await).await.next_due_at.is_some() {}
}

/// The index needs room for the rows that it has in memory. The next segment gives up its room for that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn accepted_mail_stays_and_can_be_deleted_on_a_disk_without_a_free_block() {
    let disk = disk_of(64 << 20);
    let mut store = open(&disk, &options());
    let mut stored = 0;
    for round in 0..300 {
        if round == 50 {
            disk.room(0);
        }
        match store.receive(to_many(users(10), vec![b'x'; 4000], NOW)).await {
            Ok(()) => stored += 1,
            Err(error) => assert_eq!(error, StoreError::Full),
        }
    }
    assert!((50..300).contains(&stored), "{stored}");
    assert_eq!(store.accepts(), Err(StoreError::Full));
    for when in ["running", "after an open"] {
        let mut part = list(&store, "user7@example.test", NOW).await;
        assert_eq!(part.total, stored, "{when}");
        let newest = part.emails.remove(0);
        assert_eq!(store.load(&newest).await.expect("load").expect("listed").raw.len(), 4000);
        assert_eq!(store.delete(newest.id, NOW).await, Ok(true), "{when}");
        stored -= 1;
        if when == "running" {
            store.close().await.expect("close");
            drop(store);
            disk.room(0);
            // Nothing is left to give up, so the open fails as full. Room for another index is enough.
            let mut given = 0;
            store = loop {
                match try_open(&disk, &options()) {
                    Ok(store) => break store,
                    Err(error) => assert!(matches!(error, OpenError::Full { .. }), "{error}"),
                }
                disk.more_room(256 << 10);
                given += 256 << 10;
                assert!(given <= disk.size_of(INDEX), "{given}");
            };
            // An index that is mostly free is compacted, and may give back more than it was given.
            let has_room = disk.room_left() > disk.size_of(INDEX);
            assert!(has_room || store.accepts() == Err(StoreError::Full));
        }
    }
    expire_all(&store).await;
    assert_eq!(emails(&store).await, 0);
    disk.more_room(64 << 20);
    until("there is room again", async || {
        store.receive(to_many(users(10), "m", NOW)).await.is_ok() && store.accepts().is_ok()
    })
    .await;
}

/// Messages to many recipients need much of the index and little of the journal. Durable groups must still fit there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_disk_without_a_free_block_every_sender_gets_an_answer() {
    for (index_cache_octets, filled_at) in [(1 << 20, 3), (1 << 20, 40), (16 << 20, 20)] {
        let disk = disk_of(256 << 20);
        let rare = StoreOptions { index_cache_octets, checkpoint_octets: 32 << 20, ..rare_checkpoints() };
        let store = open(&disk, &rare);
        let mut stored = 0;
        for round in 0..120 {
            if round == filled_at {
                disk.room(0);
            }
            let deliveries = (0..10).map(|message| {
                let names = (0..80).map(|n| format!("{n}.{message}.{round}@example.test"));
                store.receive(to_many(names, "m", NOW))
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
        disk.more_room(64 << 20);
        let store = open(&disk, &rare);
        assert_eq!(store.stats().await.expect("stats").emails, 0);
    }
}

/// The spare segment of the last process has room for the writes of an opening.
#[tokio::test]
async fn a_store_that_had_a_spare_opens_on_a_disk_without_a_free_block() {
    let disk = disk_of(16 << 20);
    let store = open(&disk, &options());
    for _ in 0..50 {
        receive(&store, vec![b'x'; 5000]).await.expect("receive");
    }
    drop(store);
    disk.room(0);
    let store = open(&disk, &options());
    assert_eq!(store.accepts(), Err(StoreError::Full));
    assert_eq!(delete_all(&store).await, Ok(50));
}

/// Nothing shows in advance that a user's quota is used up. A durable group without room in the index may get
/// no answer, but no sender gets a wrong one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn under_a_hidden_quota_no_answer_is_wrong_and_the_store_comes_back() {
    let disk = disk_of(64 << 20);
    // The index writes to its file with each group.
    let uncached = StoreOptions { index_cache_octets: 0, ..options() };
    let store = open(&disk, &uncached);
    disk.hide_room();
    let (mut stored, mut unknown, mut refused) = (0, 0, 0);
    for round in 0..120 {
        if round == 20 {
            disk.room(0);
        }
        let names = (0..50).map(|n| format!("user{n}.{round}@example.test")).chain(["all@example.test".to_owned()]);
        match store.receive(to_many(names, vec![b'x'; 3000], NOW)).await {
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
    disk.more_room(64 << 20);
    until("there is room again", async || store.accepts().is_ok()).await;
    let total = list(&store, "all@example.test", NOW).await.total;
    assert!((stored..=stored + unknown).contains(&total), "{stored} kept, {unknown} unknown, {total} there");
    receive(&store, "m").await.expect("receive");
}

/// A regression: the index file only grew while a store ran. Mail to many recipients made it larger than the rest
/// of the disk, so no mail was accepted although none was stored.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_filled_by_mail_to_many_accepts_mail_again_after_it_expired() {
    let disk = disk_of(12 << 20);
    let store = open(&disk, &options());
    for round in 0.. {
        let names = (0..100).map(|n| format!("{n}.{round}@example.test"));
        match store.receive(to_many(names, "m", NOW)).await {
            Ok(()) if store.accepts().is_ok() => {}
            Ok(()) | Err(StoreError::Full) => break,
            Err(error) => panic!("{error}"),
        }
    }
    // The store may have compacted the index again before this line.
    let grown = disk.calls().iter().filter(|call| call.is(Kind::Grow, INDEX)).map(|call| call.octets).max();
    let grown = grown.expect("it has grown");
    assert!(grown >= 4 << 20, "{grown}");
    expire_all(&store).await;
    let state = std::fmt::from_fn(|f| {
        let octets = disk.size_of(INDEX);
        write!(f, "mail is accepted, where the answer is {:?} and the index has {octets} octets", store.accepts())
    });
    until(state, async || store.accepts().is_ok()).await;
    assert_eq!(emails(&store).await, 0);
    assert!(disk.size_of(INDEX) < grown);
    receive(&store, "m").await.expect("receive");
}

/// A regression: after each failed sync the store goes on in the next segment. On a full disk, none was left after the second
/// failure, and no mail could be deleted to make room.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_full_disk_whose_syncs_fail_mail_can_be_deleted() {
    let disk = disk_of(16 << 20);
    let store = open(&disk, &rare_checkpoints());
    for _ in 0..20 {
        receive(&store, vec![b'x'; 40_000]).await.expect("receive");
    }
    until("mail is accepted", async || store.accepts().is_ok()).await;
    disk.room(0);
    // Another program leaves little room.
    disk.more_room(256 << 10);
    let first = disk.fail_next(|call| call.is(Kind::Sync, IN_USE));
    // Its header is synced.
    let mut is_header = true;
    let second = disk.fail_next(move |call| call.is(Kind::Sync, NEXT) && !std::mem::take(&mut is_header));
    for _ in 0..2 {
        delete_all(&store).await.expect_err("a sync fails");
    }
    assert_eq!((first.failed(), second.failed()), (1, 1));
    until("mail can be deleted", async || delete_all(&store).await.is_ok()).await;
    assert_eq!(emails(&store).await, 0);
}
