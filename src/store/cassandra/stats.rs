//! Counts of what is stored.

use std::collections::HashSet;
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use tokio::time::Instant;
use uuid::Uuid;

use super::rows::{EXPIRY_SHARDS, EmailRow};
use super::state::ClusterState;
use crate::model::Timestamp;
use crate::store::{DetailedStats, StoreError, StoreStats};

/// The most partitions that are read at once.
const PARTITIONS_AT_ONCE: usize = 16;

/// A count that takes longer than this is used again.
const COUNTS_FAST: Duration = Duration::from_millis(200);
/// For how many times of what it took. So counting takes a small part of the cluster's time, however often it is asked.
const USED_TIMES: u32 = 20;

/// The last count, and how long it may stand for the next one.
#[derive(Debug)]
pub(super) struct LastCount {
    stats: StoreStats,
    usable_until: Instant,
}

/// What a walk over all Emails found.
#[derive(Debug, Default)]
struct Walk {
    emails: u64,
    live_octets: u64,
    mailboxes: HashSet<Vec<u8>>,
    messages: HashSet<uuid::Uuid>,
    oldest: Option<i64>,
    newest: Option<i64>,
}

impl ClusterState {
    /// Counts all Emails. Reads a row of each, so a count that took long is used again for a while.
    pub(super) async fn count(&self) -> Result<StoreStats, StoreError> {
        let begun = Instant::now();
        if let Some(count) = self.last_count().as_ref().filter(|count| count.usable_until > begun) {
            return Ok(count.stats);
        }
        let mut walk = self.walk().await?;
        let stats = self.stats_of(&mut walk).await?;
        let took = begun.elapsed();
        let usable_until = Instant::now() + if took > COUNTS_FAST { took * USED_TIMES } else { Duration::ZERO };
        *self.last_count() = Some(LastCount { stats, usable_until });
        Ok(stats)
    }

    fn last_count(&self) -> MutexGuard<'_, Option<LastCount>> {
        self.last_count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn count_in_detail(&self) -> Result<DetailedStats, StoreError> {
        let mut walk = self.walk().await?;
        let stats = self.stats_of(&mut walk).await?;
        Ok(DetailedStats {
            domains: self.domains().await?.len() as u64,
            oldest: walk.oldest.map(Timestamp::from_millis),
            newest: walk.newest.map(Timestamp::from_millis),
            stats,
        })
    }

    /// The figures of a walk, with those of the outbox. Events keep the messages of deleted Emails.
    async fn stats_of(&self, walk: &mut Walk) -> Result<StoreStats, StoreError> {
        let (webhooks, _) = self.count_webhooks(None).await?;
        let events = self.pending_events().await?;
        for event in &events {
            walk.add_message(Uuid::from_bytes(event.email.place.0), event.email.size_octets);
        }
        Ok(StoreStats { webhooks, events: events.len() as u64, ..walk.to_stats() })
    }

    async fn walk(&self) -> Result<Walk, StoreError> {
        let slots = self.slots_of_mail().await?;
        let partitions = slots.into_iter().flat_map(|slot| (0..EXPIRY_SHARDS).map(move |shard| (slot, shard)));
        let read = stream::iter(partitions).map(async |(slot, shard)| {
            let values = (slot, shard, i64::MAX, i64::MAX, i32::MAX);
            self.cluster.all::<EmailRow>(&self.statements.by_expiry_before, values).await
        });
        let mut pages = read.buffer_unordered(PARTITIONS_AT_ONCE);
        let mut walk = Walk::default();
        while let Some(rows) = pages.try_next().await? {
            rows.into_iter().filter(|row| !self.is_announced(row)).for_each(|row| walk.add(row));
        }
        Ok(walk)
    }
}

impl Walk {
    fn add(&mut self, row: EmailRow) {
        self.emails += 1;
        self.mailboxes.insert(row.mailbox);
        self.add_message(row.message, row.octets.cast_unsigned());
        self.oldest = Some(self.oldest.map_or(row.received_at, |oldest| oldest.min(row.received_at)));
        self.newest = self.newest.max(Some(row.received_at));
    }

    fn add_message(&mut self, message: uuid::Uuid, octets: u64) {
        if self.messages.insert(message) {
            self.live_octets += octets;
        }
    }

    fn to_stats(&self) -> StoreStats {
        StoreStats {
            emails: self.emails,
            mailboxes: self.mailboxes.len() as u64,
            messages: self.messages.len() as u64,
            live_octets: self.live_octets,
            ..StoreStats::default()
        }
    }
}
