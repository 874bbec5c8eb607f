//! The rows of the file: octets under a key of octets, each with a checksum of its own.
//!
//! redb does not compare checksums when it reads, so that a damaged page could pass for rows.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::store::StoreError;

/// A table of redb, of keys and values of octets.
pub(super) type Definition = redb::TableDefinition<'static, &'static [u8], &'static [u8]>;

/// The tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Table {
    /// The format, the store's secret, what ended mail, and all tokens, by name.
    Meta,
    /// Domains, by name.
    Domains,
    /// Webhooks with the health of their receivers, by id.
    Webhooks,
    /// Records of delivery logs, by webhook and number.
    Logs,
    /// Hints, by segment.
    Segments,
    /// Leases, by the public mailbox of their address.
    Leases,
    /// Until when mailboxes are open, by the hash of the mailbox.
    Opened,
}

impl Table {
    pub(super) const ALL: [Self; 7] =
        [Self::Meta, Self::Domains, Self::Webhooks, Self::Logs, Self::Segments, Self::Leases, Self::Opened];
    /// Those whose rows are in memory as well.
    pub(super) const IN_MEMORY: [Self; 5] = [Self::Meta, Self::Domains, Self::Webhooks, Self::Leases, Self::Opened];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Meta => "meta",
            Self::Domains => "domains",
            Self::Webhooks => "webhooks",
            Self::Logs => "logs",
            Self::Segments => "segments",
            Self::Leases => "leases",
            Self::Opened => "opened",
        }
    }

    /// Whether a file that an earlier version made has no such table until it gets its first row.
    pub(super) const fn is_later(self) -> bool {
        matches!(self, Self::Leases | Self::Opened)
    }

    pub(super) const fn definition(self) -> Definition {
        redb::TableDefinition::new(self.name())
    }
}

/// Octets of a row's checksum.
pub(super) const CHECKSUM_OCTETS: usize = 4;

/// What a row becomes. Without octets there is no such row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) table: Table,
    pub(super) key: Vec<u8>,
    pub(super) octets: Option<Vec<u8>>,
}

impl Row {
    /// A row with these octets.
    pub(super) fn new(table: Table, key: &[u8], octets: Vec<u8>) -> Self {
        Self { table, key: key.into(), octets: Some(octets) }
    }

    /// A row with an encoded value.
    pub(super) fn put<T: Serialize>(table: Table, key: &[u8], value: &T) -> Result<Self, StoreError> {
        let octets = postcard::to_stdvec(value)
            .map_err(|_| StoreError::Failed(format!("a row of {} cannot be encoded", table.name())))?;
        Ok(Self::new(table, key, octets))
    }

    /// No row.
    pub(super) fn remove(table: Table, key: &[u8]) -> Self {
        Self { table, key: key.into(), octets: None }
    }
}

/// Decodes the octets of a row. An error is what is wrong with it.
pub(super) fn decode<T: DeserializeOwned>(table: Table, octets: &[u8]) -> Result<T, String> {
    postcard::from_bytes(octets).map_err(|_| format!("a row of {} cannot be decoded", table.name()))
}

/// Writes a row's octets with their checksum into `value`, which is longer by that.
pub(super) fn seal(key: &[u8], octets: &[u8], value: &mut [u8]) {
    let (start, sum) = value.split_at_mut(octets.len());
    start.copy_from_slice(octets);
    sum.copy_from_slice(&checksum(key, octets).to_le_bytes());
}

/// The octets of a row as it is in the file; `None` if it is not what was written under this key.
pub(super) fn unseal<'v>(key: &[u8], value: &'v [u8]) -> Option<&'v [u8]> {
    let (octets, sum) = value.split_last_chunk()?;
    (u32::from_le_bytes(*sum) == checksum(key, octets)).then_some(octets)
}

fn checksum(key: &[u8], octets: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(key), octets)
}
