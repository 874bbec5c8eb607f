//! The embedded store on a disk that fails. Each test covers a way in which mail was once lost, came
//! back, or in which the store never recovered.
//! Promise: it outlives the code below it.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use rand::RngExt;
use tempmail::store::{EmbeddedStore, Store, StoreError, StoreOptions};

use super::answers::Answers;
use super::{HOUR, NOW, TO, contents, delete_all, expire, list, open, padded, receive, try_open};
use crate::suites::options;
use crate::support::mail::delivery;
use crate::support::test_disk::{Kind, TestDisk, rng};
use crate::support::until::{blocking, until};

/// The number of images of one moment. Some lose all data that was not synced, and others lose nothing.
const IMAGES: u64 = 20;

/// The header of the next segment was written, its sync failed, and small groups still went into the old segment. Then the
/// power went, the header was on the disk after all, and cut them off.
#[tokio::test]
async fn nothing_is_written_behind_what_a_header_in_doubt_cuts_off() {
    let disk = TestDisk::default();
    let options = StoreOptions { segment_octets: 170_000, ..options() };
    let store = open(&disk, &options);
    for text in ["m1", "m2"] {
        receive(&store, padded(text, 60_000)).await.expect("receive");
    }
    let mut acknowledged = vec!["m1", "m2"];
    let mut is_header_written = false;
    let failing = disk.fail(move |call| {
        is_header_written |= call.is(Kind::Write, "journal-");
        let fails = call.is(Kind::Sync, "journal-") || call.is(Kind::Create, "journal-");
        (fails && is_header_written).then_some(ErrorKind::Other)
    });
    receive(&store, padded("m3", 60_000)).await.expect_err("a header that is in doubt");
    let creating = disk.fail(|call| call.is(Kind::Create, "journal-").then_some(ErrorKind::Other));
    drop(failing);
    if receive(&store, "m4").await.is_ok() {
        acknowledged.push("m4");
    }
    drop(creating);
    for seed in 0..60 {
        let image = disk.power_cut(disk.operations(), seed);
        assert_eq!(contents(&open(&image, &options)).await, acknowledged, "seed {seed}");
    }
}

/// A regression: a store on a full disk did not open, because it had no room for a segment. So no mail could be deleted to
/// make room.
#[tokio::test]
async fn a_store_on_a_full_disk_opens_and_deletes_and_takes_mail_once_there_is_room() {
    let disk = TestDisk::default();
    let store = open(&disk, &options());
    receive(&store, "m1").await.expect("receive");
    receive(&store, "m2").await.expect("receive");
    drop(store);
    let failing =
        disk.fail(|call| (call.kind == Kind::Allocate && call.octets >= 200_000).then_some(ErrorKind::StorageFull));
    let mut failing = Some(failing);
    for left in ["m1", "m2"] {
        let store = open(&disk, &options());
        while receive(&store, padded("m3", 60_000)).await != Err(StoreError::Full) {}
        until("the disk is found full", async || store.accepts() == Err(StoreError::Full)).await;
        if left == "m1" {
            let part = list(&store, TO, NOW).await;
            assert_eq!(store.delete(part.emails[0].id, NOW).await, Ok(true));
        } else {
            delete_all(&store).await.expect("deleted");
            drop(failing.take());
            until("there is room again", async || receive(&store, "m4").await.is_ok()).await;
            assert_eq!(contents(&store).await, ["m4"]);
        }
    }
}

/// A regression: a disk that failed to make the next segment was reported as full.
#[tokio::test]
async fn a_segment_that_can_not_be_made_is_a_failure_unless_there_is_no_room() {
    for (kind, wanted) in
        [(ErrorKind::StorageFull, StoreError::Full), (ErrorKind::Other, StoreError::Failed(String::new()))]
    {
        let disk = TestDisk::default();
        let store = open(&disk, &options());
        receive(&store, "first").await.expect("receive");
        let _failing = disk.fail(move |call| (call.kind == Kind::Allocate).then_some(kind));
        let mut answer = Ok(());
        while answer.is_ok() {
            answer = receive(&store, vec![b'x'; 30_000]).await;
        }
        let answer = answer.expect_err("no room");
        assert_eq!(std::mem::discriminant(&answer), std::mem::discriminant(&wanted), "{answer}");
        // What frees space goes on.
        let part = list(&store, TO, NOW).await;
        assert_eq!(store.delete(part.emails[0].id, NOW).await, Ok(true));
    }
}

