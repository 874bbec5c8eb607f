//! A panic in one of the store's helpers ends only the work that it did.

use std::sync::Arc;

use futures_util::StreamExt;
use tempmail::model::Timestamp;
use tempmail::store::backup::BackupRecord;
use tempmail::store::{EmbeddedStore, PageRequest, Store, StoreError};

use crate::suites::options;
use crate::support::faulty_disk::{FaultyDisk, Operation};
use crate::support::mail::{delivery, mailbox};
use crate::support::recording_disk::RecordingDisk;
use crate::support::until::until;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

/// From now on the first operation of this kind on a segment panics.
fn panic_once(disk: &FaultyDisk, is_meant: fn(Operation) -> bool) {
    let mut has_panicked = false;
    disk.fail(move |operation, name| {
        if !has_panicked && is_meant(operation) && name.starts_with("journal-") {
            has_panicked = true;
            panic!("injected");
        }
        None
    });
}

/// A regression: the stream ended without its last record and without an error.
#[tokio::test]
async fn a_backup_whose_reader_panics_ends_in_an_error() {
    let disk = FaultyDisk::on(RecordingDisk::default());
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &options()).expect("open");
    store.receive(delivery(&["a@example.test"], "m1", NOW)).await.expect("receive");
    panic_once(&disk, |operation| matches!(operation, Operation::Read(1..)));
    let batches: Vec<_> = store.backup().collect().await;
    assert!(matches!(batches.last(), Some(Err(StoreError::Failed(_)))), "{batches:?}");
    let again: Vec<_> = store.backup().collect().await;
    let last = again.last().and_then(|batch| batch.as_ref().ok()?.last()).expect("a record");
    assert!(matches!(last.record, BackupRecord::End(_)));
}

#[tokio::test]
async fn a_panic_while_octets_are_punched_out_costs_that_batch() {
    let memory = RecordingDisk::default();
    let disk = FaultyDisk::on(memory.clone());
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &options()).expect("open");
    let secret = "the-deleted-secret".repeat(20);
    store.receive(delivery(&["a@example.test"], secret, NOW)).await.expect("receive");
    panic_once(&disk, |operation| operation == Operation::Punch);
    assert_eq!(store.delete_all(&mailbox("a@example.test"), u64::MAX, NOW).await, Ok(1));
    let is_there =
        || memory.files().values().any(|octets| octets.windows(18).any(|window| window == b"the-deleted-secret"));
    until("the deleted message leaves the disk", async || !is_there()).await;
    store.receive(delivery(&["a@example.test"], "m2", NOW)).await.expect("the writer works");
    let part = PageRequest { offset: 0, limit: 9 };
    assert_eq!(store.list(&mailbox("a@example.test"), part, NOW).await.expect("list").total, 1);
}
