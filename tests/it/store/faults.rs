//! The embedded store on a disk that fails. Each test covers a way in which mail was once lost, came
//! back, or in which the store never recovered.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use memchr::memmem;
use rand::RngExt;
use tempmail::model::Timestamp;
use tempmail::store::{EmbeddedStore, OpenError, PageRequest, Store, StoreError, StoreOptions};

use super::answers::Answers;
use crate::suites::options;
use crate::support::faulty_disk::{FaultyDisk, Operation};
use crate::support::mail::{delivery, mailbox};
use crate::support::recording_disk::{RecordingDisk, rng};
use crate::support::until::{blocking, until};

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const INDEX: &str = "index.redb";
/// The number of images of one moment. Some lose all data that was not synced, and others lose nothing.
const IMAGES: u64 = 20;

/// Options without checkpoints, unless a test asks for one.
fn slow_checkpoints() -> StoreOptions {
    StoreOptions { checkpoint_octets: u64::MAX, checkpoint_quiet: Duration::from_hours(1), ..options() }
}

async fn receive(store: &EmbeddedStore, text: impl Into<Vec<u8>>) -> Result<(), StoreError> {
    store.receive(delivery(&["a@example.test"], text.into(), NOW)).await
}

async fn contents(store: &EmbeddedStore) -> Vec<String> {
    let part = PageRequest { offset: 0, limit: 100 };
    let part = store.list(&mailbox("a@example.test"), part, NOW).await.expect("list");
    assert_eq!(part.total, part.emails.len() as u64);
    let mut contents = Vec::new();
    for listed in part.emails.iter().rev() {
        let raw = store.load(listed).await.expect("load").expect("a listed email").raw;
        contents.push(String::from_utf8_lossy(&raw[..raw.len().min(2)]).into_owned());
    }
    contents
}

/// The index fails at the next checkpoint or the next group, so that it takes no group until it is opened
/// again; and no group can be read.
fn poison_index_and_journal_reads(disk: &FaultyDisk) {
    let mut is_poisoned = false;
    disk.fail(move |operation, name| {
        let poisons = !is_poisoned && matches!(operation, Operation::Sync | Operation::Read(_)) && name == INDEX;
        is_poisoned |= poisons;
        let is_group = matches!(operation, Operation::Read(1..)) && name.starts_with("journal-");
        (poisons || is_group).then_some(ErrorKind::Other)
    });
}

/// A regression: the index was reopened, its replay met a read error, and the next group was applied all the same. The
/// groups between were never applied, and their acknowledged mail was gone.
#[tokio::test]
async fn an_index_that_lacks_groups_is_never_built_on() {
    let memory = RecordingDisk::default();
    let disk = FaultyDisk::on(memory.clone());
    let options = StoreOptions { checkpoint_octets: 30_000, ..slow_checkpoints() };
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &options).expect("open");
    receive(&store, "m1").await.expect("receive");
    poison_index_and_journal_reads(&disk);
    let mut second = b"m2".to_vec();
    second.resize(40_000, b'x');
    receive(&store, second).await.expect("the journal has it");
    assert!(matches!(receive(&store, "m3").await, Err(StoreError::Failed(_))));
    disk.heal();
    receive(&store, "m4").await.expect("receive");
    assert_eq!(contents(&store).await, ["m1", "m2", "m4"]);
    drop(store);
    let store = EmbeddedStore::open_on(Arc::new(RecordingDisk::with(memory.files())), &options).expect("open again");
    assert_eq!(contents(&store).await, ["m1", "m2", "m4"]);
}

