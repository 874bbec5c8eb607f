//! Power cuts while a restore replaces one store with another.
//! Promise: it outlives the code below it.

use std::collections::BTreeSet;
use std::path::Path;

use tempmail::model::Timestamp;
use tempmail::store::{EmbeddedStore, PageRequest, Store, StoreOptions};

use crate::support::command::tempmail;
use crate::support::mail::{delivery, mailbox};
use crate::support::program::local;
use crate::support::test_disk::rng;
use crate::support::traced_names::TracedNames;

/// So late that nothing has expired by the clock of the binary, whose backup would leave it out.
const NOW: Timestamp = Timestamp::from_millis(4_000_000_000_000);
/// The messages of the stores, the newest first.
const OLD: [&str; 3] = ["old", "old", "old"];
const NEW: [&str; 1] = ["new"];
const TO: &str = "a@example.test";
/// Images of each moment.
const IMAGES: u64 = 40;

fn options() -> StoreOptions {
    StoreOptions { retention: None, ..crate::suites::options() }
}

/// A stopped store with these messages, each in a segment of its own.
async fn make(dir: &Path, texts: &[&'static str]) {
    std::fs::create_dir(dir).expect("directory");
    for text in texts {
        let store = EmbeddedStore::open(dir, &options()).expect("open");
        store.receive(delivery(&[TO], *text, NOW)).await.expect("receive");
        store.close().await.expect("close");
    }
}

/// The messages of whichever store is in a directory.
async fn messages(dir: &Path) -> Result<Vec<String>, String> {
    let store = EmbeddedStore::open(dir, &options()).map_err(|error| error.to_string())?;
    let listed = store.list(&mailbox(TO), PageRequest { offset: 0, limit: 9 }, NOW).await.expect("list");
    let mut messages = Vec::new();
    for email in &listed.emails {
        let email = store.load(email).await.map_err(|error| error.to_string())?.expect("a listed Email");
        messages.push(String::from_utf8(email.raw.to_vec()).expect("text"));
    }
    Ok(messages)
}

#[tokio::test]
#[ignore = "needs strace"]
async fn a_power_cut_during_a_restore_leaves_the_old_store_or_the_new_one() {
    let root = tempfile::tempdir().expect("directory");
    let root = root.path().canonicalize().expect("a path");
    let (data, other, backup) = (root.join("data"), root.join("other"), root.join("backup"));
    // Whose files have names that the new one's have not.
    make(&data, &OLD).await;
    make(&other, &NEW).await;
    let file = backup.to_str().expect("path");
    assert_eq!(local(&other, &["db", "backup", file]).code, Some(0));

    let mut restore = tempmail(&root);
    restore.args(["db", "restore", "--yes", file]).env("TEMPMAIL_DATA_DIR", &data);
    restore.env("TEMPMAIL_SEGMENT_SIZE", "1MB").env("TEMPMAIL_MAX_MESSAGE_SIZE", "64KB");
    let traced = TracedNames::follow(&data, &restore);
    let end = traced.operations();
    let (mut seen, mut found) = (BTreeSet::new(), BTreeSet::new());
    for (cut, seed) in (0..=end).flat_map(|cut| (0..IMAGES).map(move |seed| (cut, seed))) {
        let image = traced.image(cut, &mut rng(seed));
        if !seen.insert((image.clone(), cut == end)) {
            continue;
        }
        let dir = tempfile::tempdir().expect("directory");
        traced.write(&image, dir.path());
        let messages = messages(dir.path()).await;
        let is_one = |texts: &[&str]| messages.as_ref().is_ok_and(|messages| messages == texts);
        assert!(
            is_one(&NEW) || cut < end && is_one(&OLD),
            "cut {cut} of {end}, seed {seed}: {messages:?} in {:?}",
            image.keys()
        );
        found.extend(messages);
    }
    assert_eq!(found.len(), 2, "one of the stores was never there: {found:?}");
}
