//! The embedded store on a real directory.
//! Promise: it outlives the code below it.

use std::future::{Ready, ready};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tempmail::store::disk::Directory;
use tempmail::store::{EmbeddedStore, OpenError, Storage, Store, StoreError, StoreOptions};

use super::{
    HOUR, IN_USE, NOW, REGISTRY, TO, contents, delete_all, expire, is_on_disk, list, open, open_again, receive,
    to_many, try_open, users,
};
use crate::suites::conformance::conformance;
use crate::suites::leases::leases_conformance;
use crate::suites::options;
use crate::suites::outbox_conformance::{outbox_conformance, outbox_shares};
use crate::support::mail::{delivery, mailbox};
use crate::support::test_disk::{Kind, TestDisk};
use crate::support::until::until;

fn in_memory() -> Ready<Arc<dyn Storage>> {
    ready(Arc::new(open(&TestDisk::default(), &options())))
}

conformance!(in_memory);
leases_conformance!(in_memory);
outbox_conformance!(crate::suites::outbox_conformance::in_memory);
outbox_shares!(crate::suites::outbox_conformance::in_memory);

async fn reopen(store: EmbeddedStore, path: &Path, options: &StoreOptions) -> EmbeddedStore {
    store.close().await.expect("close");
    drop(store);
    open_again(path, options)
}

#[tokio::test]
async fn everything_is_there_after_a_close_and_an_open() {
    let dir = tempfile::tempdir().expect("tempdir");
    let mut store = EmbeddedStore::open(dir.path(), &options()).expect("open");
    let mails = ["mail 0", "mail 1", "mail 2", "mail 3"];
    for (n, mail) in mails.into_iter().enumerate() {
        receive(&store, mail).await.expect("receive");
        store = reopen(store, dir.path(), &options()).await;
        assert_eq!(contents(&store).await, mails[..=n]);
    }
}

#[tokio::test]
async fn a_closed_store_accepts_nothing_and_says_so() {
    let dir = tempfile::tempdir().expect("tempdir");
    let store = EmbeddedStore::open(dir.path(), &options()).expect("open");
    store.close().await.expect("close");
    store.close().await.expect("close again");
    assert_eq!(store.accepts(), Err(StoreError::Stopping));
    assert_eq!(receive(&store, "late").await, Err(StoreError::Stopping));
}

#[tokio::test]
async fn one_process_at_a_time_holds_the_directory() {
    let dir = tempfile::tempdir().expect("tempdir");
    let store = EmbeddedStore::open(dir.path(), &options()).expect("open");
    let second = EmbeddedStore::open(dir.path(), &options()).expect_err("a second one");
    assert_eq!(second, OpenError::Locked { path: dir.path().into(), process: Some(std::process::id()) });
    drop(store);
}

#[tokio::test]
async fn only_the_owner_can_read_the_files() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().expect("tempdir");
    let path = dir.path().join("data");
    Directory::create(&path).expect("create");
    let _store = EmbeddedStore::open(&path, &options()).expect("open");
    let mode = |path: &Path| std::fs::metadata(path).expect("metadata").permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o700);
    assert_eq!(mode(&path.join("store")), 0o700);
    assert_eq!(mode(&path.join("lock")), 0o600);
    for entry in std::fs::read_dir(path.join("store")).expect("list") {
        assert_eq!(mode(&entry.expect("entry").path()), 0o600);
    }
}

#[tokio::test]
async fn a_hundred_recipients_cost_the_octets_of_a_message_once() {
    let dir = tempfile::tempdir().expect("tempdir");
    let store = EmbeddedStore::open(dir.path(), &options()).expect("open");
    store.receive(to_many(users(100), vec![b'x'; 60_000], NOW)).await.expect("receive");
    let stats = store.stats().await.expect("stats");
    assert_eq!((stats.emails, stats.mailboxes, stats.live_octets), (100, 100, 60_000));
}

