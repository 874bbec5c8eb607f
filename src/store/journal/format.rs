//! The layout of the journal: segment header, group header, record, hint. All numbers are little-endian.
//!
//! ```text
//! segment  | magic 8 | format 4 | number 4 | salt 8 | predecessor's end 4 | - 4 | first group 8 | first sequence 8 | crc 4 |  up to 512
//! group    | salt 8 | number 8 | length 4 | records 4 | crc 4 |
//! record   | crc 4 | meta length 4 | content length 4 | content crc 4 | meta (a Change) | content (octets of a message) |
//! hint     | number 4 | salt 8 | end 4 | next group 8 |, and for each record | offset 4 | its header and meta |
//! ```
//!
//! A record's first CRC covers its header and meta, so that they stay readable after the content was punched out. A hint is
//! what an opening must know of a sealed segment.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::store::change::{Change, RecordPlace};

/// The format that this version writes and reads.
pub(crate) const FORMAT: u32 = 11;
/// The offset of a segment's first group. The header has a disk sector of its own.
pub(crate) const GROUPS_START: u32 = 512;
pub(super) const GROUP_HEADER_OCTETS: usize = 28;
pub(in crate::store) const RECORD_HEADER_OCTETS: usize = 16;
const MAGIC: [u8; 8] = *b"tempmail";
const SEGMENT_HEADER_OCTETS: usize = 52;
const HINT_HEADER_OCTETS: usize = 24;

/// The first sector of a segment. Once it is durable, the predecessor is valid up to `predecessor_end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SegmentHeader {
    pub(super) number: u32,
    /// A random number, so that no message and no earlier use of the file can contain a valid group header.
    pub(super) salt: u64,
    pub(super) predecessor_end: u32,
    pub(super) first_group: u64,
    /// The next sequence number when the segment began. Numbers go on from here when all mail is gone.
    pub(super) first_sequence: u64,
}

/// The first sector of a segment's file as read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstSector {
    Header(SegmentHeader),
    /// A version with another format wrote it.
    Format(u32),
    Damaged,
}

impl SegmentHeader {
    pub(super) fn encode(&self) -> [u8; GROUPS_START as usize] {
        let mut out = [0; GROUPS_START as usize];
        out[..8].copy_from_slice(&MAGIC);
        out[8..12].copy_from_slice(&FORMAT.to_le_bytes());
        out[12..16].copy_from_slice(&self.number.to_le_bytes());
        out[16..24].copy_from_slice(&self.salt.to_le_bytes());
        out[24..28].copy_from_slice(&self.predecessor_end.to_le_bytes());
        out[32..40].copy_from_slice(&self.first_group.to_le_bytes());
        out[40..48].copy_from_slice(&self.first_sequence.to_le_bytes());
        let crc = crc32c::crc32c(&out[..SEGMENT_HEADER_OCTETS - 4]);
        out[SEGMENT_HEADER_OCTETS - 4..SEGMENT_HEADER_OCTETS].copy_from_slice(&crc.to_le_bytes());
        out
    }

    pub(super) fn decode(sector: &[u8; GROUPS_START as usize]) -> FirstSector {
        if sector[..8] != MAGIC {
            return FirstSector::Damaged;
        }
        let is_whole = |sector: &[u8]| {
            crc32c::crc32c(&sector[..SEGMENT_HEADER_OCTETS - 4]) == u32_at(sector, SEGMENT_HEADER_OCTETS - 4)
        };
        let format = u32_at(sector, 8);
        if format != FORMAT {
            // With this version's format it may be whole: then nothing but the format is damaged.
            let mut ours = *sector;
            ours[8..12].copy_from_slice(&FORMAT.to_le_bytes());
            return if is_whole(&ours) { FirstSector::Damaged } else { FirstSector::Format(format) };
        }
        if !is_whole(sector) {
            return FirstSector::Damaged;
        }
        FirstSector::Header(Self {
            number: u32_at(sector, 12),
            salt: u64_at(sector, 16),
            predecessor_end: u32_at(sector, 24),
            first_group: u64_at(sector, 32),
            first_sequence: u64_at(sector, 40),
        })
    }
}

