//! A group on its way into the journal.

use super::format::{GROUP_HEADER_OCTETS, encode_record};
use crate::store::StoreError;
use crate::store::change::Change;

/// A group that is being encoded.
#[derive(Debug)]
pub(crate) struct Group {
    pub(super) octets: Vec<u8>,
    pub(super) records: Vec<Encoded>,
    pub(super) frees_space_only: bool,
}

/// A record in the octets of its group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Encoded {
    pub(super) start: usize,
    pub(super) length: usize,
    pub(super) content: usize,
}

impl Default for Group {
    fn default() -> Self {
        Self { octets: vec![0; GROUP_HEADER_OCTETS], records: Vec::new(), frees_space_only: true }
    }
}

impl Group {
    /// Adds a record. After an error the group is unchanged.
    pub(crate) fn push(&mut self, fact: &Change, content: &[u8]) -> Result<(), StoreError> {
        let start = self.octets.len();
        if let Err(error) = encode_record(fact, content, &mut self.octets) {
            self.octets.truncate(start);
            return Err(StoreError::Failed(format!("a fact could not be encoded: {error}")));
        }
        self.records.push(Encoded { start, length: self.octets.len() - start, content: content.len() });
        self.frees_space_only &= fact.frees_space();
        Ok(())
    }

    /// Octets of the group so far, with its header.
    pub(crate) fn octets(&self) -> u64 {
        self.octets.len() as u64
    }
}
