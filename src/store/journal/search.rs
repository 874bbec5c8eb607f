//! The search for group headers in a damaged or unknown part of a segment.

use std::io;
use std::ops::Range;

use super::format::{GROUP_HEADER_OCTETS, GroupHeader};
use crate::store::disk::DiskFile;

/// How much is read at once.
const READ_OCTETS: usize = 1 << 20;

/// Reads the group header at `at`. `None` if there is none with this salt, or it ends after `end`.
pub(super) fn header_at(file: &dyn DiskFile, salt: u64, at: u64, end: u64) -> io::Result<Option<GroupHeader>> {
    if at + GROUP_HEADER_OCTETS as u64 > end {
        return Ok(None);
    }
    let mut octets = [0; GROUP_HEADER_OCTETS];
    file.read_at(at, &mut octets)?;
    Ok(GroupHeader::decode(&octets, salt))
}

/// Finds the first header with this salt in a range of a file that `is_wanted` accepts.
pub(super) fn find_header(
    file: &dyn DiskFile,
    salt: u64,
    range: Range<u64>,
    is_wanted: impl Fn(u64, &GroupHeader) -> bool,
) -> io::Result<Option<u64>> {
    let finder = memchr::memmem::Finder::new(&salt.to_le_bytes()).into_owned();
    let Range { mut start, end } = range;
    while start + GROUP_HEADER_OCTETS as u64 <= end {
        let length = usize::try_from(end - start).map_or(READ_OCTETS, |left| left.min(READ_OCTETS));
        let mut octets = vec![0; length];
        file.read_at(start, &mut octets)?;
        for at in finder.find_iter(&octets) {
            let at = start + at as u64;
            if header_at(file, salt, at, end)?.is_some_and(|header| is_wanted(at, &header)) {
                return Ok(Some(at));
            }
        }
        // The next piece begins with the last octets of this one, since a salt may lie across the border.
        start += (length as u64).saturating_sub(7).max(1);
    }
    Ok(None)
}
