//! How long messages wait for the disk while the few that live in mostly dead segments are moved, so that the segments go.

use std::sync::Arc;
use std::time::Instant;

use tempmail::config::{Config, Revision};
use tempmail::model::Counts;
use tempmail::store::{EmbeddedStore, Store, StoreOptions};

use crate::pauses::{self, ALONE, FILLING, HOUR, LOOK_EVERY, NOW, STEP, load, message};
use crate::support::Result;

/// One message in so many stays.
const STAYING: usize = 20;

/// Fills a store with `emails`, nearly all of which expire; prints what receives take alone and while the rest is moved.
pub(crate) fn run(emails: usize) -> Result<()> {
    pauses::runtime()?.block_on(measure(emails))
}

async fn measure(emails: usize) -> Result<()> {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let config = Config::of_revision(Revision::Two, dir.path().into());
    let store = Arc::new(EmbeddedStore::open(dir.path(), &StoreOptions::from_config(&config))?);
    let life = |n: usize| if n.is_multiple_of(STAYING) { 2 * HOUR } else { HOUR };
    for first in (0..emails).step_by(FILLING) {
        let some = (first..emails.min(first + FILLING)).map(|n| store.receive(message(n, life(n))));
        for received in futures_util::future::join_all(some).await {
            received?;
        }
    }
    let before = store.stats().await?;
    println!("{emails} messages of 4 KB in {} segments, one in {STAYING} stays", before.segments);
    pauses::head();
    load(&store, "nothing", async {
        tokio::time::sleep(ALONE).await;
        Ok(())
    })
    .await?;
    let begun = Instant::now();
    while store.expire(NOW.plus(HOUR), STEP).await?.next_due_at.is_some_and(|due| due <= NOW.plus(HOUR)) {}
    println!("all others expired in {:.0?}", begun.elapsed());
    let moving = Arc::clone(&store);
    load(&store, "moving", async move {
        let mut last = (moved(&moving), Instant::now());
        // Until nothing is moved any more.
        while last.1.elapsed() < ALONE {
            tokio::time::sleep(LOOK_EVERY).await;
            let now = moved(&moving);
            last = if now == last.0 { last } else { (now, Instant::now()) };
        }
        Ok(())
    })
    .await?;
    let after = store.stats().await?;
    println!("{} messages were moved; {} segments are left", moved(&store), after.segments);
    store.close().await?;
    Ok(())
}

fn moved(store: &EmbeddedStore) -> u64 {
    store.read().iter().find(|count| count.name == "moved").map_or(0, |count| count.value)
}
