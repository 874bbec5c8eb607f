//! Opening a store: the index is opened, the journal replayed onto it, and a new segment begun.

use std::sync::Arc;

use crate::store::disk::Disk;
use crate::store::index::{self, Checkpoint, Index};
use crate::store::journal::{FoundJournal, Journal, Position, least_segment_octets};
use crate::store::names::HashKey;
use crate::store::{OpenError, StoreOptions};

/// An opened store: its index is complete and durable, and its journal can be written.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) index: Arc<Index>,
    pub(super) journal: Journal,
}

pub(super) fn open(disk: &Arc<dyn Disk>, options: &StoreOptions) -> Result<Opened, OpenError> {
    let least = least_segment_octets(options.message_octets_max);
    if options.segment_octets < least || options.segment_octets > u64::from(u32::MAX) {
        return Err(OpenError::SegmentTooSmall { least });
    }
    let found = FoundJournal::open(Arc::clone(disk))?;
    if found.is_empty() {
        let index = create_index(disk, options)?;
        return begin(&found, index, options);
    }
    // This comes before any write: files of another format must not change.
    if Index::open_untouched(disk, options)?.is_none() {
        return Err(index_missing());
    }
    found.remove_blank();
    let mut index = Index::open(disk, options)?.ok_or_else(index_missing)?;
    let start = index.position().map_err(OpenError::from)?;
    let end = replay(&found, &index, start)?;
    if end.group > start.group {
        tracing::info!(groups = end.group - start.group, "replayed the journal");
    }
    // The end may be in a later segment without a group. Each opening would leave one more if the position stayed behind.
    if end != start {
        index.set_position(end)?;
    }
    if let Some(retention) = options.retention {
        index.shorten_lives_to(retention)?;
    }
    let checkpoint = index.checkpoint()?;
    remove_unneeded(&found, &checkpoint)?;
    let before_octets = octets_of_index(disk)?;
    if index.compact_if_worthwhile(before_octets, index::AT_START_OCTETS_MAX)? {
        index.checkpoint()?;
        tracing::info!(before_octets, after_octets = octets_of_index(disk)?, "compacted the index");
    }
    let journal = Journal::begin(found.segments().clone(), end, false, options)?;
    Ok(Opened { index: Arc::new(index), journal })
}

pub(super) fn index_missing() -> OpenError {
    OpenError::Index("index.redb is missing".into())
}

fn octets_of_index(disk: &Arc<dyn Disk>) -> Result<u64, OpenError> {
    Index::octets_on(disk).map_err(|error| OpenError::of_file(index::NAME, &error))
}

/// Creates a new store on an empty disk, with a given secret.
pub(super) fn create(disk: &Arc<dyn Disk>, options: &StoreOptions, secret: HashKey) -> Result<Opened, OpenError> {
    let index = Index::create_keyed(disk, options, secret)?;
    begin(&FoundJournal::open(Arc::clone(disk))?, index, options)
}

/// Creates the index of a directory without a journal.
///
/// An index that another process began is created again, since that process may not have synced it.
fn create_index(disk: &Arc<dyn Disk>, options: &StoreOptions) -> Result<Index, OpenError> {
    // An unreadable index may have belonged to a journal.
    if let Some(index) = Index::open_untouched(disk, options)?
        && index.position()? != Position::START
    {
        return Err(OpenError::Damaged { segment: 1, offset: 0, what: "the journal is missing" });
    }
    Index::create(disk, options)
}

/// Begins a journal for a new index.
fn begin(found: &FoundJournal, index: Index, options: &StoreOptions) -> Result<Opened, OpenError> {
    if let Some(retention) = options.retention {
        index.shorten_lives_to(retention)?;
    }
    let journal = Journal::begin(found.segments().clone(), Position::START, true, options)?;
    Ok(Opened { index: Arc::new(index), journal })
}

/// Applies the groups that the index lacks. Returns the end of the journal.
fn replay(found: &FoundJournal, index: &Index, from: Position) -> Result<Position, OpenError> {
    found.run(from, |records, end| {
        index.apply(records.iter().map(|record| (&record.change, record.place)), end, false)?;
        Ok(())
    })
}

/// Removes segments before the index's position that have no live message. Fails if one with live messages is missing.
fn remove_unneeded(found: &FoundJournal, checkpoint: &Checkpoint) -> Result<(), OpenError> {
    let segments = found.segments();
    if let Some(segment) = checkpoint.live_segments.keys().find(|number| !segments.has(**number)) {
        return Err(OpenError::Damaged { segment: *segment, offset: 0, what: "the segment is missing" });
    }
    for number in segments.numbers() {
        if number < checkpoint.position.segment && !checkpoint.live_segments.contains_key(&number) {
            // The next checkpoint tries again.
            if let Err(error) = segments.unlink(number) {
                tracing::warn!(segment = number, %error, "an empty segment could not be removed; the next checkpoint tries again");
            }
        }
    }
    Ok(())
}
