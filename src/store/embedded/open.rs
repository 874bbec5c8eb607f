//! Opening: the index as it stands, the journal replayed onto it, and a segment of its own to go on in.

use std::sync::Arc;

use crate::store::disk::Disk;
use crate::store::index::{Checkpoint, Index};
use crate::store::journal::{Journal, Position, Replayed, least_segment_octets};
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
    let replayed = Replayed::open(Arc::clone(disk))?;
    if replayed.is_empty() {
        return begin_new(disk, &replayed, options);
    }
    let index = Index::open(disk, options)?.ok_or(OpenError::Index("index.redb is missing".into()))?;
    let start = index.position().map_err(OpenError::from)?;
    let end = replay(&replayed, &index, start)?;
    if end.group > start.group {
        tracing::info!(groups = end.group - start.group, "replayed the journal");
    }
    index.bring_within(options.retention)?;
    let checkpoint = index.checkpoint()?;
    remove_unneeded(&replayed, &checkpoint)?;
    let journal = Journal::begin(replayed.segments().clone(), end, false, options.segment_octets)?;
    Ok(Opened { index: Arc::new(index), journal })
}

/// The index and the journal of a directory in which nothing was ever kept.
fn begin_new(disk: &Arc<dyn Disk>, replayed: &Replayed, options: &StoreOptions) -> Result<Opened, OpenError> {
    let index = match Index::open(disk, options) {
        Ok(Some(index)) if index.position()? != Position::START => {
            return Err(OpenError::Damaged { segment: 1, offset: 0, what: "the journal is missing" });
        }
        Ok(Some(index)) => index,
        Err(error @ (OpenError::Format { .. } | OpenError::Foreign { .. } | OpenError::Io { .. })) => {
            return Err(error);
        }
        // A creation that was cut off: it is begun again.
        Ok(None) | Err(_) => Index::create(disk, options)?,
    };
    index.bring_within(options.retention)?;
    let journal = Journal::begin(replayed.segments().clone(), Position::START, true, options.segment_octets)?;
    Ok(Opened { index: Arc::new(index), journal })
}

/// Applies what the index lacks; where the journal ends.
fn replay(replayed: &Replayed, index: &Index, from: Position) -> Result<Position, OpenError> {
    replayed.run(from, |records, end| {
        index.apply(records.iter().map(|record| (&record.change, record.place)), end)?;
        Ok(())
    })
}

/// Removes what the index does not know and is behind its position; a segment that it knows must be there.
fn remove_unneeded(replayed: &Replayed, checkpoint: &Checkpoint) -> Result<(), OpenError> {
    let segments = replayed.segments();
    if let Some(segment) = checkpoint.alive.iter().find(|number| segments.file(**number).is_none()) {
        return Err(OpenError::Damaged { segment: *segment, offset: 0, what: "the segment is missing" });
    }
    for number in segments.numbers() {
        if number < checkpoint.position.segment && !checkpoint.alive.contains(&number) {
            // It is tried again after the next checkpoint.
            if let Err(error) = segments.unlink(number) {
                tracing::warn!(segment = number, %error, "an empty segment could not be removed");
            }
        }
    }
    Ok(())
}
