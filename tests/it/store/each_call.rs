//! Each call that the store makes to its disk fails once: alone, and together with every write after it, to files like that
//! one or to any.
//! Promise: it outlives the code below it.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tempmail::store::{EmbeddedStore, Store, StoreOptions};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use super::answers::Answers;
use super::{EVERYTHING, NOW, TO, open, try_open};
use crate::suites::options;
use crate::support::mail::mailbox;
use crate::support::test_disk::{Kind, TestDisk, rng};
use crate::support::until::blocking;

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
    until_healed: Lasting,
}

/// What else fails until the disk is healed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lasting {
    Nothing,
    /// Every write after it to the same kind of file.
    SuchWrites,
    /// Every write after it.
    Writes,
}

fn few_octets() -> StoreOptions {
    // Segments roll within a few messages.
    StoreOptions { segment_octets: 200_000, ..options() }
}

/// The work of senders and readers. They do not use a store that reports that it accepts nothing.
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
    let disk = TestDisk::default();
    let store = Arc::new(open(&disk, &few_octets()));
    let before = disk.calls().len();
    use_it(&store, &mut Answers::default()).await;
    store.close().await.expect("close");
    disk.calls().len() - before
}

/// Waits until the store can be read and accepts mail.
fn until_it_works(store: &EmbeddedStore, when: &str) {
    let state = std::fmt::from_fn(|f| write!(f, "{when}: the store works again, which said {:?}", store.accepts()));
    let to = mailbox(TO);
    let works = || store.accepts().is_ok() && Handle::current().block_on(store.list(&to, EVERYTHING, NOW)).is_ok();
    tokio::task::block_in_place(|| blocking::until(state, works));
}

async fn suffer(case: Case) {
    let disk = TestDisk::default();
    let store = Arc::new(open(&disk, &few_octets()));
    if matches!(case.fault, Fault::ShortWrite) {
        disk.cut_writes_short();
    }
    let kind = if matches!(case.fault, Fault::Full) { ErrorKind::StorageFull } else { ErrorKind::Other };
    let is_in_use = Arc::new(AtomicBool::new(true));
    let failing = disk.fail({
        let (is_in_use, mut calls, mut first_failed) = (Arc::clone(&is_in_use), 0, None);
        move |call| {
            calls += usize::from(is_in_use.load(Ordering::Relaxed));
            let kind_of_file = call.file.split('-').next().map(str::to_owned);
            if calls == case.call && first_failed.is_none() {
                first_failed = Some(kind_of_file);
                return Some(kind);
            }
            let is_read = matches!(call.kind, Kind::Read | Kind::List | Kind::Open | Kind::Size);
            let fails = match case.until_healed {
                Lasting::Nothing => false,
                Lasting::SuchWrites => !is_read && first_failed == Some(kind_of_file),
                Lasting::Writes => !is_read && first_failed.is_some(),
            };
            fails.then_some(kind)
        }
    });
    let mut answers = Answers::default();
    use_it(&store, &mut answers).await;
    // From here on nothing fails: the test checks the contents.
    is_in_use.store(false, Ordering::Relaxed);
    if case.until_healed == Lasting::Nothing {
        until_it_works(&store, &format!("{case:?}, after it failed once"));
        answers.check(&store, &format!("{case:?}, after it failed once")).await;
    }
    drop(failing);
    until_it_works(&store, &format!("{case:?}"));
    answers.check(&store, &format!("{case:?}")).await;
    let stored = answers.stored.len();
    answers.receive_some(&store, &mut rng(8)).await;
    assert!(answers.stored.len() > stored, "{case:?}: it is back");
    let image = disk.power_cut(disk.operations(), 9);
    let opened = try_open(&image, &few_octets()).unwrap_or_else(|error| panic!("{case:?}: {error}"));
    answers.check(&opened, &format!("{case:?}, after a power cut")).await;
    // No caller is left to see a store that did not close.
    store.close().await.expect("close");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whichever_call_fails_every_answer_is_true_and_the_store_comes_back() {
    let calls = calls().await;
    let mut cases = Vec::new();
    for call in 1..=calls {
        for fault in [Fault::Error, Fault::Full, Fault::ShortWrite] {
            let lasting = [Lasting::Nothing, Lasting::SuchWrites, Lasting::Writes];
            cases.extend(lasting.map(|until_healed| Case { call, fault, until_healed }));
        }
    }
    let is_whole = std::env::var("TEMPMAIL_FAULT_CALLS").is_ok_and(|which| which == "all");
    let stride = if is_whole { 1 } else { cases.len().div_ceil(CASES) };
    let first = rand::random_range(0..stride);
    println!("{calls} calls, {} cases, every {stride}th from {first} on", cases.len());
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
