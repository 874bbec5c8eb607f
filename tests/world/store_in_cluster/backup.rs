//! A cluster as a file, and an embedded store from it.
//! Promise: it outlives the code below it.

use std::sync::Arc;

use futures_util::TryStreamExt;
use tempmail::model::{DomainRecord, EmailId, Envelope, LeaseRecord, Timestamp};
use tempmail::store::backup::{self, BackupCounts, BackupItem, BackupRecord};
use tempmail::store::{EmbeddedStore, PageRequest, Storage, Store, StoreOptions};

use crate::suites::{leases, options};
use crate::support::mail::{delivery, mailbox};
use crate::support::test_disk::TestDisk;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const MAILBOXES: [&str; 4] = ["a@example.test", "b@example.test", "c@other.test", "nobody@example.test"];
/// The key of a lease with mail, and the address of one whose address rests.
const KEY: u8 = 1;
const RESTING: &str = "resting@example.test";
/// Three parts of a message.
const LARGE: usize = 600_000;

/// What readers see of an Email.
type Seen = (EmailId, Timestamp, Timestamp, Envelope, Vec<u8>);

/// What a store shows of some mailboxes, its domains and some leases.
#[derive(Debug, PartialEq)]
pub struct Content {
    mailboxes: Vec<(u64, Vec<Seen>)>,
    domains: Vec<DomainRecord>,
    leases: Vec<LeaseRecord>,
}

pub fn large_options() -> StoreOptions {
    StoreOptions { message_octets_max: 1 << 20, segment_octets: 4 << 20, ..options() }
}

pub async fn content(store: &dyn Storage, now: Timestamp) -> Content {
    let (mut mailboxes, leases) = (Vec::new(), store.leases_of(&[KEY; 32]).await.expect("leases"));
    let private = leases.iter().map(LeaseRecord::private_mailbox);
    for mailbox in MAILBOXES.map(mailbox).into_iter().chain(private) {
        let page = store.list(&mailbox, PageRequest { offset: 0, limit: 1000 }, now).await.expect("list");
        let mut seen = Vec::new();
        for listed in page.emails {
            let email = store.load(&listed).await.expect("load").expect("a listed Email");
            assert_eq!(store.find(listed.id, now).await.expect("find").as_ref(), Some(&listed));
            seen.push((listed.id, listed.received_at, listed.expires_at, email.envelope, email.raw.to_vec()));
        }
        mailboxes.push((page.total, seen));
    }
    let resting = store.lease(&mailbox(RESTING)).await.expect("a lease");
    let leases = leases.into_iter().chain(resting).collect();
    Content { mailboxes, domains: store.domains().await.expect("domains"), leases }
}

pub fn domain(name: &str) -> DomainRecord {
    DomainRecord { owner: Some("Ann".into()), ..DomainRecord::new(name.parse().expect(name), NOW) }
}

/// Puts mail of all kinds into a store: for one and for several, deleted for some, in several parts, at a clock that goes
/// back.
pub async fn fill(store: &dyn Storage, message_octets: usize) {
    for name in ["b.example", "a.example"] {
        store.register_domain(domain(name), 9).await.expect("register");
    }
    let [a, b, c, _] = MAILBOXES;
    let clock = [0, 400, -700, 90_000].map(|millis| Timestamp::from_millis(NOW.millis() + millis));
    let addresses: [&[&str]; 4] = [&[a], &[a, b, c], &[c, a], &[b]];
    for n in 0..60 {
        let (at, recipients) = (clock[n % 4], addresses[n / 2 % 4]);
        let sent = delivery(recipients, format!("mail {n}"), at);
        let (first, last) = (sent.envelope.recipients[0].id, sent.envelope.recipients[recipients.len() - 1].id);
        store.receive(sent).await.expect("receive");
        match n % 7 {
            3 => assert!(store.delete(first, at).await.expect("delete")),
            5 => assert!(store.delete(last, at).await.expect("delete")),
            _ => {}
        }
    }
    store.receive(delivery(&[a, b], vec![b'x'; message_octets], NOW)).await.expect("receive");
    store.receive(delivery(&[a], Vec::new(), NOW)).await.expect("receive");
    let held = leases::lease("ann@example.test", KEY, NOW);
    leases::take(store, &held).await;
    store.receive(leases::mail_to(&held, "private", NOW)).await.expect("receive");
    let resting = leases::lease(RESTING, KEY + 1, NOW);
    leases::take(store, &resting).await;
    leases::end(store, &resting, NOW).await;
}

