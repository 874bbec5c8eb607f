//! What readers see while the index fails under them: the same as before.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tempmail::model::Timestamp;
use tempmail::store::{EmbeddedStore, Part, Store, StoreError, StoreOptions};

use super::embedded::options;
use crate::support::faulty_disk::{FaultyDisk, Operation};
use crate::support::mail::{delivery, mailbox};
use crate::support::recording_disk::RecordingDisk;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const INDEX: &str = "index.redb";
const PATIENCE: Duration = Duration::from_secs(20);
/// Less than anything waits for, and enough for a busy machine.
const AT_ONCE: Duration = Duration::from_millis(2500);

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
    let part = store.list(&mailbox("a@example.test"), Part::Offset { offset: 0, limit: 100 }, NOW).await?;
    let mut contents = Vec::new();
    for listed in part.emails.iter().rev() {
        let raw = store.load(listed).await?.expect("a listed email").raw;
        contents.push(String::from_utf8_lossy(&raw).into_owned());
    }
    Ok(contents)
}

/// Waits until `is_so`.
async fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// redb reads nothing more after one error of the disk. Only a change or a checkpoint had the index opened again, in a quiet
/// store neither came, and whoever read meanwhile was told of an error.
#[tokio::test]
async fn an_index_that_could_not_be_read_once_is_opened_again_and_read_though_nothing_changes() {
    let disk = FaultyDisk::on(RecordingDisk::default());
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &uncached()).expect("open");
    receive(&store, "m1").await.expect("receive");
    let has_failed = Arc::<AtomicBool>::default();
    disk.fail({
        let has_failed = Arc::clone(&has_failed);
        move |operation, name| {
            let is_read = matches!(operation, Operation::Read(_)) && name == INDEX;
            (is_read && !has_failed.swap(true, Ordering::Relaxed)).then_some(ErrorKind::Other)
        }
    });
    assert_eq!(contents(&store).await, Ok(vec!["m1".to_owned()]));
    assert!(has_failed.load(Ordering::Relaxed));
}

/// A page that can't be read is an error for whoever wants it, after few tries.
#[tokio::test]
async fn an_index_that_can_never_be_read_is_told_of() {
    let disk = FaultyDisk::on(RecordingDisk::default());
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &uncached()).expect("open");
    receive(&store, "m1").await.expect("receive");
    disk.fail(|operation, name| (matches!(operation, Operation::Read(_)) && name == INDEX).then_some(ErrorKind::Other));
    assert!(matches!(contents(&store).await, Err(StoreError::Failed(_))));
    disk.heal();
    let start = Instant::now();
    while contents(&store).await.is_err() {
        assert!(start.elapsed() < Duration::from_secs(5), "it can't be read any more");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// While it was tried to open the index again nothing answered reads: they waited, and then failed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_go_on_while_the_index_is_being_opened_again() {
    let disk = FaultyDisk::on(RecordingDisk::default());
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &uncached()).expect("open");
    receive(&store, "m1").await.expect("receive");
    disk.fail(|operation, name| (is_change(operation) && name == INDEX).then_some(ErrorKind::Other));
    while receive(&store, "m1").await.is_ok() {}
    let wanted = contents(&store).await.expect("list");
    let gate = disk.hold_next(|operation, name| is_change(operation) && name == INDEX);
    wait_until("nobody tries to open it again", || disk.holds_one()).await;
    let start = Instant::now();
    assert_eq!(contents(&store).await.as_ref(), Ok(&wanted));
    assert!(start.elapsed() < AT_ONCE, "{:?}", start.elapsed());
    disk.heal();
    drop(gate);
    let start = Instant::now();
    while receive(&store, "m1").await.is_err() {
        assert!(start.elapsed() < Duration::from_secs(5), "the index stays away");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(contents(&store).await.expect("list").len(), wanted.len() + 1);
}

