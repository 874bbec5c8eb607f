//! The limit of mailboxes. A replay must decide as the store did before.
//! Promise: it outlives the code below it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tempmail::model::{Caps, Delivery, EmailId, Timestamp, WhenFull};
use tempmail::store::disk::Disk;
use tempmail::store::{EmbeddedStore, Outbox, Store, StoreError, StoreOptions};

use super::{NOW, findings, is_on_disk, list, open, rare_checkpoints};
use crate::suites::options;
use crate::suites::outbox::{pending, register};
use crate::support::mail::{delivery, mailbox};
use crate::support::test_disk::TestDisk;

const A: &str = "a@example.test";
const B: &str = "b@example.test";
const C: &str = "c@other.test";
const D: &str = "d@other.test";

fn reject(emails_per_mailbox: u32) -> Caps {
    Caps { emails_per_mailbox, when_full: WhenFull::Reject }
}

fn drop_oldest(emails_per_mailbox: u32) -> Caps {
    Caps { emails_per_mailbox, when_full: WhenFull::DropOldest }
}

fn with(caps: Caps) -> StoreOptions {
    StoreOptions { caps, ..options() }
}

fn store(caps: Caps) -> EmbeddedStore {
    open(&TestDisk::default(), &with(caps))
}

async fn texts(store: &EmbeddedStore, address: &str, now: Timestamp) -> Vec<String> {
    super::texts(store, address, now).await.expect("texts")
}

/// Receives a message, after asking for one recipient after the other whether it would be, as a session does.
async fn receive(store: &EmbeddedStore, to: &[&str], text: &str) -> Result<(), StoreError> {
    receive_at(store, to, text, NOW).await
}

async fn receive_at(store: &EmbeddedStore, to: &[&str], text: &str, now: Timestamp) -> Result<(), StoreError> {
    let asked: Result<(), StoreError> = to.iter().try_for_each(|to| store.check_caps(&mailbox(to), now));
    let received = store.receive(delivery(to, text.to_owned(), now)).await;
    assert_eq!(asked, received, "{to:?}");
    received
}

#[tokio::test]
async fn a_full_mailbox_refuses_until_there_is_room() {
    let store = store(reject(2));
    for text in ["1", "2"] {
        receive(&store, &[A], text).await.expect("room");
    }
    assert_eq!(receive(&store, &[A], "3").await, Err(StoreError::MailboxFull));
    receive(&store, &[B], "4").await.expect("another mailbox");
    let part = list(&store, A, NOW).await;
    assert!(store.delete(part.emails[0].id, NOW).await.expect("delete"));
    receive(&store, &[A], "5").await.expect("room again");
    assert_eq!(texts(&store, A, NOW).await, ["1", "5"]);
    assert_eq!(store.stats().await.expect("stats").emails, 3);
}

#[tokio::test]
async fn what_has_expired_does_not_fill_a_mailbox() {
    let store = store(reject(2));
    let later = NOW.plus(Duration::from_mins(30));
    receive(&store, &[A], "1").await.expect("room");
    receive_at(&store, &[A], "2", later).await.expect("room");
    // An hour after the first mail, it has expired, but is not removed yet.
    let now = NOW.plus(Duration::from_hours(1));
    assert_eq!(
        receive_at(&store, &[A], "early", Timestamp::from_millis(now.millis() - 1)).await,
        Err(StoreError::MailboxFull)
    );
    receive_at(&store, &[A], "3", now).await.expect("room");
    assert_eq!(receive_at(&store, &[A], "4", now).await, Err(StoreError::MailboxFull));
    assert_eq!(texts(&store, A, now).await, ["2", "3"]);
}

#[tokio::test]
async fn a_message_is_stored_for_all_its_recipients_or_for_none() {
    let store = store(reject(1));
    receive(&store, &[A], "1").await.expect("room");
    assert_eq!(receive(&store, &[B, A, C], "2").await, Err(StoreError::MailboxFull));
    assert_eq!(store.stats().await.expect("stats").emails, 1);
    receive(&store, &[B, C], "3").await.expect("room");
}

