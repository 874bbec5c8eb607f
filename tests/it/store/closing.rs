//! What a close waits for. A service must end within ten seconds, so it does not wait for slow readers or punching.
//! Mechanism: it goes with the index on disk; its regressions become cases of `each_call` or `crash`.

use std::sync::Arc;
use std::time::Duration;

use tempmail::store::{Store, StoreOptions};
use tokio::time::timeout;

use super::{INDEX, NOW, TO, contents, delete_all, open, receive, receive_all};
use crate::suites::{PATIENCE, options};
use crate::support::mail::delivery;
use crate::support::test_disk::{Kind, TestDisk};
use crate::support::until::until;

/// A regression: the close waited 5 s for a reader of the index.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_close_does_not_wait_long_for_a_reader() {
    let disk = TestDisk::default();
    let store = Arc::new(open(&disk, &StoreOptions { index_cache_octets: 0, ..options() }));
    receive(&store, "m").await.expect("receive");
    let held = disk.hold_next(|call| call.is_by_reader_of(INDEX));
    let reading = tokio::spawn({
        let store = Arc::clone(&store);
        async move { super::texts(&store, TO, NOW).await }
    });
    until("a read is held", async || held.waiting() > 0).await;
    timeout(PATIENCE, store.close()).await.expect("the close does not hang").expect("close");
    assert!(!reading.is_finished(), "the close has waited for the reader");
    drop(held);
    // It ends, one way or the other.
    let _ = reading.await.expect("no panic");
    drop(store);
    assert_eq!(contents(&open(&disk.copy(), &options())).await, ["m"]);
}

/// A regression: the close waited for the whole batch in progress, however slow the disk was.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_close_leaves_what_is_still_to_be_punched_to_the_next_start() {
    const MAILS: usize = 4_000;
    let disk = TestDisk::default();
    let store = open(&disk, &options());
    receive_all(&store, (0..MAILS).map(|_| delivery(&[TO], "the-deleted-secret", NOW))).await;
    let slow = disk.fail(|call| {
        if call.kind == Kind::Punch {
            // The whole batch would take seconds.
            std::thread::sleep(Duration::from_millis(2));
        }
        None
    });
    assert_eq!(delete_all(&store).await, Ok(MAILS as u64));
    store.close().await.expect("close");
    drop(store);
    assert!(disk.contains("the-deleted-secret"), "the close has waited for the whole batch");
    drop(slow);
    drop(open(&disk, &options()));
    assert!(!disk.contains("the-deleted-secret"));
}
