//! The cost of a mail, of a list and of a change after a failure, in calls to the disk. It must not grow with what is stored.
//! Promise: it outlives the code below it.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::sync::Arc;

use futures_util::future::join_all;
use tempmail::model::{DomainRecord, Timestamp};
use tempmail::store::{EmbeddedStore, PageRequest, Registration, Registry, Store};

use crate::suites::options;
use crate::support::mail::{delivery, mailbox};
use crate::support::test_disk::{Call, Kind, TestDisk};
use crate::support::until::until;

/// How many mails are counted.
const MAILS: u64 = 20;
const REGISTRY: &str = "registry.redb";
const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

/// A disk with a closed store of so many mails for each of these mailboxes.
async fn filled(mailboxes: &[(String, usize)]) -> TestDisk {
    let disk = TestDisk::default();
    let store = open(&disk);
    for (address, mails) in mailboxes {
        for start in (0..*mails).step_by(500) {
            let batch =
                (start..(start + 500).min(*mails)).map(|number| delivery(&[address], format!("mail {number}"), NOW));
            for received in join_all(batch.map(|delivery| store.receive(delivery))).await {
                received.expect("receive");
            }
        }
    }
    store.close().await.expect("close");
    disk
}

fn open(disk: &TestDisk) -> EmbeddedStore {
    EmbeddedStore::open_on(Arc::new(disk.clone()), &options()).expect("open")
}

/// The reads since so many calls.
fn reads_since(disk: &TestDisk, before: usize) -> Vec<Call> {
    disk.calls().into_iter().skip(before).filter(|call| call.kind == Kind::Read).collect()
}

/// How many reads and octets the newest 20 Emails of a mailbox take, where nothing is cached.
async fn reads(disk: &TestDisk, address: &str, total: usize) -> (usize, u64) {
    let store = open(disk);
    let before = disk.calls().len();
    let part = store.list(&mailbox(address), PageRequest { offset: 0, limit: 20 }, NOW).await.expect("list");
    assert_eq!((part.emails.len(), part.total), (20, total as u64));
    for listed in &part.emails {
        store.load(listed).await.expect("load").expect("an Email");
    }
    let reads = reads_since(disk, before);
    store.close().await.expect("close");
    (reads.len(), reads.iter().map(|read| read.octets).sum())
}

/// A disk with so many mailboxes of 40 mails.
async fn filled_with(mailboxes: usize) -> TestDisk {
    let names: Vec<_> = (0..mailboxes).map(|number| (format!("m{number}@example.test"), 40)).collect();
    filled(&names).await
}

#[tokio::test]
async fn a_list_of_twenty_costs_no_more_in_a_mailbox_of_thousands() {
    let (large, small) = ("large@example.test".to_owned(), "small@example.test".to_owned());
    let disk = filled(&[(large.clone(), 4_000), (small.clone(), 40)]).await;
    let (of_large, of_small) = (reads(&disk, &large, 4_000).await, reads(&disk, &small, 40).await);
    assert!(of_large.0 <= of_small.0 + 10, "{of_large:?} where the small mailbox takes {of_small:?}");
    let ten_pages = 10 * 4096;
    assert!(of_large.1 <= of_small.1 + ten_pages, "{of_large:?} where the small mailbox takes {of_small:?}");
}

#[tokio::test]
async fn a_list_of_twenty_costs_little_more_in_a_store_4_and_16_times_as_full() {
    let mut cost = Vec::new();
    for mailboxes in [10, 40, 160] {
        let disk = filled_with(mailboxes).await;
        cost.push(reads(&disk, "m7@example.test", 40).await);
    }
    assert!(
        cost.iter().all(|(reads, octets)| *reads <= cost[0].0 + 10 && *octets <= cost[0].1 + 10 * 4096),
        "{cost:?}"
    );
}

