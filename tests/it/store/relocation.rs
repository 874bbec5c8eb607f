//! Messages that only pending events need are copied out of mostly free segments. Only the free space shows it.
//! No answer of the store changes.
//! Mechanism: it goes with the copying of messages out of segments.

use futures_util::StreamExt;
use tempmail::model::{StoredEmail, Verdict, WebhookId};
use tempmail::store::{EmbeddedStore, Outbox, Store, StoreOptions, backup, salvage};

use super::crash::images::relocated;
use super::{INDEX, NOW, findings, is_on_disk, list, locked, open, receive_all};
use crate::suites::options;
use crate::suites::outbox::{attempt, pending, register};
use crate::support::mail::{delivery, mailbox};
use crate::support::test_disk::TestDisk;
use crate::support::until::until;

const SUBSCRIBED: &str = "subscribed@example.test";
const READ: &str = "read@example.test";

/// Small segments, and a checkpoint as soon as nothing comes in.
fn small() -> StoreOptions {
    StoreOptions { message_octets_max: 4 << 10, segment_octets: 128 << 10, ..options() }
}

/// A text that no other message has.
fn text(n: usize) -> String {
    format!("message {n:06} ").repeat(1500 / 15)
}

/// About a segment of messages, one of them for `SUBSCRIBED` and its neighbour.
async fn fill_segment(store: &EmbeddedStore, nth: usize) {
    let to = |n| -> &[&str] { if n == 40 { &[SUBSCRIBED, "neighbour@example.test"] } else { &[READ] } };
    receive_all(store, (0..78).map(|n| delivery(to(n), text(100 * nth + n), NOW))).await;
}

async fn segments(store: &EmbeddedStore) -> u64 {
    store.stats().await.expect("stats").segments
}

async fn delete_all(store: &EmbeddedStore) {
    for mailbox in [READ, SUBSCRIBED, "neighbour@example.test"].map(mailbox) {
        store.delete_all(&mailbox, u64::MAX, NOW).await.expect("delete");
    }
}

/// Fills `number` segments with mail, and deletes it. Only the events of `SUBSCRIBED` are left, one in each segment.
async fn only_events(store: &EmbeddedStore, number: usize) -> WebhookId {
    let webhook = register(store, SUBSCRIBED, "https://a.example/").await;
    for nth in 0..number {
        fill_segment(store, nth).await;
    }
    delete_all(store).await;
    webhook
}

async fn loaded(store: &EmbeddedStore, webhook: WebhookId) -> Vec<String> {
    let mut texts = Vec::new();
    for event in pending(store, webhook).await {
        let StoredEmail { raw, envelope, .. } = store.load_event(&event).await.expect("load").expect("pending");
        assert_eq!(envelope.recipients.len(), 2);
        texts.push(String::from_utf8(raw.to_vec()).expect("text"));
    }
    texts
}

fn texts(number: usize) -> Vec<String> {
    (0..number).map(|nth| text(100 * nth + 40)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_only_events_need_is_copied_and_goes_with_them() {
    let dir = tempfile::tempdir().expect("directory");
    let store = EmbeddedStore::open(dir.path(), &small()).expect("open");
    let webhook = only_events(&store, 10).await;
    until("the segments are removed", async || segments(&store).await <= 3).await;
    assert!(relocated(&store) > 5, "{}", relocated(&store));
    assert_eq!(loaded(&store, webhook).await, texts(10));
    store.close().await.expect("close");
    drop(store);
    assert_eq!(findings(&locked(dir.path()), &small()), []);
    let store = EmbeddedStore::open(dir.path(), &small()).expect("open again");
    assert_eq!(loaded(&store, webhook).await, texts(10));
    for event in pending(&store, webhook).await {
        store.record_attempt(attempt(&event, Verdict::Delivered)).await.expect("record");
    }
    assert_eq!(store.stats().await.expect("stats").live_octets, 0);
    until("the deleted message leaves the disk", async || !is_on_disk(dir.path(), "message 0")).await;
}

/// A reader may have listed an Email whose message is then copied for its events. By then the Email itself is gone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_email_that_was_listed_before_its_message_was_copied_is_gone_and_not_damaged() {
    let store = open(&TestDisk::default(), &small());
    let webhook = register(&store, SUBSCRIBED, "https://a.example/").await;
    for nth in 0..10 {
        fill_segment(&store, nth).await;
    }
    let listed = list(&store, SUBSCRIBED, NOW).await.emails;
    assert_eq!(listed.len(), 10);
    let (last, others) = listed.split_first().expect("Emails");
    for email in others {
        assert!(store.delete(email.id, NOW).await.expect("delete"));
    }
    for mailbox in [READ, "neighbour@example.test"].map(mailbox) {
        store.delete_all(&mailbox, u64::MAX, NOW).await.expect("delete");
    }
    until("messages are copied and their segments are removed", async || {
        let mut gone = 0;
        for email in others {
            gone += usize::from(store.load(email).await.expect("no damage").is_none());
        }
        gone > 5
    })
    .await;
    assert!(relocated(&store) > 5);
    let kept = store.load(last).await.expect("load").expect("its Email is not deleted");
    assert_eq!(kept.raw, text(900 + 40).as_bytes());
    assert_eq!(loaded(&store, webhook).await, texts(10));
}

/// A segment stays as long as an Email lives in it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_copied_out_of_a_segment_that_an_email_needs() {
    let disk = TestDisk::default();
    let store = open(&disk, &small());
    let webhook = register(&store, SUBSCRIBED, "https://a.example/").await;
    for nth in 0..4 {
        fill_segment(&store, nth).await;
    }
    for mailbox in [READ, SUBSCRIBED].map(mailbox) {
        store.delete_all(&mailbox, u64::MAX, NOW).await.expect("delete");
    }
    for _ in 0..3 {
        let operations = disk.operations();
        store.receive(delivery(&[READ], "one more", NOW)).await.expect("receive");
        until("a checkpoint is made", async || disk.has_synced(INDEX, operations)).await;
    }
    assert_eq!(relocated(&store), 0);
    assert_eq!(loaded(&store, webhook).await, texts(4));
}

