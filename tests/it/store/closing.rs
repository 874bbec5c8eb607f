//! How long a close may take: a service must end within ten seconds, of which its sessions and requests have eight.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tempmail::model::Timestamp;
use tempmail::store::{EmbeddedStore, PageRequest, Store, StoreOptions};

use super::embedded::options;
use crate::support::faulty_disk::{FaultyDisk, Operation};
use crate::support::mail::{delivery, mailbox};
use crate::support::recording_disk::RecordingDisk;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const PATIENCE: Duration = Duration::from_secs(20);
/// A second and a half, and what a busy machine adds.
const CLOSED_WITHIN: Duration = Duration::from_secs(4);

async fn closed_in(store: &EmbeddedStore) -> Duration {
    let start = Instant::now();
    store.close().await.expect("close");
    start.elapsed()
}

/// The close waited 5 s for whoever was reading the index.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_close_does_not_wait_long_for_a_reader() {
    let memory = RecordingDisk::default();
    let disk = FaultyDisk::on(memory.clone());
    let uncached = StoreOptions { index_cache_octets: 0, ..options() };
    let store = Arc::new(EmbeddedStore::open_on(Arc::new(disk.clone()), &uncached).expect("open"));
    store.receive(delivery(&["a@example.test"], "m", NOW)).await.expect("receive");
    let gate = disk.hold_next_read_of("index.redb");
    let reading = tokio::spawn({
        let store = Arc::clone(&store);
        async move { store.list(&mailbox("a@example.test"), PageRequest { offset: 0, limit: 9 }, NOW).await }
    });
    let start = Instant::now();
    while !disk.holds_one() {
        assert!(start.elapsed() < PATIENCE, "nobody reads");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let took = closed_in(&store).await;
    assert!(took < CLOSED_WITHIN, "{took:?}");
    drop(gate);
    // It ends, one way or the other.
    let _ = reading.await.expect("no panic");
    drop(store);
    let store = EmbeddedStore::open_on(Arc::new(RecordingDisk::with(memory.files())), &options()).expect("open again");
    assert_eq!(store.stats().await.expect("stats").emails, 1);
}

/// The close waited for the whole batch that was under way, however slow the disk.
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
            std::thread::sleep(Duration::from_millis(2));
        }
        None
    });
    assert_eq!(store.delete_all(&mailbox("a@example.test"), NOW).await, Ok(MAILS as u64));
    let took = closed_in(&store).await;
    assert!(took < CLOSED_WITHIN, "{took:?}");
    drop(store);
    disk.heal();
    drop(EmbeddedStore::open_on(Arc::new(disk), &options()).expect("open again"));
    let left =
        memory.files().values().filter(|octets| octets.windows(18).any(|it| it == b"the-deleted-secret")).count();
    assert_eq!(left, 0);
}
