//! The nodes of the service that live.

use std::collections::HashMap;
use std::sync::PoisonError;
use std::time::Duration;

use scylla::DeserializeRow;
use tokio::time::sleep;
use uuid::Uuid;

use super::rows::signed;
use super::state::ClusterState;
use crate::store::StoreError;

/// How often a node that stops tries to give something back.
const TRIES_MAX: usize = 3;
const PAUSE: Duration = Duration::from_millis(100);
/// How often a node says that it lives.
pub(super) const BEAT_EVERY: Duration = Duration::from_secs(1);
/// The life of its row, in seconds: that of a lease. It counts as dead after that, and others take its part of the shards.
const LIFE_SECONDS: i32 = 5;

/// A living node.
#[derive(Clone, Debug, PartialEq, Eq, DeserializeRow)]
pub(super) struct Node {
    pub(super) id: Uuid,
    pub(super) started_at: i64,
    pub(super) sequence: i64,
}

impl ClusterState {
    /// Says that this node lives, and learns which others do.
    pub(super) async fn beat(&self, started_at: i64) -> Result<(), StoreError> {
        let values = (self.node, started_at, signed(self.sequences.last()), LIFE_SECONDS);
        self.vital.run(&self.statements.node_insert, values).await?;
        let nodes = self.vital.all::<Node>(&self.statements.node_select, ()).await?;
        for node in &nodes {
            self.sequences.observe(node.sequence.cast_unsigned());
        }
        *self.nodes.lock().unwrap_or_else(PoisonError::into_inner) =
            nodes.into_iter().map(|node| (node.id, node)).collect();
        Ok(())
    }

    /// Says that this node stops.
    pub(super) async fn say_goodbye(&self) {
        try_to_give_back("the row of this node".into(), || self.vital.run(&self.statements.node_delete, (self.node,)))
            .await;
    }

    /// The other nodes that live.
    pub(super) fn peers(&self) -> HashMap<Uuid, Node> {
        let mut nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        nodes.remove(&self.node);
        nodes
    }

    /// How many nodes live, this one included.
    pub(super) fn living_nodes(&self) -> usize {
        self.peers().len() + 1
    }
}

/// Gives back what ends by itself only seconds later, with a few tries.
pub(super) async fn try_to_give_back<F>(what: String, give_back: impl Fn() -> F)
where
    F: Future<Output = Result<(), StoreError>>,
{
    for _ in 0..TRIES_MAX {
        match give_back().await {
            Ok(()) => return,
            Err(error) => tracing::debug!(what, %error, "something was not given back; it ends by itself"),
        }
        sleep(PAUSE).await;
    }
}