/// The index fails under a group that is the first of its segment: it is in the journal once, and in the index once.
#[tokio::test]
async fn a_group_without_an_answer_is_there_when_the_index_is() {
    let memory = RecordingDisk::default();
    let disk = FaultyDisk::on(memory.clone());
    // Without a cache the index reads its file while it takes a group.
    let options = StoreOptions { segment_octets: 170_000, index_cache_octets: 0, ..slow_checkpoints() };
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &options).expect("open");
    let large = |text: &str| {
        let mut raw = text.as_bytes().to_vec();
        raw.resize(60_000, b'x');
        raw
    };
    receive(&store, large("m1")).await.expect("receive");
    receive(&store, large("m2")).await.expect("receive");
    poison_index_and_journal_reads(&disk);
    assert_eq!(receive(&store, large("m3")).await, Err(StoreError::OutcomeUnknown));
    disk.heal();
    receive(&store, large("m4")).await.expect("receive");
    assert_eq!(contents(&store).await, ["m1", "m2", "m3", "m4"]);
    drop(store);
    let store = EmbeddedStore::open_on(Arc::new(RecordingDisk::with(memory.files())), &options).expect("open again");
    assert_eq!(contents(&store).await, ["m1", "m2", "m3", "m4"]);
}

/// A regression: while the index was away, `accepts` and all reads failed, so nothing was sent to the writer. But only a
/// change makes the writer open the index again.
#[tokio::test]
async fn an_index_that_went_away_comes_back_without_a_change() {
    let disk = FaultyDisk::on(RecordingDisk::default());
    let options = StoreOptions { checkpoint_octets: 0, ..slow_checkpoints() };
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &options).expect("open");
    receive(&store, "m1").await.expect("receive");
    disk.fail(|operation, name| {
        (!matches!(operation, Operation::Read(_)) && name == INDEX).then_some(ErrorKind::Other)
    });
    while receive(&store, "m1").await.is_ok() {}
    disk.heal();
    until("the index is open again", async || store.accepts().is_ok()).await;
    assert!(contents(&store).await.iter().all(|text| text == "m1"));
}

/// The header of the next segment was written, its sync failed, and small groups still went into the old segment. Then the
/// power went, the header was on the disk after all, and cut them off.
#[tokio::test]
async fn nothing_is_written_behind_what_a_header_in_doubt_cuts_off() {
    let memory = RecordingDisk::default();
    let disk = FaultyDisk::on(memory.clone());
    let options = StoreOptions { segment_octets: 170_000, ..slow_checkpoints() };
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &options).expect("open");
    let mut acknowledged = Vec::new();
    for text in ["m1", "m2", "m3"] {
        if text == "m3" {
            let mut is_header_written = false;
            disk.fail(move |operation, name| {
                is_header_written |= operation == Operation::Write && name.starts_with("journal-");
                let fails = matches!(operation, Operation::Sync | Operation::Create) && name.starts_with("journal-");
                (fails && is_header_written).then_some(ErrorKind::Other)
            });
        }
        let mut raw = text.as_bytes().to_vec();
        raw.resize(60_000, b'x');
        if receive(&store, raw).await.is_ok() {
            acknowledged.push(text.to_owned());
        }
    }
    assert_eq!(acknowledged, ["m1", "m2"]);
    disk.fail(|operation, name| {
        (operation == Operation::Create && name.starts_with("journal-")).then_some(ErrorKind::Other)
    });
    if receive(&store, "m4").await.is_ok() {
        acknowledged.push("m4".into());
    }
    for seed in 0..60 {
        let image = memory.crash(memory.operations(), &mut rng(seed));
        let opened = EmbeddedStore::open_on(Arc::new(RecordingDisk::with(image)), &options).expect("open the image");
        assert_eq!(contents(&opened).await, acknowledged, "seed {seed}");
    }
}

/// A regression: a store on a full disk did not open, because it had no room for a segment. So no mail could be deleted to
/// make room.
#[tokio::test]
async fn a_store_on_a_full_disk_opens_and_deletes_and_takes_mail_once_there_is_room() {
    let disk = FaultyDisk::on(RecordingDisk::default());
    let open = || EmbeddedStore::open_on(Arc::new(disk.clone()), &options());
    let store = open().expect("open");
    receive(&store, "m1").await.expect("receive");
    receive(&store, "m2").await.expect("receive");
    drop(store);
    disk.fail(|operation, _| matches!(operation, Operation::Allocate(200_000..)).then_some(ErrorKind::StorageFull));
    for left in ["m1", "m2"] {
        let store = open().expect("open on a full disk");
        until("the disk is found full", async || store.accepts() == Err(StoreError::Full)).await;
        assert_eq!(receive(&store, "m3").await, Err(StoreError::Full));
        if left == "m1" {
            let part = store.list(&mailbox("a@example.test"), PageRequest { offset: 0, limit: 1 }, NOW).await;
            assert_eq!(store.delete(part.expect("list").emails[0].id, NOW).await, Ok(true));
        } else {
            assert_eq!(store.delete_all(&mailbox("a@example.test"), u64::MAX, NOW).await, Ok(1));
            disk.heal();
            until("there is room again", async || receive(&store, "m4").await.is_ok()).await;
            assert_eq!(contents(&store).await, ["m4"]);
        }
    }
}

