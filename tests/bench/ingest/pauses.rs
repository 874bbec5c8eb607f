//! How long messages wait for the disk while the store expires half a million others at once, and while it is backed up.
//!
//! Twenty senders each wait for the answer before the next message. What is measured is what a 250 waits for, beside the
//! daemon's worker of expiry, and beside a part of the same removed in steps of 500 without a pause.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use tempmail::clock::Clock;
use tempmail::config::{Config, Revision};
use tempmail::expiry::{self, Outlived};
use tempmail::model::{Address, Delivery, Envelope, Greeting, Protocol, Subaddressing, Timestamp};
use tempmail::random;
use tempmail::store::{EmbeddedStore, Store, StoreOptions};
use tokio_util::sync::CancellationToken;

use crate::support::Result;

const SENDERS: usize = 20;
const MAIL_OCTETS: usize = 4 << 10;
/// Messages on their way at once while the store is filled.
pub(crate) const FILLING: usize = 1_000;
/// What is removed in one step where there are no pauses, and the part of all that is removed so.
pub(crate) const STEP: usize = 500;
const PART: usize = 5;
/// How often it is asked whether everything has been removed.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How long the senders are measured alone.
pub(crate) const ALONE: Duration = Duration::from_secs(5);
pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
pub(crate) const HOUR: Duration = Duration::from_hours(1);

/// A clock that shows when the first of the messages have expired and goes on from there.
struct Later {
    first: Timestamp,
    since: Instant,
}

impl Clock for Later {
    fn now(&self) -> Timestamp {
        self.first.plus(self.since.elapsed())
    }

    fn boot(&self) -> Duration {
        self.since.elapsed()
    }
}

/// Fills a store with `emails` that expire at once and a part as many before; prints what receives take alone, beside a
/// backup and beside the expiry of both.
pub(crate) fn run(emails: usize) -> Result<()> {
    runtime()?.block_on(measure(emails))
}

pub(crate) fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?)
}

/// Says what the columns of [`load`] are.
pub(crate) fn head() {
    println!("{:24} {:>9} {:>10} {:>9} {:>9} {:>9}", "beside", "seconds", "receives/s", "p50", "p99", "longest");
}

async fn measure(emails: usize) -> Result<()> {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let config = Config::of_revision(Revision::Two, dir.path().into());
    let store = Arc::new(EmbeddedStore::open(dir.path(), &StoreOptions::from_config(&config))?);
    let begun = Instant::now();
    let part = emails / PART;
    let all = part + emails;
    let life = |n: usize| if n < part { HOUR } else { 2 * HOUR };
    for first in (0..all).step_by(FILLING) {
        let some = (first..all.min(first + FILLING)).map(|n| store.receive(message(n, life(n))));
        for received in futures_util::future::join_all(some).await {
            received?;
        }
    }
    println!("{all} messages of 4 KB made in {:.0?}; then {SENDERS} senders", begun.elapsed());
    head();
    load(&store, "nothing", async {
        tokio::time::sleep(ALONE).await;
        Ok(())
    })
    .await?;
    let backed_up = Arc::clone(&store);
    load(&store, "a backup", async move {
        let mut backup = backed_up.backup(NOW);
        while let Some(piece) = backup.next().await {
            piece?;
        }
        Ok(())
    })
    .await?;
    let expiring = Arc::clone(&store);
    load(&store, "expiry without pauses", async move {
        let mut removed = 0;
        loop {
            let step = expiring.expire(NOW.plus(HOUR), STEP).await?;
            removed += step.removed;
            if step.next_due_at.is_none_or(|due| due > NOW.plus(HOUR)) {
                break;
            }
            tokio::task::yield_now().await;
        }
        if removed == part { Ok(()) } else { Err(format!("{removed} of {part} have expired").into()) }
    })
    .await?;
    let expiring = Arc::clone(&store);
    load(&store, "the worker of expiry", async move {
        let clock = Later { first: NOW.plus(2 * HOUR), since: Instant::now() };
        let idle_max = Duration::from_hours(24);
        let outlived = Outlived::Webhooks { idle_max, unproven_max: idle_max };
        let stop = CancellationToken::new();
        let worker = tokio::spawn(expiry::run(expiring.clone(), Arc::new(clock), outlived, stop.clone()));
        // By the first moment nothing is due: this only asks.
        while expiring.expire(NOW, 1).await?.next_due_at.is_none_or(|due| due <= NOW.plus(2 * HOUR)) {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        stop.cancel();
        Ok(worker.await?)
    })
    .await?;
    store.close().await?;
    Ok(())
}

/// Twenty senders for as long as `beside` takes; prints what their messages took.
pub(crate) async fn load(
    store: &Arc<EmbeddedStore>,
    name: &str,
    beside: impl Future<Output = Result<()>>,
) -> Result<()> {
    let stop = Arc::<AtomicBool>::default();
    let send = |sender: usize| {
        let (store, stop) = (Arc::clone(store), Arc::clone(&stop));
        async move {
            let mut took = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                let message = message(sender, 3 * HOUR);
                let begun = Instant::now();
                store.receive(message).await?;
                took.push(begun.elapsed());
            }
            Ok::<_, tempmail::store::StoreError>(took)
        }
    };
    let senders: Vec<_> = (0..SENDERS).map(|sender| tokio::spawn(send(sender))).collect();
    let begun = Instant::now();
    beside.await?;
    let time = begun.elapsed();
    stop.store(true, Ordering::Relaxed);
    let mut took = Vec::new();
    for sender in senders {
        took.extend(sender.await??);
    }
    took.sort_unstable();
    let at = |percent: usize| took.get(took.len().saturating_sub(1) * percent / 100).copied().unwrap_or_default();
    let (seconds, receives) = (time.as_secs_f64(), took.len() as u128 * 1000 / time.as_millis().max(1));
    println!("{name:24} {seconds:9.1} {receives:10} {:9.2?} {:9.2?} {:9.2?}", at(50), at(99), at(100));
    Ok(())
}

pub(crate) fn message(number: usize, life: Duration) -> Delivery {
    let address = format!("user{}@example.test", number % 50_000);
    let recipient: Vec<Address> = address.parse().into_iter().collect();
    let client = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let (helo, sender) = ("client.example".into(), "sender@example.com".into());
    Delivery {
        envelope: Envelope::new(
            client,
            helo,
            Protocol::plain(Greeting::Ehlo),
            sender,
            recipient.iter().map(|address| (address.to_string(), address.mailbox(Subaddressing::Keep))),
            || random::email_id(NOW),
        ),
        raw: vec![b'x'; MAIL_OCTETS].into(),
        received_at: NOW,
        expires_at: NOW.plus(life),
    }
}
