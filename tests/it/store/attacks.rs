//! Sequences that somebody would choose who wants mail to be lost, to come back, or to stay on the disk.
//! Promise: it outlives the code below it.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use memchr::memmem;
use rand::RngExt;
use tempmail::model::Timestamp;
use tempmail::store::check::check;
use tempmail::store::disk::Disk;
use tempmail::store::{
    EmbeddedStore, OpenError, OutboxLimits, Registry, Store, StoreError, StoreOptions, WebhookLimits,
};

use super::{
    HOUR, IN_USE, NOW, REGISTRY, TO, contents, delete_all, expire, findings, list, open, padded, receive, salvaged,
    texts, to_many, try_open, users,
};
use crate::suites::options;
use crate::suites::outbox::{proven, register, webhook};
use crate::support::mail::{delivery, mailbox};
use crate::support::test_disk::{Kind, TestDisk, rng};
use crate::support::until::until;

const MINUTE: Duration = Duration::from_mins(1);

/// What a daemon does in the minute after `now`.
async fn sweep_for_a_minute(store: &EmbeddedStore, now: Timestamp) {
    for seconds in [0, 30, 60] {
        let _ = store.expire(now.plus(Duration::from_secs(seconds)), 500).await;
    }
}

/// A disk with these files, of which one has a bit flipped.
fn flipped(files: &BTreeMap<String, Vec<u8>>, name: &str, bit: usize) -> TestDisk {
    let mut files = files.clone();
    files.get_mut(name).expect("a file")[bit / 8] ^= 1 << (bit % 8);
    TestDisk::with(files)
}

/// Mail that expired by a clock that was ahead. What is not recorded durably as gone must keep its octets.
#[tokio::test]
async fn a_close_punches_out_nothing_that_the_next_start_takes_for_alive() {
    let disk = TestDisk::default();
    let store = open(&disk, &options());
    for text in ["m1", "m2", "m3"] {
        receive(&store, padded(text, 9_000)).await.expect("receive");
    }
    let failing = disk.fail(|call| call.is(Kind::Sync, REGISTRY).then_some(ErrorKind::Other));
    sweep_for_a_minute(&store, NOW.plus(2 * HOUR)).await;
    store.close().await.expect("close");
    drop((failing, store));
    assert_eq!(findings(&(Arc::new(disk.copy()) as Arc<dyn Disk>), &options()), []);
    let store = open(&disk, &options());
    assert!(texts(&store, TO, NOW).await.is_ok(), "listed mail that cannot be read");
}

/// Nothing follows the last group of a killed process. It is on the disk for no longer than others.
#[tokio::test]
async fn the_last_mail_before_a_kill_leaves_the_disk_when_it_expires() {
    let disk = TestDisk::default();
    let store = open(&disk, &options());
    receive(&store, "the-last-secret").await.expect("receive");
    let disk = disk.copy();
    drop(store);
    let quick = StoreOptions { retention: Some(Duration::from_millis(4)), ..options() };
    let store = open(&disk, &quick);
    let mut hours = 0;
    until("the expired mail is in no file", async || {
        hours += 1;
        expire(&store, NOW.plus(HOUR * hours)).await;
        !disk.contains("the-last-secret")
    })
    .await;
}

/// Only its hint says where the last segment ends. A group of it must not look cut short without the hint, because one of its
/// messages was punched out. A hint can be missing; where it is damaged, a start is refused, and a salvage does without.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mail_that_shares_the_last_group_with_expired_mail_outlives_the_loss_of_its_hint() {
    let disk = TestDisk::default();
    let store = open(&disk, &options());
    receive(&store, "before").await.expect("receive");
    let held = disk.hold(|call| call.is(Kind::Sync, IN_USE));
    let late = NOW.plus(HOUR / 2);
    let first = receive(&store, "first");
    let others = async {
        until("a group is on its way", async || held.waiting() == 1).await;
        let both = [("a", NOW), ("b", late)]
            .map(|(name, at)| store.receive(delivery(&[&format!("{name}@both.test")], padded(name, 9000), at)));
        let release = async {
            tokio::task::yield_now().await;
            drop(held);
        };
        let (both, ()) = tokio::join!(join_all(both), release);
        assert_eq!(both, [Ok(()), Ok(())]);
    };
    let (first, ()) = tokio::join!(first, others);
    first.expect("receive");
    let without_hint = disk.files().remove(REGISTRY).expect("a registry");
    store.close().await.expect("close");
    drop(store);
    let store = open(&disk, &options());
    sweep_for_a_minute(&store, NOW.plus(HOUR)).await;
    let files = disk.files();
    drop(store);
    let now = NOW.plus(HOUR + MINUTE);
    let salt = &files[IN_USE][16..24];
    let hint = memmem::find_iter(&files[REGISTRY], salt).collect::<Vec<_>>();
    assert!(!hint.is_empty() && memmem::find(&without_hint, salt).is_none());
    let image = files.clone().into_iter().chain([(REGISTRY.to_owned(), without_hint)]).collect();
    let store = open(&TestDisk::with(image), &options());
    assert_eq!(texts(&store, "b@both.test", now).await.expect("texts"), ["b"]);
    let image = hint.iter().fold(files.clone(), |files, at| flipped(&files, REGISTRY, at * 8).files());
    let refused = try_open(&TestDisk::with(image.clone()), &options());
    assert!(matches!(refused, Err(OpenError::Registry(_))), "{refused:?}");
    let (_dir, store) = salvaged(image, now);
    assert_eq!(texts(&store, "b@both.test", now).await.expect("texts"), ["b"]);
}

