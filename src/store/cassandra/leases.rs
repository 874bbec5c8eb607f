//! Leases: work that one node does at a time.
//!
//! A lease is a row with a time to live, which one node wins by a conditional write and renews every second. The cluster
//! counts its life in whole seconds, so a row of 5 s may live only 4. A node relies on it for 3.5 s from the moment before
//! its last renewal, by a clock that neither jumps nor stops. So a node that was suspended knows that it holds nothing, and
//! a dead node is replaced within 6 s.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::{join, join_all};
use tokio::sync::Notify;
use tokio::time::{MissedTickBehavior, interval};

use super::nodes::try_to_give_back;
use super::outbox::SHARDS;
use super::state::ClusterState;
use crate::store::StoreError;

/// The life of a row without renewal, in seconds.
const LIFE_SECONDS: i32 = 5;
const RENEWED_EVERY: Duration = Duration::from_secs(1);
/// How long a holder relies on a renewal.
const RELIED_ON: Duration = Duration::from_millis(3500);

/// Work that one node does at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Work {
    /// Checking the MX of domains.
    Verification,
    /// Finishing messages of nodes that died.
    Intents,
    /// Removing webhooks that nobody uses.
    Webhooks,
    /// Sending the events of a shard.
    Dispatch(i8),
}

impl Work {
    const ALONE: [Self; 3] = [Self::Verification, Self::Intents, Self::Webhooks];

    fn name(self) -> String {
        match self {
            Self::Verification => "verification".into(),
            Self::Intents => "intents".into(),
            Self::Webhooks => "webhooks".into(),
            Self::Dispatch(shard) => format!("dispatch-{shard}"),
        }
    }
}

/// The leases of this node.
#[derive(Debug, Default)]
pub(super) struct Leases {
    /// Each with the end of its reliance on the boot clock.
    held: Mutex<HashMap<Work, Duration>>,
    /// This node has learned anew which nodes live.
    pub(super) has_looked: Notify,
}

impl Leases {
    fn locked(&self) -> MutexGuard<'_, HashMap<Work, Duration>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this node may do the work at `boot`.
    pub(super) fn are_held(&self, work: Work, boot: Duration) -> bool {
        self.locked().get(&work).is_some_and(|until| boot < *until)
    }

    /// The names of the leases that this node holds at `boot`, in their order.
    pub(super) fn names(&self, boot: Duration) -> Vec<String> {
        let mut names: Vec<String> =
            self.locked().iter().filter(|(_, until)| boot < **until).map(|(work, _)| work.name()).collect();
        names.sort_unstable();
        names
    }

    fn record(&self, work: Work, until: Duration) {
        self.locked().insert(work, until);
    }

    /// Records a renewal, unless the lease was given back meanwhile.
    fn prolong(&self, work: Work, until: Duration) {
        if let Some(held) = self.locked().get_mut(&work) {
            *held = until;
        }
    }

    fn forget(&self, work: Work) -> bool {
        self.locked().remove(&work).is_some()
    }

    fn all(&self) -> Vec<Work> {
        self.locked().keys().copied().collect()
    }

    fn shards(&self) -> Vec<Work> {
        self.all().into_iter().filter(|work| matches!(work, Work::Dispatch(_))).collect()
    }
}

impl ClusterState {
    /// Whether this node may do the work now.
    pub(super) fn holds(&self, work: Work) -> bool {
        self.clock().is_some_and(|clock| self.leases.are_held(work, clock.boot()))
    }

    /// Whether nobody else does the work now: this node holds its lease, or a command asks that runs no daemon.
    pub(super) fn may_do(&self, work: Work) -> bool {
        self.clock().is_none() || self.holds(work)
    }

    /// Renews what this node holds, and takes what nobody holds.
    ///
    /// A conditional write waits for its one coordinator. So none waits for another, else a lost node of the cluster would
    /// cost the leases that others coordinate.
    pub(super) async fn keep_leases(&self) {
        join(self.renew_all(), self.take_all()).await;
    }

    async fn renew_all(&self) {
        let mut turn = interval(RENEWED_EVERY);
        turn.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            turn.tick().await;
            join_all(self.leases.all().into_iter().map(|work| self.renew(work))).await;
        }
    }

    /// Takes leases after each look at the living nodes, and gives back shards beyond the part of this one.
    async fn take_all(&self) {
        loop {
            self.leases.has_looked.notified().await;
            let part = usize::from(SHARDS.unsigned_abs()).div_ceil(self.living_nodes());
            let surplus = self.leases.shards().into_iter().skip(part);
            for given_back in join_all(surplus.map(|surplus| self.give_back(surplus))).await {
                if let Err(error) = given_back {
                    tracing::debug!(%error, "a lease was not given back; it ends by itself");
                }
            }
            let alone = join_all(Work::ALONE.map(|work| self.take(work)));
            let shards = async {
                for shard in 0..SHARDS {
                    if self.leases.shards().len() >= part {
                        break;
                    }
                    self.take(Work::Dispatch(shard)).await;
                }
            };
            join(alone, shards).await;
        }
    }

    /// Gives all leases back, so that other nodes need not wait for their end.
    pub(super) async fn give_back_leases(&self) {
        let held = self.leases.all().into_iter();
        join_all(held.map(|work| try_to_give_back(work.name(), move || self.give_back(work)))).await;
    }

    async fn take(&self, work: Work) {
        let Some(clock) = self.clock() else { return };
        if self.leases.all().contains(&work) {
            return;
        }
        let asked_at = clock.boot();
        let values = (LIFE_SECONDS, self.node, work.name());
        match self.cluster.run_if(&self.statements.lease_take, values).await {
            Ok(true) => {
                tracing::info!(lease = work.name(), "this node took a lease");
                self.leases.record(work, asked_at + RELIED_ON);
                // There may be events that the last holder has left.
                self.ring_outbox();
            }
            Ok(false) => {}
            Err(error) => tracing::debug!(lease = work.name(), %error, "a lease could not be taken"),
        }
    }

    async fn renew(&self, work: Work) {
        let Some(clock) = self.clock() else { return };
        let asked_at = clock.boot();
        let values = (LIFE_SECONDS, self.node, work.name(), self.node);
        match self.cluster.run_if(&self.statements.lease_renew, values).await {
            Ok(true) => self.leases.prolong(work, asked_at + RELIED_ON),
            // Another node has it, or will soon, unless it was given back meanwhile. It is taken again like any other.
            Ok(false) => {
                if self.leases.forget(work) {
                    tracing::warn!(lease = work.name(), "this node lost a lease");
                }
            }
            // What was relied on stays until its end.
            Err(error) => tracing::debug!(lease = work.name(), %error, "a lease was not renewed"),
        }
    }

    async fn give_back(&self, work: Work) -> Result<(), StoreError> {
        self.leases.forget(work);
        self.cluster.run_if(&self.statements.lease_give_back, (work.name(), self.node)).await.map(drop)
    }
}
