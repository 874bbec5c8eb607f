//! The limit of mailboxes. A replay must decide as the store did before.
//! Promise: it outlives the code below it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tempmail::model::{Delivery, EmailId, Timestamp};
use tempmail::store::{EmbeddedStore, Outbox, Store, StoreError, StoreOptions};

use super::{NOW, findings, is_on_disk, list, open};
use crate::suites::options;
use crate::suites::outbox::{pending, register};
use crate::support::mail::{delivery, mailbox};
use crate::support::test_disk::TestDisk;

const A: &str = "a@example.test";
const B: &str = "b@example.test";
const C: &str = "c@other.test";
const D: &str = "d@other.test";
const MINUTE: Duration = Duration::from_mins(1);

fn with(emails_per_mailbox_max: u32) -> StoreOptions {
    StoreOptions { emails_per_mailbox_max, ..options() }
}

fn store(emails_per_mailbox_max: u32) -> EmbeddedStore {
    open(&TestDisk::default(), &with(emails_per_mailbox_max))
}

async fn texts(store: &EmbeddedStore, address: &str, now: Timestamp) -> Vec<String> {
    super::texts(store, address, now).await.expect("texts")
}

/// Receives a message, after asking for one recipient after the other whether it would be, as a session does.
async fn receive(store: &EmbeddedStore, to: &[&str], text: &str) -> Result<(), StoreError> {
    receive_at(store, to, text, NOW).await
}

async fn receive_at(store: &EmbeddedStore, to: &[&str], text: &str, now: Timestamp) -> Result<(), StoreError> {
    let asked: Result<(), StoreError> = to.iter().try_for_each(|to| store.check_cap(&mailbox(to), now));
    let received = store.receive(delivery(to, text.to_owned(), now)).await;
    assert_eq!(asked, received, "{to:?}");
    received
}

#[tokio::test]
async fn a_mailbox_full_of_young_mail_refuses_until_there_is_room() {
    let store = store(2);
    for text in ["1", "2"] {
        receive(&store, &[A], text).await.expect("room");
    }
    let young = NOW.plus(MINUTE.saturating_sub(Duration::from_millis(1)));
    for now in [NOW, young, NOW.before(MINUTE / 2)] {
        assert_eq!(receive_at(&store, &[A], "3", now).await, Err(StoreError::MailboxFull), "{now:?}");
    }
    receive(&store, &[B], "4").await.expect("another mailbox");
    let part = list(&store, A, NOW).await;
    assert!(store.delete(part.emails[0].id, NOW).await.expect("delete"));
    receive(&store, &[A], "5").await.expect("room again");
    assert_eq!(texts(&store, A, NOW).await, ["1", "5"]);
    assert_eq!(store.stats().await.expect("stats").emails, 3);
}

#[tokio::test]
async fn the_oldest_makes_way_once_it_is_a_minute_old() {
    let store = store(2);
    receive(&store, &[A], "1").await.expect("room");
    receive_at(&store, &[A], "2", NOW.plus(MINUTE / 2)).await.expect("room");
    receive_at(&store, &[A], "3", NOW.plus(MINUTE)).await.expect("1 is old");
    assert_eq!(receive_at(&store, &[A], "4", NOW.plus(MINUTE)).await, Err(StoreError::MailboxFull), "2 is not");
    assert_eq!(texts(&store, A, NOW).await, ["2", "3"]);
}

#[tokio::test]
async fn mail_from_ahead_of_the_clock_makes_way() {
    let store = store(1);
    receive_at(&store, &[A], "ahead", NOW.plus(Duration::from_hours(24))).await.expect("room");
    receive(&store, &[A], "1").await.expect("in its place");
    assert_eq!(texts(&store, A, NOW).await, ["1"]);
    assert_eq!(receive_at(&store, &[A], "2", NOW.before(MINUTE / 2)).await, Err(StoreError::MailboxFull));
}

#[tokio::test]
async fn what_has_expired_does_not_fill_a_mailbox() {
    let store = store(2);
    receive(&store, &[A], "1").await.expect("room");
    receive_at(&store, &[A], "2", NOW.plus(Duration::from_mins(30))).await.expect("room");
    // An hour after the first mail, it has expired, but is not removed yet.
    let now = NOW.plus(Duration::from_hours(1));
    receive_at(&store, &[A], "3", now).await.expect("room");
    assert_eq!(texts(&store, A, now).await, ["2", "3"]);
    assert_eq!(texts(&store, A, NOW).await, ["1", "2", "3"], "expired mail is left to the expiry worker");
    receive_at(&store, &[A], "4", now).await.expect("in place of 2");
    assert_eq!(texts(&store, A, now).await, ["3", "4"]);
    assert_eq!(texts(&store, A, NOW).await, ["1", "3", "4"]);
}

#[tokio::test]
async fn a_message_is_stored_for_all_its_recipients_or_for_none() {
    let store = store(1);
    receive(&store, &[B], "0").await.expect("room");
    let now = NOW.plus(MINUTE);
    receive_at(&store, &[A], "1", now).await.expect("room");
    assert_eq!(receive_at(&store, &[B, A, C], "2", now).await, Err(StoreError::MailboxFull));
    assert_eq!(store.stats().await.expect("stats").emails, 2);
    assert_eq!(texts(&store, B, now).await, ["0"], "nothing made way for what was refused");
    receive_at(&store, &[B, C], "3", now).await.expect("room");
}

