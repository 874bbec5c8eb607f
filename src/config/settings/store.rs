//! Settings of the store.

use super::{GB, MB, one};
use crate::config::StoreLocation;
use crate::config::setting::{Setting, Shape};
use crate::config::store_location::store_location;
use crate::config::value::{self, show_size};

/// What the store is set to.
#[derive(Clone, Debug)]
pub struct StoreConfig {
    /// Where mail is kept.
    pub location: StoreLocation,
    /// Size of a segment of the journal in octets, at least twice the largest message.
    pub segment_octets: u64,
    /// How much of the index may be held in memory, in octets.
    pub index_cache_octets: usize,
}

impl Default for StoreConfig {
    fn default() -> Self {
        Self { location: StoreLocation::default(), segment_octets: 64 * MB, index_cache_octets: 8 << 20 }
    }
}

/// In the order in which help lists them.
pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "store",
        Shape::One,
        "embedded|URL",
        "Where mail is kept: in data-dir (embedded), or in a cluster, cassandra://HOST[:PORT],…/KEYSPACE",
        |c, v| one(v, store_location).map(|location| c.store.location = location),
        |c| vec![c.store.location.to_string()],
    ),
    Setting::new(
        "segment-size",
        Shape::One,
        "SIZE",
        "Size of a file of the journal, 1MB to 1GB, at least twice max-message-size",
        |c, v| one(v, |t| value::size(t, MB..=GB)).map(|octets| c.store.segment_octets = octets),
        |c| vec![show_size(c.store.segment_octets)],
    )
    .with_default("64MB, or twice max-message-size where that is more"),
    Setting::new(
        "index-cache-size",
        Shape::One,
        "SIZE",
        "Memory for parts of the index, 1MB to 2GB",
        |c, v| {
            let octets = one(v, |t| value::size(t, MB..=2 * GB))?;
            c.store.index_cache_octets = usize::try_from(octets).unwrap_or(usize::MAX);
            Ok(())
        },
        |c| vec![show_size(c.store.index_cache_octets as u64)],
    ),
];
