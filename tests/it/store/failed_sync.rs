//! A failed sync: the kernel treats the data as written. It can be read, no later sync fails, and a power cut
//! loses it.
//! Promise: it outlives the code below it.

use std::io::ErrorKind;

use tempmail::store::StoreError;

use super::{IN_USE, contents, open, receive};
use crate::suites::options;
use crate::support::test_disk::rules::Failing;
use crate::support::test_disk::{Kind, TestDisk};
use crate::support::until::until;

const IMAGES: u64 = 20;

fn fail_next_sync_of(disk: &TestDisk, name: &'static str) -> Failing {
    disk.fail_next(move |call| call.is(Kind::Sync, name))
}

/// Checks the contents of images of a power cut at this moment.
async fn holds_after_a_power_cut(disk: &TestDisk, wanted: &[&str]) {
    for seed in 0..IMAGES {
        let image = disk.power_cut(disk.operations(), seed);
        assert_eq!(contents(&open(&image, &options())).await, wanted, "seed {seed}");
    }
}

#[tokio::test]
async fn what_a_failed_sync_had_to_write_is_answered_as_failed_and_nothing_is_built_on_it() {
    let disk = TestDisk::default();
    let store = open(&disk, &options());
    receive(&store, "m1").await.expect("receive");
    let _failing = fail_next_sync_of(&disk, IN_USE);
    assert!(matches!(receive(&store, "m2").await, Err(StoreError::Failed(_))));
    receive(&store, "m3").await.expect("receive");
    assert_eq!(contents(&store).await, ["m1", "m3"]);
    holds_after_a_power_cut(&disk, &["m1", "m3"]).await;
}

/// A regression: a process read the last group of the process before it from memory. The sync did nothing, and what
/// was shown was then ahead of the durable journal, so the store did not open after the next power cut.
#[tokio::test]
async fn what_the_last_process_could_not_sync_is_written_again_before_it_is_shown() {
    let disk = TestDisk::default();
    let store = open(&disk, &options());
    receive(&store, "m1").await.expect("receive");
    let syncing = fail_next_sync_of(&disk, IN_USE);
    // The group can't be cut off either.
    let cutting_off = disk.fail(|call| call.is(Kind::Write, "spare").then_some(ErrorKind::Other));
    assert_eq!(receive(&store, "m2").await, Err(StoreError::OutcomeUnknown));
    let disk = disk.kill();
    drop((store, syncing, cutting_off));
    let next = open(&disk, &options());
    assert_eq!(contents(&next).await, ["m1", "m2"]);
    holds_after_a_power_cut(&disk, &["m1", "m2"]).await;
}

/// A regression: the next process found the header in memory and took it for durable. A power cut then lost its segment.
#[tokio::test]
async fn a_header_that_the_last_process_could_not_sync_is_written_again_before_anything_follows_it() {
    let disk = TestDisk::default();
    let store = open(&disk, &options());
    receive(&store, "m1").await.expect("receive");
    // The first one was synced twice: new, and with its header.
    let syncs = || disk.moments(|call| call.is(Kind::Sync, "spare")).len();
    until("the next segment is made", async || syncs() == 3).await;
    // A group that can't be made durable is cut off by the header of the next segment.
    let syncing = fail_next_sync_of(&disk, IN_USE);
    let cutting_off = disk.die_at_failed_sync_of("spare", 0);
    assert_eq!(receive(&store, "m2").await, Err(StoreError::OutcomeUnknown));
    assert_eq!((syncing.failed(), cutting_off.failed()), (1, 1));
    let disk = disk.kill();
    drop(store);
    // The file of that header never got the name of a segment, so the group is there.
    let next = open(&disk, &options());
    receive(&next, "m3").await.expect("receive");
    assert_eq!(contents(&next).await, ["m1", "m2", "m3"]);
    holds_after_a_power_cut(&disk, &["m1", "m2", "m3"]).await;
}