#[tokio::test]
async fn what_is_deleted_leaves_the_disk_and_what_is_not_stays() {
    let dir = tempfile::tempdir().expect("tempdir");
    let store = EmbeddedStore::open(dir.path(), &options()).expect("open");
    let secret = "the-deleted-secret".repeat(50);
    store.receive(delivery(&["a@example.test", "b@example.test"], secret.clone(), NOW)).await.expect("receive");
    receive(&store, "the-kept-mail").await.expect("receive");
    let id = list(&store, TO, NOW).await.emails[1].id;
    assert!(store.delete(id, NOW).await.expect("delete"));
    let store = reopen(store, dir.path(), &options()).await;
    assert!(is_on_disk(dir.path(), &secret), "another recipient still has it");
    assert_eq!(store.delete_all(&mailbox("b@example.test"), u64::MAX, NOW).await.expect("delete"), 1);
    store.close().await.expect("close");
    assert!(!is_on_disk(dir.path(), "the-deleted-secret"));
    assert!(is_on_disk(dir.path(), "the-kept-mail"));
}

/// A regression: when the last copy of a deleted mail expired, its octets stayed while other mail lived in the segment.
#[tokio::test]
async fn what_one_recipient_deleted_leaves_the_disk_when_it_expires_for_the_others() {
    let dir = tempfile::tempdir().expect("tempdir");
    let store = EmbeddedStore::open(dir.path(), &options()).expect("open");
    let later = NOW.plus(Duration::from_mins(30));
    let recipients = ["a@example.test", "b@example.test", "c@example.test"];
    store.receive(delivery(&recipients, "the-deleted-secret", NOW)).await.expect("receive");
    store.receive(delivery(&recipients, "nobody-deleted-this", NOW)).await.expect("receive");
    store.receive(delivery(&["a@example.test"], "the-kept-mail", later)).await.expect("receive");
    let id = list(&store, TO, NOW).await.emails[2].id;
    assert!(store.delete(id, NOW).await.expect("delete"));
    expire(&store, NOW.plus(HOUR)).await;
    store.close().await.expect("close");
    assert!(!is_on_disk(dir.path(), "the-deleted-secret"));
    assert!(is_on_disk(dir.path(), "the-kept-mail"));
    assert!(!is_on_disk(dir.path(), "nobody-deleted-this"));
}

/// A regression: the second record of a mail was not needed, and was never deleted.
#[tokio::test]
async fn a_part_of_a_message_is_read_without_the_disk_and_nothing_beside_it() {
    let disk = TestDisk::default();
    let store = open(&disk, &options());
    for mail in ["mail 0", "mail 1", "mail 2"] {
        receive(&store, mail).await.expect("receive");
    }
    let listed = &list(&store, TO, NOW).await.emails[1];
    let mut part = *b"....";
    assert!(!store.read_content_cached(listed, 2, &mut part), "the disk would be asked");
    disk.cache_from(0);
    assert!(store.read_content_cached(listed, 2, &mut part));
    assert_eq!(&part, b"il 1");
    for start in [3, 6, 1000, usize::MAX] {
        assert!(!store.read_content_cached(listed, start, &mut part), "{start} is beyond its end");
    }
    assert_eq!(&part, b"il 1");
}

#[tokio::test]
async fn a_message_that_was_handed_over_twice_leaves_the_disk_whole() {
    let dir = tempfile::tempdir().expect("tempdir");
    let store = EmbeddedStore::open(dir.path(), &options()).expect("open");
    let twice = delivery(&["a@example.test"], "the-deleted-secret", NOW);
    store.receive(twice.clone()).await.expect("receive");
    store.receive(twice).await.expect("receive again");
    store.receive(delivery(&["b@example.test"], "the-kept-mail", NOW)).await.expect("receive");
    assert_eq!(delete_all(&store).await, Ok(1));
    store.close().await.expect("close");
    assert!(!is_on_disk(dir.path(), "the-deleted-secret"));
    assert!(is_on_disk(dir.path(), "the-kept-mail"));
}

