//! Reads while the index fails: they must return the same as before.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
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
/// More reads than there are attempts to open the index while they fail at once.
const READS: usize = 20;

/// Every read of the index is one of its file, and no checkpoint is made by itself.
fn uncached() -> StoreOptions {
    StoreOptions {
        index_cache_octets: 0,
        checkpoint_octets: u64::MAX,
        checkpoint_quiet: Duration::from_hours(1),
        ..options()
    }
}

fn is_change(operation: Operation) -> bool {
    matches!(operation, Operation::Write | Operation::SetLen | Operation::Sync)
}

async fn receive(store: &EmbeddedStore, text: &'static str) -> Result<(), StoreError> {
    store.receive(delivery(&["a@example.test"], text, NOW)).await
}

async fn contents(store: &EmbeddedStore) -> Result<Vec<String>, StoreError> {
    let part = store.list(&mailbox("a@example.test"), PageRequest { offset: 0, limit: 100 }, NOW).await?;
    let mut contents = Vec::new();
    for listed in part.emails.iter().rev() {
        let raw = store.load(listed).await?.expect("a listed email").raw;
        contents.push(String::from_utf8_lossy(&raw).into_owned());
    }
    Ok(contents)
}

/// redb reads nothing more after one error of the disk. Only a change or a checkpoint had the index opened again, and in a
/// quiet store neither came.
#[tokio::test]
async fn an_index_that_could_not_be_read_once_is_opened_again_and_read_though_nothing_changes() {
    let disk = FaultyDisk::on(RecordingDisk::default());
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &uncached()).expect("open");
    receive(&store, "m1").await.expect("receive");
    let mut has_failed = false;
    disk.fail(move |operation, name| {
        let is_read = matches!(operation, Operation::Read(_)) && name == INDEX;
        let fails = is_read && !has_failed;
        has_failed |= fails;
        fails.then_some(ErrorKind::Other)
    });
    assert!(matches!(contents(&store).await, Err(StoreError::Failed(_))));
    until("the index is read again", async || contents(&store).await == Ok(vec!["m1".to_owned()])).await;
}

/// A read of an unreadable page fails after a few tries.
#[tokio::test]
async fn an_index_that_can_never_be_read_is_reported() {
    let disk = FaultyDisk::on(RecordingDisk::default());
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &uncached()).expect("open");
    receive(&store, "m1").await.expect("receive");
    disk.fail(|operation, name| (matches!(operation, Operation::Read(_)) && name == INDEX).then_some(ErrorKind::Other));
    assert!(matches!(contents(&store).await, Err(StoreError::Failed(_))));
    disk.heal();
    until("the index is read again", async || contents(&store).await.is_ok()).await;
}

/// A regression: before the writer opened an index again, it waited up to 5 s for a slow reader, four times.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_stalls_no_one_when_the_index_fails() {
    let disk = FaultyDisk::on(RecordingDisk::default());
    let store = Arc::new(EmbeddedStore::open_on(Arc::new(disk.clone()), &uncached()).expect("open"));
    receive(&store, "m1").await.expect("receive");
    let gate = disk.block_next_read_of(INDEX);
    let reading = tokio::spawn({
        let store = Arc::clone(&store);
        async move { contents(&store).await }
    });
    until("a read is held", async || disk.has_blocked()).await;
    let mut is_done = false;
    disk.fail(move |operation, name| {
        let fails = !is_done && matches!(operation, Operation::Read(_)) && name == INDEX;
        is_done |= fails;
        fails.then_some(ErrorKind::Other)
    });
    receive(&store, "m2").await.expect("the index is opened again for it");
    receive(&store, "m3").await.expect("receive");
    assert!(!reading.is_finished(), "the reader has ended before the mail was stored");
    drop(gate);
    // The file was written to under its read.
    assert!(matches!(reading.await.expect("no panic"), Err(StoreError::Failed(_))));
    assert_eq!(contents(&store).await.expect("list"), ["m1", "m2", "m3"]);
}

/// An opening writes to the index. While that fails, reads fail at once, and no answer is wrong or incomplete.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_fail_at_once_while_the_index_can_not_be_written() {
    let disk = FaultyDisk::on(RecordingDisk::default());
    // A checkpoint for each group, which is the first to write to the file.
    let options = StoreOptions { checkpoint_octets: 0, ..options() };
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &options).expect("open");
    receive(&store, "m1").await.expect("receive");
    let tries = Arc::new(AtomicUsize::new(0));
    disk.fail({
        let tries = Arc::clone(&tries);
        move |operation, name| {
            let fails = is_change(operation) && name == INDEX;
            tries.fetch_add(usize::from(fails), Ordering::Relaxed);
            fails.then_some(ErrorKind::Other)
        }
    });
    let mut wanted = vec!["m1".to_owned()];
    // The checkpoint of the first may have failed by now, or it is that of this one which does.
    if receive(&store, "m2").await.is_ok() {
        wanted.push("m2".to_owned());
    }
    until("the store tries to open the index again", async || tries.load(Ordering::Relaxed) >= 4).await;
    // A read that waits for the index takes longer than several attempts to open it.
    let before = tries.load(Ordering::Relaxed);
    for _ in 0..READS {
        assert!(matches!(contents(&store).await, Err(StoreError::Failed(_))));
    }
    let meanwhile = tries.load(Ordering::Relaxed) - before;
    assert!(meanwhile < READS, "{meanwhile} attempts to open the index during {READS} reads");
    assert!(matches!(receive(&store, "m3").await, Err(StoreError::Failed(_))));
    disk.heal();
    until("the index is open again", async || receive(&store, "m4").await.is_ok()).await;
    wanted.push("m4".to_owned());
    assert_eq!(contents(&store).await, Ok(wanted));
}

/// A durable group is never given up. Its senders get no answer while the index cannot apply it, and its mail is there
/// when the index can.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_durable_group_that_the_index_can_not_take_is_shown_later_and_nothing_before() {
    let disk = FaultyDisk::on(RecordingDisk::default());
    let rare = StoreOptions { index_cache_octets: options().index_cache_octets, ..uncached() };
    let store = Arc::new(EmbeddedStore::open_on(Arc::new(disk.clone()), &rare).expect("open"));
    // The index can be opened and read, but cannot grow.
    disk.fail(|operation, name| (operation == Operation::SetLen && name == INDEX).then_some(ErrorKind::Other));
    let total = async || store.list(&mailbox("a@example.test"), PageRequest { offset: 0, limit: 1 }, NOW).await;
    let (mut stored, mut most, mut reads) = (0, 0, 0);
    let answer = loop {
        let names: Vec<String> = (0..99).map(|n| format!("user{n}.{stored}@example.test")).collect();
        let mut recipients: Vec<&str> = names.iter().map(String::as_str).collect();
        recipients.push("a@example.test");
        let receiving = tokio::spawn({
            let (store, sent) = (Arc::clone(&store), delivery(&recipients, "m", NOW));
            async move { store.receive(sent).await }
        });
        while !receiving.is_finished() {
            if let Ok(part) = total().await {
                most = most.max(part.total);
                reads += 1;
            }
        }
        match receiving.await.expect("no panic") {
            Ok(()) => stored += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(answer, StoreError::OutcomeUnknown);
    assert!(stored > 0 && reads > 0 && most <= stored, "{stored} kept, {most} seen in {reads} reads");
    disk.heal();
    until("the index is open again", async || store.accepts().is_ok()).await;
    assert_eq!(total().await.expect("list").total, stored + 1);
}
