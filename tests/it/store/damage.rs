//! A backup and a check report a journal that was damaged while the store ran.
//! Promise: it outlives the code below it.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use futures_util::StreamExt;
use tempmail::store::backup::BackupRecord;
use tempmail::store::check::FindingKind;
use tempmail::store::{EmbeddedStore, Store, StoreError, StoreOptions};

use super::{NOW, list, open_again};
use crate::support::mail::{delivery, mailbox};

const A: &str = "a@example.test";
const B: &str = "b@example.test";

/// Options under which messages stay in their segments.
fn options() -> StoreOptions {
    StoreOptions { retention: None, ..crate::suites::options() }
}

fn segment(dir: &Path, number: u64) -> PathBuf {
    dir.join("store").join(format!("journal-{number:016}"))
}

/// Octets of the header of a group, and of that of a record.
const GROUP_HEADER: u64 = 28;
const RECORD_HEADER: u64 = 16;

/// Where the groups of a segment begin.
fn groups(path: &Path) -> Vec<u64> {
    let octets = std::fs::read(path).expect("octets");
    let (mut groups, mut at) = (Vec::new(), 512);
    // Each begins with the segment's salt, and says its length behind that and its number.
    while octets.get(at..at + 8).is_some_and(|salt| *salt == octets[16..24]) {
        groups.push(at as u64);
        let length = octets[at + 16..at + 20].try_into().expect("four octets");
        at += 28 + u32::from_le_bytes(length) as usize;
    }
    groups
}

/// Changes an octet of the record in the group with this number, counted from the end; where the record begins.
fn damage_group(path: &Path, from_end: usize) -> u64 {
    let record = groups(path).into_iter().rev().nth(from_end).expect("a group") + GROUP_HEADER;
    let file = File::options().read(true).write(true).open(path).expect("open");
    let (mut octet, at) = ([0], record + RECORD_HEADER + 1);
    file.read_exact_at(&mut octet, at).expect("read");
    file.write_all_at(&[octet[0] ^ 1], at).expect("write");
    record
}

async fn receive(store: &EmbeddedStore, to: &str) {
    store.receive(delivery(&[to], "a message", NOW)).await.expect("received");
}

/// How many messages a backup has, or the error that ended it.
async fn back_up(store: &EmbeddedStore) -> Result<usize, StoreError> {
    let (mut messages, mut has_end) = (0, false);
    let mut backup = store.backup(NOW);
    while let Some(items) = backup.next().await {
        for item in items? {
            messages += usize::from(matches!(item.record, BackupRecord::Mail { .. }));
            has_end = matches!(item.record, BackupRecord::End(_));
        }
    }
    assert!(has_end);
    Ok(messages)
}

/// The findings of a check of a stopped store, and their places.
fn checked(dir: &Path) -> Vec<(FindingKind, Option<u64>, Option<u64>)> {
    super::findings(&super::locked(dir), &options())
        .iter()
        .map(|finding| (finding.kind, finding.segment, finding.offset))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damage_in_the_segment_in_use_ends_a_backup() {
    for ends_with_a_deletion in [false, true] {
        let dir = tempfile::tempdir().expect("directory");
        let store = EmbeddedStore::open(dir.path(), &options()).expect("open");
        receive(&store, A).await;
        receive(&store, B).await;
        assert_eq!(back_up(&store).await, Ok(2));
        if ends_with_a_deletion {
            assert_eq!(store.delete_all(&mailbox(B), u64::MAX, NOW).await, Ok(1));
        }
        let offset = damage_group(&segment(dir.path(), 1), if ends_with_a_deletion { 2 } else { 0 });
        assert_eq!(back_up(&store).await, Err(StoreError::Damaged { segment: 1, offset }));
        store.close().await.expect("close");
        drop(store);
        assert!(checked(dir.path()).contains(&(FindingKind::Record, Some(1), Some(offset))));
    }
}

/// A deletion that cannot be read any more: a backup of the running store knows of it, and the check tells.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damage_of_a_deletion_is_found_by_the_check() {
    let dir = tempfile::tempdir().expect("directory");
    let store = EmbeddedStore::open(dir.path(), &options()).expect("open");
    receive(&store, A).await;
    receive(&store, B).await;
    assert_eq!(store.delete_all(&mailbox(B), u64::MAX, NOW).await, Ok(1));
    let offset = damage_group(&segment(dir.path(), 1), 0);
    assert_eq!(back_up(&store).await, Ok(1));
    store.close().await.expect("close");
    drop(store);
    assert!(checked(dir.path()).contains(&(FindingKind::Record, Some(1), Some(offset))));
}

/// The second segment is gone, so nothing but a hint says where the first one ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damage_at_the_end_of_a_segment_without_a_successor_ends_a_backup_if_something_lives_there() {
    for lives in [true, false] {
        let dir = tempfile::tempdir().expect("directory");
        for to in [A, B, A] {
            let store = open_again(dir.path(), &options());
            receive(&store, to).await;
            receive(&store, to).await;
            if to == B {
                store.delete_all(&mailbox(B), u64::MAX, NOW).await.expect("delete");
            }
            store.expire(NOW, 1).await.expect("expire");
            store.close().await.expect("close");
        }
        let store = open_again(dir.path(), &options());
        store.expire(NOW, 1).await.expect("expire");
        store.close().await.expect("close");
        drop(store);
        assert!(segment(dir.path(), 1).exists() && !segment(dir.path(), 2).exists());
        let offset = damage_group(&segment(dir.path(), 1), 0);
        assert!(checked(dir.path()).contains(&(FindingKind::Record, Some(1), Some(offset))));
        let store = open_again(dir.path(), &options());
        if !lives {
            let part = list(&store, A, NOW).await;
            assert!(store.delete(part.emails[part.emails.len() - 2].id, NOW).await.expect("delete"));
        }
        let expected = if lives { Err(StoreError::Damaged { segment: 1, offset }) } else { Ok(3) };
        assert_eq!(back_up(&store).await, expected);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_segment_that_is_cut_to_nothing_ends_a_backup() {
    let dir = tempfile::tempdir().expect("directory");
    let store = EmbeddedStore::open(dir.path(), &options()).expect("open");
    receive(&store, A).await;
    File::options().write(true).open(segment(dir.path(), 1)).and_then(|file| file.set_len(0)).expect("cut");
    assert!(matches!(back_up(&store).await, Err(StoreError::Damaged { segment: 1, .. })));
}
