//! Checkpoints that fail, and what a start after a kill has to do for those that did not come.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tempmail::model::Timestamp;
use tempmail::store::{EmbeddedStore, PageRequest, Store, StoreError, StoreOptions};

use super::embedded::options;
use super::until;
use crate::support::faulty_disk::{FaultyDisk, Operation};
use crate::support::mail::{delivery, mailbox};
use crate::support::recording_disk::RecordingDisk;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const INDEX: &str = "index.redb";
const DELETED: &[u8] = b"the-deleted-secret";

/// Whether any file of a disk has these octets.
fn is_on(disk: &RecordingDisk, wanted: &[u8]) -> bool {
    disk.files().values().any(|octets| octets.windows(wanted.len()).any(|part| part == wanted))
}

/// A checkpoint that fails must be made again though nobody comes: else a deleted mail stays on the disk of a quiet store.
#[tokio::test]
async fn a_checkpoint_that_failed_is_made_again_in_a_store_that_nobody_uses() {
    let memory = RecordingDisk::default();
    let disk = FaultyDisk::on(memory.clone());
    let options = StoreOptions { checkpoint_quiet: Duration::from_millis(50), ..options() };
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &options).expect("open");
    let failed = Arc::<AtomicUsize>::default();
    disk.fail({
        let failed = Arc::clone(&failed);
        move |operation, name| {
            let fails = operation == Operation::Sync && name == INDEX && failed.load(Ordering::Relaxed) == 0;
            failed.fetch_add(usize::from(fails), Ordering::Relaxed);
            fails.then_some(ErrorKind::Other)
        }
    });
    store.receive(delivery(&["a@example.test"], DELETED.repeat(500), NOW)).await.expect("receive");
    store.delete_all(&mailbox("a@example.test"), NOW).await.expect("delete");
    until("it is not made again", async || !is_on(&memory, DELETED) && failed.load(Ordering::Relaxed) > 0).await;
    drop(store);
}

/// Each that fails costs a replay of all that no checkpoint has, and a start has to do the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_journal_that_is_to_be_replayed_is_bounded_while_checkpoints_fail() {
    let disk = FaultyDisk::on(RecordingDisk::default());
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &options()).expect("open");
    // An index that failed can be opened again, and fails again at the next checkpoint.
    let mut is_changed = false;
    disk.fail(move |operation, name| {
        is_changed |= operation == Operation::Write && name.starts_with("journal-");
        let fails = is_changed && operation == Operation::Sync && name == INDEX;
        is_changed &= !fails;
        fails.then_some(ErrorKind::Other)
    });
    let bound = 4 * options().checkpoint_octets.max(options().segment_octets);
    let mut octets = 0;
    let refused = loop {
        match store.receive(delivery(&["a@example.test"], vec![b'x'; 10_000], NOW)).await {
            Ok(()) => octets += 10_000,
            Err(error) => break error,
        }
        assert!(octets <= 2 * bound, "{octets} octets would be replayed");
    };
    assert!(matches!(refused, StoreError::Failed(_)), "{refused}");
    // What frees space goes on.
    until("nothing can be deleted", async || {
        store.delete_all(&mailbox("a@example.test"), NOW).await.is_ok_and(|deleted| deleted > 0)
    })
    .await;
    disk.heal();
    until("it takes no mail again", async || {
        store.accepts().is_ok() && store.receive(delivery(&["a@example.test"], "m", NOW)).await.is_ok()
    })
    .await;
}

/// Each read that failed put the next checkpoint off, and whoever could make reads fail could put it off for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_that_fail_now_and_then_hold_no_checkpoint_back() {
    let memory = RecordingDisk::default();
    let disk = FaultyDisk::on(memory.clone());
    let options = StoreOptions { index_cache_octets: 0, checkpoint_quiet: Duration::from_millis(50), ..options() };
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &options).expect("open");
    let fails = Arc::<AtomicBool>::default();
    disk.fail({
        let fails = Arc::clone(&fails);
        move |operation, name| {
            let is_read = matches!(operation, Operation::Read(_)) && name == INDEX;
            (is_read && fails.swap(false, Ordering::Relaxed)).then_some(ErrorKind::Other)
        }
    });
    let list = async || {
        let part = PageRequest { offset: 0, limit: 1 };
        store.list(&mailbox("a@example.test"), part, NOW).await
    };
    for _ in 0..10 {
        until("it is not read again", async || list().await.is_ok()).await;
        fails.store(true, Ordering::Relaxed);
        until("no read fails", async || list().await.is_err()).await;
    }
    store.receive(delivery(&["a@example.test"], DELETED.repeat(500), NOW)).await.expect("receive");
    store.delete_all(&mailbox("a@example.test"), NOW).await.expect("delete");
    until("no checkpoint is made", async || !is_on(&memory, DELETED)).await;
}
