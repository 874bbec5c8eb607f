//! What a check finds in an index that contradicts itself.

use std::path::Path;
use std::sync::Arc;

use redb::{ReadableTable, TableDefinition};
use tempmail::model::Timestamp;
use tempmail::store::check::{FindingKind, check};
use tempmail::store::disk::{Directory, Disk};
use tempmail::store::{EmbeddedStore, Store};

use super::embedded::options;
use super::outbox::register;
use crate::support::mail::delivery;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const HEAVY: TableDefinition<&[u8; 24], ()> = TableDefinition::new("heavy");

fn findings(dir: &Path) -> Vec<String> {
    let disk: Arc<dyn Disk> = Arc::new(Directory::lock(dir).expect("lock"));
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
        let mut heavy = transaction.open_table(HEAVY).expect("table");
        let key = *heavy.first().expect("read").expect("a row").0.value();
        heavy.remove(&key).expect("remove");
    }
    transaction.commit().expect("commit");
    drop(index);
    let found = findings(dir.path());
    assert!(found.len() == 2 && found.iter().all(|what| what.contains("hold much")), "{found:?}");
}
