//! A panic in one of the store's helpers ends only the work that it did.
//! Mechanism: it goes with the writer's thread and its files; its regressions become cases of `each_call` or `crash`.

use std::time::Duration;

use futures_util::StreamExt;
use tempmail::store::backup::BackupRecord;
use tempmail::store::{Store, StoreError};

use super::{NOW, contents, delete_all, open, receive};
use crate::suites::options;
use crate::support::test_disk::rules::Failing;
use crate::support::test_disk::{Call, Kind, TestDisk};

/// From now on the first such call for a segment panics.
fn panic_once(disk: &TestDisk, which: fn(&Call) -> bool) -> Failing {
    let mut has_panicked = false;
    disk.fail(move |call| {
        if !has_panicked && which(call) && call.file.starts_with("journal-") {
            has_panicked = true;
            panic!("injected");
        }
        None
    })
}

/// A regression: the stream ended without its last record and without an error.
#[tokio::test]
async fn a_backup_whose_reader_panics_ends_in_an_error() {
    let disk = TestDisk::default();
    let store = open(&disk, &options());
    receive(&store, "m1").await.expect("receive");
    let _failing = panic_once(&disk, |call| call.kind == Kind::Read && call.offset > 0);
    let batches: Vec<_> = store.backup(NOW).collect().await;
    assert!(matches!(batches.last(), Some(Err(StoreError::Failed(_)))), "{batches:?}");
    let again: Vec<_> = store.backup(NOW).collect().await;
    let last = again.last().and_then(|batch| batch.as_ref().ok()?.last()).expect("a record");
    assert!(matches!(last.record, BackupRecord::End(_)));
}

#[tokio::test]
async fn a_panic_while_octets_are_punched_out_costs_nothing() {
    let disk = TestDisk::default();
    let store = open(&disk, &options());
    receive(&store, "the-deleted-secret".repeat(20)).await.expect("receive");
    let _failing = panic_once(&disk, |call| call.kind == Kind::Punch);
    assert_eq!(delete_all(&store).await, Ok(1));
    for seconds in [0, 30, 60] {
        let _ = store.expire(NOW.plus(Duration::from_secs(seconds)), 1).await;
    }
    assert!(!disk.contains("the-deleted-secret"));
    receive(&store, "m2").await.expect("the writer works");
    assert_eq!(contents(&store).await, ["m2"]);
}
