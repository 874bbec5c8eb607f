//! Messages that are moved out of segments in which little lives: nobody sees more of it than the space that comes back.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use tempmail::model::{EmailId, StoredEmail, Timestamp, Verdict};
use tempmail::store::backup::{BackupRecord, header, restore};
use tempmail::store::check::check;
use tempmail::store::disk::Disk;
use tempmail::store::{EmbeddedStore, Outbox, Part, Store, StoreOptions, backup, salvage};
use tokio::task::JoinSet;

use super::crash::images::moved;
use super::embedded::options;
use super::outbox::{attempt, pending, register};
use crate::support::mail::{delivery, mailbox};
use crate::support::recording_disk::RecordingDisk;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const PATIENCE: Duration = Duration::from_secs(20);
const KEPT: &str = "kept@example.test";
const READ: &str = "read@example.test";
const EVERYTHING: Part = Part::Offset { offset: 0, limit: usize::MAX };

/// Small segments, and a checkpoint as soon as nothing comes in.
fn small() -> StoreOptions {
    StoreOptions { message_octets_max: 4 << 10, segment_octets: 128 << 10, ..options() }
}

/// What nobody else is sent.
fn text(n: usize) -> String {
    format!("message {n:06} ").repeat(1500 / 15)
}

/// About a segment of messages, one of them for `KEPT` and its neighbour.
async fn fill_segment(store: &Arc<EmbeddedStore>, nth: usize) {
    let mut running = JoinSet::new();
    for n in 0..78 {
        let store = Arc::clone(store);
        let to: &[&str] = if n == 40 { &[KEPT, "neighbour@example.test"] } else { &[READ] };
        let sent = delivery(to, text(100 * nth + n), NOW);
        running.spawn(async move { store.receive(sent).await });
    }
    assert!(running.join_all().await.into_iter().all(|received| received == Ok(())));
}

