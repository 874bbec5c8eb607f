//! Findings of a check in an index that contradicts itself.
//! Mechanism: it goes with the index on disk.

use std::path::Path;

use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction};
use tempmail::store::check::FindingKind;
use tempmail::store::{EmbeddedStore, Store};

use super::{TO, receive};
use crate::suites::options;
use crate::suites::outbox::register;

const WEBHOOK_SETS: TableDefinition<&[u8; 40], ()> = TableDefinition::new("webhook-sets");
const MAIL: TableDefinition<&[u8; 24], &[u8]> = TableDefinition::new("mail");
const HOLDER_USAGE: TableDefinition<&[u8; 16], u64> = TableDefinition::new("holder-usage");

fn findings(dir: &Path) -> Vec<String> {
    let findings = super::findings(&super::locked(dir), &options());
    assert!(findings.iter().all(|finding| finding.kind == FindingKind::Rows), "{findings:?}");
    findings.into_iter().map(|finding| finding.detail).collect()
}

fn change_index(dir: &Path, change: impl Fn(&WriteTransaction)) {
    let index = Database::open(dir.join("index.redb")).expect("the index");
    let transaction = index.begin_write().expect("write");
    change(&transaction);
    transaction.commit().expect("commit");
}

/// The sets decide whose events are dropped when the outbox is full, and which webhooks a mailbox has.
#[tokio::test]
async fn a_webhook_that_is_missing_in_a_set_is_found_and_so_is_a_wrong_sum() {
    let dir = tempfile::tempdir().expect("directory");
    let store = EmbeddedStore::open(dir.path(), &options()).expect("open");
    register(&store, TO, "https://a.example/").await;
    for _ in 0..3 {
        receive(&store, vec![b'x'; 60_000]).await.expect("receive");
    }
    store.close().await.expect("close");
    drop(store);
    assert_eq!(findings(dir.path()), [""; 0]);
    let index = Database::open(dir.path().join("index.redb")).expect("the index");
    let table = index.begin_read().expect("read").open_table(WEBHOOK_SETS).expect("table");
    let keys: Vec<[u8; 40]> = table.iter().expect("rows").map(|row| *row.expect("a row").0.value()).collect();
    drop((table, index));
    assert_eq!(keys.len(), 3, "its mailbox, its origin, and the set of origins");
    for key in keys {
        change_index(dir.path(), |index| drop(index.open_table(WEBHOOK_SETS).expect("table").remove(&key)));
        let found = findings(dir.path());
        assert!(found.len() == 1 && found[0].contains("0 wrong members and lack 1"), "{found:?}");
        change_index(dir.path(), |index| drop(index.open_table(WEBHOOK_SETS).expect("table").insert(&key, ())));
    }
    change_index(dir.path(), |index| {
        let mut sums = index.open_table(HOLDER_USAGE).expect("table");
        let holder = *sums.first().expect("read").expect("a row").0.value();
        sums.insert(&holder, 1).expect("insert");
    });
    let found = findings(dir.path());
    assert!(found.len() == 1 && found[0].contains("usage of the outbox"), "{found:?}");
}

#[tokio::test]
async fn a_mailbox_that_counts_other_octets_than_its_mail_has_is_found() {
    let dir = tempfile::tempdir().expect("directory");
    let store = EmbeddedStore::open(dir.path(), &options()).expect("open");
    receive(&store, "12345").await.expect("receive");
    store.close().await.expect("close");
    drop(store);
    assert_eq!(findings(dir.path()), [""; 0]);
    change_index(dir.path(), |index| {
        let mut mail = index.open_table(MAIL).expect("table");
        let (key, mut head) =
            mail.first().expect("read").map(|(k, v)| (*k.value(), v.value().to_vec())).expect("a head");
        *head.last_chunk_mut::<8>().expect("octets") = 6_u64.to_le_bytes();
        mail.insert(&key, &head[..]).expect("insert");
    });
    assert_eq!(findings(dir.path()), ["a mailbox counts other octets than its Emails have"]);
}