/// A regression: a disk that failed to make the next segment was reported as full.
#[tokio::test]
async fn a_segment_that_can_not_be_made_is_a_failure_unless_there_is_no_room() {
    for (kind, wanted) in
        [(ErrorKind::StorageFull, StoreError::Full), (ErrorKind::Other, StoreError::Failed(String::new()))]
    {
        let disk = FaultyDisk::on(RecordingDisk::default());
        let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &options()).expect("open");
        disk.fail(move |operation, _| matches!(operation, Operation::Allocate(_)).then_some(kind));
        let mut answer = Ok(());
        while answer.is_ok() {
            answer = receive(&store, vec![b'x'; 30_000]).await;
        }
        let answer = answer.expect_err("no room");
        assert_eq!(std::mem::discriminant(&answer), std::mem::discriminant(&wanted), "{answer}");
        // What frees space goes on.
        let part = store.list(&mailbox("a@example.test"), PageRequest { offset: 0, limit: 1 }, NOW).await;
        assert_eq!(store.delete(part.expect("list").emails[0].id, NOW).await, Ok(true));
    }
}

/// A regression: an unreadable index without its journal was replaced by an empty one.
#[tokio::test]
async fn an_index_that_does_not_read_is_not_taken_for_a_new_one() {
    let memory = RecordingDisk::default();
    let store = EmbeddedStore::open_on(Arc::new(memory.clone()), &options()).expect("open");
    receive(&store, "m1").await.expect("receive");
    drop(store);
    let mut files = memory.files();
    files.retain(|name, _| name == INDEX);
    files.get_mut(INDEX).expect("index")[9..320].fill(0xff);
    let disk = RecordingDisk::with(files.clone());
    EmbeddedStore::open_on(Arc::new(disk.clone()), &options()).expect_err("an index that does not read");
    assert_eq!(disk.files().keys().collect::<Vec<_>>(), [INDEX]);
    let disk =
        FaultyDisk::on(RecordingDisk::with(memory.files().into_iter().filter(|(name, _)| name == INDEX).collect()));
    disk.fail(|operation, _| matches!(operation, Operation::Read(1..)).then_some(ErrorKind::Other));
    EmbeddedStore::open_on(Arc::new(disk.clone()), &options()).expect_err("a disk that does not read");
    disk.heal();
    let error = EmbeddedStore::open_on(Arc::new(disk), &options()).expect_err("no journal");
    assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
}

/// A regression: a hole was recorded as punched before it was durable. A power cut brought the deleted octets back, and
/// nothing removed them again.
#[tokio::test]
async fn what_was_deleted_leaves_the_disk_whatever_a_power_cut_keeps() {
    let options = StoreOptions { segment_octets: 170_000, ..slow_checkpoints() };
    for is_in_use in [false, true] {
        let memory = RecordingDisk::default();
        let open = || EmbeddedStore::open_on(Arc::new(memory.clone()), &options).expect("open");
        let mut store = open();
        let secret = b"the-deleted-secret".repeat(500);
        receive(&store, secret.clone()).await.expect("receive");
        // Mail of another mailbox keeps the segment alive.
        store.receive(delivery(&["b@example.test"], "kept", NOW)).await.expect("receive");
        if !is_in_use {
            drop(store);
            store = open();
        }
        store.delete_all(&mailbox("a@example.test"), u64::MAX, NOW).await.expect("delete");
        receive(&store, "m1").await.expect("receive");
        let deleted = memory.operations();
        drop(store);
        let look = |cut| {
            for seed in 0..IMAGES {
                let image = RecordingDisk::with(memory.crash(cut, &mut rng(seed)));
                drop(EmbeddedStore::open_on(Arc::new(image.clone()), &options).expect("open the image"));
                let is_left = image.files().values().any(|octets| memmem::find(octets, &secret[..18]).is_some());
                assert!(!is_left, "in the segment in use: {is_in_use}, cut {cut}, seed {seed}");
            }
        };
        // Each opening waits a little, so they run side by side.
        std::thread::scope(|scope| {
            for cut in memory.syncs().into_iter().filter(|sync| *sync > deleted) {
                scope.spawn({
                    let look = &look;
                    move || look(cut)
                });
            }
        });
    }
}

