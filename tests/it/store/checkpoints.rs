//! Failed checkpoints, and the replay of a start after a kill that they cause.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tempmail::model::Timestamp;
use tempmail::store::{EmbeddedStore, PageRequest, Store, StoreError, StoreOptions};

use crate::suites::options;
use crate::support::faulty_disk::{FaultyDisk, Operation};
use crate::support::mail::{delivery, mailbox};
use crate::support::recording_disk::RecordingDisk;
use crate::support::until::until;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const INDEX: &str = "index.redb";
const DELETED: &[u8] = b"the-deleted-secret";

/// Whether any file of a disk has these octets.
fn is_on(disk: &RecordingDisk, wanted: &[u8]) -> bool {
    disk.files().values().any(|octets| octets.windows(wanted.len()).any(|part| part == wanted))
}

/// A failed checkpoint must be retried in an idle store. Else deleted mail stays on its disk.
#[tokio::test]
async fn a_failed_checkpoint_is_retried_in_an_idle_store() {
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
    store.delete_all(&mailbox("a@example.test"), u64::MAX, NOW).await.expect("delete");
    until("the checkpoint is made again", async || !is_on(&memory, DELETED) && failed.load(Ordering::Relaxed) > 0)
        .await;
    drop(store);
}

/// Each failed checkpoint causes a replay of all changes since the last good one, as a start does.
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
    // Work that frees space continues.
    until("mail can be deleted", async || {
        store.delete_all(&mailbox("a@example.test"), u64::MAX, NOW).await.is_ok_and(|deleted| deleted > 0)
    })
    .await;
    disk.heal();
    until("mail is accepted again", async || {
        store.accepts().is_ok() && store.receive(delivery(&["a@example.test"], "m", NOW)).await.is_ok()
    })
    .await;
}

/// A regression: each failed read delayed the next checkpoint, so failing reads could delay it for ever.
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
        until("the index is read again", async || list().await.is_ok()).await;
        fails.store(true, Ordering::Relaxed);
        until("a read fails", async || list().await.is_err()).await;
    }
    store.receive(delivery(&["a@example.test"], DELETED.repeat(500), NOW)).await.expect("receive");
    store.delete_all(&mailbox("a@example.test"), u64::MAX, NOW).await.expect("delete");
    until("a checkpoint is made", async || !is_on(&memory, DELETED)).await;
}
