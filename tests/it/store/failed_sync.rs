//! A sync that failed: the kernel takes what it had to write for written, so that it can be read, no later sync fails, and it
//! is gone with the power.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use tempmail::model::Timestamp;
use tempmail::store::{EmbeddedStore, Part, Store, StoreError, StoreOptions};

use super::embedded::options;
use crate::support::faulty_disk::{FaultyDisk, Operation};
use crate::support::mail::{delivery, mailbox};
use crate::support::recording_disk::{RecordingDisk, rng};

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const IMAGES: u64 = 20;
/// The segment in use; the next one is made beside it.
const IN_USE: &str = "journal-0000000000000001";

fn slow_checkpoints() -> StoreOptions {
    StoreOptions { checkpoint_octets: u64::MAX, checkpoint_quiet: Duration::from_hours(1), ..options() }
}

fn open(disk: &RecordingDisk) -> EmbeddedStore {
    EmbeddedStore::open_on(Arc::new(disk.clone()), &slow_checkpoints()).expect("open")
}

async fn receive(store: &EmbeddedStore, text: &'static str) -> Result<(), StoreError> {
    store.receive(delivery(&["a@example.test"], text, NOW)).await
}

async fn contents(store: &EmbeddedStore) -> Vec<String> {
    let part = Part::Offset { offset: 0, limit: 100 };
    let part = store.list(&mailbox("a@example.test"), part, NOW).await.expect("list");
    let mut contents = Vec::new();
    for listed in part.emails.iter().rev() {
        let raw = store.load(listed).await.expect("load").expect("a listed email").raw;
        contents.push(String::from_utf8_lossy(&raw).into_owned());
    }
    contents
}

/// What every image of a power cut at this moment holds.
async fn holds_after_a_power_cut(disk: &RecordingDisk, wanted: &[&str]) {
    for seed in 0..IMAGES {
        let image = RecordingDisk::with(disk.crash(disk.operations(), &mut rng(seed)));
        assert_eq!(contents(&open(&image)).await, wanted, "seed {seed}");
    }
}

#[tokio::test]
async fn what_a_failed_sync_had_to_write_is_answered_as_failed_and_nothing_is_built_on_it() {
    let disk = RecordingDisk::default();
    let store = open(&disk);
    receive(&store, "m1").await.expect("receive");
    disk.fail_next_sync_of(IN_USE);
    assert!(matches!(receive(&store, "m2").await, Err(StoreError::Failed(_))));
    receive(&store, "m3").await.expect("receive");
    assert_eq!(contents(&store).await, ["m1", "m3"]);
    holds_after_a_power_cut(&disk, &["m1", "m3"]).await;
}

/// A process found the last group of the one before it in memory, synced it, which did nothing, and made an index durable
/// that was ahead of the journal: after the next power cut the store did not open.
#[tokio::test]
async fn what_the_last_process_could_not_sync_is_written_again_before_it_is_shown() {
    let disk = RecordingDisk::default();
    let faulty = FaultyDisk::on(disk.clone());
    let store = EmbeddedStore::open_on(Arc::new(faulty.clone()), &slow_checkpoints()).expect("open");
    receive(&store, "m1").await.expect("receive");
    // The group can't be cut off either.
    faulty.fail(|operation, name| {
        (operation == Operation::Write && name == "journal-0000000000000002").then_some(ErrorKind::Other)
    });
    disk.fail_next_sync_of(IN_USE);
    assert_eq!(receive(&store, "m2").await, Err(StoreError::OutcomeUnknown));
    let disk = disk.kill();
    drop(store);
    let next = open(&disk);
    assert_eq!(contents(&next).await, ["m1", "m2"]);
    holds_after_a_power_cut(&disk, &["m1", "m2"]).await;
}