/// A regression: a segment that could not be unlinked was forgotten until the next start.
#[tokio::test]
async fn a_segment_that_could_not_be_removed_is_removed_later() {
    let disk = FaultyDisk::on(RecordingDisk::default());
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), &options()).expect("open");
    for _ in 0..20 {
        receive(&store, vec![b'x'; 60_000]).await.expect("receive");
    }
    disk.fail(|operation, _| (operation == Operation::Remove).then_some(ErrorKind::Other));
    store.expire(NOW.plus(Duration::from_hours(2)), 100).await.expect("expire");
    receive(&store, vec![b'x'; 60_000]).await.expect("receive");
    receive(&store, vec![b'x'; 60_000]).await.expect("receive");
    assert!(store.stats().await.expect("stats").segments > 1);
    disk.heal();
    until("the segment is removed", async || {
        receive(&store, "small").await.expect("receive");
        store.stats().await.expect("stats").segments == 1
    })
    .await;
}

async fn suffer(seed: u64) {
    let mut random = rng(seed);
    let memory = RecordingDisk::default();
    let disk = FaultyDisk::on(memory.clone());
    let options = StoreOptions { segment_octets: 200_000, ..options() };
    let mut answers = Answers::default();
    let mut store = Arc::new(EmbeddedStore::open_on(Arc::new(disk.clone()), &options).expect("open"));
    for round in 0..5 {
        let rate = [0.02, 0.2, 0.5, 1.0][random.random_range(0..4)];
        let files = ["journal-", "index", ""][random.random_range(0..3)];
        let mut dice = rng(random.random());
        let kind = [ErrorKind::Other, ErrorKind::StorageFull][random.random_range(0..2)];
        disk.fail(move |_, name| (name.starts_with(files) && dice.random_bool(rate)).then_some(kind));
        for _ in 0..2 {
            answers.receive_some(&store, &mut random).await;
            answers.delete_one(&store).await;
        }
        disk.heal();
        let state =
            std::fmt::from_fn(|f| write!(f, "seed {seed}: the store works again, which said {:?}", store.accepts()));
        tokio::task::block_in_place(|| blocking::until(state, || store.accepts().is_ok()));
        let when = format!("seed {seed}, round {round}");
        answers.check(&store, &when).await;
        answers.receive_some(&store, &mut random).await;
        answers.check(&store, &when).await;
        let image = RecordingDisk::with(memory.crash(memory.operations(), &mut random));
        let opened = EmbeddedStore::open_on(Arc::new(image), &options).expect(&when);
        answers.check(&opened, &format!("{when}, after a power cut")).await;
        if random.random_bool(0.3) {
            store.close().await.expect("close");
            drop(Arc::into_inner(store).expect("one handle"));
            store = Arc::new(EmbeddedStore::open_on(Arc::new(disk.clone()), &options).expect(&when));
            answers.check(&store, &when).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_fails_every_answer_was_true() {
    let seeds: u64 = std::env::var("TEMPMAIL_FAULT_SEEDS").map_or(3, |seeds| seeds.parse().expect("a number"));
    let first: u64 = rand::random();
    let mut running = tokio::task::JoinSet::new();
    for seed in 0..seeds {
        running.spawn(suffer(first ^ seed));
    }
    running.join_all().await;
}
