//! Room for the index: looked for before a group goes into the journal, since what is durable there must get into the index.
//!
//! It is looked for and not taken: redb grows by doubling, so taking it beforehand would cost every store as much again as
//! its index. Another program can fill the disk between the look and the growth. Then the index gets the room of the next
//! segment, which suffices while the index is smaller than that. Where it is not, a group that is durable is shown once
//! there is room, and its senders get no answer.
//!
//! Where the disk is short the file of an index that is mostly free is compacted: it has grown with mail that is gone.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::checkpoint::Unsaved;
use super::state::StoreState;
use super::writer::Writer;
use crate::store::StoreError;
use crate::store::change::Change;
use crate::store::index::AT_START_OCTETS_MAX;
use crate::store::journal::Group;

/// The shortest time between two looks whether the index is mostly free: a look reads it.
const COMPACTION_EVERY: Duration = Duration::from_secs(10);
/// How long readers have to let go of an index that is to be compacted.
const READERS_PATIENCE: Duration = Duration::from_millis(500);

/// Octets of the index's pages that one recipient makes it copy at most: its rows lie in as many pages as there are tables,
/// each below one of its own.
const COPIED_OCTETS: u64 = 32 << 10;
/// Octets that the rows of one recipient take at most, with those of ten events and the halves of pages that splitting
/// leaves empty.
const NEW_OCTETS: u64 = 4 << 10;
/// What a change without recipients counts for.
const RECIPIENTS_OF_OTHERS: u64 = 64;

/// By how many octets a group may make an index of `index_octets` grow. It grows by doubling, so often that what is copied
/// and what is new finds room, though no page were free.
fn growth_octets<'c>(index_octets: u64, changes: impl IntoIterator<Item = &'c Change>) -> u64 {
    let recipients_of =
        |change: &Change| change.recipients().map_or(RECIPIENTS_OF_OTHERS, |recipients| recipients.len() as u64);
    let recipients: u64 = changes.into_iter().map(recipients_of).sum();
    let wanted = index_octets.min(recipients * COPIED_OCTETS) + recipients * NEW_OCTETS;
    if wanted <= index_octets { index_octets } else { index_octets + 2 * wanted }
}

impl Writer {
    /// Makes sure that the index has room for a group before that is durable: on the disk, or in the next segment, which is
    /// given up for it. [`StoreError::Full`] if it has not, except for what frees space in the end: for that a checkpoint
    /// gives the index the pages back that it keeps for the last one.
    pub(super) fn find_room_in_index(&mut self, group: &Group, changes: &[&Change]) -> Result<(), StoreError> {
        let index_octets = self.state.measure_index();
        if self.state.has_room(growth_octets(index_octets, changes.iter().copied())) {
            return Ok(());
        }
        let is_relocation = changes.iter().all(|change| matches!(change, Change::Relocated { .. }));
        if !group.frees_space_only() && !is_relocation {
            return Err(StoreError::Full);
        }
        self.checkpoint();
        self.ensure_index()?;
        // It can be put off, and finds room among the pages of mail that is gone.
        if is_relocation && !self.state.index().is_some_and(|index| index.is_sparse(index_octets)) {
            return Err(StoreError::Full);
        }
        Ok(())
    }

    /// Plans a look whether compaction helps, if the disk is short.
    pub(super) fn look_for_compaction(&mut self) {
        if self.compact_at.is_none() && self.state.has_room_for_mail() == Err(StoreError::Full) {
            let last = self.compacted_at.map_or_else(Instant::now, |at| at + COMPACTION_EVERY);
            self.compact_at = Some(last.max(Instant::now()));
        }
    }

    /// Compacts the index if it is mostly free and has little in it, while reads wait.
    pub(super) fn compact_index(&mut self) {
        self.compact_at = None;
        self.compacted_at = Some(Instant::now());
        let before_octets = self.state.measure_index();
        let Some(mut index) = self.state.borrow_index(Instant::now() + READERS_PATIENCE) else {
            return self.look_for_compaction();
        };
        let compacted = index.compact_if_worthwhile(before_octets, AT_START_OCTETS_MAX);
        self.state.give_index_back(Arc::new(index));
        let after_octets = self.state.measure_index();
        match compacted {
            Ok(true) => {
                tracing::info!(before_octets, after_octets, "compacted the index, since the disk is short");
                // Without one a start after a kill would have to read all of the index.
                self.unsaved.get_or_insert_with(Unsaved::now);
                self.checkpoint();
            }
            Ok(false) => {}
            Err(error) => {
                tracing::error!(%error, "the index could not be compacted");
                self.recover_index(&error);
            }
        }
    }
}

impl StoreState {
    /// Whether the disk has so much room for the index, were the next segment given up. A disk that does not say has.
    fn has_room(&self, octets: u64) -> bool {
        let free = self.segments().disk().free_octets();
        free.map_or(true, |free| free.saturating_add(self.spare().octets()) >= octets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{EmailId, Timestamp};

    #[test]
    fn an_index_grows_by_doubling_and_as_often_as_it_must() {
        let now = Timestamp::from_millis(0);
        let changes = vec![Change::Deleted { id: EmailId::from_octets([1; 16]), now }; 2];
        assert_eq!(growth_octets(1 << 30, &changes), 1 << 30);
        let (index, new) = (64 << 10, 2 * RECIPIENTS_OF_OTHERS * NEW_OCTETS);
        assert_eq!(growth_octets(index, &changes), index + 2 * (index + new));
    }
}
