//! The writer's answers to its callers, and the store that is left when a defect has ended the writer.

use std::sync::Arc;
use std::time::Duration;

use tempmail::model::Timestamp;
use tempmail::store::{EmbeddedStore, PageRequest, Storage, Store, StoreError};
use tokio::time::timeout;

use crate::suites::options;
use crate::support::faulty_disk::{FaultyDisk, Operation};
use crate::support::mail::{delivery, mailbox};
use crate::support::recording_disk::RecordingDisk;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const PATIENCE: Duration = Duration::from_secs(20);

async fn total(store: &EmbeddedStore) -> u64 {
    let part = PageRequest { offset: 0, limit: 1 };
    store.list(&mailbox("a@example.test"), part, NOW).await.expect("list").total
}

/// Callers that wait get no wrong answer, later callers are refused, and reads continue.
#[tokio::test]
async fn a_writer_that_ends_is_noticed_and_nothing_is_accepted_any_more() {
    let memory = RecordingDisk::default();
    let disk = FaultyDisk::on(memory.clone());
    let store = Arc::new(EmbeddedStore::open_on(Arc::new(disk.clone()), &options()).expect("open"));
    assert_eq!(store.receive(delivery(&["a@example.test"], "kept", NOW)).await, Ok(()));
    disk.fail(|operation, name| {
        assert!(operation != Operation::Write || !name.starts_with("journal-"), "injected");
        None
    });
    let mut pending = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let store = Arc::clone(&store);
        pending.spawn(async move { store.receive(delivery(&["a@example.test"], "lost", NOW)).await });
    }
    let answers = timeout(PATIENCE, pending.join_all()).await.expect("an answer for each");
    assert!(answers.contains(&Err(StoreError::OutcomeUnknown)), "{answers:?}");
    let is_refused = |answer| matches!(answer, Err(StoreError::OutcomeUnknown | StoreError::WriterEnded));
    assert!(answers.iter().cloned().all(is_refused), "{answers:?}");
    timeout(PATIENCE, store.ended()).await.expect("noticed");
    assert_eq!(store.accepts(), Err(StoreError::WriterEnded));
    assert_eq!(store.receive(delivery(&["a@example.test"], "late", NOW)).await, Err(StoreError::WriterEnded));
    assert_eq!(total(&store).await, 1);
    assert_eq!(store.close().await, Err(StoreError::WriterEnded));
    drop(Arc::into_inner(store).expect("one handle"));
    let store = EmbeddedStore::open_on(Arc::new(RecordingDisk::with(memory.files())), &options()).expect("open again");
    assert_eq!(total(&store).await, 1);
}

/// The writer waits for the next segment. If the thread that makes it were gone, it would wait for ever.
#[tokio::test]
async fn a_panic_while_a_segment_is_made_costs_that_attempt() {
    let disk = FaultyDisk::on(RecordingDisk::default());
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &options()).expect("open");
    let mut panics_left = 2;
    disk.fail(move |operation, _| {
        if matches!(operation, Operation::Allocate(_)) && panics_left > 0 {
            panics_left -= 1;
            panic!("injected");
        }
        None
    });
    // The existing spare is used first, then the one whose creation panics, then more.
    let fill = async {
        let mut stored = 0;
        while stored < 60 {
            match store.receive(delivery(&["a@example.test"], vec![b'x'; 60_000], NOW)).await {
                Ok(()) => stored += 1,
                Err(error) => assert!(matches!(error, StoreError::Failed(_)), "{error}"),
            }
        }
    };
    timeout(PATIENCE, fill).await.expect("segments are made again");
    assert_eq!(total(&store).await, 60);
}

/// However much expires at once, a message waits only for the step in progress.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn between_two_steps_of_expiry_a_message_that_waits_goes_first() {
    const STEP: usize = 100;
    // A row of the index holds the keys of 64 Emails that expire together.
    const STEP_MAX: u64 = 2 * STEP as u64;
    let disk = RecordingDisk::default();
    let store = Arc::new(EmbeddedStore::open_on(Arc::new(disk.clone()), &options()).expect("open"));
    let names: Vec<String> = (0..100).map(|n| format!("user{n}@example.test")).collect();
    let recipients: Vec<&str> = names.iter().map(String::as_str).collect();
    for _ in 0..40 {
        store.receive(delivery(&recipients, "old", NOW)).await.expect("receive");
    }
    let later = NOW.plus(Duration::from_hours(2));
    let blocked = disk.block_syncs_of("journal-");
    let expiring = {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            while store.expire(later, STEP).await.expect("expire").next_due_at.is_some_and(|due| due <= later) {}
        })
    };
    tokio::task::block_in_place(|| disk.wait_for_blocked_sync());
    let mut receiving = Box::pin(store.receive(delivery(&["a@example.test"], "new", later)));
    assert!(timeout(Duration::ZERO, &mut receiving).await.is_err(), "a sync is held");
    drop(blocked);
    let (received, left) = (receiving.await, store.stats().await.expect("stats").emails);
    assert_eq!(received, Ok(()));
    // The step in progress has ended, and a few more before the statistics were read.
    assert!(left > 4_000 - 10 * STEP_MAX, "{left} are left: all was removed before the message");
    expiring.await.expect("no panic");
    assert_eq!(store.stats().await.expect("stats").emails, 1);
}

/// A regression: the store answered while earlier deliveries were still being gathered into a group.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_answers_after_all_that_was_handed_over_before() {
    let disk = RecordingDisk::slow(Duration::from_millis(100));
    let store = EmbeddedStore::open_on(Arc::new(disk), &options()).expect("open");
    for round in 1..4 {
        let (first, second) = (delivery(&["a@example.test"], "1", NOW), delivery(&["a@example.test"], "2", NOW));
        // The writer is busy with the first while the others are handed over.
        let (first, second, total) = tokio::join!(store.receive(first), store.receive(second), async {
            store.answers().await.expect("answers");
            total(&store).await
        });
        assert_eq!((first, second, total), (Ok(()), Ok(()), 2 * round));
    }
}
