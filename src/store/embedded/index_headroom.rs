//! Headroom: before a group goes into the journal, the disk must have room for the growth of the index.
//!
//! The room is checked and not reserved, since redb grows by doubling. A reservation would double the disk space of every
//! index. Another program may fill the disk after the check. Then the index gets the space of the next segment, which is
//! enough while the index is smaller than a segment. Otherwise the durable group is shown once there is room, and its
//! senders get no answer.
//!
//! On a nearly full disk a mostly free index is compacted. It has grown with mail that was removed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::checkpoint::Unsaved;
use super::state::StoreState;
use super::writer::Writer;
use crate::store::StoreError;
use crate::store::change::Change;
use crate::store::index::AT_START_OCTETS_MAX;
use crate::store::journal::Group;

/// The shortest time between two checks whether the index is mostly free. A check reads the index.
const COMPACTION_EVERY: Duration = Duration::from_secs(10);
/// How long a compaction waits for the current readers.
const READERS_TIMEOUT: Duration = Duration::from_millis(500);

/// The most octets of existing pages that the rows of one recipient make redb copy.
const COPIED_OCTETS: u64 = 32 << 10;
/// The most octets of the rows of one recipient, with ten events and half-empty pages.
const NEW_OCTETS: u64 = 4 << 10;
/// A change without recipients counts as this many recipients.
const RECIPIENTS_OF_OTHERS: u64 = 64;

/// The most octets by which a group can make an index of `index_octets` grow.
///
/// The index doubles until the copied and the new pages fit, even if no page was free.
fn growth_octets<'c>(index_octets: u64, changes: impl IntoIterator<Item = &'c Change>) -> u64 {
    let recipients_of =
        |change: &Change| change.recipients().map_or(RECIPIENTS_OF_OTHERS, |recipients| recipients.len() as u64);
    let recipients: u64 = changes.into_iter().map(recipients_of).sum();
    let wanted = index_octets.min(recipients * COPIED_OCTETS) + recipients * NEW_OCTETS;
    if wanted <= index_octets { index_octets } else { index_octets + 2 * wanted }
}

impl Writer {
    /// Makes sure that the index has room for a group: on the disk, or in the space of the next segment.
    ///
    /// Without room it fails with [`StoreError::Full`]. A group that only frees space is let through after a checkpoint,
    /// which frees pages of the index.
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
        // A relocation can wait. It is let through if it fits into the free pages of the index.
        if is_relocation && !self.state.index().is_some_and(|index| index.is_sparse(index_octets)) {
            return Err(StoreError::Full);
        }
        Ok(())
    }

    /// Schedules a compaction of the index if the disk is nearly full.
    pub(super) fn look_for_compaction(&mut self) {
        if self.compact_at.is_none() && self.state.has_room_for_mail() == Err(StoreError::Full) {
            let last = self.compacted_at.map_or_else(Instant::now, |at| at + COMPACTION_EVERY);
            self.compact_at = Some(last.max(Instant::now()));
        }
    }

    /// Compacts the index if it is mostly free and small. Reads wait for it.
    pub(super) fn compact_index(&mut self) {
        self.compact_at = None;
        self.compacted_at = Some(Instant::now());
        let before_octets = self.state.measure_index();
        let Some(mut index) = self.state.borrow_index(Instant::now() + READERS_TIMEOUT) else {
            return self.look_for_compaction();
        };
        let compacted = index.compact_if_worthwhile(before_octets, AT_START_OCTETS_MAX);
        self.state.give_index_back(Arc::new(index));
        let after_octets = self.state.measure_index();
        match compacted {
            Ok(true) => {
                tracing::info!(before_octets, after_octets, "compacted the index, since the disk is nearly full");
                // Without a checkpoint a start after a kill would have to read the whole index.
                self.unsaved.get_or_insert_with(Unsaved::now);
                self.checkpoint();
            }
            Ok(false) => {}
            Err(error) => {
                tracing::error!(%error, "the index could not be compacted; it is reopened");
                self.recover_index(&error);
            }
        }
    }
}

impl StoreState {
    /// Whether the disk and the next segment together have this much room. If the disk does not say, they have.
    fn has_room(&self, octets: u64) -> bool {
        let Ok(free) = self.segments().disk().free_octets() else { return true };
        // The spare is only measured on a nearly full disk.
        free >= octets || free.saturating_add(self.spare().octets()) >= octets
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
