//! A failed sync: the kernel treats the data as written. It can be read, no later sync fails, and a power cut
//! loses it.
//! Promise: it outlives the code below it.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use tempmail::store::{Store, StoreError};

use super::{IN_USE, NEXT, NOW, contents, open, rare_checkpoints, receive};
use crate::suites::options;
use crate::support::mail::{delivery, mailbox};
use crate::support::test_disk::rules::Failing;
use crate::support::test_disk::{Kind, TestDisk};
use crate::support::until::until;

const IMAGES: u64 = 20;
const DELETED: [u8; 64] = [b'D'; 64];

fn fail_next_sync_of(disk: &TestDisk, name: &'static str) -> Failing {
    disk.fail_next(move |call| call.is(Kind::Sync, name))
}

/// Checks the contents of images of a power cut at this moment.
async fn holds_after_a_power_cut(disk: &TestDisk, wanted: &[&str]) {
    for seed in 0..IMAGES {
        let image = disk.power_cut(disk.operations(), seed);
        assert_eq!(contents(&open(&image, &rare_checkpoints())).await, wanted, "seed {seed}");
    }
}

#[tokio::test]
async fn what_a_failed_sync_had_to_write_is_answered_as_failed_and_nothing_is_built_on_it() {
    let disk = TestDisk::default();
    let store = open(&disk, &rare_checkpoints());
    receive(&store, "m1").await.expect("receive");
    let _failing = fail_next_sync_of(&disk, IN_USE);
    assert!(matches!(receive(&store, "m2").await, Err(StoreError::Failed(_))));
    receive(&store, "m3").await.expect("receive");
    assert_eq!(contents(&store).await, ["m1", "m3"]);
    holds_after_a_power_cut(&disk, &["m1", "m3"]).await;
}

/// A regression: a process read the last group of the process before it from memory. The sync did nothing, and the index
/// was then ahead of the durable journal, so the store did not open after the next power cut.
#[tokio::test]
async fn what_the_last_process_could_not_sync_is_written_again_before_it_is_shown() {
    let disk = TestDisk::default();
    let store = open(&disk, &rare_checkpoints());
    receive(&store, "m1").await.expect("receive");
    let syncing = fail_next_sync_of(&disk, IN_USE);
    // The group can't be cut off either.
    let cutting_off = disk.fail(|call| call.is(Kind::Write, NEXT).then_some(ErrorKind::Other));
    assert_eq!(receive(&store, "m2").await, Err(StoreError::OutcomeUnknown));
    let disk = disk.kill();
    drop((store, syncing, cutting_off));
    let next = open(&disk, &rare_checkpoints());
    assert_eq!(contents(&next).await, ["m1", "m2"]);
    holds_after_a_power_cut(&disk, &["m1", "m2"]).await;
}

/// A regression: the system reports a failed write only to the first sync. A thread that punched out mail synced the
/// segment in use, and its error was ignored. The writer's sync succeeded, so a group was acknowledged, and lost later.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_first_sync_of_the_segment_in_use_answers_for_every_group_in_it() {
    for round in 0..5 {
        let disk = TestDisk::default();
        let store = Arc::new(open(&disk, &options()));
        receive(&store, "kept").await.expect("receive");
        store.receive(delivery(&["b@example.test"], DELETED.repeat(300), NOW)).await.expect("receive");
        store.delete_all(&mailbox("b@example.test"), u64::MAX, NOW).await.expect("delete");
        // The next sync is that of the punched segment.
        let held = disk.hold(|call| call.is(Kind::Sync, IN_USE));
        until("a sync is held", async || held.waiting() > 0).await;
        let received = {
            let store = Arc::clone(&store);
            tokio::spawn(async move { receive(&store, "acknowledged").await })
        };
        // If two threads sync, both wait by then. If only one does, nothing happens that a test could wait for.
        tokio::time::sleep(Duration::from_millis(50)).await;
        let failing = fail_next_sync_of(&disk, IN_USE);
        drop(held);
        let is_kept = received.await.expect("no panic").is_ok();
        assert_eq!(failing.failed(), 1, "round {round}: no sync failed");
        drop(failing);
        let wanted = if is_kept { vec!["kept", "acknowledged"] } else { vec!["kept"] };
        assert_eq!(contents(&store).await, wanted, "round {round}");
        holds_after_a_power_cut(&disk, &wanted).await;
        let is_written = disk.files()[NEXT].iter().any(|octet| *octet != 0);
        assert!(is_written, "round {round}: more went into a segment that could not be synced");
        until("the deleted message leaves the disk", async || {
            (0..IMAGES).all(|seed| !disk.power_cut(disk.operations(), seed).contains(DELETED))
        })
        .await;
    }
}

/// A regression: the next process found the header in memory and took it for durable. A power cut then lost its segment.
#[tokio::test]
async fn a_header_that_the_last_process_could_not_sync_is_written_again_before_anything_follows_it() {
    let disk = TestDisk::default();
    let store = open(&disk, &rare_checkpoints());
    receive(&store, "m1").await.expect("receive");
    until("the next segment is made", async || disk.has_synced(NEXT, 0)).await;
    // A group that can't be made durable is cut off by the header of the next segment.
    let syncing = fail_next_sync_of(&disk, IN_USE);
    let cutting_off = disk.die_at_failed_sync_of(NEXT, 0);
    assert_eq!(receive(&store, "m2").await, Err(StoreError::OutcomeUnknown));
    assert_eq!((syncing.failed(), cutting_off.failed()), (1, 1));
    let disk = disk.kill();
    drop(store);
    let next = open(&disk, &rare_checkpoints());
    receive(&next, "m3").await.expect("receive");
    assert_eq!(contents(&next).await, ["m1", "m3"]);
    holds_after_a_power_cut(&disk, &["m1", "m3"]).await;
}
