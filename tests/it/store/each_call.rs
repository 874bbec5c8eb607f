//! Each call that the store makes to its disk fails once: alone, and together with every write after it.

use std::io::ErrorKind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tempmail::model::Timestamp;
use tempmail::store::{EmbeddedStore, Part, Store, StoreOptions};
use tokio::sync::Semaphore;

use super::answers::Answers;
use super::embedded::options;
use crate::support::faulty_disk::{FaultyDisk, Operation};
use crate::support::mail::mailbox;
use crate::support::recording_disk::{RecordingDisk, rng};

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
/// How soon it must take mail again.
const BACK_WITHIN: Duration = Duration::from_secs(5);
/// Cases that a plain run tries, at a random one of as many strides; `TEMPMAIL_FAULT_CALLS=all` tries each.
const CASES: usize = 60;
/// Cases at once: they mostly wait.
const AT_ONCE: usize = 24;

#[derive(Clone, Copy, Debug)]
enum Fault {
    Error,
    Full,
    ShortWrite,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    call: usize,
    fault: Fault,
    /// Every write after it to the same kind of file fails as well, until the disk is healed.
    is_lasting: bool,
}

fn few_octets() -> StoreOptions {
    // Segments roll and checkpoints are made within a few messages.
    StoreOptions { segment_octets: 200_000, checkpoint_octets: 30_000, ..options() }
}

/// What senders and readers do; they leave a store alone that says it takes nothing.
async fn use_it(store: &Arc<EmbeddedStore>, answers: &mut Answers) {
    let mut random = rng(7);
    for _ in 0..6 {
        if store.accepts().is_err() {
            return;
        }
        answers.receive_some(store, &mut random).await;
        answers.delete_one(store).await;
    }
}

/// How many calls a run makes in which nothing fails, after the open.
async fn calls() -> usize {
    let disk = FaultyDisk::on(RecordingDisk::default());
    let store = Arc::new(EmbeddedStore::open_on(Arc::new(disk.clone()), &few_octets()).expect("open"));
    let calls = Arc::new(AtomicUsize::new(0));
    disk.fail({
        let calls = Arc::clone(&calls);
        move |_, _| {
            calls.fetch_add(1, Ordering::Relaxed);
            None
        }
    });
    use_it(&store, &mut Answers::default()).await;
    store.close().await.expect("close");
    calls.load(Ordering::Relaxed)
}

/// Waits until it can be read, and takes mail where that is wanted.
async fn until_it_works(store: &EmbeddedStore, takes_mail: bool, when: &str) {
    let start = Instant::now();
    let part = Part::Offset { offset: 0, limit: 1 };
    while takes_mail && store.accepts().is_err() || store.list(&mailbox("a@example.test"), part, NOW).await.is_err() {
        assert!(start.elapsed() < BACK_WITHIN, "{when}: it stays away: {:?}", store.accepts());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn suffer(case: Case) {
    let memory = RecordingDisk::default();
    let disk = FaultyDisk::on(memory.clone());
    let store = Arc::new(EmbeddedStore::open_on(Arc::new(disk.clone()), &few_octets()).expect("open"));
    if matches!(case.fault, Fault::ShortWrite) {
        disk.cut_writes_short();
    }
    let kind = if matches!(case.fault, Fault::Full) { ErrorKind::StorageFull } else { ErrorKind::Other };
    let first_failed = Arc::new(Mutex::new(String::new()));
    disk.fail({
        let (first_failed, mut calls) = (Arc::clone(&first_failed), 0);
        move |operation, name| {
            calls += 1;
            let mut first_failed = first_failed.lock().expect("name");
            if calls == case.call {
                name.clone_into(&mut first_failed);
            }
            let is_read = matches!(operation, Operation::Read(_) | Operation::List | Operation::Open);
            let is_alike = name.split('-').next() == first_failed.split('-').next();
            let lasts = case.is_lasting && calls > case.call && !is_read && is_alike;
            (calls == case.call || lasts).then_some(kind)
        }
    });
    let mut answers = Answers::default();
    use_it(&store, &mut answers).await;
    // Nothing that was read is away for long, whatever can't be written.
    until_it_works(&store, false, &format!("{case:?}, while it fails")).await;
    // An index that fails is away again for the moment in which it is opened anew.
    if first_failed.lock().expect("name").starts_with("journal-") {
        answers.check(&store, &format!("{case:?}, while it fails")).await;
    }
    disk.heal();
    until_it_works(&store, true, &format!("{case:?}")).await;
    answers.check(&store, &format!("{case:?}")).await;
    let kept = answers.kept.len();
    answers.receive_some(&store, &mut rng(8)).await;
    assert!(answers.kept.len() > kept, "{case:?}: it is back");
    let image = RecordingDisk::with(memory.crash(memory.operations(), &mut rng(9)));
    let opened =
        EmbeddedStore::open_on(Arc::new(image), &few_octets()).unwrap_or_else(|error| panic!("{case:?}: {error}"));
    answers.check(&opened, &format!("{case:?}, after a power cut")).await;
    // Nobody is left to see a store that did not close.
    store.close().await.expect("close");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whichever_call_fails_every_answer_is_true_and_the_store_comes_back() {
    let calls = calls().await;
    let mut cases = Vec::new();
    for call in 1..=calls {
        for fault in [Fault::Error, Fault::Full, Fault::ShortWrite] {
            cases.extend([false, true].map(|is_lasting| Case { call, fault, is_lasting }));
        }
    }
    let is_whole = std::env::var("TEMPMAIL_FAULT_CALLS").is_ok_and(|which| which == "all");
    let stride = if is_whole { 1 } else { cases.len().div_ceil(CASES) };
    let first = rand::random_range(0..stride);
    let room = Arc::new(Semaphore::new(AT_ONCE));
    let mut running = tokio::task::JoinSet::new();
    for case in cases.into_iter().skip(first).step_by(stride) {
        let place = Arc::clone(&room).acquire_owned().await.expect("open");
        running.spawn(async move {
            suffer(case).await;
            drop(place);
        });
    }
    running.join_all().await;
}
