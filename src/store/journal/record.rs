//! The layout of the journal: segment header, group header, record. All numbers are little-endian.
//!
//! ```text
//! segment  | magic 8 | format 4 | - 4 | number 8 | salt 8 | predecessor's end 8 | first group 8 | crc 4 |  up to 512
//! group    | salt 8 | number 8 | synced up to 4 | length 4 | records 4 | crc 4 |
//! record   | crc 4 | meta length 4 | content length 4 | content crc 4 | meta (a Change) | content (octets of a message) |
//! ```
//!
//! A record's first CRC covers its header and meta, so that they stay readable after the content was punched out.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::store::change::Change;

/// The format that this version writes and reads.
pub(crate) const FORMAT: u32 = 10;
/// The offset of a segment's first group. The header has a disk sector of its own.
pub(crate) const GROUPS_START: u32 = 512;
pub(super) const GROUP_HEADER_OCTETS: usize = 32;
pub(in crate::store) const RECORD_HEADER_OCTETS: usize = 16;
const MAGIC: [u8; 8] = *b"tempmail";
const SEGMENT_HEADER_OCTETS: usize = 52;

/// The first sector of a segment. Once it is durable, the predecessor is valid up to `predecessor_end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SegmentHeader {
    pub(super) number: u64,
    /// A random number, so that no message can contain a valid group header.
    pub(super) salt: u64,
    pub(super) predecessor_end: u64,
    pub(super) first_group: u64,
}

/// The first sector of a segment's file as read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstSector {
    /// Zeros: the segment was allocated and never used.
    Blank,
    Header(SegmentHeader),
    /// A version with another format wrote it.
    Format(u32),
    /// Zeros before a group: the header is gone.
    Lost,
    Damaged,
}

impl SegmentHeader {
    pub(super) fn encode(&self) -> [u8; GROUPS_START as usize] {
        let mut out = [0; GROUPS_START as usize];
        out[..8].copy_from_slice(&MAGIC);
        out[8..12].copy_from_slice(&FORMAT.to_le_bytes());
        for (at, value) in [(16, self.number), (24, self.salt), (32, self.predecessor_end), (40, self.first_group)] {
            out[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        let crc = crc32c::crc32c(&out[..SEGMENT_HEADER_OCTETS - 4]);
        out[SEGMENT_HEADER_OCTETS - 4..SEGMENT_HEADER_OCTETS].copy_from_slice(&crc.to_le_bytes());
        out
    }

    pub(super) fn decode(sector: &[u8; GROUPS_START as usize]) -> FirstSector {
        if sector.iter().all(|octet| *octet == 0) {
            return FirstSector::Blank;
        }
        let format = u32_at(sector, 8);
        if sector[..8] != MAGIC {
            return FirstSector::Damaged;
        }
        if format != FORMAT {
            return FirstSector::Format(format);
        }
        if crc32c::crc32c(&sector[..SEGMENT_HEADER_OCTETS - 4]) != u32_at(sector, SEGMENT_HEADER_OCTETS - 4) {
            return FirstSector::Damaged;
        }
        FirstSector::Header(Self {
            number: u64_at(sector, 16),
            salt: u64_at(sector, 24),
            predecessor_end: u64_at(sector, 32),
            first_group: u64_at(sector, 40),
        })
    }
}

/// The header of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GroupHeader {
    pub(super) number: u64,
    /// Everything before this offset of the segment was durable when the group was written.
    pub(super) synced: u32,
    /// Octets that follow the header.
    pub(super) length: u32,
    pub(super) records: u32,
}

impl GroupHeader {
    pub(super) fn encode(&self, salt: u64) -> [u8; GROUP_HEADER_OCTETS] {
        let mut out = [0; GROUP_HEADER_OCTETS];
        out[..8].copy_from_slice(&salt.to_le_bytes());
        out[8..16].copy_from_slice(&self.number.to_le_bytes());
        out[16..20].copy_from_slice(&self.synced.to_le_bytes());
        out[20..24].copy_from_slice(&self.length.to_le_bytes());
        out[24..28].copy_from_slice(&self.records.to_le_bytes());
        let crc = crc32c::crc32c(&out[..28]);
        out[28..].copy_from_slice(&crc.to_le_bytes());
        out
    }

    /// Decodes a header. `None` if it is not one of the segment with `salt`.
    pub(super) fn decode(octets: &[u8], salt: u64) -> Option<Self> {
        let octets = octets.get(..GROUP_HEADER_OCTETS)?;
        if u64_at(octets, 0) != salt || crc32c::crc32c(&octets[..28]) != u32_at(octets, 28) {
            return None;
        }
        Some(Self {
            number: u64_at(octets, 8),
            synced: u32_at(octets, 16),
            length: u32_at(octets, 20),
            records: u32_at(octets, 24),
        })
    }
}

/// A decoded record.
#[derive(Debug)]
pub(super) struct Record<'a> {
    pub(super) change: Change,
    pub(super) content: &'a [u8],
    /// Octets of the whole record.
    pub(super) length: usize,
}

/// The lengths and the content's CRC in a record's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) struct RecordHead {
    meta_octets: usize,
    pub(in crate::store) content_octets: usize,
    content_crc: u32,
}