#[tokio::test]
async fn the_oldest_is_evicted_and_its_octets_are_freed() {
    let dir = tempfile::tempdir().expect("directory");
    let store = EmbeddedStore::open(dir.path(), &with(2)).expect("open");
    receive(&store, &[A, B], "the first of both").await.expect("kept");
    for (minutes, text) in (1..).zip(["a secret of two", "three", "four"]) {
        receive_at(&store, &[A], text, NOW.plus(minutes * MINUTE)).await.expect("kept");
    }
    assert_eq!(texts(&store, A, NOW).await, ["three", "four"]);
    assert_eq!(texts(&store, B, NOW).await, ["the first of both"]);
    for (minutes, text) in (0..).zip(["a secret of both", "two", "three"]) {
        receive_at(&store, &[C, D], text, NOW.plus(minutes * MINUTE)).await.expect("kept");
    }
    store.close().await.expect("close");
    drop(store);
    assert!(is_on_disk(dir.path(), "the first of both"));
    assert!(!is_on_disk(dir.path(), "a secret of two"));
    assert!(!is_on_disk(dir.path(), "a secret of both"));
}

#[tokio::test]
async fn the_octets_of_a_message_that_found_no_room_go() {
    let dir = tempfile::tempdir().expect("directory");
    let store = EmbeddedStore::open(dir.path(), &with(1)).expect("open");
    receive(&store, &[A], "a message that is kept").await.expect("kept");
    assert_eq!(receive(&store, &[A], "a secret of two").await, Err(StoreError::MailboxFull));
    store.close().await.expect("close");
    drop(store);
    assert!(is_on_disk(dir.path(), "a message that is kept"));
    assert!(!is_on_disk(dir.path(), "a secret of two"));
}

#[tokio::test]
async fn a_mailbox_filled_under_a_higher_cap_shrinks_to_the_lower_one() {
    let disk = TestDisk::default();
    let store = open(&disk, &options());
    for n in 0..400 {
        store.receive(delivery(&[A], n.to_string(), NOW)).await.expect("kept");
    }
    store.close().await.expect("close");
    drop(store);
    let store = open(&disk, &with(3));
    for (minutes, text, left) in [(1, "400", 145), (2, "401", 3), (3, "402", 3)] {
        receive_at(&store, &[A], text, NOW.plus(minutes * MINUTE)).await.expect("kept");
        assert_eq!(texts(&store, A, NOW).await.len(), left);
    }
    assert_eq!(texts(&store, A, NOW).await, ["400", "401", "402"]);
}

#[tokio::test]
async fn an_event_outlives_the_email_that_made_way() {
    let store = store(1);
    let webhook = register(&store, A, "https://a.example/").await;
    receive(&store, &[A], "1").await.expect("kept");
    receive_at(&store, &[A], "2", NOW.plus(MINUTE)).await.expect("kept");
    let events = pending(&store, webhook).await;
    assert_eq!(events.len(), 2);
    for (event, text) in events.iter().zip(["1", "2"]) {
        assert_eq!(store.load_event(event).await.expect("load").expect("its Email").raw, text);
    }
}

/// 50 at once, for an empty mailbox and for one full of old mail, on a real directory; what the check says of it then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_race_gets_past_a_cap() {
    let dir = tempfile::tempdir().expect("directory");
    let store = Arc::new(EmbeddedStore::open(dir.path(), &with(10)).expect("open"));
    for now in [NOW, NOW.plus(MINUTE)] {
        let sending = (0..50).map(|n| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.receive(delivery(&[A], n.to_string(), now)).await })
        });
        let mut stored = 0;
        for sent in futures_util::future::join_all(sending).await {
            match sent.expect("no panic") {
                Ok(()) => stored += 1,
                Err(error) => assert_eq!(error, StoreError::MailboxFull),
            }
        }
        assert_eq!(stored, 10);
        let part = list(&store, A, now).await;
        assert_eq!(part.total, 10);
        assert!(part.emails.iter().all(|listed| listed.received_at == now), "what was old has made way");
    }
    store.close().await.expect("close");
    drop(store);
    assert_eq!(findings(&super::locked(dir.path()), &with(10)), []);
}

/// The contents of a store: the Emails of each mailbox, the oldest first.
async fn state(store: &EmbeddedStore) -> BTreeMap<&'static str, Vec<EmailId>> {
    let mut state = BTreeMap::new();
    for address in [A, B, C] {
        let part = list(store, address, NOW).await;
        state.insert(address, part.emails.iter().rev().map(|listed| listed.id).collect());
    }
    state
}

#[tokio::test]
async fn a_replay_decides_the_same_under_other_caps() {
    let under = |emails_per_mailbox_max| StoreOptions { emails_per_mailbox_max, ..options() };
    let disk = TestDisk::default();
    let store = open(&disk, &under(3));
    let messages: Vec<Delivery> = (0..30)
        .map(|n| {
            let to: &[&str] = [&[A][..], &[B], &[A, B], &[C], &[A, C]][n as usize % 5];
            delivery(to, n.to_string(), NOW.plus(n * MINUTE / 12))
        })
        .collect();
    let (mut stored, mut refused) = (0, 0);
    for message in messages {
        match store.receive(message).await {
            Ok(()) => stored += 1,
            Err(_) => refused += 1,
        }
    }
    let before = state(&store).await;
    let kept: usize = before.values().map(Vec::len).sum();
    assert!(refused > 5 && stored > kept, "{stored} stored, {refused} refused, {kept} kept");
    let killed = disk.kill();
    drop(store);
    for other in [0, 1] {
        let again = open(&killed.copy(), &under(other));
        assert_eq!(state(&again).await, before, "then {other}");
    }
}
