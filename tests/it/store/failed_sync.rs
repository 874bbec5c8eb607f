//! A failed sync: the kernel treats the data as written. It can be read, no later sync fails, and a power cut
//! loses it.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use tempmail::model::Timestamp;
use tempmail::store::{EmbeddedStore, PageRequest, Store, StoreError, StoreOptions};

use crate::suites::options;
use crate::support::faulty_disk::{FaultyDisk, Operation};
use crate::support::mail::{delivery, mailbox};
use crate::support::recording_disk::{RecordingDisk, rng};
use crate::support::until::until;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const IMAGES: u64 = 20;
/// The segment in use; the next one is made beside it.
const IN_USE: &str = "journal-0000000000000001";
const DELETED: u8 = b'x';
const NEXT: &str = "journal-0000000000000002";

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
    let part = PageRequest { offset: 0, limit: 100 };
    let part = store.list(&mailbox("a@example.test"), part, NOW).await.expect("list");
    let mut contents = Vec::new();
    for listed in part.emails.iter().rev() {
        let raw = store.load(listed).await.expect("load").expect("a listed email").raw;
        contents.push(String::from_utf8_lossy(&raw).into_owned());
    }
    contents
}

/// Checks the contents of images of a power cut at this moment.
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

/// A regression: a process read the last group of the process before it from memory. The sync did nothing, and the index
/// was then ahead of the durable journal, so the store did not open after the next power cut.
#[tokio::test]
async fn what_the_last_process_could_not_sync_is_written_again_before_it_is_shown() {
    let disk = RecordingDisk::default();
    let faulty = FaultyDisk::on(disk.clone());
    let store = EmbeddedStore::open_on(Arc::new(faulty.clone()), &slow_checkpoints()).expect("open");
    receive(&store, "m1").await.expect("receive");
    // The group can't be cut off either.
    faulty.fail(|operation, name| (operation == Operation::Write && name == NEXT).then_some(ErrorKind::Other));
    disk.fail_next_sync_of(IN_USE);
    assert_eq!(receive(&store, "m2").await, Err(StoreError::OutcomeUnknown));
    let disk = disk.kill();
    drop(store);
    let next = open(&disk);
    assert_eq!(contents(&next).await, ["m1", "m2"]);
    holds_after_a_power_cut(&disk, &["m1", "m2"]).await;
}

/// A regression: the system reports a failed write only to the first sync. A thread that punched out mail synced the
/// segment in use, and its error was ignored. The writer's sync succeeded, so a group was acknowledged, and lost later.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_first_sync_of_the_segment_in_use_answers_for_every_group_in_it() {
    for round in 0..5 {
        let disk = RecordingDisk::default();
        let store = Arc::new(EmbeddedStore::open_on(Arc::new(disk.clone()), &options()).expect("open"));
        receive(&store, "kept").await.expect("receive");
        store.receive(delivery(&["b@example.test"], vec![DELETED; 20_000], NOW)).await.expect("receive");
        store.delete_all(&mailbox("b@example.test"), u64::MAX, NOW).await.expect("delete");
        let blocked = disk.block_syncs_of(IN_USE);
        // The next sync is that of the punched segment.
        tokio::task::block_in_place(|| disk.wait_for_blocked_sync());
        let received = {
            let store = Arc::clone(&store);
            tokio::spawn(async move { receive(&store, "acknowledged").await })
        };
        // If two threads sync, both wait by then. If only one does, nothing happens that a test could wait for.
        tokio::time::sleep(Duration::from_millis(50)).await;
        disk.fail_next_sync_of(IN_USE);
        drop(blocked);
        let is_kept = received.await.expect("no panic").is_ok();
        assert!(disk.let_syncs_work(), "round {round}: no sync failed");
        let wanted = if is_kept { vec!["kept", "acknowledged"] } else { vec!["kept"] };
        assert_eq!(contents(&store).await, wanted, "round {round}");
        holds_after_a_power_cut(&disk, &wanted).await;
        let is_written = disk.files()[NEXT].iter().any(|octet| *octet != 0);
        assert!(is_written, "round {round}: more went into a segment that could not be synced");
        until("the deleted message leaves the disk", async || {
            (0..IMAGES).all(|seed| !has_deleted(&disk.crash(disk.operations(), &mut rng(seed))))
        })
        .await;
    }
}

fn has_deleted(files: &BTreeMap<String, Vec<u8>>) -> bool {
    files.values().any(|octets| octets.chunks_exact(64).any(|part| part == [DELETED; 64]))
}

/// A regression: the next process found the header in memory and took it for durable. A power cut then lost its segment.
#[tokio::test]
async fn a_header_that_the_last_process_could_not_sync_is_written_again_before_anything_follows_it() {
    let disk = RecordingDisk::default();
    let store = open(&disk);
    receive(&store, "m1").await.expect("receive");
    disk.wait_for_sync(NEXT, 0);
    // A group that can't be made durable is cut off by the header of the next segment.
    disk.fail_next_sync_of(IN_USE);
    disk.die_at_failed_sync_of(NEXT, 0);
    assert_eq!(receive(&store, "m2").await, Err(StoreError::OutcomeUnknown));
    assert!(disk.let_syncs_work(), "the header was synced");
    let disk = disk.kill();
    drop(store);
    let next = open(&disk);
    receive(&next, "m3").await.expect("receive");
    assert_eq!(contents(&next).await, ["m1", "m3"]);
    holds_after_a_power_cut(&disk, &["m1", "m3"]).await;
}
