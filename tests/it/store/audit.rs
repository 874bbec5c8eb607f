//! What a check finds in an index that contradicts itself.

use std::path::Path;

use redb::{ReadableTable, TableDefinition};
use tempmail::model::Timestamp;
use tempmail::store::check::{FindingKind, check};
use tempmail::store::{EmbeddedStore, Store};

use super::embedded::options;
use super::outbox::register;
use crate::support::mail::delivery;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const WEIGHTS: TableDefinition<&[u8; 24], ()> = TableDefinition::new("weights");

fn findings(dir: &Path) -> Vec<String> {
    let disk = super::locked(dir);
    let report = check(&disk, &options(), &mut |_, _| {}).expect("a report");
    assert!(report.findings.iter().all(|finding| finding.kind == FindingKind::Rows), "{report:?}");
    report.findings.into_iter().map(|finding| finding.detail).collect()
}

/// By that table it is found who makes room when the outbox of all is full.
#[tokio::test]
async fn a_webhook_that_holds_much_and_is_not_noted_as_one_is_found() {
    let dir = tempfile::tempdir().expect("directory");
    let store = EmbeddedStore::open(dir.path(), &options()).expect("open");
    register(&store, "a@example.test", "https://a.example/").await;
    for _ in 0..3 {
        store.receive(delivery(&["a@example.test"], vec![b'x'; 60_000], NOW)).await.expect("receive");
    }
    store.close().await.expect("close");
    drop(store);
    assert_eq!(findings(dir.path()), [""; 0]);
    let index = redb::Database::open(dir.path().join("index.redb")).expect("the index");
    let transaction = index.begin_write().expect("write");
    {
        let mut weights = transaction.open_table(WEIGHTS).expect("table");
        let key = *weights.first().expect("read").expect("a row").0.value();
        weights.remove(&key).expect("remove");
    }
    transaction.commit().expect("commit");
    drop(index);
    let found = findings(dir.path());
    assert!(found.len() == 1 && found[0].contains("who holds how much"), "{found:?}");
}
