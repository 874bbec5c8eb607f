//! What a close waits for. A service must end within ten seconds, so it does not wait for slow readers or punching.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tempmail::model::Timestamp;
use tempmail::store::{EmbeddedStore, PageRequest, Store, StoreOptions};
use tokio::time::timeout;

use crate::suites::PATIENCE;
use crate::suites::options;
use crate::support::faulty_disk::{FaultyDisk, Operation};
use crate::support::mail::{delivery, mailbox};
use crate::support::recording_disk::RecordingDisk;
use crate::support::until::until;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

/// A regression: the close waited 5 s for a reader of the index.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_close_does_not_wait_long_for_a_reader() {
    let memory = RecordingDisk::default();
    let disk = FaultyDisk::on(memory.clone());
    let uncached = StoreOptions { index_cache_octets: 0, ..options() };
    let store = Arc::new(EmbeddedStore::open_on(Arc::new(disk.clone()), &uncached).expect("open"));
    store.receive(delivery(&["a@example.test"], "m", NOW)).await.expect("receive");
    let gate = disk.block_next_read_of("index.redb");
    let reading = tokio::spawn({
        let store = Arc::clone(&store);
        async move { store.list(&mailbox("a@example.test"), PageRequest { offset: 0, limit: 9 }, NOW).await }
    });
    until("a read is held", async || disk.has_blocked()).await;
    timeout(PATIENCE, store.close()).await.expect("the close does not hang").expect("close");
    assert!(!reading.is_finished(), "the close has waited for the reader");
    drop(gate);
    // It ends, one way or the other.
    let _ = reading.await.expect("no panic");
    drop(store);
    let store = EmbeddedStore::open_on(Arc::new(RecordingDisk::with(memory.files())), &options()).expect("open again");
    assert_eq!(store.stats().await.expect("stats").emails, 1);
}

/// A regression: the close waited for the whole batch in progress, however slow the disk was.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_close_leaves_what_is_still_to_be_punched_to_the_next_start() {
    const MAILS: usize = 4_000;
    let memory = RecordingDisk::default();
    let disk = FaultyDisk::on(memory.clone());
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &options()).expect("open");
    let deliveries = (0..MAILS).map(|_| store.receive(delivery(&["a@example.test"], "the-deleted-secret", NOW)));
    assert!(join_all(deliveries).await.into_iter().all(|received| received == Ok(())));
    disk.fail(|operation, _| {
        if operation == Operation::Punch {
            // A slow disk: the whole batch would take seconds.
            std::thread::sleep(Duration::from_millis(2));
        }
        None
    });
    assert_eq!(store.delete_all(&mailbox("a@example.test"), u64::MAX, NOW).await, Ok(MAILS as u64));
    let left = || {
        let is_on = |octets: &Vec<u8>| octets.windows(18).any(|window| window == b"the-deleted-secret");
        memory.files().values().filter(|octets| is_on(octets)).count()
    };
    store.close().await.expect("close");
    drop(store);
    assert!(left() > 0, "the close has waited for the whole batch");
    disk.heal();
    drop(EmbeddedStore::open_on(Arc::new(disk), &options()).expect("open again"));
    assert_eq!(left(), 0);
}
