//! A walk over all Emails in the order of their expiry, and within a millisecond in that of their numbers.
//!
//! The Emails of a message expire together and have numbers in a row, so they are met one soon after the other. A walk
//! remembers a message only for that long.

use std::collections::VecDeque;
use std::pin::Pin;

use futures_util::future::try_join_all;
use futures_util::stream::{BoxStream, Peekable};
use futures_util::{StreamExt, TryStreamExt};
use uuid::Uuid;

use super::rows::{EXPIRY_SHARDS, EmailRow};
use super::state::ClusterState;
use crate::store::StoreError;

/// The most numbers that one message can have, and more.
const NUMBERS_MAX: i64 = 1 << 16;

/// The Emails of a slot of expiry in their order.
pub(super) struct SlotWalk {
    shards: Vec<Peekable<BoxStream<'static, Result<EmailRow, StoreError>>>>,
}

impl ClusterState {
    /// Begins a walk over a slot. It holds two pages of each shard at most.
    pub(super) async fn walk_slot(&self, slot: i64) -> Result<SlotWalk, StoreError> {
        let shards = (0..EXPIRY_SHARDS)
            .map(|shard| self.cluster.rows::<EmailRow>(&self.statements.by_expiry_in_order, (slot, shard)));
        let shards = try_join_all(shards).await?;
        Ok(SlotWalk { shards: shards.into_iter().map(StreamExt::peekable).collect() })
    }
}

impl SlotWalk {
    /// The next Email; `None` at the end of the slot.
    pub(super) async fn next(&mut self) -> Result<Option<EmailRow>, StoreError> {
        let mut first: Option<((i64, i64, Uuid), usize)> = None;
        for (shard, rows) in self.shards.iter_mut().enumerate() {
            match Pin::new(rows).peek().await {
                Some(Ok(row)) => {
                    let place = ((row.expires_at, row.sequence, row.id), shard);
                    first = Some(first.map_or(place, |first| first.min(place)));
                }
                Some(Err(error)) => return Err(error.clone()),
                None => {}
            }
        }
        match first {
            Some((_, shard)) => self.shards[shard].try_next().await,
            None => Ok(None),
        }
    }
}

/// The messages that a walk has just met.
#[derive(Debug, Default)]
pub(super) struct MetMessages {
    /// Each with the expiry and the number of its first row.
    met: VecDeque<(Uuid, i64, i64)>,
}

impl MetMessages {
    /// Whether this is the first row of its message.
    pub(super) fn is_first(&mut self, row: &EmailRow) -> bool {
        let is_over = |(_, expires_at, sequence): &(Uuid, i64, i64)| {
            *expires_at != row.expires_at || row.sequence.saturating_sub(*sequence) > NUMBERS_MAX
        };
        while self.met.front().is_some_and(is_over) {
            self.met.pop_front();
        }
        if !row.shared {
            return true;
        }
        let is_first = !self.met.iter().any(|(message, ..)| *message == row.message);
        if is_first {
            self.met.push_back((row.message, row.expires_at, row.sequence));
        }
        is_first
    }
}
