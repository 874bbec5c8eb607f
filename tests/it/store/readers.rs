//! Reads while the index fails: they must return the same as before.
//! Mechanism: it goes with the index on disk.

use std::io::ErrorKind;
use std::sync::Arc;

use tempmail::store::{EmbeddedStore, Store, StoreError, StoreOptions};

use super::{INDEX, NOW, TO, open, rare_checkpoints, receive, texts, to_many};
use crate::suites::options;
use crate::support::test_disk::{Kind, TestDisk};
use crate::support::until::until;

/// More reads than there are attempts to open the index while they fail at once.
const READS: usize = 20;

/// Every read of the index is one of its file, and no checkpoint is made by itself.
fn uncached() -> StoreOptions {
    StoreOptions { index_cache_octets: 0, ..rare_checkpoints() }
}

async fn contents(store: &EmbeddedStore) -> Result<Vec<String>, StoreError> {
    texts(store, TO, NOW).await
}

/// redb reads nothing more after one error of the disk. Only a change or a checkpoint had the index opened again, and in a
/// quiet store neither came.
#[tokio::test]
async fn an_index_that_could_not_be_read_once_is_opened_again_and_read_though_nothing_changes() {
    let disk = TestDisk::default();
    let store = open(&disk, &uncached());
    receive(&store, "m1").await.expect("receive");
    let _failing = disk.fail_next(|call| call.is(Kind::Read, INDEX));
    assert!(matches!(contents(&store).await, Err(StoreError::Failed(_))));
    until("the index is read again", async || contents(&store).await == Ok(vec!["m1".to_owned()])).await;
}

/// A read of an unreadable page fails after a few tries.
#[tokio::test]
async fn an_index_that_can_never_be_read_is_reported() {
    let disk = TestDisk::default();
    let store = open(&disk, &uncached());
    receive(&store, "m1").await.expect("receive");
    let failing = disk.fail(|call| call.is(Kind::Read, INDEX).then_some(ErrorKind::Other));
    assert!(matches!(contents(&store).await, Err(StoreError::Failed(_))));
    drop(failing);
    until("the index is read again", async || contents(&store).await.is_ok()).await;
}

/// A regression: before the writer opened an index again, it waited up to 5 s for a slow reader, four times.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_stalls_no_one_when_the_index_fails() {
    let disk = TestDisk::default();
    let store = Arc::new(open(&disk, &uncached()));
    receive(&store, "m1").await.expect("receive");
    let held = disk.hold_next(|call| call.is_by_reader_of(INDEX));
    let reading = tokio::spawn({
        let store = Arc::clone(&store);
        async move { contents(&store).await }
    });
    until("a read is held", async || held.waiting() > 0).await;
    let _failing = disk.fail_next(|call| call.is(Kind::Read, INDEX));
    receive(&store, "m2").await.expect("the index is opened again for it");
    receive(&store, "m3").await.expect("receive");
    assert!(!reading.is_finished(), "the reader has ended before the mail was stored");
    drop(held);
    // The file was written to under its read.
    assert!(matches!(reading.await.expect("no panic"), Err(StoreError::Failed(_))));
    assert_eq!(contents(&store).await.expect("list"), ["m1", "m2", "m3"]);
}

/// An opening writes to the index. While that fails, reads fail at once, and no answer is wrong or incomplete.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_fail_at_once_while_the_index_can_not_be_written() {
    let disk = TestDisk::default();
    // A checkpoint for each group, which is the first to write to the file.
    let options = StoreOptions { checkpoint_octets: 0, ..options() };
    let store = open(&disk, &options);
    receive(&store, "m1").await.expect("receive");
    let failing = disk.fail(|call| (!call.is_look() && &*call.file == INDEX).then_some(ErrorKind::Other));
    let mut wanted = vec!["m1".to_owned()];
    // The checkpoint of the first may have failed by now, or it is that of this one which does.
    if receive(&store, "m2").await.is_ok() {
        wanted.push("m2".to_owned());
    }
    until("the store tries to open the index again", async || failing.failed() >= 4).await;
    // A read that waits for the index takes longer than several attempts to open it.
    let before = failing.failed();
    for _ in 0..READS {
        assert!(matches!(contents(&store).await, Err(StoreError::Failed(_))));
    }
    let meanwhile = failing.failed() - before;
    assert!(meanwhile < READS, "{meanwhile} attempts to open the index during {READS} reads");
    assert!(matches!(receive(&store, "m3").await, Err(StoreError::Failed(_))));
    drop(failing);
    until("the index is open again", async || receive(&store, "m4").await.is_ok()).await;
    wanted.push("m4".to_owned());
    assert_eq!(contents(&store).await, Ok(wanted));
}

/// A durable group is never given up. Its senders get no answer while the index cannot apply it, and its mail is there
/// when the index can.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_durable_group_that_the_index_can_not_take_is_shown_later_and_nothing_before() {
    let disk = TestDisk::default();
    let rare = StoreOptions { index_cache_octets: options().index_cache_octets, ..uncached() };
    let store = Arc::new(open(&disk, &rare));
    // The index can be opened and read, but cannot grow.
    let failing =
        disk.fail(|call| (call.is(Kind::SetLen, INDEX) || call.is(Kind::Grow, INDEX)).then_some(ErrorKind::Other));
    let (mut stored, mut most, mut reads) = (0, 0, 0);
    let answer = loop {
        let others = (0..99).map(|n| format!("user{n}.{stored}@example.test"));
        let receiving = tokio::spawn({
            let (store, sent) = (Arc::clone(&store), to_many(others.chain([TO.to_owned()]), "m", NOW));
            async move { store.receive(sent).await }
        });
        while !receiving.is_finished() {
            if let Ok(texts) = contents(&store).await {
                most = most.max(texts.len());
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
    drop(failing);
    until("the index is open again", async || store.accepts().is_ok()).await;
    assert_eq!(contents(&store).await.expect("texts").len(), stored + 1);
}
