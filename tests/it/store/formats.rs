//! Files that earlier builds wrote can be read. `tests/data` has one of each form: `backup-5` is a backup of the build whose
//! store had an index beside the journal, `store-11` is a data directory.
//!
//! Promise: what an earlier build wrote is read.
//!
//! Both hold the same: two messages, one of them for two mailboxes, and a deleted one; a domain; a webhook with two events.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempmail::model::Timestamp;
use tempmail::store::backup;
use tempmail::store::disk::{Directory, Disk};
use tempmail::store::{EmbeddedStore, Leases, Outbox, Registry, Store, StoreOptions};
use tempmail::tokens::Tokens;

use super::texts;
use crate::suites::leases::lease;
use crate::suites::options;
use crate::support::mail::mailbox;
use crate::support::test_disk::TestDisk;

/// A time at which the mail in the files was readable.
const THEN: Timestamp = Timestamp::from_millis(1_795_638_700_000);

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// The settings of a store for one command, which shorten no life.
fn any_life() -> StoreOptions {
    StoreOptions { retention: None, ..options() }
}

async fn holds_all(store: &EmbeddedStore) {
    let subjects = async |address: &str| {
        let of_text = |text: String| text.lines().find_map(|line| Some(line.strip_prefix("Subject: ")?.to_owned()));
        texts(store, address, THEN).await.expect("texts").into_iter().filter_map(of_text).collect::<Vec<_>>()
    };
    assert_eq!(subjects("ann@example.test").await, ["for-two", "for-ann"]);
    assert_eq!(subjects("bob@example.test").await, ["for-two"]);
    assert_eq!(subjects("carl@other.test").await, [""; 0]);
    let domains = store.domains().await.expect("domains");
    assert_eq!(domains.iter().map(|domain| domain.name.as_str()).collect::<Vec<_>>(), ["registered.test"]);
    let webhooks = store.webhooks(&mailbox("ann@example.test")).await.expect("webhooks");
    assert_eq!(webhooks.iter().map(|webhook| &*webhook.url).collect::<Vec<_>>(), ["http://127.0.0.1:9/hook"]);
    assert_eq!(store.pending_webhooks().await.expect("pending").len(), 1);
    assert_eq!(store.stats().await.expect("stats").events, 2);
}

#[tokio::test]
async fn a_backup_of_format_5_is_restored() {
    let disk: Arc<dyn Disk> = Arc::new(TestDisk::default());
    let file = std::fs::read(data("backup-5")).expect("file");
    let counts = backup::restore(&mut &*file, &disk, &any_life(), true, &mut |_| {}).expect("restore");
    assert_eq!((counts.emails, counts.events), (3, 2));
    holds_all(&EmbeddedStore::open_on(disk, &any_life()).expect("open")).await;
}

#[tokio::test]
async fn a_store_of_format_11_is_opened() {
    let dir = tempfile::tempdir().expect("directory");
    std::fs::create_dir(dir.path().join("store")).expect("directory");
    for file in std::fs::read_dir(data("store-11")).expect("files") {
        let file = file.expect("file");
        std::fs::copy(file.path(), dir.path().join("store").join(file.file_name())).expect("copy");
    }
    let store =
        EmbeddedStore::open_on(Arc::new(Directory::lock(dir.path()).expect("lock")), &any_life()).expect("open");
    holds_all(&store).await;
    let lease = lease("new@example.test", 1, THEN);
    assert_eq!(store.replace_lease(None, Some(&lease)).await, Ok(true), "it has leases from now on");
    assert_eq!(store.leases_of(&lease.key).await, Ok(vec![lease]));
    let tokens = Tokens::open(Arc::new(store), dir.path(), None, THEN).await.expect("tokens");
    assert_eq!(tokens.list().iter().map(|token| token.name.to_string()).collect::<Vec<_>>(), ["ci"]);
}
