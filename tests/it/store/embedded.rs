//! The embedded store on a real directory.

use std::future::{Ready, ready};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tempmail::model::Timestamp;
use tempmail::store::disk::Directory;
use tempmail::store::{EmbeddedStore, OpenError, PageRequest, Store, StoreError, StoreOptions};

use crate::suites::conformance::conformance;
use crate::suites::options;
use crate::suites::outbox_conformance::outbox_conformance;
use crate::support::mail::{delivery, mailbox};
use crate::support::recording_disk::RecordingDisk;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const FIRST_PAGE: PageRequest = PageRequest { offset: 0, limit: 20 };

fn in_memory() -> Ready<Arc<dyn Store>> {
    ready(Arc::new(EmbeddedStore::open_on(Arc::new(RecordingDisk::default()), &options()).expect("open")))
}

conformance!(in_memory);
outbox_conformance!(crate::suites::outbox_conformance::in_memory);

async fn reopen(store: EmbeddedStore, path: &Path, options: &StoreOptions) -> EmbeddedStore {
    store.close().await.expect("close");
    drop(store);
    EmbeddedStore::open(path, options).expect("open again")
}

fn octets_on_disk(path: &Path) -> Vec<u8> {
    let files = std::fs::read_dir(path).expect("list").map(|entry| entry.expect("entry").path());
    files.flat_map(|file| std::fs::read(file).expect("read")).collect()
}

fn contains(octets: &[u8], wanted: &[u8]) -> bool {
    octets.windows(wanted.len()).any(|window| window == wanted)
}

#[tokio::test]
async fn everything_is_there_after_a_close_and_an_open() {
    let dir = tempfile::tempdir().expect("tempdir");
    let mut store = EmbeddedStore::open(dir.path(), &options()).expect("open");
    for n in 0..4_u64 {
        store.receive(delivery(&["a@example.test"], format!("mail {n}"), NOW)).await.expect("receive");
        store = reopen(store, dir.path(), &options()).await;
        let part = store.list(&mailbox("a@example.test"), FIRST_PAGE, NOW).await.expect("list");
        assert_eq!(part.total, n + 1);
        let email = store.load(&part.emails[0]).await.expect("load").expect("email");
        assert_eq!(email.raw, format!("mail {n}"));
    }
}

#[tokio::test]
async fn a_closed_store_accepts_nothing_and_says_so() {
    let dir = tempfile::tempdir().expect("tempdir");
    let store = EmbeddedStore::open(dir.path(), &options()).expect("open");
    store.close().await.expect("close");
    store.close().await.expect("close again");
    assert_eq!(store.accepts(), Err(StoreError::Stopping));
    assert_eq!(store.receive(delivery(&["a@example.test"], "late", NOW)).await, Err(StoreError::Stopping));
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
    for entry in std::fs::read_dir(&path).expect("list") {
        assert_eq!(mode(&entry.expect("entry").path()), 0o600);
    }
}

