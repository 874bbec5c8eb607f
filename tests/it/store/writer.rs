//! What is left of a store whose writer has ended by a defect.

use std::sync::Arc;
use std::time::Duration;

use tempmail::model::Timestamp;
use tempmail::store::{EmbeddedStore, Part, Store, StoreError};
use tokio::time::timeout;

use super::embedded::options;
use crate::support::faulty_disk::{FaultyDisk, Operation};
use crate::support::mail::{delivery, mailbox};
use crate::support::recording_disk::RecordingDisk;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const PATIENCE: Duration = Duration::from_secs(20);

async fn total(store: &EmbeddedStore) -> u64 {
    let part = Part::Offset { offset: 0, limit: 1 };
    store.list(&mailbox("a@example.test"), part, NOW).await.expect("list").total
}

/// Whoever waits for an answer gets none that is wrong, whoever comes later is refused, and reads go on.
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
    timeout(PATIENCE, store.writer_ended()).await.expect("noticed");
    assert_eq!(store.accepts(), Err(StoreError::WriterEnded));
    assert_eq!(store.receive(delivery(&["a@example.test"], "late", NOW)).await, Err(StoreError::WriterEnded));
    assert_eq!(total(&store).await, 1);
    assert_eq!(store.close().await, Err(StoreError::WriterEnded));
    drop(Arc::into_inner(store).expect("one handle"));
    let store = EmbeddedStore::open_on(Arc::new(RecordingDisk::with(memory.files())), &options()).expect("open again");
    assert_eq!(total(&store).await, 1);
}

/// The writer waits for the next segment: were its maker gone, it would wait for ever.
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
    // The spare that is there, then the one whose making panics, then more.
    let fill = async {
        let mut kept = 0;
        while kept < 60 {
            match store.receive(delivery(&["a@example.test"], vec![b'x'; 60_000], NOW)).await {
                Ok(()) => kept += 1,
                Err(error) => assert!(matches!(error, StoreError::Failed(_)), "{error}"),
            }
        }
    };
    timeout(PATIENCE, fill).await.expect("segments are made again");
    assert_eq!(total(&store).await, 60);
}
