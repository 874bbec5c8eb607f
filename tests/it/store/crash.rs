//! Power cuts: images of the disk at every kind of moment of a workload, each opened with the real store.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rand::RngExt;
use tempmail::model::{EmailId, Mailbox, Timestamp, WebhookId, WebhookLimits};
use tempmail::store::{EmbeddedStore, Outbox, Part, Store};

use super::embedded::options;
use super::outbox::{pending, webhook};
use crate::support::mail::{delivery, mailbox};
use crate::support::recording_disk::{RecordingDisk, rng};

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const MAILBOXES: usize = 7;

/// When something was asked for and when it was acknowledged, as numbers of operations of the disk.
#[derive(Clone, Copy, Debug)]
struct Span {
    asked: usize,
    acknowledged: usize,
}

#[derive(Debug)]
struct Mail {
    id: EmailId,
    mailbox: Mailbox,
    raw: Bytes,
    received: Span,
    removed: Option<Span>,
}

/// What was promised while a workload ran.
#[derive(Debug, Default)]
struct Promises {
    mails: Vec<Mail>,
    /// A webhook of the first mailbox: every mail for it is an event.
    webhook: Option<(WebhookId, Span)>,
}

impl Promises {
    /// What an image breaks of what was promised before operation `cut`; empty if nothing.
    async fn broken(&self, store: &EmbeddedStore, cut: usize) -> Vec<String> {
        let mut broken = self.broken_events(store, cut).await;
        let mut listed = BTreeMap::new();
        for n in 0..MAILBOXES {
            let part = Part::Offset { offset: 0, limit: usize::MAX };
            let part = match store.list(&name(n), part, NOW).await {
                Ok(part) => part,
                Err(error) => return vec![format!("mailbox {n} can't be listed: {error}")],
            };
            if part.total != part.emails.len() as u64 {
                broken.push(format!("mailbox {n} counts {} and lists {}", part.total, part.emails.len()));
            }
            for email in part.emails {
                match store.load(&email).await {
                    Ok(Some(stored)) => drop(listed.insert(email.id, stored)),
                    other => broken.push(format!("a listed email gives {other:?}")),
                }
            }
        }
        for mail in &self.mails {
            let found = listed.remove(&mail.id);
            let must_be = mail.received.acknowledged <= cut && mail.removed.is_none_or(|removed| removed.asked > cut);
            let must_not_be = mail.removed.is_some_and(|removed| removed.acknowledged <= cut);
            match found {
                None if must_be => broken.push(format!("lost {}", mail.id)),
                Some(_) if must_not_be => broken.push(format!("back from the dead: {}", mail.id)),
                Some(stored) if stored.raw != mail.raw => broken.push(format!("other octets in {}", mail.id)),
                Some(stored) if stored.mailbox() != Some(&mail.mailbox) => broken.push(format!("astray: {}", mail.id)),
                _ => {}
            }
        }
        broken.extend(listed.keys().map(|id| format!("nobody sent {id}")));
        broken
    }
}

impl Promises {
    /// What is wrong with the events of the webhook. They outlive the deletion of their mail.
    async fn broken_events(&self, store: &EmbeddedStore, cut: usize) -> Vec<String> {
        let Some((webhook, registered)) = self.webhook else { return Vec::new() };
        let events = pending(store, webhook).await;
        let mut broken = Vec::new();
        for mail in self.mails.iter().filter(|mail| mail.mailbox == name(0)) {
            let is_promised = mail.received.asked >= registered.acknowledged && mail.received.acknowledged <= cut;
            let event = events.iter().find(|event| event.email == mail.id);
            match event {
                None if is_promised => broken.push(format!("lost the event of {}", mail.id)),
                Some(event) if !matches!(store.load_event(event).await, Ok(Some(email)) if email.raw == mail.raw) => {
                    broken.push(format!("the event of {} lost its octets", mail.id));
                }
                _ => {}
            }
        }
        broken
    }
}

fn name(n: usize) -> Mailbox {
    mailbox(&address(n))
}

fn address(n: usize) -> String {
    format!("user{n}@example.test")
}

/// Receives in groups, deletes, empties mailboxes, rolls segments, checkpoints, stops and reopens.
async fn workload(disk: &RecordingDisk, seed: u64) -> Promises {
    let mut random = rng(seed);
    let mut promises = Promises::default();
    for _ in 0..3 {
        let store = Arc::new(EmbeddedStore::open_on(Arc::new(disk.clone()), &options()).expect("open"));
        if promises.webhook.is_none() {
            promises.webhook = Some(register_webhook(disk, &store).await);
        }
        for _ in 0..12 {
            receive_group(disk, &store, &mut promises, &mut random).await;
            remove_some(disk, &*store, &mut promises, &mut random).await;
        }
        store.close().await.expect("close");
    }
    promises
}

async fn register_webhook(disk: &RecordingDisk, store: &EmbeddedStore) -> (WebhookId, Span) {
    let record = webhook(&address(0), "https://a.example/");
    let (id, asked) = (record.id, disk.operations());
    let limits = WebhookLimits { per_recipient: 1, total: 1 };
    store.register_webhook(record, limits).await.expect("register");
    (id, Span { asked, acknowledged: disk.operations() })
}