#[tokio::test]
async fn a_hundred_recipients_cost_the_octets_of_a_message_once() {
    let dir = tempfile::tempdir().expect("tempdir");
    let store = EmbeddedStore::open(dir.path(), &options()).expect("open");
    let names: Vec<String> = (0..100).map(|n| format!("user{n}@example.test")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    store.receive(delivery(&names, vec![b'x'; 60_000], NOW)).await.expect("receive");
    let stats = store.stats().await.expect("stats");
    assert_eq!((stats.emails, stats.mailboxes, stats.live_octets), (100, 100, 60_000));
}

#[tokio::test]
async fn what_is_deleted_leaves_the_disk_and_what_is_not_stays() {
    let dir = tempfile::tempdir().expect("tempdir");
    let store = EmbeddedStore::open(dir.path(), &options()).expect("open");
    let secret = "the-deleted-secret".repeat(50);
    store.receive(delivery(&["a@example.test", "b@example.test"], secret.clone(), NOW)).await.expect("receive");
    store.receive(delivery(&["a@example.test"], "the-kept-mail", NOW)).await.expect("receive");
    let id = store.list(&mailbox("a@example.test"), FIRST_PAGE, NOW).await.expect("list").emails[1].id;
    assert!(store.delete(id, NOW).await.expect("delete"));
    let store = reopen(store, dir.path(), &options()).await;
    assert!(contains(&octets_on_disk(dir.path()), secret.as_bytes()), "another recipient still has it");
    assert_eq!(store.delete_all(&mailbox("b@example.test"), u64::MAX, NOW).await.expect("delete"), 1);
    store.close().await.expect("close");
    let octets = octets_on_disk(dir.path());
    assert!(!contains(&octets, b"the-deleted-secret"));
    assert!(contains(&octets, b"the-kept-mail"));
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
    let id = store.list(&mailbox("a@example.test"), FIRST_PAGE, NOW).await.expect("list").emails[2].id;
    assert!(store.delete(id, NOW).await.expect("delete"));
    while store.expire(NOW.plus(Duration::from_hours(1)), 1).await.expect("expire").removed > 0 {}
    store.close().await.expect("close");
    let octets = octets_on_disk(dir.path());
    assert!(!contains(&octets, b"the-deleted-secret"));
    assert!(contains(&octets, b"the-kept-mail"));
    assert!(contains(&octets, b"nobody-deleted-this"), "what only expires goes with its segment");
}

/// A regression: the second record of a mail was not needed, and was never deleted.
#[tokio::test]
async fn a_message_that_was_handed_over_twice_leaves_the_disk_whole() {
    let dir = tempfile::tempdir().expect("tempdir");
    let store = EmbeddedStore::open(dir.path(), &options()).expect("open");
    let twice = delivery(&["a@example.test"], "the-deleted-secret", NOW);
    store.receive(twice.clone()).await.expect("receive");
    store.receive(twice).await.expect("receive again");
    store.receive(delivery(&["b@example.test"], "the-kept-mail", NOW)).await.expect("receive");
    assert_eq!(store.delete_all(&mailbox("a@example.test"), u64::MAX, NOW).await, Ok(1));
    store.close().await.expect("close");
    let octets = octets_on_disk(dir.path());
    assert!(!contains(&octets, b"the-deleted-secret"));
    assert!(contains(&octets, b"the-kept-mail"));
}

#[tokio::test]
async fn segments_in_which_nothing_lives_are_removed() {
    let dir = tempfile::tempdir().expect("tempdir");
    let store = EmbeddedStore::open(dir.path(), &options()).expect("open");
    for n in 0..100 {
        store.receive(delivery(&[&format!("u{n}@example.test")], vec![b'x'; 60_000], NOW)).await.expect("receive");
    }
    assert!(store.stats().await.expect("stats").segments >= 6);
    let later = NOW.plus(Duration::from_hours(2));
    while store.expire(later, 1000).await.expect("expire").next_due_at.is_some() {}
    let store = reopen(store, dir.path(), &options()).await;
    let stats = store.stats().await.expect("stats");
    assert_eq!((stats.emails, stats.live_octets), (0, 0));
    assert!(stats.segments <= 2, "{} segments for nothing", stats.segments);
}

#[tokio::test]
async fn a_shorter_retention_shortens_lives_and_a_longer_one_brings_nothing_back() {
    let dir = tempfile::tempdir().expect("tempdir");
    let store = EmbeddedStore::open(dir.path(), &options()).expect("open");
    store.receive(delivery(&["a@example.test"], "an hour", NOW)).await.expect("receive");
    let minute = StoreOptions { retention: Some(Duration::from_mins(1)), ..options() };
    let store = reopen(store, dir.path(), &minute).await;
    let total = |store: Arc<EmbeddedStore>, at: Timestamp| async move {
        store.list(&mailbox("a@example.test"), FIRST_PAGE, at).await.expect("list").total
    };
    let store = Arc::new(store);
    assert_eq!(total(Arc::clone(&store), NOW.plus(Duration::from_secs(59))).await, 1);
    assert_eq!(total(Arc::clone(&store), NOW.plus(Duration::from_secs(60))).await, 0);
    let store = Arc::into_inner(store).expect("one handle");
    let store = Arc::new(reopen(store, dir.path(), &options()).await);
    assert_eq!(total(Arc::clone(&store), NOW.plus(Duration::from_secs(60))).await, 0);
    assert_eq!(store.expire(NOW.plus(Duration::from_secs(60)), 100).await.expect("expire").removed, 1);
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

#[test]
fn another_format_and_a_lost_journal_are_refused() {
    let disk = RecordingDisk::default();
    drop(EmbeddedStore::open_on(Arc::new(disk.clone()), &options()).expect("open"));
    let mut files = disk.files();
    let segment = files.keys().find(|name| name.starts_with("journal-")).expect("a segment").clone();
    for found in [1, 99] {
        let mut other = files.clone();
        other.get_mut(&segment).expect("segment")[8] = found;
        let error = EmbeddedStore::open_on(Arc::new(RecordingDisk::with(other)), &options()).expect_err("a format");
        let expected = format!("{segment} has format {found}; this version reads format ");
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
    files.remove("index.redb");
    let error = EmbeddedStore::open_on(Arc::new(RecordingDisk::with(files)), &options()).expect_err("no index");
    assert!(matches!(error, OpenError::Index(_)), "{error}");
}

#[tokio::test]
async fn a_journal_whose_last_segment_lost_its_header_is_refused() {
    let disk = RecordingDisk::default();
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &options()).expect("open");
    store.receive(delivery(&["a@example.test"], "mail", NOW)).await.expect("receive");
    let mut files = disk.files();
    files.get_mut("journal-0000000000000001").expect("segment")[..512].fill(0);
    let error = EmbeddedStore::open_on(Arc::new(RecordingDisk::with(files)), &options()).expect_err("no header");
    assert!(matches!(error, OpenError::Damaged { segment: 1, .. }), "{error}");
}

/// A file of the journal is missing, replayed or not. The store must not serve an incomplete state, or change anything.
#[tokio::test]
async fn a_segment_that_lives_and_is_missing_is_named_and_the_store_is_left_as_it_is() {
    for saves in [true, false] {
        let rare = StoreOptions { checkpoint_octets: u64::MAX, checkpoint_quiet: Duration::from_hours(1), ..options() };
        let mut disk = RecordingDisk::default();
        let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &rare).expect("open");
        while store.stats().await.expect("stats").segments < 4 {
            store.receive(delivery(&["a@example.test"], vec![b'x'; 60_000], NOW)).await.expect("receive");
        }
        if saves {
            store.close().await.expect("close");
        } else {
            disk = RecordingDisk::with(disk.files());
        }
        drop(store);
        let files = disk.files();
        let mails = {
            let store = EmbeddedStore::open_on(Arc::new(RecordingDisk::with(files.clone())), &rare).expect("open all");
            store.stats().await.expect("stats").emails
        };
        assert!(mails > 50);
        // Of the last one nothing else says that it was there, until there is a checkpoint.
        for missing in 1..=if saves { 4 } else { 3 } {
            let mut files = files.clone();
            files.remove(&format!("journal-{missing:016}")).expect("a segment");
            let image = RecordingDisk::with(files.clone());
            let opened = EmbeddedStore::open_on(Arc::new(image.clone()), &rare);
            let error = opened.map(|_| ()).expect_err("a segment is missing");
            assert!(matches!(error, OpenError::Damaged { segment, .. } if segment == missing), "{missing}: {error}");
            // But for the next segment, in which nothing ever was.
            let now = image.files();
            let is_kept =
                |(name, octets): (&String, &Vec<u8>)| now.get(name) == Some(octets) || octets[..512] == [0; 512];
            assert!(
                files.iter().filter(|(name, _)| name.starts_with("journal-")).all(is_kept),
                "{missing}: it was changed"
            );
        }
    }
}

#[tokio::test]
async fn where_nothing_is_due_expiry_writes_nothing() {
    let disk = RecordingDisk::default();
    let rare = StoreOptions { checkpoint_quiet: Duration::from_hours(1), ..options() };
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &rare).expect("open");
    store.receive(delivery(&["a@example.test"], "m", NOW)).await.expect("receive");
    // The store syncs the next segment and the directory at any time.
    let syncs = || disk.syncs_of("journal-0000000000000001") + disk.syncs_of("index.redb");
    let before = syncs();
    let due = store.expire(NOW, 10).await.expect("expire").next_due_at;
    assert_eq!((due, syncs()), (Some(NOW.plus(Duration::from_hours(1))), before));
    store.expire(NOW.plus(Duration::from_hours(1)), 10).await.expect("expire");
    assert!(syncs() > before);
}