/// Copied messages fill segments of their own, which are not mostly free, and are not copied again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_copied_once_is_not_copied_for_ever() {
    let dir = tempfile::tempdir().expect("directory");
    let store = EmbeddedStore::open(dir.path(), &small()).expect("open");
    let webhook = register(&store, SUBSCRIBED, "https://a.example/").await;
    for nth in 0..300 {
        for to in [SUBSCRIBED, READ, READ, READ] {
            store.receive(delivery(&[to], text(nth), NOW)).await.expect("receive");
        }
    }
    for mailbox in [READ, SUBSCRIBED].map(mailbox) {
        store.delete_all(&mailbox, u64::MAX, NOW).await.expect("delete");
    }
    until("the segments are removed", async || segments(&store).await < 10).await;
    let once = relocated(&store);
    for _ in 0..20 {
        store.receive(delivery(&[READ], "one more", NOW)).await.expect("receive");
        store.delete_all(&mailbox(READ), u64::MAX, NOW).await.expect("delete");
    }
    store.close().await.expect("close");
    assert!(relocated(&store) <= once + 100, "{once} and then {}", relocated(&store));
    drop(store);
    let store = EmbeddedStore::open(dir.path(), &small()).expect("open again");
    assert_eq!(pending(&store, webhook).await.len(), 300);
}

/// A regression: one message that is larger than the segments of today stopped the copying of all others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_larger_than_is_permitted_now_keeps_only_its_own_segment() {
    let dir = tempfile::tempdir().expect("directory");
    let large = StoreOptions { message_octets_max: 100 << 10, segment_octets: 400 << 10, ..options() };
    let store = EmbeddedStore::open(dir.path(), &large).expect("open");
    register(&store, SUBSCRIBED, "https://a.example/").await;
    store.receive(delivery(&[SUBSCRIBED], vec![b'x'; 90 << 10], NOW)).await.expect("receive");
    for nth in 0..40 {
        fill_segment(&store, nth).await;
    }
    store.close().await.expect("close");
    drop(store);
    let store = EmbeddedStore::open(dir.path(), &small()).expect("open with less");
    assert!(segments(&store).await > 12, "{}", segments(&store).await);
    delete_all(&store).await;
    until("the segments are removed", async || segments(&store).await <= 5).await;
    let webhook = store.webhooks(&mailbox(SUBSCRIBED)).await.expect("webhooks")[0].id;
    assert_eq!(pending(&store, webhook).await.len(), 41);
}

/// A backup walks over the segments while messages are copied from one to another.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_has_every_email_whatever_is_copied_meanwhile() {
    let store = open(&TestDisk::default(), &small());
    register(&store, SUBSCRIBED, "https://a.example/").await;
    for nth in 0..12 {
        fill_segment(&store, nth).await;
        store.receive(delivery(&["kept@example.test"], format!("kept {nth}"), NOW)).await.expect("receive");
    }
    let mut stream = store.backup();
    let mut items = stream.next().await.expect("a batch").expect("no error");
    let before = relocated(&store);
    for nth in 12..16 {
        fill_segment(&store, nth).await;
    }
    delete_all(&store).await;
    until("messages are copied", async || relocated(&store) > before).await;
    while let Some(batch) = stream.next().await {
        items.extend(batch.expect("no error"));
    }
    let stored = items.iter().filter(|item| match &item.record {
        backup::BackupRecord::Mail { envelope, .. } => envelope.recipients[0].mailbox == mailbox("kept@example.test"),
        _ => false,
    });
    assert_eq!(stored.count(), 12);
}

/// A salvage without the index has the journal alone, where a copy is as good as a message that was received.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_copied_brings_no_email_back_in_a_salvage_without_the_index() {
    let dir = tempfile::tempdir().expect("directory");
    let store = EmbeddedStore::open(dir.path(), &small()).expect("open");
    only_events(&store, 4).await;
    until("the segments are removed", async || segments(&store).await <= 3).await;
    assert!(relocated(&store) > 0);
    store.close().await.expect("close");
    drop(store);
    std::fs::remove_file(dir.path().join(INDEX)).expect("remove");
    salvage(super::locked_directory(dir.path()), &small(), &mut |_, _| {}).expect("salvage");
    let store = EmbeddedStore::open_on(locked(dir.path()), &small()).expect("open");
    for of in [SUBSCRIBED, "neighbour@example.test"] {
        assert_eq!(list(&store, of, NOW).await.total, 0);
    }
}
