//! A keyspace from a backup.
//! Promise: it outlives the code below it.

use std::io::{self, Read};
use std::sync::Arc;

use tempmail::clock::SystemClock;
use tempmail::model::Timestamp;
use tempmail::store::backup::{BackupCounts, BackupItem, BackupRecord, RestoreError};
use tempmail::store::cassandra::{CassandraOptions, CassandraStore, RestoreInto, Survey};
use tempmail::store::{EmbeddedStore, OpenError, Outbox, Registry, Storage, Store};
use tokio_util::sync::CancellationToken;

use super::backup::{content, domain, embedded, file, fill, items, large_options};
use super::keyspace;
use crate::suites::outbox::register;
use crate::support::mail::{delivery, mailbox};
use crate::support::outbox::pending_events;
use crate::support::test_disk::TestDisk;
use crate::support::until::until;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
/// Three parts of a message.
const LARGE: usize = 600_000;

/// A file of which only the first octets can be read.
struct Broken<'f>(&'f [u8]);

impl Read for Broken<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.0.read(into)? {
            0 => Err(io::Error::other("the cable was pulled")),
            length => Ok(length),
        }
    }
}

/// Restores a file of which the second reading gives only the first `readable` octets.
async fn restore_part(
    file: &[u8],
    readable: usize,
    options: &CassandraOptions,
    now: Timestamp,
) -> Result<BackupCounts, RestoreError> {
    let (file, options) = (file.to_vec(), options.clone());
    let restored = tokio::task::spawn_blocking(move || {
        let survey = Survey::of(&mut &*file, &mut |_| {})?;
        let how = RestoreInto { with_events: false, now };
        let on = (&options, &large_options());
        if readable < file.len() {
            return CassandraStore::restore(&mut Broken(&file[..readable]), &survey, on, how, &mut |_| {});
        }
        CassandraStore::restore(&mut &*file, &survey, on, how, &mut |_| {})
    });
    restored.await.expect("no panic")
}

async fn restore_all(file: &[u8], options: &CassandraOptions, with_events: bool) -> Result<BackupCounts, RestoreError> {
    let (file, options) = (file.to_vec(), options.clone());
    let restored = tokio::task::spawn_blocking(move || {
        let survey = Survey::of(&mut &*file, &mut |_| {})?;
        let how = RestoreInto { with_events, now: NOW };
        CassandraStore::restore(&mut &*file, &survey, (&options, &large_options()), how, &mut |_| {})
    });
    restored.await.expect("no panic")
}

async fn restore(file: &[u8], options: &CassandraOptions, now: Timestamp) -> Result<BackupCounts, RestoreError> {
    restore_part(file, file.len(), options, now).await
}