#[tokio::test]
async fn the_oldest_is_evicted_and_its_octets_are_freed() {
    let dir = tempfile::tempdir().expect("directory");
    let store = EmbeddedStore::open(dir.path(), &with(drop_oldest(2))).expect("open");
    receive(&store, &[A, B], "the first of both").await.expect("kept");
    for text in ["a secret of two", "three", "four"] {
        receive(&store, &[A], text).await.expect("kept");
    }
    assert_eq!(texts(&store, A, NOW).await, ["three", "four"]);
    assert_eq!(texts(&store, B, NOW).await, ["the first of both"]);
    receive(&store, &[C, D], "a secret of both").await.expect("kept");
    for text in ["two", "three"] {
        receive(&store, &[C, D], text).await.expect("kept");
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
    let store = EmbeddedStore::open(dir.path(), &with(reject(1))).expect("open");
    receive(&store, &[A], "a message that is kept").await.expect("kept");
    assert_eq!(receive(&store, &[A], "a secret of two").await, Err(StoreError::MailboxFull));
    store.close().await.expect("close");
    drop(store);
    assert!(is_on_disk(dir.path(), "a message that is kept"));
    assert!(!is_on_disk(dir.path(), "a secret of two"));
}

#[tokio::test]
async fn the_oldest_that_is_readable_is_evicted() {
    let store = store(drop_oldest(2));
    let now = NOW.plus(Duration::from_hours(1));
    receive(&store, &[A], "1").await.expect("kept");
    for text in ["2", "3", "4"] {
        receive_at(&store, &[A], text, now).await.expect("kept");
    }
    assert_eq!(texts(&store, A, now).await, ["3", "4"]);
    // Expired mail is left to the expiry worker.
    assert_eq!(texts(&store, A, NOW).await, ["1", "3", "4"]);
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
    let store = open(&disk, &with(drop_oldest(3)));
    for (text, left) in [("400", 145), ("401", 3), ("402", 3)] {
        receive(&store, &[A], text).await.expect("kept");
        assert_eq!(texts(&store, A, NOW).await.len(), left);
    }
    assert_eq!(texts(&store, A, NOW).await, ["400", "401", "402"]);
}

#[tokio::test]
async fn an_event_outlives_the_email_that_made_way() {
    let store = store(drop_oldest(1));
    let webhook = register(&store, A, "https://a.example/").await;
    for text in ["1", "2"] {
        receive(&store, &[A], text).await.expect("kept");
    }
    let events = pending(&store, webhook).await;
    assert_eq!(events.len(), 2);
    for (event, text) in events.iter().zip(["1", "2"]) {
        assert_eq!(store.load_event(event).await.expect("load").expect("its Email").raw, text);
    }
}

/// 50 at once, over and over, on a real directory; what the check says of it then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_race_gets_past_a_cap() {
    for caps in [reject(10), drop_oldest(10)] {
        let dir = tempfile::tempdir().expect("directory");
        let store = Arc::new(EmbeddedStore::open(dir.path(), &with(caps)).expect("open"));
        let sending = (0..50).map(|n| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.receive(delivery(&[A], n.to_string(), NOW)).await })
        });
        let mut stored = 0;
        for sent in futures_util::future::join_all(sending).await {
            match sent.expect("no panic") {
                Ok(()) => stored += 1,
                Err(error) => assert_eq!(error, StoreError::MailboxFull),
            }
        }
        assert_eq!(stored, if caps.when_full == WhenFull::Reject { 10 } else { 50 });
        assert_eq!(texts(&store, A, NOW).await.len(), 10);
        store.close().await.expect("close");
        drop(store);
        assert_eq!(findings(&super::locked(dir.path()), &with(caps)), []);
    }
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
    let no_checkpoint = |caps| StoreOptions { caps, ..rare_checkpoints() };
    for caps in [reject(3), drop_oldest(3)] {
        let disk = TestDisk::default();
        let store = open(&disk, &no_checkpoint(caps));
        let messages: Vec<Delivery> = (0..30)
            .map(|n| {
                let to: &[&str] = [&[A][..], &[B], &[A, B], &[C], &[A, C]][n % 5];
                delivery(to, n.to_string(), NOW)
            })
            .collect();
        let (mut stored, mut refused) = (0, 0);
        for message in messages {
            match store.receive(message).await {
                Ok(()) => stored += 1,
                Err(_) => refused += 1,
            }
        }
        assert!(
            stored > 5 && (refused > 5 || caps.when_full == WhenFull::DropOldest),
            "{stored} kept, {refused} refused"
        );
        let before = state(&store).await;
        let killed = disk.kill();
        drop(store);
        for other in [Caps::default(), reject(1), drop_oldest(1)] {
            let again = open(&killed.copy(), &no_checkpoint(other));
            assert_eq!(state(&again).await, before, "{caps:?}, then {other:?}");
        }
    }
}