impl RecordHead {
    /// Decodes a header without checking it.
    pub(in crate::store) fn decode(header: &[u8; RECORD_HEADER_OCTETS]) -> Self {
        Self {
            meta_octets: u32_at(header, 4) as usize,
            content_octets: u32_at(header, 8) as usize,
            content_crc: u32_at(header, 12),
        }
    }

    /// The offset of the content in the record.
    pub(in crate::store) fn content_start(&self) -> usize {
        RECORD_HEADER_OCTETS.saturating_add(self.meta_octets)
    }

    /// Octets of the whole record.
    pub(in crate::store) fn length(&self) -> usize {
        self.content_start().saturating_add(self.content_octets)
    }

    /// Whether this is the content that was written.
    pub(in crate::store) fn is_of(&self, content: &[u8]) -> bool {
        content.len() == self.content_octets && crc32c::crc32c(content) == self.content_crc
    }
}

/// Appends a record to `out`.
pub(in crate::store) fn encode_record(
    meta: &impl Serialize,
    content: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), postcard::Error> {
    let meta = postcard::to_allocvec(meta)?;
    let start = out.len();
    let length = |octets: usize| u32::try_from(octets).map_err(|_| postcard::Error::SerializeBufferFull);
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&length(meta.len())?.to_le_bytes());
    out.extend_from_slice(&length(content.len())?.to_le_bytes());
    out.extend_from_slice(&crc32c::crc32c(content).to_le_bytes());
    out.extend_from_slice(&meta);
    let crc = crc32c::crc32c(&out[start + 4..]);
    out[start..start + 4].copy_from_slice(&crc.to_le_bytes());
    out.extend_from_slice(content);
    Ok(())
}

/// Decodes the header and meta of the record at the start of `octets`, whatever its content is. `None` if they are damaged.
pub(in crate::store) fn decode_meta<M: DeserializeOwned>(octets: &[u8]) -> Option<(RecordHead, M)> {
    let head = RecordHead::decode(octets.first_chunk()?);
    let written = octets.get(4..head.content_start())?;
    if crc32c::crc32c(written) != u32_at(octets, 0) {
        return None;
    }
    Some((head, postcard::from_bytes(&octets[RECORD_HEADER_OCTETS..head.content_start()]).ok()?))
}

/// Decodes the record at the start of `octets`. `None` if any part is damaged.
pub(super) fn decode_record(octets: &[u8]) -> Option<Record<'_>> {
    let (head, change) = decode_meta(octets)?;
    let content = octets.get(head.content_start()..head.length())?;
    head.is_of(content).then_some(Record { change, content, length: head.length() })
}

fn u32_at(octets: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&octets[at..at + 4]);
    u32::from_le_bytes(word)
}

fn u64_at(octets: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&octets[at..at + 8]);
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{EmailId, Timestamp};

    fn change() -> Change {
        Change::Deleted { id: EmailId::from_octets([7; 16]), now: Timestamp::from_millis(5) }
    }

    #[test]
    fn headers_read_back_and_no_flipped_bit_passes() {
        let segment = SegmentHeader { number: 3, salt: 0xdead_beef, predecessor_end: 77, first_group: 9 };
        let sector = segment.encode();
        assert_eq!(SegmentHeader::decode(&sector), FirstSector::Header(segment));
        assert_eq!(SegmentHeader::decode(&[0; 512]), FirstSector::Blank);
        for bit in (0..8 * 8).chain(12 * 8..SEGMENT_HEADER_OCTETS * 8) {
            let mut bad = sector;
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(SegmentHeader::decode(&bad), FirstSector::Damaged, "bit {bit}");
        }
        for other in [FORMAT - 1, FORMAT + 1] {
            let mut sector = sector;
            sector[8..12].copy_from_slice(&other.to_le_bytes());
            assert_eq!(SegmentHeader::decode(&sector), FirstSector::Format(other));
        }

        let group = GroupHeader { number: 1, synced: 512, length: 100, records: 2 };
        let octets = group.encode(42);
        assert_eq!(GroupHeader::decode(&octets, 42), Some(group));
        assert_eq!(GroupHeader::decode(&octets, 43), None);
        for bit in 0..GROUP_HEADER_OCTETS * 8 {
            let mut bad = octets;
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(GroupHeader::decode(&bad, 42), None, "bit {bit}");
        }
    }

    #[test]
    fn a_record_reads_back_and_no_flipped_bit_passes() {
        let mut octets = Vec::new();
        encode_record(&change(), b"content", &mut octets).expect("encode");
        let record = decode_record(&octets).expect("decode");
        assert_eq!((record.change, record.content, record.length), (change(), &b"content"[..], octets.len()));
        for bit in 0..octets.len() * 8 {
            let mut bad = octets.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(decode_record(&bad).is_none(), "bit {bit}");
        }
        for cut in 0..octets.len() {
            assert!(decode_record(&octets[..cut]).is_none(), "cut at {cut}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_octets_are_a_record_or_nothing(octets in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode_record(&octets);
            let _ = GroupHeader::decode(&octets, 0);
        }
    }
}