#[tokio::test]
async fn segments_in_which_nothing_lives_are_removed() {
    let dir = tempfile::tempdir().expect("tempdir");
    let store = EmbeddedStore::open(dir.path(), &options()).expect("open");
    for n in 0..100 {
        store.receive(delivery(&[&format!("u{n}@example.test")], vec![b'x'; 60_000], NOW)).await.expect("receive");
    }
    assert!(store.stats().await.expect("stats").segments >= 6);
    expire(&store, NOW.plus(2 * HOUR)).await;
    let store = reopen(store, dir.path(), &options()).await;
    expire(&store, NOW.plus(2 * HOUR)).await;
    let stats = store.stats().await.expect("stats");
    assert_eq!((stats.emails, stats.live_octets), (0, 0));
    assert!(stats.segments <= 2, "{} segments for nothing", stats.segments);
}

#[tokio::test]
async fn a_shorter_retention_shortens_lives_and_a_longer_one_brings_nothing_back() {
    let dir = tempfile::tempdir().expect("tempdir");
    let store = EmbeddedStore::open(dir.path(), &options()).expect("open");
    receive(&store, "an hour").await.expect("receive");
    let minute = StoreOptions { retention: Some(Duration::from_mins(1)), ..options() };
    let store = reopen(store, dir.path(), &minute).await;
    let (before, after) = (NOW.plus(Duration::from_secs(59)), NOW.plus(Duration::from_secs(60)));
    assert_eq!((list(&store, TO, before).await.total, list(&store, TO, after).await.total), (1, 0));
    let store = reopen(store, dir.path(), &options()).await;
    assert_eq!(list(&store, TO, after).await.total, 0);
    assert_eq!(store.expire(after, 100).await.expect("expire").removed, 1);
}

#[tokio::test]
async fn more_than_a_segment_holds_can_be_queued_at_once() {
    let store = in_memory().await;
    let mut running = tokio::task::JoinSet::new();
    for n in 0..60_usize {
        let store = Arc::clone(&store);
        let sent = delivery(&[&format!("user{n}@example.test")], vec![b'x'; 1000 * (n + 4)], NOW);
        running.spawn(async move { store.receive(sent).await });
    }
    assert!(running.join_all().await.into_iter().all(|received| received == Ok(())));
    assert_eq!(store.stats().await.expect("stats").emails, 60);
}

#[tokio::test]
async fn a_message_that_is_too_large_is_refused() {
    let store = in_memory().await;
    let limit = options().message_octets_max;
    let octets = usize::try_from(limit).expect("small");
    assert_eq!(store.receive(delivery(&["a@example.test"], vec![b'x'; octets], NOW)).await, Ok(()));
    assert_eq!(
        store.receive(delivery(&["a@example.test"], vec![b'x'; octets + 1], NOW)).await,
        Err(StoreError::TooLarge { limit })
    );
}

#[tokio::test]
async fn another_format_and_a_lost_registry_are_refused() {
    let disk = TestDisk::default();
    let store = open(&disk, &options());
    receive(&store, "mail").await.expect("receive");
    drop(store);
    let mut files = disk.files();
    let segment = files.keys().find(|name| name.starts_with("journal-")).expect("a segment").clone();
    for (found, what_reads_it) in [(1, "`tempmail db restore"), (9, "`tempmail db restore"), (99, "or a newer one")] {
        let mut other = files.clone();
        let header = &mut other.get_mut(&segment).expect("segment")[..52];
        header[8] = found;
        let crc = crc32c::crc32c(&header[..48]);
        header[48..].copy_from_slice(&crc.to_le_bytes());
        let error = try_open(&TestDisk::with(other), &options()).expect_err("a format");
        let expected = format!("{segment} has format {found}; this version reads format ");
        assert!(error.to_string().starts_with(&expected), "{error}");
        assert!(error.to_string().contains(what_reads_it), "{error}");
    }
    files.remove(REGISTRY);
    let error = try_open(&TestDisk::with(files), &options()).expect_err("no registry");
    assert!(matches!(error, OpenError::Registry(_)), "{error}");
}

