//! Opening: the index as it stands, the journal replayed onto it, and a segment of its own to go on in.

use std::sync::Arc;

use crate::store::disk::Disk;
use crate::store::index::{self, Checkpoint, Compacted, HashKey, Index};
use crate::store::journal::{FoundJournal, Journal, Position, least_segment_octets};
use crate::store::{OpenError, StoreOptions};

/// A store whose index is complete and durable, and whose journal can be written.
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
    // Before anything is touched: files of another format are left as they are.
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
    // Segments without a group bring the index nothing; left behind its position, each opening would leave one more.
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

/// Compacts the index of a store that nobody uses, whatever it holds.
pub(super) fn compact(disk: &Arc<dyn Disk>, options: &StoreOptions) -> Result<Compacted, OpenError> {
    let before_octets = octets_of_index(disk)?;
    let Opened { index, journal } = open(disk, options)?;
    let mut index = Arc::into_inner(index).ok_or(OpenError::Index("it is in use".into()))?;
    index.compact()?;
    // The close saves what a checkpoint would; both together leave the file larger.
    drop((index, journal));
    Ok(Compacted { before_octets, after_octets: octets_of_index(disk)? })
}

pub(super) fn index_missing() -> OpenError {
    OpenError::Index("index.redb is missing".into())
}

fn octets_of_index(disk: &Arc<dyn Disk>) -> Result<u64, OpenError> {
    Index::octets(disk).map_err(|error| OpenError::of_file(index::NAME, &error))
}

/// Makes a new store on an empty disk, under a known secret.
pub(super) fn create(disk: &Arc<dyn Disk>, options: &StoreOptions, secret: HashKey) -> Result<Opened, OpenError> {
    let index = Index::create_keyed(disk, options, secret)?;
    begin(&FoundJournal::open(Arc::clone(disk))?, index, options)
}

/// The index of a directory in which nothing was ever kept. One that another process began is made anew: it may be in memory
/// alone, if that process could not sync it.
fn create_index(disk: &Arc<dyn Disk>, options: &StoreOptions) -> Result<Index, OpenError> {
    // What can't be read is not known to be new.
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

/// Applies what the index lacks; where the journal ends.
fn replay(found: &FoundJournal, index: &Index, from: Position) -> Result<Position, OpenError> {
    found.run(from, |records, end| {
        index.apply(records.iter().map(|record| (&record.change, record.place)), end)?;
        Ok(())
    })
}

/// Removes what the index does not know and is behind its position; a segment that it knows must be there.
fn remove_unneeded(found: &FoundJournal, checkpoint: &Checkpoint) -> Result<(), OpenError> {
    let segments = found.segments();
    if let Some(segment) = checkpoint.live_segments.keys().find(|number| !segments.has(**number)) {
        return Err(OpenError::Damaged { segment: *segment, offset: 0, what: "the segment is missing" });
    }
    for number in segments.numbers() {
        if number < checkpoint.position.segment && !checkpoint.live_segments.contains_key(&number) {
            // It is tried again after the next checkpoint.
            if let Err(error) = segments.unlink(number) {
                tracing::warn!(segment = number, %error, "an empty segment could not be removed");
            }
        }
    }
    Ok(())
}
