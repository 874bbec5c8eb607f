//! The writer's answers to its callers, and the store that is left when a defect has ended the writer.
//! Mechanism: it goes with the writer's thread and its files; its regressions become cases of `each_call` or `crash`.

use std::sync::Arc;
use std::time::Duration;

use tempmail::store::{Storage, Store, StoreError};
use tokio::time::timeout;

use super::{open, receive, total};
use crate::suites::{PATIENCE, options};
use crate::support::test_disk::{Kind, TestDisk};

/// Callers that wait get no wrong answer, later callers are refused, and reads continue.
#[tokio::test]
async fn a_writer_that_ends_is_noticed_and_nothing_is_accepted_any_more() {
    let disk = TestDisk::default();
    let store = Arc::new(open(&disk, &options()));
    assert_eq!(receive(&store, "kept").await, Ok(()));
    let _failing = disk.fail(|call| {
        assert!(!call.is(Kind::Write, "journal-"), "injected");
        None
    });
    let mut pending = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let store = Arc::clone(&store);
        pending.spawn(async move { receive(&store, "lost").await });
    }
    let answers = timeout(PATIENCE, pending.join_all()).await.expect("an answer for each");
    assert!(answers.contains(&Err(StoreError::OutcomeUnknown)), "{answers:?}");
    let is_refused = |answer| matches!(answer, Err(StoreError::OutcomeUnknown | StoreError::WriterEnded));
    assert!(answers.iter().cloned().all(is_refused), "{answers:?}");
    timeout(PATIENCE, store.ended()).await.expect("noticed");
    assert_eq!(store.accepts(), Err(StoreError::WriterEnded));
    assert_eq!(receive(&store, "late").await, Err(StoreError::WriterEnded));
    assert_eq!(total(&store).await, 1);
    assert_eq!(store.close().await, Err(StoreError::WriterEnded));
    drop(Arc::into_inner(store).expect("one handle"));
    assert_eq!(total(&open(&disk.copy(), &options())).await, 1);
}

/// The writer waits for the next segment. If the thread that makes it were gone, it would wait for ever.
#[tokio::test]
async fn a_panic_while_a_segment_is_made_costs_that_attempt() {
    let disk = TestDisk::default();
    let store = open(&disk, &options());
    let mut panics_left = 2;
    let _failing = disk.fail(move |call| {
        if call.kind == Kind::Allocate && panics_left > 0 {
            panics_left -= 1;
            panic!("injected");
        }
        None
    });
    // The existing spare is used first, then the one whose creation panics, then more.
    let fill = async {
        let mut stored = 0;
        while stored < 60 {
            match receive(&store, vec![b'x'; 60_000]).await {
                Ok(()) => stored += 1,
                Err(error) => assert!(matches!(error, StoreError::Failed(_)), "{error}"),
            }
        }
    };
    timeout(PATIENCE, fill).await.expect("segments are made again");
    assert_eq!(total(&store).await, 60);
}

/// A regression: the store answered while earlier deliveries were still being gathered into a group.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_answers_after_all_that_was_handed_over_before() {
    let disk = TestDisk::default();
    disk.slow_syncs(Duration::from_millis(100));
    let store = open(&disk, &options());
    for round in 1..4 {
        // The writer is busy with the first while the others are handed over.
        let (first, second, total) = tokio::join!(receive(&store, "1"), receive(&store, "2"), async {
            store.answers().await.expect("answers");
            total(&store).await
        });
        assert_eq!((first, second, total), (Ok(()), Ok(()), 2 * round));
    }
}