/// Clients ask the same mailboxes again and again, and most of these have no new mail.
#[tokio::test]
async fn a_poll_reads_one_way_down_the_index_and_no_message() {
    const VERSION_ONLY: PageRequest = PageRequest { offset: 0, limit: 0 };
    let mut cost = Vec::new();
    for mails in [250, 1_000, 4_000] {
        let disk = filled(&[("a@example.test".to_owned(), mails), ("b@example.test".to_owned(), mails)]).await;
        let store = open(&disk);
        for (address, total) in [("a@example.test", mails), ("nobody@example.test", 0)] {
            let before = disk.calls().len();
            let page = store.list(&mailbox(address), VERSION_ONLY, NOW).await.expect("list");
            assert_eq!((page.total, page.emails.len()), (total as u64, 0));
            let reads = reads_since(&disk, before);
            assert!(reads.iter().all(|read| &*read.file == REGISTRY), "reads of the journal: {reads:?}");
            cost.push(reads.len());
        }
        store.close().await.expect("close");
    }
    // One page for each level of the tree, and the page beside.
    assert!(cost.iter().all(|reads| *reads <= 6), "{cost:?} reads");
}

/// How many reads of the registry a change takes if the one before it, the first since a start, failed; with so many domains.
async fn reads_of_recovery(domains: usize) -> usize {
    let disk = TestDisk::default();
    let store = open(&disk);
    let record = |number| DomainRecord::new(format!("d{number}.example").parse().expect("a name"), NOW);
    for number in 0..domains {
        assert_eq!(store.register_domain(record(number), domains).await, Ok(Registration::Won));
    }
    store.close().await.expect("close");
    drop(store);
    let store = open(&disk);
    let register = async || store.register_domain(record(domains), domains + 1).await;
    let failing = disk.fail(|call| call.is(Kind::Sync, REGISTRY).then_some(ErrorKind::Other));
    assert!(register().await.is_err());
    drop(failing);
    let before = disk.count(|call| call.is(Kind::Read, REGISTRY));
    assert_eq!(register().await, Ok(Registration::Won));
    disk.count(|call| call.is(Kind::Read, REGISTRY)) - before
}

/// A regression: a commit lacked what redb repairs from, so whoever came after a failure waited until every page was read.
#[tokio::test]
async fn a_change_after_a_failure_costs_no_more_in_a_store_eight_times_as_full() {
    let (few, many) = (reads_of_recovery(100).await, reads_of_recovery(800).await);
    assert!(many <= few + 2, "{many} reads, where an eighth of the domains takes {few}");
}

/// How many calls [`MAILS`] further mails cost, each in a group of its own, beside `mails` others.
async fn calls_for_mails(mails: usize) -> BTreeMap<Kind, u64> {
    let disk = filled(&[("a@example.test".to_owned(), mails)]).await.copy();
    let options = options();
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &options).expect("open");
    let receive = async |raw| store.receive(delivery(&["a@example.test"], raw, NOW)).await.expect("receive");
    receive("first".to_owned()).await;
    // The one for the first mail was renamed once its header was durable. The next one is ready when it is synced.
    let last = |kind| disk.moments(|call| call.is(kind, "spare")).pop();
    until("the next segment", async || last(Kind::Sync) > last(Kind::Rename)).await;
    let before = disk.calls().len();
    for number in 0..MAILS {
        receive(format!("further {number}")).await;
    }
    let after = disk.calls();
    store.close().await.expect("close");
    let mut calls = BTreeMap::new();
    for call in &after[before..] {
        // The directory may be synced a moment after the next segment.
        let is_other = call.kind == Kind::SyncDir || &*call.file == REGISTRY && call.kind != Kind::Read;
        if !is_other {
            *calls.entry(call.kind).or_default() += 1;
        }
    }
    calls
}

/// A mail that is alone in its group costs a write and a sync.
#[tokio::test]
async fn a_mail_costs_no_more_in_a_store_four_and_sixteen_times_as_full() {
    for mails in [100, 400, 1_600] {
        let calls = calls_for_mails(mails).await;
        assert_eq!(calls, BTreeMap::from([Kind::Sync, Kind::Write].map(|kind| (kind, MAILS))), "{mails}");
    }
}
