//! How many nodes share what one client may do.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The number of living nodes of the service, at least 1. Clones share it.
///
/// A client may come to any of them, so each permits its part of a limit per time.
#[derive(Clone, Debug)]
pub struct Nodes(Arc<AtomicU32>);

impl Default for Nodes {
    fn default() -> Self {
        Self(Arc::new(AtomicU32::new(1)))
    }
}

impl Nodes {
    /// Sets the number.
    pub fn set(&self, nodes: usize) {
        self.0.store(u32::try_from(nodes).unwrap_or(u32::MAX).max(1), Ordering::Relaxed);
    }

    /// The number.
    pub fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// This node's part of a limit, at least 1.
    pub fn part_of(&self, limit: u32) -> u32 {
        (limit / self.get()).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_node_has_its_part_and_never_nothing() {
        let nodes = Nodes::default();
        assert_eq!(nodes.part_of(600), 600);
        nodes.clone().set(3);
        assert_eq!([600, 100, 2].map(|limit| nodes.part_of(limit)), [200, 33, 1]);
        nodes.set(0);
        assert_eq!(nodes.part_of(600), 600);
    }
}