async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    let start = Instant::now();
    while !is_so().await {
        assert!(start.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Everything in a mailbox with its octets, newest first.
async fn contents(store: &EmbeddedStore, of: &str) -> Vec<StoredEmail> {
    let mut contents = Vec::new();
    for listed in store.list(&mailbox(of), EVERYTHING, NOW).await.expect("list").emails {
        contents.extend(store.load(&listed).await.expect("load"));
    }
    contents
}

fn find(emails: &[StoredEmail]) -> Vec<(EmailId, u64, Timestamp, Timestamp, String)> {
    let facts = |email: &StoredEmail| {
        let listed = &email.listed;
        let text = String::from_utf8_lossy(&email.raw).into_owned();
        (listed.id, listed.sequence, listed.received_at, listed.expires_at, text)
    };
    emails.iter().map(facts).collect()
}

/// Fills `segments` and deletes all but what is kept, waiting until all of that has been moved.
async fn move_all(store: &Arc<EmbeddedStore>, segments: usize) {
    for nth in 0..segments {
        fill_segment(store, nth).await;
    }
    store.delete_all(&mailbox(READ), NOW).await.expect("delete");
    until("the segments stay", async || store.stats().await.expect("stats").segments <= 3).await;
    assert!(moved(store) > 0);
}

fn expect_sound(disk: &Arc<dyn Disk>) {
    let report = check(disk, &small(), &mut |_, _| {}).expect("a report");
    assert!(report.is_clean(), "{report:?}");
}

/// Readers and whoever tells webhooks hold places of before; what is deleted in between stays deleted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_reads_octet_for_octet_while_it_is_moved() {
    let disk = RecordingDisk::default();
    let open = || Arc::new(EmbeddedStore::open_on(Arc::new(disk.clone()), &small()).expect("open"));
    let store = open();
    let webhook = register(&*store, KEPT, "https://a.example/").await;
    let is_over = Arc::new(AtomicBool::new(false));
    let reader = {
        let (store, is_over) = (Arc::clone(&store), Arc::clone(&is_over));
        tokio::spawn(async move {
            let mut read = 0;
            while !is_over.load(Ordering::Relaxed) {
                // Listed now and read later, when some of them are elsewhere.
                let listed = store.list(&mailbox(KEPT), EVERYTHING, NOW).await.expect("list").emails;
                let events = pending(&*store, webhook).await;
                tokio::time::sleep(Duration::from_millis(5)).await;
                for listed in listed {
                    let Some(email) = store.load(&listed).await.expect("it reads back") else { continue };
                    assert!(email.raw.starts_with(b"message ") && email.raw.len() == 1500);
                    assert_eq!(email.envelope.recipients.len(), 2);
                    read += 1;
                }
                for event in events {
                    let Some(email) = store.load_event(&event).await.expect("it reads back") else { continue };
                    assert!(email.raw.starts_with(b"message ") && email.raw.len() == 1500);
                    read += 1;
                }
            }
            read
        })
    };
    let mut kept: Vec<(EmailId, String)> = Vec::new();
    for nth in 0..40 {
        fill_segment(&store, nth).await;
        let new = store.list(&mailbox(KEPT), EVERYTHING, NOW).await.expect("list").emails.remove(0);
        kept.push((new.id, text(100 * nth + 40)));
        store.delete_all(&mailbox(READ), NOW).await.expect("delete");
        if nth % 3 == 0 {
            // One that was moved by now, or is being moved.
            let (id, _) = kept.remove(kept.len() / 2);
            assert_eq!(store.delete(id, NOW).await, Ok(true));
        }
        if nth % 4 == 0 {
            let event = pending(&*store, webhook).await.remove(0);
            store.record_attempt(attempt(&event, Verdict::Delivered)).await.expect("note");
        }
    }
    until("the segments stay", async || store.stats().await.expect("stats").segments <= 4).await;
    is_over.store(true, Ordering::Relaxed);
    assert!(reader.await.expect("no panic") > 100);
    assert!(moved(&store) > 20, "{}", moved(&store));
    let there: Vec<(EmailId, String)> =
        find(&contents(&store, KEPT).await).into_iter().rev().map(|(id, .., text)| (id, text)).collect();
    assert!(there == kept, "{} of {}", there.len(), kept.len());
    let events = pending(&*store, webhook).await;
    assert_eq!(events.len(), 30, "each waits, its mail deleted or not");
    assert!(events.is_sorted_by_key(|event| event.sequence));
    let before = (find(&contents(&store, KEPT).await), events.len());
    store.close().await.expect("close");
    drop(store);
    let image: Arc<dyn Disk> = Arc::new(disk.clone());
    expect_sound(&image);
    let store = open();
    assert!(before == (find(&contents(&store, KEPT).await), pending(&*store, webhook).await.len()));
}

/// The octets of an event are moved though nobody can read its mail any more, and go when it ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_only_events_need_is_moved_and_goes_with_them() {
    let dir = tempfile::tempdir().expect("directory");
    let store = Arc::new(EmbeddedStore::open(dir.path(), &small()).expect("open"));
    let webhook = register(&*store, KEPT, "https://a.example/").await;
    for nth in 0..10 {
        fill_segment(&store, nth).await;
    }
    for mailbox in [READ, KEPT, "neighbour@example.test"].map(mailbox) {
        store.delete_all(&mailbox, NOW).await.expect("delete");
    }
    until("the segments stay", async || store.stats().await.expect("stats").segments <= 3).await;
    assert!(moved(&store) > 5, "{}", moved(&store));
    let events = pending(&*store, webhook).await;
    assert_eq!(events.len(), 10);
    for (nth, event) in events.iter().enumerate() {
        assert_eq!(store.load_event(event).await.expect("load").expect("it waits").raw, text(100 * nth + 40));
        store.record_attempt(attempt(event, Verdict::Delivered)).await.expect("note");
    }
    assert_eq!(store.stats().await.expect("stats").live_octets, 0);
    until("deleted and on the disk", async || !is_on_disk(dir.path(), "message 0")).await;
}

fn is_on_disk(dir: &Path, wanted: &str) -> bool {
    let files = std::fs::read_dir(dir).expect("list").map(|entry| entry.expect("entry").path());
    let mut octets = files.map(|file| std::fs::read(file).unwrap_or_default());
    octets.any(|octets| memchr::memmem::find(&octets, wanted.as_bytes()).is_some())
}

/// Neither the first copy nor the second is left of a message that is deleted after it was moved.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_deleted_after_it_was_moved_is_in_no_file_after_the_next_checkpoint() {
    let dir = tempfile::tempdir().expect("directory");
    let store = Arc::new(EmbeddedStore::open(dir.path(), &small()).expect("open"));
    move_all(&store, 5).await;
    assert!(is_on_disk(dir.path(), "message 000240"));
    for to in [KEPT, "neighbour@example.test"] {
        store.delete_all(&mailbox(to), NOW).await.expect("delete");
    }
    until("deleted and on the disk", async || !is_on_disk(dir.path(), "message 0")).await;
}