async fn filled_file() -> (EmbeddedStore, Vec<u8>) {
    let store = EmbeddedStore::open_on(Arc::new(TestDisk::default()), &large_options()).expect("open");
    fill(&store, LARGE).await;
    let file = file(&store).await;
    (store, file)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Cassandra"]
async fn a_store_goes_into_a_cluster_and_back() {
    let options = keyspace().await;
    let (original, first) = filled_file().await;
    let wanted = content(&original, NOW).await;
    let counts = restore(&first, &options, NOW).await.expect("restore");
    let cluster = CassandraStore::connect(&options, &large_options()).await.expect("connect");
    assert_eq!(content(&cluster, NOW).await, wanted);
    let stats = (original.stats().await.expect("stats"), cluster.stats().await.expect("stats"));
    assert_eq!((stats.1.emails, stats.1.mailboxes), (stats.0.emails, stats.0.mailboxes));
    assert_eq!((stats.1.messages, stats.1.live_octets), (stats.0.messages, stats.0.live_octets));

    let second = file(&cluster).await;
    let (again, restored) = embedded(&second);
    assert_eq!(restored, counts);
    assert_eq!(content(&again, NOW).await, wanted);
    // A third time, with the numbers of the cluster.
    let other = keyspace().await;
    assert_eq!(restore(&file(&again).await, &other, NOW).await, Ok(counts));
    let other = CassandraStore::connect(&other, &large_options()).await.expect("connect");
    assert_eq!(content(&other, NOW).await, wanted);
    // And it goes on as a store: the newest mail is on top, and a deletion is one.
    let newer = delivery(&["a@example.test"], "newer", NOW);
    let id = newer.envelope.recipients[0].id;
    other.receive(newer).await.expect("receive");
    assert_ne!(content(&other, NOW).await, wanted);
    assert!(other.delete(id, NOW).await.expect("delete"));
    assert_eq!(content(&other, NOW).await, wanted);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Cassandra"]
async fn webhooks_and_their_events_come_along() {
    let options = keyspace().await;
    let original = EmbeddedStore::open_on(Arc::new(TestDisk::default()), &large_options()).expect("open");
    register(&original, "a@example.test", "https://hooks.test/a").await;
    for text in ["one", "two"] {
        original.receive(delivery(&["a@example.test"], text, NOW)).await.expect("receive");
    }
    let of_webhooks = async |store: &dyn Storage| {
        let is_wanted =
            |item: &BackupItem| matches!(item.record, BackupRecord::Webhook(_) | BackupRecord::Event { .. });
        items(store).await.into_iter().filter(is_wanted).collect::<Vec<_>>()
    };
    let wanted = of_webhooks(&original).await;
    assert_eq!(wanted.len(), 3, "{wanted:?}");
    let counts = restore_all(&file(&original).await, &options, true).await.expect("restore");
    assert_eq!((counts.webhooks, counts.events), (1, 2));
    let cluster = CassandraStore::connect(&options, &large_options()).await.expect("connect");
    assert_eq!(of_webhooks(&cluster).await, wanted);
    // The messages of events outlive their mail.
    assert_eq!(cluster.delete_all(&mailbox("a@example.test"), u64::MAX, NOW).await, Ok(2));
    let BackupRecord::Webhook(webhook) = &wanted[0].record else { panic!("{wanted:?}") };
    let pending = pending_events(&cluster, webhook.id).await.expect("events");
    let email = cluster.load_event(&pending[0]).await.expect("load").expect("a message");
    assert_eq!((pending.len(), &email.raw[..]), (2, &b"one"[..]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Cassandra"]
async fn mail_that_has_expired_stays_out() {
    let options = keyspace().await;
    let (original, file) = filled_file().await;
    let later = Timestamp::from_millis(NOW.millis() + 3_600_000);
    let wanted = content(&original, later).await;
    let counts = restore(&file, &options, later).await.expect("restore");
    let cluster = CassandraStore::connect(&options, &large_options()).await.expect("connect");
    assert_eq!(content(&cluster, later).await, wanted);
    let stats = cluster.stats().await.expect("stats");
    assert_eq!((stats.emails, stats.messages), (counts.emails, counts.messages));
    assert!(counts.emails > 0 && stats.emails < original.stats().await.expect("stats").emails);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Cassandra"]
async fn a_keyspace_in_use_is_refused_and_stays_as_it_is() {
    let options = keyspace().await;
    let (_, file) = filled_file().await;
    let store = CassandraStore::connect(&options, &large_options()).await.expect("connect");
    let refused = async |what: &str| match restore(&file, &options, NOW).await {
        Err(RestoreError::NotEmpty { what: found, .. }) => assert_eq!(found, what),
        other => panic!("{what}: {other:?}"),
    };
    store.register_domain(domain("mine.example"), 9).await.expect("register");
    let before = content(&store, NOW).await;
    refused("domains").await;
    assert_eq!(content(&store, NOW).await, before);
    store.receive(delivery(&["a@example.test"], "mine", NOW)).await.expect("receive");
    let before = content(&store, NOW).await;
    refused("mail").await;
    let reopened = CassandraStore::connect(&options, &large_options()).await.expect("connect");
    assert_eq!(content(&reopened, NOW).await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Cassandra"]
async fn nobody_restores_under_a_node() {
    let options = keyspace().await;
    let (_, file) = filled_file().await;
    let store = Arc::new(CassandraStore::connect(&options, &large_options()).await.expect("connect"));
    let stop = CancellationToken::new();
    let node = {
        let (store, stop) = (Arc::clone(&store), stop.clone());
        tokio::spawn(async move { store.run(Arc::new(SystemClock), stop).await })
    };
    until("the restore is refused", async || {
        matches!(restore(&file, &options, NOW).await, Err(RestoreError::InUse { nodes: 1, .. }))
    })
    .await;
    stop.cancel();
    node.await.expect("its end");
    assert!(restore(&file, &options, NOW).await.is_ok(), "a node that stopped is gone");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Cassandra"]
async fn an_interrupted_restore_leaves_a_keyspace_that_nobody_uses() {
    let options = keyspace().await;
    let (_, file) = filled_file().await;
    let interrupted = restore_part(&file, file.len() / 2, &options, NOW).await;
    assert!(matches!(interrupted, Err(RestoreError::Unfinished(_))), "{interrupted:?}");
    let opened = CassandraStore::connect(&options, &large_options()).await.map(drop);
    assert_eq!(opened, Err(OpenError::Restoring { keyspace: options.keyspace.clone() }));
    let refused = restore(&file, &options, NOW).await;
    assert!(matches!(refused, Err(RestoreError::AnotherUnfinished { .. })), "{refused:?}");
}
