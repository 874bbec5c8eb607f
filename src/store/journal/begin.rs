//! The beginning of a journal in a process.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use super::scan::{LastSegment, Scanned};
use super::spare::Spare;
use super::{Files, Hints, Journal, segment_name};
use crate::store::disk::Disk;
use crate::store::{OpenError, StoreOptions};

impl Journal {
    /// Continues the journal after what a strict scan found. Makes no file before the first group.
    ///
    /// What the last process may not have synced is durable on return: its last group, and the header of its last segment.
    pub(crate) fn begin(
        files: Files,
        found: Scanned,
        options: &StoreOptions,
        hints: Arc<dyn Hints>,
    ) -> Result<Self, OpenError> {
        let failed = |number: u32, error: &io::Error| OpenError::of_file(&segment_name(number), error);
        if let Some(last) = &found.last {
            write_again(&files, last).map_err(|error| failed(last.header.number, &error))?;
            // On a full disk this makes room for the next segment.
            cut(&**files.disk(), last.header.number, last.end).map_err(|error| failed(last.header.number, &error))?;
        }
        for (number, end) in &found.uncut {
            cut(&**files.disk(), *number, *end).map_err(|error| failed(*number, &error))?;
        }
        let disk = Arc::clone(files.disk());
        let spare = Spare::start(disk, Arc::clone(&hints), options.segment_octets)
            .map_err(|error| OpenError::of_file("the next segment", &error))?;
        Ok(Self {
            files,
            hints,
            last: found.last,
            active: None,
            next_group: found.next_group,
            spare,
            segment_octets: options.segment_octets,
            removed: Vec::new(),
            has_renamed: false,
            dead_since: None,
            opened: Instant::now(),
        })
    }
}

/// Writes again what the last process may not have synced.
///
/// The page cache may show it nevertheless, and after a failed sync its pages count as clean, so that another sync alone would
/// not write them.
fn write_again(files: &Files, last: &LastSegment) -> io::Result<()> {
    let Some(file) = files.file(last.header.number)? else { return Err(io::ErrorKind::NotFound.into()) };
    file.write_at(0, &last.header.encode())?;
    if let Some(at) = last.last_group {
        let mut octets = vec![0; (last.end - at) as usize];
        file.read_at(u64::from(at), &mut octets)?;
        file.write_at(u64::from(at), &octets)?;
    }
    file.sync()?;
    files.disk().sync_dir()
}

/// Truncates a segment durably: when the next segment is gone, nothing says any more that its last group was cut off.
pub(super) fn cut(disk: &dyn Disk, number: u32, end: u32) -> io::Result<()> {
    let file = disk.open(&segment_name(number))?;
    if file.size()? > u64::from(end) {
        file.set_len(u64::from(end))?;
    }
    file.sync()
}