/// A backup holds what was moved under its old number, so that a mailbox is in its order when it is restored.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_has_everything_whatever_was_moved_and_in_its_order() {
    let store = Arc::new(EmbeddedStore::open_on(Arc::new(RecordingDisk::default()), &small()).expect("open"));
    let late = |n: usize| delivery(&[KEPT], format!("late {n}"), NOW);
    for nth in 0..4 {
        fill_segment(&store, nth).await;
        store.receive(late(nth)).await.expect("receive");
    }
    move_all(&store, 8).await;
    store.receive(late(9)).await.expect("receive");
    let mut octets = header().to_vec();
    let mut stream = store.backup();
    while let Some(items) = stream.next().await {
        octets.extend(backup::encode(&items.expect("no error")).expect("encode"));
    }
    let restored: Arc<dyn Disk> = Arc::new(RecordingDisk::default());
    let counts = restore(&mut &octets[..], &restored, &small(), true, &mut |_| {}).expect("restore");
    assert_eq!((counts.messages, counts.emails), (17, 29));
    expect_sound(&restored);
    let restored = EmbeddedStore::open_on(restored, &small()).expect("open");
    for of in [KEPT, "neighbour@example.test"] {
        assert!(find(&contents(&restored, of).await) == find(&contents(&store, of).await), "{of}");
    }
    // What comes now comes behind all that.
    restored.receive(late(10)).await.expect("receive");
    assert_eq!(contents(&restored, KEPT).await[0].raw, "late 10");
    assert_eq!(restored.list(&mailbox(KEPT), EVERYTHING, NOW).await.expect("list").total, 18);
}

/// It walks over the segments, and would miss what goes from one that is before it to one that is behind it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_moved_while_a_backup_is_read() {
    let disk = RecordingDisk::default();
    let store = Arc::new(EmbeddedStore::open_on(Arc::new(disk.clone()), &small()).expect("open"));
    // More than the batches that wait for whoever takes them.
    for nth in 0..12 {
        fill_segment(&store, nth).await;
    }
    let mut stream = store.backup();
    let mut items = stream.next().await.expect("a batch").expect("no error");
    store.delete_all(&mailbox(READ), NOW).await.expect("delete");
    for _ in 0..3 {
        let operations = disk.operations();
        store.receive(delivery(&["late@example.test"], "late", NOW)).await.expect("receive");
        tokio::task::block_in_place(|| disk.wait_for_sync("index.redb", operations));
    }
    assert_eq!(moved(&store), 0);
    while let Some(batch) = stream.next().await {
        items.extend(batch.expect("no error"));
    }
    let is_kept = |item: &&backup::BackupItem| match &item.record {
        BackupRecord::Mail { envelope, .. } => envelope.recipients.len() == 2,
        _ => false,
    };
    assert_eq!(items.iter().filter(is_kept).count(), 12);
    store.receive(delivery(&["late@example.test"], "late", NOW)).await.expect("receive");
    until("nothing is moved", async || moved(&store) > 0).await;
}

/// A salvage without the index has the journal alone, in which the first records of what was moved are gone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_moved_is_salvaged_without_the_index_and_what_was_deleted_is_not() {
    let dir = tempfile::tempdir().expect("directory");
    let store = Arc::new(EmbeddedStore::open(dir.path(), &small()).expect("open"));
    for nth in 0..3 {
        fill_segment(&store, nth).await;
    }
    let first = contents(&store, KEPT).await.pop().expect("an Email").listed;
    assert_eq!(store.delete(first.id, NOW).await, Ok(true));
    move_all(&store, 3).await;
    let before: Vec<_> =
        contents(&store, KEPT).await.iter().map(|email| (email.listed.id, email.raw.clone())).collect();
    let neighbours = contents(&store, "neighbour@example.test").await.len();
    store.close().await.expect("close");
    drop(store);
    std::fs::remove_file(dir.path().join("index.redb")).expect("remove");
    let directory = super::locked_directory(dir.path());
    salvage(directory, &small(), &mut |_, _| {}).expect("salvage");
    let store = EmbeddedStore::open_on(super::locked(dir.path()), &small()).expect("open");
    let mut after: Vec<_> =
        contents(&store, KEPT).await.iter().map(|email| (email.listed.id, email.raw.clone())).collect();
    let mut before = before;
    after.sort();
    before.sort();
    assert!(after == before, "{} of {}", after.len(), before.len());
    assert_eq!(contents(&store, "neighbour@example.test").await.len(), neighbours);
}