/// The header of a group. A group is written after the one before it is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GroupHeader {
    pub(super) number: u64,
    /// Octets that follow the header.
    pub(super) length: u32,
    pub(super) records: u32,
}

impl GroupHeader {
    pub(super) fn encode(&self, salt: u64) -> [u8; GROUP_HEADER_OCTETS] {
        let mut out = [0; GROUP_HEADER_OCTETS];
        out[..8].copy_from_slice(&salt.to_le_bytes());
        out[8..16].copy_from_slice(&self.number.to_le_bytes());
        out[16..20].copy_from_slice(&self.length.to_le_bytes());
        out[20..24].copy_from_slice(&self.records.to_le_bytes());
        let crc = crc32c::crc32c(&out[..24]);
        out[24..].copy_from_slice(&crc.to_le_bytes());
        out
    }

    /// Decodes a header. `None` if it is not one of the segment with `salt`.
    pub(super) fn decode(octets: &[u8], salt: u64) -> Option<Self> {
        let octets = octets.get(..GROUP_HEADER_OCTETS)?;
        if u64_at(octets, 0) != salt || crc32c::crc32c(&octets[..24]) != u32_at(octets, 24) {
            return None;
        }
        Some(Self { number: u64_at(octets, 8), length: u32_at(octets, 16), records: u32_at(octets, 20) })
    }

    /// Decodes a header of any segment, with its salt.
    pub(super) fn decode_any(octets: &[u8]) -> Option<(u64, Self)> {
        let salt = u64_at(octets.get(..8)?, 0);
        // Most of what a search meets is zeros.
        (salt != 0).then(|| Self::decode(octets, salt)).flatten().map(|header| (salt, header))
    }

    /// Octets of the group with its header.
    pub(super) fn group_octets(&self) -> u64 {
        GROUP_HEADER_OCTETS as u64 + u64::from(self.length)
    }
}

/// The hint of a segment that is being written.
#[derive(Debug)]
pub(super) struct HintWriter(Vec<u8>);

impl HintWriter {
    pub(super) fn new() -> Self {
        Self(vec![0; HINT_HEADER_OCTETS])
    }

    /// Adds a record that begins at `offset`.
    pub(super) fn push(&mut self, offset: u32, record_without_content: &[u8]) {
        self.0.extend_from_slice(&offset.to_le_bytes());
        self.0.extend_from_slice(record_without_content);
    }

    /// The hint of the segment with this header, which is sealed at `end`. Its last group comes before `next_group`.
    pub(super) fn seal(mut self, header: &SegmentHeader, end: u32, next_group: u64) -> Vec<u8> {
        self.0[..4].copy_from_slice(&header.number.to_le_bytes());
        self.0[4..12].copy_from_slice(&header.salt.to_le_bytes());
        self.0[12..16].copy_from_slice(&end.to_le_bytes());
        self.0[16..24].copy_from_slice(&next_group.to_le_bytes());
        self.0
    }
}

/// What a hint says: the end of its segment, the number of the next group, and all records with their places.
pub(super) struct Hint {
    pub(super) end: u32,
    pub(super) next_group: u64,
    segment: u32,
    octets: Vec<u8>,
}

impl Hint {
    /// Decodes the hint of the segment with this header. `None` if it is of another segment.
    pub(super) fn decode(octets: Vec<u8>, header: &SegmentHeader) -> Option<Self> {
        let head = octets.get(..HINT_HEADER_OCTETS)?;
        let is_of_header = (u32_at(head, 0), u64_at(head, 4)) == (header.number, header.salt);
        let (end, next_group) = (u32_at(head, 12), u64_at(head, 16));
        is_of_header.then_some(Self { end, next_group, segment: header.number, octets })
    }