/// A regression: a hole was recorded as punched before it was durable. A power cut brought the deleted octets back, and
/// nothing removed them again.
#[tokio::test]
async fn what_was_deleted_leaves_the_disk_whatever_a_power_cut_keeps() {
    let options = StoreOptions { segment_octets: 170_000, ..options() };
    for is_in_use in [false, true] {
        let disk = TestDisk::default();
        let mut store = open(&disk, &options);
        receive(&store, "the-deleted-secret".repeat(500)).await.expect("receive");
        // Mail of another mailbox keeps the segment alive.
        store.receive(delivery(&["b@example.test"], "kept", NOW)).await.expect("receive");
        if !is_in_use {
            drop(store);
            store = open(&disk, &options);
        }
        delete_all(&store).await.expect("delete");
        receive(&store, "m1").await.expect("receive");
        let deleted = disk.operations();
        drop(store);
        let look = |cut| {
            for seed in 0..IMAGES {
                let image = disk.power_cut(cut, seed);
                let opened = open(&image, &options);
                let runtime = tokio::runtime::Builder::new_current_thread().build().expect("runtime");
                runtime.block_on(sweep_for_a_minute(&opened));
                let is_left = image.contains("the-deleted-secret");
                assert!(!is_left, "in the segment in use: {is_in_use}, cut {cut}, seed {seed}");
            }
        };
        // Each opening waits a little, so they run side by side.
        std::thread::scope(|scope| {
            for cut in disk.syncs().into_iter().filter(|sync| *sync > deleted) {
                scope.spawn({
                    let look = &look;
                    move || look(cut)
                });
            }
        });
    }
}

/// What a daemon does in a minute with what is dead.
async fn sweep_for_a_minute(store: &EmbeddedStore) {
    for seconds in [0, 30, 60] {
        expire(store, NOW.plus(Duration::from_secs(seconds))).await;
    }
}

/// A regression: a segment that could not be unlinked was forgotten until the next start.
#[tokio::test]
async fn a_segment_that_could_not_be_removed_is_removed_later() {
    let disk = TestDisk::default();
    let store = open(&disk, &options());
    for _ in 0..20 {
        receive(&store, vec![b'x'; 60_000]).await.expect("receive");
    }
    let failing = disk.fail(|call| matches!(call.kind, Kind::Remove | Kind::Rename).then_some(ErrorKind::Other));
    store.expire(NOW.plus(2 * HOUR), 100).await.expect("expire");
    assert!(store.stats().await.expect("stats").segments > 1);
    drop(failing);
    until("the segment is removed", async || {
        store.expire(NOW.plus(2 * HOUR), 100).await.expect("expire");
        store.stats().await.expect("stats").segments == 1
    })
    .await;
}

async fn suffer(seed: u64) {
    let mut random = rng(seed);
    let disk = TestDisk::default();
    let options = StoreOptions { segment_octets: 200_000, ..options() };
    let mut answers = Answers::default();
    let mut store = Arc::new(open(&disk, &options));
    for round in 0..5 {
        let rate = [0.02, 0.2, 0.5, 1.0][random.random_range(0..4)];
        let files = ["journal-", "registry", ""][random.random_range(0..3)];
        let mut dice = rng(random.random());
        let kind = [ErrorKind::Other, ErrorKind::StorageFull][random.random_range(0..2)];
        let failing = disk.fail(move |call| (call.file.starts_with(files) && dice.random_bool(rate)).then_some(kind));
        for _ in 0..2 {
            answers.receive_some(&store, &mut random).await;
            answers.delete_one(&store).await;
        }
        drop(failing);
        let state =
            std::fmt::from_fn(|f| write!(f, "seed {seed}: the store works again, which said {:?}", store.accepts()));
        tokio::task::block_in_place(|| blocking::until(state, || store.accepts().is_ok()));
        let when = format!("seed {seed}, round {round}");
        answers.check(&store, &when).await;
        answers.receive_some(&store, &mut random).await;
        answers.check(&store, &when).await;
        let image = disk.power_cut(disk.operations(), random.random());
        let opened = try_open(&image, &options).expect(&when);
        answers.check(&opened, &format!("{when}, after a power cut")).await;
        if random.random_bool(0.3) {
            store.close().await.expect("close");
            drop(Arc::into_inner(store).expect("one handle"));
            store = Arc::new(try_open(&disk, &options).expect(&when));
            answers.check(&store, &when).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_fails_every_answer_was_true() {
    let seeds: u64 = std::env::var("TEMPMAIL_FAULT_SEEDS").map_or(3, |seeds| seeds.parse().expect("a number"));
    let first: u64 = rand::random();
    let mut running = tokio::task::JoinSet::new();
    for seed in 0..seeds {
        running.spawn(suffer(first ^ seed));
    }
    running.join_all().await;
}
