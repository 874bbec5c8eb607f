//! A disk that another program fills to the last block while mail comes in.
//! Promise: it outlives the code below it.

use tempmail::store::{EmbeddedStore, Store, StoreError, StoreOptions};

use super::{HOUR, IN_USE, NEXT, NOW, delete_all, list, open, receive, to_many, users};
use crate::suites::options;
use crate::support::test_disk::{Kind, TestDisk};
use crate::support::until::until;

fn disk_of(octets: u64) -> TestDisk {
    let disk = TestDisk::default();
    disk.room(octets);
    disk
}

async fn emails(store: &EmbeddedStore) -> u64 {
    store.stats().await.expect("stats").emails
}

async fn expire_all(store: &EmbeddedStore) {
    let later = NOW.plus(2 * HOUR);
    while store.expire(later, 500).await.expect("expire").next_due_at.is_some() {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn accepted_mail_stays_and_can_be_deleted_on_a_disk_without_a_free_block() {
    let disk = disk_of(64 << 20);
    let mut store = open(&disk, &options());
    let mut stored = 0;
    for round in 0..1000 {
        if round == 50 {
            disk.room(0);
        }
        match store.receive(to_many(users(10), vec![b'x'; 4000], NOW)).await {
            Ok(()) => stored += 1,
            Err(error) => assert_eq!(error, StoreError::Full),
        }
    }
    assert!((50..1000).contains(&stored), "{stored}");
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
            store = open(&disk, &options());
            assert_eq!(store.accepts(), Err(StoreError::Full));
            // A little room is enough to delete mail.
            disk.more_room(256 << 10);
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_disk_without_a_free_block_every_sender_gets_an_answer() {
    const ROUNDS: u64 = 45;
    let small = StoreOptions { message_octets_max: 16 << 10, segment_octets: 256 << 10, ..options() };
    // In the first segment, about its end, and in the second.
    for filled_at in [1, 8, 15] {
        let disk = disk_of(256 << 20);
        let store = open(&disk, &small);
        let mut stored = 0;
        for round in 0..ROUNDS {
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
        assert!((filled_at * 800..ROUNDS * 800).contains(&stored), "{stored}");
        assert_eq!(store.accepts(), Err(StoreError::Full));
        assert_eq!(emails(&store).await, stored);
        expire_all(&store).await;
        store.close().await.expect("close");
        drop(store);
        disk.more_room(64 << 20);
        let store = open(&disk, &small);
        expire_all(&store).await;
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

/// Nothing shows in advance that a user's quota is used up. But no sender gets a wrong answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn under_a_hidden_quota_no_answer_is_wrong_and_the_store_comes_back() {
    let disk = disk_of(64 << 20);
    let store = open(&disk, &options());
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
    expire_all(&store).await;
    let state = std::fmt::from_fn(|f| write!(f, "mail is accepted, where the answer is {:?}", store.accepts()));
    until(state, async || store.accepts().is_ok()).await;
    assert_eq!(emails(&store).await, 0);
    receive(&store, "m").await.expect("receive");
}

/// A regression: after each failed sync the store goes on in the next segment. On a full disk, none was left after the second
/// failure, and no mail could be deleted to make room.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_full_disk_whose_syncs_fail_mail_can_be_deleted() {
    let disk = disk_of(16 << 20);
    let store = open(&disk, &options());
    for _ in 0..20 {
        receive(&store, vec![b'x'; 40_000]).await.expect("receive");
    }
    until("mail is accepted", async || store.accepts().is_ok()).await;
    disk.room(0);
    // Another program leaves little room.
    disk.more_room(256 << 10);
    let first = disk.fail_next(|call| call.is(Kind::Sync, IN_USE));
    let second = disk.fail_next(|call| call.is(Kind::Sync, NEXT));
    for _ in 0..2 {
        delete_all(&store).await.expect_err("a sync fails");
    }
    assert_eq!((first.failed(), second.failed()), (1, 1));
    until("mail can be deleted", async || delete_all(&store).await.is_ok()).await;
    assert_eq!(emails(&store).await, 0);
}