/// The records of a backup.
pub async fn items(store: &dyn Storage) -> Vec<BackupItem> {
    store.backup(NOW).try_concat().await.expect("a backup")
}

/// A backup as a file.
pub async fn file(store: &dyn Storage) -> Vec<u8> {
    [backup::header(), backup::encode(&items(store).await).expect("encode")].concat()
}

/// An embedded store from the file.
pub fn embedded(file: &[u8]) -> (EmbeddedStore, BackupCounts) {
    let disk: Arc<dyn tempmail::store::disk::Disk> = Arc::new(TestDisk::default());
    let options = large_options();
    let counts = backup::restore(&mut &*file, &disk, &options, false, &mut |_| {}).expect("restore");
    (EmbeddedStore::open_on(disk, &StoreOptions { retention: None, ..options }).expect("open"), counts)
}

#[tokio::test]
#[ignore = "needs Cassandra"]
async fn a_backup_of_a_cluster_has_each_message_once_and_makes_an_embedded_store() {
    let store = super::store(&large_options()).await;
    fill(&*store, LARGE).await;
    let seen = content(&*store, NOW).await;
    let items = items(&*store).await;
    let mail = |item: &BackupItem| match &item.record {
        BackupRecord::Mail { envelope, live, .. } => Some((envelope.recipients[0].id, live.clone())),
        _ => None,
    };
    let mut messages: Vec<_> = items.iter().filter_map(mail).collect();
    let counted = messages.len();
    messages.sort_unstable();
    messages.dedup_by_key(|(id, _)| *id);
    assert_eq!(messages.len(), counted, "a message is there twice");
    let stats = store.stats().await.expect("stats");
    let Some(BackupRecord::End(counts)) = items.last().map(|item| &item.record) else { panic!("no end") };
    assert_eq!((counts.messages, counts.emails, counts.domains), (stats.messages, stats.emails, 2));

    let (embedded, restored) = embedded(&file(&*store).await);
    assert_eq!(restored, *counts);
    assert_eq!(content(&embedded, NOW).await, seen);
    // New mail goes on above what was there.
    let newer = delivery(&[MAILBOXES[0]], "newer", NOW);
    embedded.receive(newer).await.expect("receive");
    assert_eq!(content(&embedded, NOW).await.mailboxes[0].1[0].4, b"newer");
}

#[tokio::test]
#[ignore = "needs Cassandra"]
async fn a_backup_while_mail_arrives_has_no_part_of_a_message() {
    let store = super::store(&options()).await;
    let receiver = Arc::clone(&store);
    let sending = tokio::spawn(async move {
        for n in 0..100 {
            receiver.receive(delivery(&MAILBOXES[..3], format!("mail {n}"), NOW)).await.expect("receive");
        }
    });
    let mut last = 0;
    while last < 100 {
        let items = items(&*store).await;
        let mail = items.iter().filter_map(|item| match &item.record {
            BackupRecord::Mail { live, .. } => Some(live.len()),
            _ => None,
        });
        let mail: Vec<usize> = mail.collect();
        assert!(mail.iter().all(|live| *live == 3), "{mail:?}");
        assert!(mail.len() >= last, "mail is missing");
        last = mail.len();
    }
    sending.await.expect("sent");
}

/// Two nodes may give one number at the same moment. A directory has no place for that.
#[tokio::test]
async fn two_emails_with_one_number_are_both_restored() {
    let mail = |text: &str| {
        let sent = delivery(&MAILBOXES[..2], text.to_owned(), NOW);
        let live = sent.envelope.recipients.iter().map(|recipient| recipient.id).collect();
        let record = BackupRecord::Mail {
            envelope: sent.envelope,
            received_at: NOW,
            expires_at: sent.expires_at,
            sequence: 7,
            live,
        };
        BackupItem { record, content: sent.raw }
    };
    let mut items = vec![BackupRecord::Store { secret: [1; 16] }.into(), mail("one"), mail("two"), mail("three")];
    let mut counts = BackupCounts::default();
    for item in &items {
        counts.count(item);
    }
    items.push(BackupRecord::End(counts).into());
    let file = [backup::header(), backup::encode(&items).expect("encode")].concat();
    let (store, restored) = embedded(&file);
    assert_eq!(restored, counts);
    for (total, emails) in &content(&store, NOW).await.mailboxes[..2] {
        assert_eq!((*total, emails.len()), (3, 3));
    }
    assert_eq!(store.stats().await.expect("stats").emails, 6);
}
