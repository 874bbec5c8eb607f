//! The other nodes that share the store: hints go to them at once, over HTTP with a token that the store's secret gives.
//!
//! ```text
//! sender   passes this node's hints to the others      receiver   takes theirs
//! ```
//!
//! A hint that is lost here arrives through the store a little later. So nothing is retried, and nobody waits.

pub mod receiver;
pub mod sender;

/// The path that takes hints.
const PATH: &str = "/peers/hints";
/// The longest hints in octets.
const OCTETS_MAX: usize = 1 << 20;