    /// Passes the records to `each`, one after the other, since all together take much memory. `None` if one makes no sense.
    pub(super) fn records(&self, mut each: impl FnMut(Change, RecordPlace)) -> Option<()> {
        let mut rest = &self.octets[HINT_HEADER_OCTETS..];
        while !rest.is_empty() {
            let (offset, record) = rest.split_first_chunk()?;
            let (head, change) = decode_meta(record)?;
            each(change, head.place(self.segment, u32::from_le_bytes(*offset))?);
            rest = record.get(head.content_start()..)?;
        }
        Some(())
    }
}

/// A decoded record.
#[derive(Debug)]
pub(super) struct Record<'a> {
    pub(super) change: Change,
    pub(super) content: &'a [u8],
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

    /// The place of the record if it begins at `offset` of a segment. `None` if no segment is so large.
    pub(super) fn place(&self, segment: u32, offset: u32) -> Option<RecordPlace> {
        let (length, content) = (u32::try_from(self.length()).ok()?, u32::try_from(self.content_octets).ok()?);
        offset.checked_add(length)?;
        Some(RecordPlace { segment, offset, length, content })
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
    head.is_of(content).then_some(Record { change, content })
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
    use crate::model::EmailId;

    fn change() -> Change {
        Change::Deleted { emails: vec![EmailId::from_octets([7; 16])] }
    }

    fn header() -> SegmentHeader {
        SegmentHeader { number: 3, salt: 0xdead_beef, predecessor_end: 77, first_group: 9, first_sequence: 11 }
    }

    #[test]
    fn headers_read_back_and_no_flipped_bit_passes() {
        let sector = header().encode();
        assert_eq!(SegmentHeader::decode(&sector), FirstSector::Header(header()));
        assert_eq!(SegmentHeader::decode(&[0; 512]), FirstSector::Damaged);
        for bit in 0..SEGMENT_HEADER_OCTETS * 8 {
            let mut bad = sector;
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(SegmentHeader::decode(&bad), FirstSector::Damaged, "bit {bit}");
        }
        for other in [FORMAT - 1, FORMAT + 1] {
            let mut sector = sector;
            sector[8..12].copy_from_slice(&other.to_le_bytes());
            let crc = crc32c::crc32c(&sector[..SEGMENT_HEADER_OCTETS - 4]);
            sector[SEGMENT_HEADER_OCTETS - 4..SEGMENT_HEADER_OCTETS].copy_from_slice(&crc.to_le_bytes());
            assert_eq!(SegmentHeader::decode(&sector), FirstSector::Format(other));
        }

        let group = GroupHeader { number: 1, length: 100, records: 2 };
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
        assert_eq!((record.change, record.content), (change(), &b"content"[..]));
        for bit in 0..octets.len() * 8 {
            let mut bad = octets.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(decode_record(&bad).is_none(), "bit {bit}");
        }
        for cut in 0..octets.len() {
            assert!(decode_record(&octets[..cut]).is_none(), "cut at {cut}");
        }
    }

    #[test]
    fn a_hint_reads_back_for_its_own_segment_alone() {
        let mut record = Vec::new();
        encode_record(&change(), b"content", &mut record).expect("encode");
        let mut writer = HintWriter::new();
        writer.push(540, &record[..record.len() - 7]);
        let hint = writer.seal(&header(), 600, 10);
        let read = Hint::decode(hint.clone(), &header()).expect("whole");
        let mut records = Vec::new();
        read.records(|change, place| records.push((change, place))).expect("records");
        let length = u32::try_from(record.len()).expect("short");
        let place = RecordPlace { segment: 3, offset: 540, length, content: 7 };
        assert_eq!((read.end, read.next_group, records), (600, 10, vec![(change(), place)]));
        assert!(Hint::decode(hint.clone(), &SegmentHeader { salt: 1, ..header() }).is_none());
        assert!(Hint::decode(hint, &SegmentHeader { number: 4, ..header() }).is_none());
    }

    proptest! {
        #[test]
        fn arbitrary_octets_are_a_record_or_nothing(octets in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode_record(&octets);
            let _ = GroupHeader::decode(&octets, 0);
            let _ = Hint::decode(octets.clone(), &header()).and_then(|hint| hint.records(|_, _| {}));
        }
    }
}
