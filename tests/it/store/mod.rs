//! What every store must do, and what the embedded one does when the power is cut.

mod answers;
mod attacks;
mod caps;
mod crash;
mod damage;
mod deleting;
mod descriptors;
mod disk;
mod each_call;
mod embedded;
mod failed_sync;
mod faults;
mod formats;
mod full;
mod opening;
mod outbox_alone;
mod outbox_ends;
mod panics;
mod space;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use memchr::memmem;
use tempfile::TempDir;
use tempmail::model::{Delivery, Timestamp};
use tempmail::store::check::{Finding, check};
use tempmail::store::disk::{Directory, Disk};
use tempmail::store::{EmbeddedStore, MailboxPage, OpenError, PageRequest, Store, StoreError, StoreOptions, salvage};

use crate::suites::options;
use crate::support::mail::{delivery, mailbox};
use crate::support::test_disk::TestDisk;
use crate::support::until::blocking;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const HOUR: Duration = Duration::from_hours(1);
/// The mailbox of tests that need one.
const TO: &str = "a@example.test";
const EVERYTHING: PageRequest = PageRequest { offset: 0, limit: usize::MAX };
const REGISTRY: &str = "registry.redb";
/// The segment in use of a new store; the next one is made beside it.
const IN_USE: &str = "journal-0000000000000001";
const NEXT: &str = "journal-0000000000000002";

fn locked(dir: &Path) -> Arc<dyn Disk> {
    locked_directory(dir)
}

/// The directory of a closed store. A program that another test starts at this moment may still have its lock file open.
/// It is released soon.
pub(crate) fn locked_directory(dir: &Path) -> Arc<Directory> {
    Arc::new(blocking::until_some("the directory can be locked", || Directory::lock(dir).ok()))
}

/// The store of a directory that had it open before, if it had.
fn open_again(dir: &Path, options: &StoreOptions) -> EmbeddedStore {
    EmbeddedStore::open_on(locked(dir), options).expect("open again")
}

/// The store that a salvage makes of these files.
fn salvaged(files: impl IntoIterator<Item = (String, Vec<u8>)>, now: Timestamp) -> (TempDir, EmbeddedStore) {
    let dir = tempfile::tempdir().expect("directory");
    std::fs::create_dir(dir.path().join("store")).expect("directory");
    for (name, octets) in files {
        std::fs::write(dir.path().join("store").join(name), octets).expect("write");
    }
    salvage(locked_directory(dir.path()), &options(), now, &mut |_, _| {}).expect("salvage");
    let store = open_again(dir.path(), &options());
    (dir, store)
}

fn try_open(disk: &TestDisk, options: &StoreOptions) -> Result<EmbeddedStore, OpenError> {
    EmbeddedStore::open_on(Arc::new(disk.clone()), options)
}

fn open(disk: &TestDisk, options: &StoreOptions) -> EmbeddedStore {
    try_open(disk, options).expect("open")
}

/// Sends a message to [`TO`].
async fn receive(store: &EmbeddedStore, raw: impl Into<Bytes>) -> Result<(), StoreError> {
    store.receive(delivery(&[TO], raw, NOW)).await
}

/// Sends messages at once. All must be stored.
async fn receive_all(store: &EmbeddedStore, messages: impl IntoIterator<Item = Delivery>) {
    let received = join_all(messages.into_iter().map(|message| store.receive(message))).await;
    assert!(received.iter().all(Result::is_ok), "{received:?}");
}

/// So many addresses.
fn users(number: usize) -> impl Iterator<Item = String> {
    (0..number).map(|n| format!("user{n}@example.test"))
}

fn to_many(addresses: impl IntoIterator<Item = String>, raw: impl Into<Bytes>, at: Timestamp) -> Delivery {
    let names: Vec<String> = addresses.into_iter().collect();
    delivery(&names.iter().map(String::as_str).collect::<Vec<_>>(), raw, at)
}

/// A text with `x` behind it, up to a length.
fn padded(text: &str, octets: usize) -> Vec<u8> {
    let mut raw = text.as_bytes().to_vec();
    raw.resize(octets, b'x');
    raw
}

async fn list(store: &EmbeddedStore, address: &str, now: Timestamp) -> MailboxPage {
    let part = store.list(&mailbox(address), EVERYTHING, now).await.expect("list");
    assert_eq!(part.total, part.emails.len() as u64);
    part
}

/// How many mails [`TO`] has.
async fn total(store: &EmbeddedStore) -> u64 {
    list(store, TO, NOW).await.total
}

/// What a mailbox holds that is readable at `now`, the oldest first, by the messages' texts without padding.
async fn texts(store: &EmbeddedStore, address: &str, now: Timestamp) -> Result<Vec<String>, StoreError> {
    let part = store.list(&mailbox(address), EVERYTHING, now).await?;
    assert_eq!(part.total, part.emails.len() as u64);
    let mut texts = Vec::new();
    for listed in part.emails.iter().rev() {
        let raw = store.load(listed).await?.expect("a listed Email").raw;
        texts.push(String::from_utf8_lossy(&raw).trim_end_matches('x').to_owned());
    }
    Ok(texts)
}

/// What [`TO`] holds.
async fn contents(store: &EmbeddedStore) -> Vec<String> {
    texts(store, TO, NOW).await.expect("texts")
}

async fn delete_all(store: &EmbeddedStore) -> Result<u64, StoreError> {
    store.delete_all(&mailbox(TO), u64::MAX, NOW).await
}

/// Removes all mail whose time has come.
async fn expire(store: &EmbeddedStore, now: Timestamp) {
    while store.expire(now, 500).await.expect("expire").next_due_at.is_some_and(|due| due <= now) {}
}

/// Whether a text is anywhere in the files of a directory.
fn is_on_disk(dir: &Path, text: &str) -> bool {
    let files = std::fs::read_dir(dir.join("store")).expect("list").map(|file| file.expect("entry").path());
    let mut octets = files.map(|file| std::fs::read(file).unwrap_or_default());
    octets.any(|octets| memmem::find(&octets, text.as_bytes()).is_some())
}

/// What the check finds in a closed store.
fn findings(disk: &Arc<dyn Disk>, options: &StoreOptions) -> Vec<Finding> {
    check(disk, options, NOW, &mut |_, _| ()).expect("a report").findings
}
