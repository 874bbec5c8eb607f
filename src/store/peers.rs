//! How nodes that share a store tell each other at once what happened, beside what the store itself passes on.

use async_trait::async_trait;
use bytes::Bytes;

/// Hints on their way to other nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerHints {
    /// Where the other nodes take them.
    pub addresses: Vec<String>,
    /// What only a store can read.
    pub octets: Bytes,
}

/// The side of a store that talks to the other nodes. What is lost there arrives later through the store.
#[async_trait]
pub trait Peers: Send + Sync {
    /// The secret that all nodes of one store have, as a text for a header field.
    fn token(&self) -> String;

    /// Says where this node takes hints.
    fn set_address(&self, address: String);

    /// Waits for the next hints that are to be sent. Dropping the future loses none.
    async fn next(&self) -> PeerHints;

    /// Takes the hints of another node. `false` if they cannot be read.
    fn take(&self, octets: &[u8]) -> bool;
}