async fn receive_group(
    disk: &RecordingDisk,
    store: &Arc<EmbeddedStore>,
    promises: &mut Promises,
    random: &mut impl RngExt,
) {
    let mut running = Vec::new();
    for _ in 0..random.random_range(1..8) {
        let first = random.random_range(0..MAILBOXES);
        let addresses: Vec<String> = (0..random.random_range(1..3)).map(|n| address((first + n) % MAILBOXES)).collect();
        let raw: Vec<u8> = (0..random.random_range(1..20_000)).map(|_| random.random()).collect();
        let names: Vec<&str> = addresses.iter().map(String::as_str).collect();
        let sent = delivery(&names, raw, NOW);
        let (store, disk, asked) = (Arc::clone(store), disk.clone(), disk.operations());
        running.push((
            sent.clone(),
            asked,
            tokio::spawn(async move {
                store.receive(sent).await.expect("receive");
                disk.operations()
            }),
        ));
    }
    for (sent, asked, receive) in running {
        let received = Span { asked, acknowledged: receive.await.expect("no panic") };
        for recipient in sent.envelope.recipients {
            let (id, mailbox) = (recipient.id, recipient.mailbox);
            promises.mails.push(Mail { id, mailbox, raw: sent.raw.clone(), received, removed: None });
        }
    }
}

async fn remove_some(disk: &RecordingDisk, store: &dyn Store, promises: &mut Promises, random: &mut impl RngExt) {
    let asked = disk.operations();
    if random.random_bool(0.2) {
        let emptied = name(random.random_range(0..MAILBOXES));
        store.delete_all(&emptied, NOW).await.expect("delete all");
        let removed = Span { asked, acknowledged: disk.operations() };
        for mail in promises.mails.iter_mut().filter(|mail| mail.mailbox == emptied && mail.removed.is_none()) {
            mail.removed = Some(removed);
        }
    } else if random.random_bool(0.5) {
        let at = random.random_range(0..promises.mails.len());
        let mail = &mut promises.mails[at];
        let was_there = store.delete(mail.id, NOW).await.expect("delete");
        assert_eq!(was_there, mail.removed.is_none());
        mail.removed.get_or_insert(Span { asked, acknowledged: disk.operations() });
    }
    if random.random_bool(0.3) {
        // Long enough for the writer to find the store quiet and to make a checkpoint.
        tokio::time::sleep(Duration::from_millis(12)).await;
    }
}

/// Opens the image of a cut; the first thing that is wrong with it.
async fn examine(disk: &RecordingDisk, promises: &Promises, cut: usize, seed: u64) -> Option<String> {
    let mut random = rng(seed);
    let mut image = RecordingDisk::with(disk.crash(cut, &mut random));
    // Some images crash once more while they are being opened.
    if random.random_bool(0.5) {
        match EmbeddedStore::open_on(Arc::new(image.clone()), &options()) {
            Ok(store) => drop(store),
            Err(error) => return Some(format!("cut {cut}, seed {seed}: {error}")),
        }
        let second = cuts(&image, 2, &mut random)[random.random_range(0..2)];
        image = RecordingDisk::with(image.crash(second, &mut random));
    }
    let store = match EmbeddedStore::open_on(Arc::new(image), &options()) {
        Ok(store) => store,
        Err(error) => return Some(format!("cut {cut}, seed {seed}: {error}")),
    };
    let broken = promises.broken(&store, cut).await;
    broken.first().map(|first| format!("cut {cut}, seed {seed}: {first} and {} more", broken.len() - 1))
}

/// Where to cut: right after each of a sample of syncs, and anywhere.
fn cuts(disk: &RecordingDisk, images: usize, random: &mut impl RngExt) -> Vec<usize> {
    let syncs = disk.syncs();
    (0..images)
        .map(|n| match n % 2 {
            0 => syncs[random.random_range(0..syncs.len())],
            _ => random.random_range(0..=disk.operations()),
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_power_cut_loses_nothing_acknowledged_and_brings_nothing_back() {
    let seed = rand::random();
    let disk = RecordingDisk::default();
    let promises = workload(&disk, seed).await;
    let mut random = rng(seed);
    for (n, cut) in cuts(&disk, 120, &mut random).into_iter().enumerate() {
        let wrong = examine(&disk, &promises, cut, seed ^ n as u64).await;
        assert_eq!(wrong, None, "workload {seed}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_check_finds_a_journal_that_is_never_synced() {
    let disk = RecordingDisk::default();
    disk.forget_syncs_of("journal-");
    let promises = workload(&disk, 1).await;
    let mut random = rng(2);
    for (n, cut) in cuts(&disk, 120, &mut random).into_iter().enumerate() {
        if examine(&disk, &promises, cut, n as u64).await.is_some() {
            return;
        }
    }
    panic!("no image showed that the journal was never synced");
}
