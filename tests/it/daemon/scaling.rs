//! The cost of a list and of an opening, in reads of the disk. It must not grow with the number of stored mails.

use std::sync::Arc;

use futures_util::future::join_all;
use tempmail::model::Timestamp;
use tempmail::store::disk::Disk;
use tempmail::store::{EmbeddedStore, PageRequest, Store, StoreOptions};

use crate::store::embedded::options;
use crate::support::counting_disk::CountingDisk;
use crate::support::mail::{delivery, mailbox};

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

fn small_cache() -> StoreOptions {
    StoreOptions { index_cache_octets: 64 << 10, ..options() }
}

/// A disk with a closed store of so many mails for each of these mailboxes.
async fn filled(mailboxes: &[(String, usize)]) -> CountingDisk {
    let disk = CountingDisk::default();
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

fn open(disk: &CountingDisk) -> EmbeddedStore {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    EmbeddedStore::open_on(disk, &small_cache()).expect("open")
}

/// How many reads it takes to list and load the newest 20 Emails of a mailbox without a cache.
async fn reads(disk: &CountingDisk, address: &str, total: usize) -> u64 {
    let store = open(disk);
    let before = disk.reads();
    let part = store.list(&mailbox(address), PageRequest { offset: 0, limit: 20 }, NOW).await.expect("list");
    assert_eq!((part.emails.len(), part.total), (20, total as u64));
    for listed in &part.emails {
        store.load(listed).await.expect("load").expect("an Email");
    }
    let reads = disk.reads() - before;
    store.close().await.expect("close");
    reads
}

#[tokio::test]
async fn a_list_of_twenty_costs_no_more_in_a_mailbox_of_thousands() {
    let (large, small) = ("large@example.test".to_owned(), "small@example.test".to_owned());
    let disk = filled(&[(large.clone(), 4_000), (small.clone(), 40)]).await;
    let (of_large, of_small) = (reads(&disk, &large, 4_000).await, reads(&disk, &small, 40).await);
    assert!(of_large <= of_small + 10, "{of_large} reads where the small mailbox takes {of_small}");
}

#[tokio::test]
async fn a_list_of_twenty_costs_no_more_in_a_store_four_times_as_full() {
    let mut cost = Vec::new();
    for mailboxes in [20, 80] {
        let names: Vec<_> = (0..mailboxes).map(|number| (format!("m{number}@example.test"), 40)).collect();
        let disk = filled(&names).await;
        cost.push(reads(&disk, "m7@example.test", 40).await);
    }
    assert!(cost[1] <= cost[0] * 2, "{cost:?} reads");
}

/// By how many reads of the index an opening costs more after a kill than after a stop in order, with so many mails. What
/// both cost grows here, since redb looks at every page in a build with debug assertions.
async fn reads_of_recovery(mails: usize) -> u64 {
    const INDEX: &str = "index.redb";
    let disk = filled(&[("a@example.test".to_owned(), mails)]).await.copy();
    let store = open(&disk);
    let killed = disk.copy();
    store.close().await.expect("close");
    drop(store);
    let [killed, stopped] = [killed, disk.copy()].map(|disk| {
        let _store = open(&disk);
        disk.reads_of(INDEX)
    });
    killed.saturating_sub(stopped)
}

/// A regression: a checkpoint lacked what redb repairs from, so the next opening read every page of the index.
#[tokio::test]
async fn an_opening_after_a_kill_costs_no_more_in_a_store_four_times_as_full() {
    let (few, many) = (reads_of_recovery(500).await, reads_of_recovery(2_000).await);
    assert!(many <= few * 2 + 20, "{many} reads more, where a quarter of the mail takes {few} more");
}