/// Whatever bit is flipped, the store opens and says nothing wrong, or it is refused and can be checked.
#[tokio::test]
async fn a_flipped_bit_in_any_kind_of_file_changes_no_answer_and_is_reported() {
    let disk = TestDisk::default();
    let store = open(&disk, &options());
    register(&store, TO, "https://a.example/").await;
    for text in ["m1", "m2", "m3"] {
        receive(&store, text).await.expect("receive");
    }
    let second = list(&store, TO, NOW).await.emails[1].id;
    assert_eq!(store.delete(second, NOW).await, Ok(true));
    let killed = disk.files();
    store.close().await.expect("close");
    drop(store);
    let closed = disk.files();
    let mut random = rng(rand::random());
    let mut wrong = Vec::new();
    for (files, is_closed) in [(&closed, true), (&killed, false)] {
        let used = files[IN_USE].iter().rposition(|octet| *octet != 0).expect("octets") + 1;
        let mut bits: Vec<_> = (random.random_range(0..7)..52 * 8).step_by(7).map(|bit| (IN_USE, bit)).collect();
        for (name, octets) in [(IN_USE, used), (REGISTRY, files[REGISTRY].len())] {
            bits.extend((0..30).map(|_| (name, random.random_range(0..octets * 8))));
        }
        for (name, bit) in bits {
            let image = flipped(files, name, bit);
            let looked: Arc<dyn Disk> = Arc::new(image.copy());
            let report = check(&looked, &options(), NOW, &mut |_, _| ());
            if let Err(error) = &report {
                wrong.push(format!("{name}, bit {bit}: no check: {error}"));
            }
            let is_clean = report.is_ok_and(|report| report.is_clean());
            match try_open(&image, &options()) {
                Ok(store) => match texts(&store, TO, NOW).await {
                    Ok(texts) if texts == ["m1", "m3"] => {}
                    // Of a group that nothing follows, nobody can say that it was whole.
                    Ok(texts) if !is_closed && name == IN_USE && texts == ["m1", "m2", "m3"] => {}
                    Err(StoreError::Damaged { .. }) if !is_clean => {}
                    other => wrong.push(format!("{name}, bit {bit}, closed {is_closed}: {other:?}")),
                },
                Err(OpenError::Damaged { .. } | OpenError::Registry(_)) if !is_clean => {}
                Err(error) => wrong.push(format!("{name}, bit {bit}, closed {is_closed}: {error}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Webhooks have taken the last page of the registry. What expires must free space all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_registry_without_a_free_page_on_a_full_disk_does_not_keep_expired_mail() {
    for length in [10, 700, 1500] {
        let disk = TestDisk::default();
        disk.room(12 << 20);
        let store = open(&disk, &options());
        while store.accepts().is_ok() {
            let _ = store.receive(to_many(users(20), vec![b'x'; 40_000], NOW)).await;
        }
        disk.room(0);
        for n in 0.. {
            let url = format!("https://a.example/{n}/{}", "x".repeat(length));
            match store.register_webhook(webhook(&format!("{n}@example.test"), &url), WebhookLimits::UNBOUNDED).await {
                Ok(_) => {}
                Err(StoreError::Full) => break,
                Err(error) => panic!("{error}"),
            }
        }
        let mut now = NOW.plus(2 * HOUR);
        let state = std::fmt::from_fn(|f| write!(f, "{length}: mail is accepted, not {:?}", store.accepts()));
        until(state, async || {
            now = now.plus(MINUTE);
            let _ = store.expire(now, 500).await;
            store.accepts().is_ok()
        })
        .await;
    }
}

/// One message for which many small events make way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_for_which_all_events_of_full_outboxes_make_way_is_stored() {
    let outbox = OutboxLimits { octets_per_webhook: 64 << 10, ..OutboxLimits::default() };
    let store = open(&TestDisk::default(), &StoreOptions { outbox, ..options() });
    for (n, to) in users(100).enumerate() {
        let record = proven(&to, &format!("https://{n}.example/"));
        store.register_webhook(record, WebhookLimits::UNBOUNDED).await.expect("register");
    }
    for _ in 0..900 {
        store.receive(to_many(users(100), vec![b'x'; 70], NOW)).await.expect("receive");
    }
    assert_eq!(store.receive(to_many(users(100), vec![b'x'; 64 << 10], NOW)).await, Ok(()));
}

/// A mail of the model: until when it is readable, and whether it may have been taken for mail of a clock that was ahead.
#[derive(Debug)]
struct Kept {
    text: String,
    received_at: Timestamp,
    expires_at: Timestamp,
    may_go: bool,
}

/// The clock jumps in both directions, while the store is swept, closed or killed, and opened with other retentions.
#[tokio::test]
async fn clocks_that_jump_bring_no_mail_back_and_take_none_that_has_not_expired() {
    for _ in 0..8 {
        let seed = rand::random();
        let mut random = rng(seed);
        let mut disk = TestDisk::default();
        let mut retention = HOUR;
        let opened = |disk: &TestDisk, retention| {
            open(disk, &StoreOptions { retention: Some(retention), segment_octets: 200_000, ..options() })
        };
        let mut store = opened(&disk, retention);
        let (mut now, mut kept) = (NOW, Vec::<Kept>::new());
        for step in 0..60 {
            let jump = HOUR / 4 * random.random_range(0..12);
            match random.random_range(0..6) {
                0 => now = now.plus(jump),
                1 => now = now.before(jump),
                2 | 3 => {
                    let text = format!("{step:03}");
                    let mut sent = delivery(&[TO], padded(&text, random.random_range(10..60_000)), now);
                    sent.expires_at = now.plus(retention);
                    store.receive(sent).await.expect("receive");
                    kept.push(Kept { text, received_at: now, expires_at: now.plus(retention), may_go: false });
                }
                4 => {
                    expire(&store, now).await;
                    kept.retain(|mail| mail.expires_at > now);
                    for mail in &mut kept {
                        mail.may_go |= mail.expires_at > now.plus(retention);
                    }
                }
                _ => {
                    if random.random_bool(0.5) {
                        disk = disk.kill();
                    } else {
                        store.close().await.expect("close");
                    }
                    drop(store);
                    retention = HOUR / 2 * random.random_range(1..4);
                    store = opened(&disk, retention);
                    for mail in &mut kept {
                        mail.expires_at = mail.expires_at.min(mail.received_at.plus(retention));
                    }
                }
            }
            let found = texts(&store, TO, now).await.expect("every listed mail can be read");
            let when = format!("seed {seed}, step {step}, {found:?}, {kept:?}");
            kept.retain(|mail| found.contains(&mail.text) || !mail.may_go || mail.expires_at <= now);
            let readable = kept.iter().filter(|mail| mail.expires_at > now).map(|mail| mail.text.clone());
            assert_eq!(found, readable.collect::<Vec<_>>(), "{when}");
        }
    }
}

/// The disk is full or not at every moment around the next segment. The power may go at any of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_fills_and_empties_around_a_roll_loses_nothing() {
    let small = StoreOptions { segment_octets: 200_000, ..options() };
    for _ in 0..4 {
        let seed = rand::random();
        let mut random = rng(seed);
        let disk = TestDisk::default();
        disk.room(3 << 20);
        let store = open(&disk, &small);
        let mut stored = Vec::new();
        for step in 0..80 {
            match random.random_range(0..8) {
                0 => disk.room(0),
                1 => disk.room(random.random_range(0..400_000)),
                2 => disk.more_room(1 << 20),
                3 if random.random_bool(0.3) => {
                    if delete_all(&store).await.is_ok() {
                        stored.clear();
                    }
                    sweep_for_a_minute(&store, NOW).await;
                }
                _ => {
                    let text = format!("{step:03}");
                    if receive(&store, padded(&text, random.random_range(10..60_000))).await.is_ok() {
                        stored.push(text);
                    }
                }
            }
            assert_eq!(contents(&store).await, stored, "seed {seed}, step {step}");
            if step % 16 == 0 {
                let image = disk.power_cut(disk.operations(), seed);
                assert_eq!(contents(&open(&image, &small)).await, stored, "seed {seed}, step {step}, power cut");
            }
        }
        disk.more_room(8 << 20);
        let state = std::fmt::from_fn(|f| write!(f, "seed {seed}: there is room again, not {:?}", store.accepts()));
        until(state, async || receive(&store, "last").await.is_ok()).await;
        store.delete_all(&mailbox(TO), u64::MAX, NOW).await.expect("delete");
    }
}