/// The writer waited for readers before it opened an index again: up to 5 s for one that was slow, and that four times.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_stalls_nobody_when_the_index_fails() {
    let disk = FaultyDisk::on(RecordingDisk::default());
    let store = Arc::new(EmbeddedStore::open_on(Arc::new(disk.clone()), &uncached()).expect("open"));
    receive(&store, "m1").await.expect("receive");
    let gate = disk.hold_next_read_of(INDEX);
    let reading = tokio::spawn({
        let store = Arc::clone(&store);
        async move { contents(&store).await }
    });
    wait_until("nobody reads", || disk.holds_one()).await;
    let mut is_done = false;
    disk.fail(move |operation, name| {
        let fails = !is_done && matches!(operation, Operation::Read(_)) && name == INDEX;
        is_done |= fails;
        fails.then_some(ErrorKind::Other)
    });
    let start = Instant::now();
    receive(&store, "m2").await.expect("the index is opened again for it");
    assert!(start.elapsed() < AT_ONCE, "{:?}", start.elapsed());
    receive(&store, "m3").await.expect("receive");
    drop(gate);
    // The file was written to under its read: it has to read again.
    let seen = reading.await.expect("no panic").expect("list");
    assert_eq!(seen, ["m1", "m2", "m3"]);
}

/// To open an index is to write to it, so a fault of writes took the reads away as well, for as long as it lasted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_go_on_while_the_index_can_not_be_written() {
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
    let start = Instant::now();
    while tries.load(Ordering::Relaxed) < 4 {
        assert_eq!(contents(&store).await.as_ref(), Ok(&wanted));
        assert!(start.elapsed() < PATIENCE, "nobody tries to open it again");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(matches!(receive(&store, "m3").await, Err(StoreError::Failed(_))));
    assert_eq!(contents(&store).await.as_ref(), Ok(&wanted));
    disk.heal();
    let start = Instant::now();
    while receive(&store, "m4").await.is_err() {
        assert!(start.elapsed() < Duration::from_secs(5), "the index stays away");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    wanted.push("m4".to_owned());
    assert_eq!(contents(&store).await, Ok(wanted));
}

/// Where the journal could not go on the index was not opened again, and what stands in for it was not either.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_go_on_where_nothing_can_be_written() {
    let disk = FaultyDisk::on(RecordingDisk::default());
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &uncached()).expect("open");
    receive(&store, "m1").await.expect("receive");
    let mut has_failed = false;
    disk.fail(move |operation, name| {
        let is_index_read = matches!(operation, Operation::Read(_)) && name == INDEX;
        let is_first = is_index_read && !has_failed && std::thread::current().name() != Some("store-writer");
        has_failed |= is_first;
        let is_read = matches!(operation, Operation::Read(_) | Operation::List | Operation::Open);
        (is_first || !is_read).then_some(ErrorKind::Other)
    });
    // It can't be taken back either.
    assert_eq!(receive(&store, "m2").await, Err(StoreError::OutcomeUnknown));
    assert_eq!(contents(&store).await, Ok(vec!["m1".to_owned()]));
    assert!(store.accepts().is_err());
    disk.heal();
    let start = Instant::now();
    while receive(&store, "m3").await.is_err() {
        assert!(start.elapsed() < Duration::from_secs(5), "the index stays away");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(contents(&store).await, Ok(vec!["m1".to_owned(), "m3".to_owned()]));
}

/// Whoever reads must not see what is answered with an error a moment later.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_that_is_given_up_is_never_shown() {
    let disk = FaultyDisk::on(RecordingDisk::default());
    let rare = StoreOptions { index_cache_octets: options().index_cache_octets, ..uncached() };
    let store = Arc::new(EmbeddedStore::open_on(Arc::new(disk.clone()), &rare).expect("open"));
    // It can be opened and read, and not grow.
    disk.fail(|operation, name| (operation == Operation::SetLen && name == INDEX).then_some(ErrorKind::Other));
    let total = async || store.list(&mailbox("a@example.test"), Part::Offset { offset: 0, limit: 1 }, NOW).await;
    let (mut kept, mut most, mut reads) = (0, 0, 0);
    let answer = loop {
        let names: Vec<String> = (0..99).map(|n| format!("user{n}.{kept}@example.test")).collect();
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
            Ok(()) => kept += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(answer, StoreError::Failed(_)), "{answer:?}");
    assert!(kept > 0 && reads > 0 && most <= kept, "{kept} kept, {most} seen in {reads} reads");
    disk.heal();
    let start = Instant::now();
    while store.accepts().is_err() {
        assert!(start.elapsed() < Duration::from_secs(5), "the index stays away");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(total().await.expect("list").total, kept);
}
