//! The shards among which the dispatch of webhooks' events is spread.

/// The number of shards.
pub(super) const SHARDS: i8 = 8;