#[tokio::test]
async fn a_journal_whose_last_segment_lost_its_header_is_refused() {
    let disk = TestDisk::default();
    let store = open(&disk, &options());
    receive(&store, "mail").await.expect("receive");
    let mut files = disk.files();
    files.get_mut(IN_USE).expect("segment")[..512].fill(0);
    let error = try_open(&TestDisk::with(files), &options()).expect_err("no header");
    assert!(matches!(error, OpenError::Damaged { segment: 1, .. }), "{error}");
}

/// A file of the journal is missing, replayed or not. The store must not serve an incomplete state, or change anything.
#[tokio::test]
async fn a_segment_that_lives_and_is_missing_is_named_and_the_store_is_left_as_it_is() {
    for saves in [true, false] {
        let rare = options();
        let mut disk = TestDisk::default();
        let store = open(&disk, &rare);
        while store.stats().await.expect("stats").segments < 4 {
            receive(&store, vec![b'x'; 60_000]).await.expect("receive");
        }
        if saves {
            store.close().await.expect("close");
        } else {
            // A thread of its own keeps what says that a segment was there.
            let without = |name: &str| {
                let mut files = disk.files();
                files.remove(name).expect("a segment");
                TestDisk::with(files)
            };
            until("the sealed segment is known", async || {
                try_open(&without("journal-0000000000000003"), &rare).is_err()
            })
            .await;
            disk = disk.copy();
        }
        drop(store);
        let files = disk.files();
        assert!(contents(&open(&disk.copy(), &rare)).await.len() > 50);
        // Of the last one nothing else says that it was there, until it is sealed.
        for missing in 1..=if saves { 4 } else { 3 } {
            let mut files = files.clone();
            files.remove(&format!("journal-{missing:016}")).expect("a segment");
            let image = TestDisk::with(files.clone());
            let error = try_open(&image, &rare).expect_err("a segment is missing");
            assert!(matches!(error, OpenError::Damaged { segment, .. } if segment == missing), "{missing}: {error}");
            let now = image.files();
            let is_kept = |(name, octets): (&String, &Vec<u8>)| now.get(name) == Some(octets);
            assert!(
                files.iter().filter(|(name, _)| name.starts_with("journal-")).all(is_kept),
                "{missing}: it was changed"
            );
        }
    }
}

#[tokio::test]
async fn where_nothing_is_due_expiry_writes_nothing() {
    let disk = TestDisk::default();
    let store = open(&disk, &options());
    receive(&store, "m").await.expect("receive");
    let syncs = || disk.count(|call| call.is(Kind::Sync, "journal-") || call.is(Kind::Sync, REGISTRY));
    let before = syncs();
    let due = store.expire(NOW, 10).await.expect("expire").next_due_at;
    assert_eq!((due, syncs()), (Some(NOW.plus(HOUR)), before));
    // Nor does the journal where something is: expiry follows from time.
    let of_journal = || disk.count(|call| call.is(Kind::Sync, "journal-"));
    let before = of_journal();
    store.expire(NOW.plus(HOUR), 10).await.expect("expire");
    assert_eq!((store.stats().await.expect("stats").emails, of_journal()), (0, before));
}

#[tokio::test]
async fn what_was_removed_as_expired_stays_away_whatever_the_next_start_takes_for_the_time() {
    let disk = TestDisk::default();
    let store = open(&disk, &options());
    receive(&store, "m").await.expect("receive");
    expire(&store, NOW.plus(HOUR)).await;
    store.close().await.expect("close");
    let again = open(&disk, &options());
    assert_eq!(list(&again, TO, NOW).await.total, 0);
}
