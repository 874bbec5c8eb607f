//! Expired mail. Its rows vanish by their time to live; each node announces the expiry to its own subscribers.

use futures_util::future::try_join_all;

use super::rows::{EXPIRY_SHARDS, EmailRow, expiry_slot, signed};
use super::state::ClusterState;
use crate::events::Happening;
use crate::model::Timestamp;
use crate::store::{Expired, StoreError};

/// A position in the order of expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ExpiryPosition {
    expires_at: i64,
    sequence: i64,
}

impl ExpiryPosition {
    /// Before every Email.
    pub(super) const START: Self = Self { expires_at: i64::MIN, sequence: i64::MIN };

    pub(super) const fn of(row: &EmailRow) -> Self {
        Self { expires_at: row.expires_at, sequence: row.sequence }
    }

    pub(super) const fn expires_at(self) -> i64 {
        self.expires_at
    }

    const fn end_of(expires_at: i64) -> Self {
        Self { expires_at, sequence: i64::MAX }
    }
}

impl ClusterState {
    /// Announces the Emails that expired up to the last whole second before `now`, at most `limit`.
    pub(super) async fn expire(&self, now: Timestamp, limit: usize) -> Result<Expired, StoreError> {
        let slots = self.slots_of_mail().await?;
        let (from, through) = (self.expired(), now.millis() - now.millis().rem_euclid(1000));
        let mut due = Vec::new();
        for slot in slots.iter().copied().filter(|slot| *slot <= expiry_slot(through)) {
            if slot < expiry_slot(from.expires_at) {
                continue;
            }
            due.extend(self.due_in(slot, from, through, limit).await?);
            if due.len() > limit {
                break;
            }
        }
        due.sort_unstable_by_key(ExpiryPosition::of);
        let is_all = due.len() <= limit;
        due.truncate(limit);
        for row in &due {
            self.publish(Happening::Expired, row);
        }
        let done = match due.last() {
            Some(last) if !is_all => ExpiryPosition::of(last),
            _ => ExpiryPosition::end_of(through),
        };
        self.announce(done);
        let next = self.first_after(&slots, done).await?;
        Ok(Expired { removed: due.len(), next_due_at: next.map(Timestamp::from_millis) })
    }

    fn announce(&self, done: ExpiryPosition) {
        let mut expired = self.expired.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *expired = done.max(*expired);
    }

    /// The slots that have Emails or had some a short time ago, in their order.
    pub(super) async fn slots_of_mail(&self) -> Result<Vec<i64>, StoreError> {
        let mut slots: Vec<i64> = self
            .cluster
            .all::<(i64,)>(&self.statements.slot_select, ())
            .await?
            .into_iter()
            .map(|(slot,)| slot)
            .collect();
        slots.sort_unstable();
        Ok(slots)
    }

    async fn due_in(
        &self,
        slot: i64,
        from: ExpiryPosition,
        through: i64,
        limit: usize,
    ) -> Result<Vec<EmailRow>, StoreError> {
        let limit = i32::try_from(limit).unwrap_or(i32::MAX).saturating_add(1);
        let due = (0..EXPIRY_SHARDS).map(|shard| {
            let values = (slot, shard, from.expires_at, from.sequence, through, limit);
            self.cluster.all::<EmailRow>(&self.statements.by_expiry_due, values)
        });
        Ok(try_join_all(due).await?.into_iter().flatten().collect())
    }

    /// The first expiry after a position.
    async fn first_after(&self, slots: &[i64], position: ExpiryPosition) -> Result<Option<i64>, StoreError> {
        for slot in slots.iter().copied().filter(|slot| *slot >= expiry_slot(position.expires_at)) {
            let firsts = (0..EXPIRY_SHARDS).map(|shard| {
                let values = (slot, shard, position.expires_at, position.sequence);
                self.cluster.first::<(i64,)>(&self.statements.by_expiry_first, values)
            });
            if let Some((first,)) = try_join_all(firsts).await?.into_iter().flatten().min() {
                return Ok(Some(first));
            }
        }
        Ok(None)
    }

    /// The newest Emails of a slot before a position, at most `limit` of each shard.
    pub(super) async fn before_in(
        &self,
        slot: i64,
        (expires_at, sequence): (i64, u64),
        limit: usize,
    ) -> Result<Vec<EmailRow>, StoreError> {
        let limit = i32::try_from(limit).unwrap_or(i32::MAX);
        let rows = (0..EXPIRY_SHARDS).map(|shard| {
            let values = (slot, shard, expires_at, signed(sequence), limit);
            self.cluster.all::<EmailRow>(&self.statements.by_expiry_before, values)
        });
        Ok(try_join_all(rows).await?.into_iter().flatten().collect())
    }
}
