//! Failed checkpoints, and the replay of a start after a kill that they cause.
//! Mechanism: it goes with the index on disk.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tempmail::store::{Store, StoreError, StoreOptions};

use super::{INDEX, NOW, TO, delete_all, open, receive, texts};
use crate::suites::options;
use crate::support::test_disk::{Kind, TestDisk};
use crate::support::until::until;

const DELETED: &str = "the-deleted-secret";

/// A failed checkpoint must be retried in an idle store. Else deleted mail stays on its disk.
#[tokio::test]
async fn a_failed_checkpoint_is_retried_in_an_idle_store() {
    let disk = TestDisk::default();
    let store = open(&disk, &StoreOptions { checkpoint_quiet: Duration::from_millis(50), ..options() });
    let failing = disk.fail_next(|call| call.is(Kind::Sync, INDEX));
    receive(&store, DELETED.repeat(500)).await.expect("receive");
    delete_all(&store).await.expect("delete");
    until("the checkpoint is made again", async || !disk.contains(DELETED) && failing.failed() > 0).await;
}

/// Each failed checkpoint causes a replay of all changes since the last good one, as a start does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_journal_that_is_to_be_replayed_is_bounded_while_checkpoints_fail() {
    let disk = TestDisk::default();
    let store = open(&disk, &options());
    // An index that failed can be opened again, and fails again at the next checkpoint.
    let mut is_changed = false;
    let failing = disk.fail(move |call| {
        is_changed |= call.is(Kind::Write, "journal-");
        let fails = is_changed && call.is(Kind::Sync, INDEX);
        is_changed &= !fails;
        fails.then_some(ErrorKind::Other)
    });
    let bound = 4 * options().checkpoint_octets.max(options().segment_octets);
    let mut octets = 0;
    let refused = loop {
        match receive(&store, vec![b'x'; 10_000]).await {
            Ok(()) => octets += 10_000,
            Err(error) => break error,
        }
        assert!(octets <= 2 * bound, "{octets} octets would be replayed");
    };
    assert!(matches!(refused, StoreError::Failed(_)), "{refused}");
    // Work that frees space continues.
    until("mail can be deleted", async || delete_all(&store).await.is_ok_and(|deleted| deleted > 0)).await;
    drop(failing);
    until("mail is accepted again", async || store.accepts().is_ok() && receive(&store, "m").await.is_ok()).await;
}

/// A regression: each failed read delayed the next checkpoint, so failing reads could delay it for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_that_fail_now_and_then_hold_no_checkpoint_back() {
    let disk = TestDisk::default();
    let options = StoreOptions { index_cache_octets: 0, checkpoint_quiet: Duration::from_millis(50), ..options() };
    let store = open(&disk, &options);
    let fails = Arc::<AtomicBool>::default();
    let _failing = disk.fail({
        let fails = Arc::clone(&fails);
        move |call| (call.is(Kind::Read, INDEX) && fails.swap(false, Ordering::Relaxed)).then_some(ErrorKind::Other)
    });
    for _ in 0..10 {
        until("the index is read again", async || texts(&store, TO, NOW).await.is_ok()).await;
        fails.store(true, Ordering::Relaxed);
        until("a read fails", async || texts(&store, TO, NOW).await.is_err()).await;
    }
    receive(&store, DELETED.repeat(500)).await.expect("receive");
    delete_all(&store).await.expect("delete");
    until("a checkpoint is made", async || !disk.contains(DELETED)).await;
}
