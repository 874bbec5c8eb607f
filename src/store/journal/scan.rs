//! The one reader of the journal: of what an opening needs, and of a damaged journal for check and salvage.
//!
//! An unreadable group is either *torn* or *damaged*. It is damaged if a later group or a later segment says that it was
//! durable: a group is only written after the one before it. Otherwise it is torn: nobody got an answer for it, and the
//! journal ends there.

use std::io;
use std::sync::Arc;

use super::files::Files;
use super::format::{GROUP_HEADER_OCTETS, GROUPS_START, GroupHeader, Hint, SegmentHeader, decode_meta};
use super::search::{find_header, header_at};
use super::{Hints, segment_name};
use crate::store::OpenError;
use crate::store::change::{Change, RecordPlace};
use crate::store::check::{Finding, FindingKind};
use crate::store::disk::DiskFile;

/// How much is read at once where nothing is known.
const PIECE_OCTETS: usize = 1 << 20;

/// How a journal is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Damage is an error. Sealed segments are read from their hints where they have one, and contents only where it
    /// decides whether a group is torn.
    Strict,
    /// Damage is told, and reading goes on behind it. Everything is read.
    Lenient,
}

/// What a scan finds.
#[derive(Debug)]
pub(crate) enum Found {
    /// A fact.
    Fact { fact: Change, place: RecordPlace, content: Content },
    /// Octets that should be readable and are not.
    Damage(Finding),
}

/// The content of a record as it is on the disk now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// As written, as far as the mode looks.
    Whole,
    /// Zeros, since the content was punched out.
    Punched,
    /// Other octets.
    Damaged,
}

/// Where the journal ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scanned {
    /// The last segment; `None` in a new store.
    pub(super) last: Option<LastSegment>,
    /// The number of the next group.
    pub(super) next_group: u64,
    /// Sequence numbers go on from here at least.
    pub(crate) next_sequence: u64,
    /// Sealed segments whose files are longer than their valid parts, or may be after a power cut, and where these end.
    pub(super) uncut: Vec<(u32, u32)>,
}

/// The segment that was in use last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LastSegment {
    pub(super) header: SegmentHeader,
    /// Where its valid part ends.
    pub(super) end: u32,
    /// Where its last group begins, if it has any.
    pub(super) last_group: Option<u32>,
}

/// Reads all facts in their order. An error of the disk ends it in both modes.
pub(crate) fn scan(
    files: &Files,
    hints: &dyn Hints,
    mode: Mode,
    each: &mut dyn FnMut(Found),
) -> Result<Scanned, OpenError> {
    let mut scanned = Scanned { last: None, next_group: 1, next_sequence: 1, uncut: Vec::new() };
    let mut headers = Vec::new();
    let numbers = files.numbers();
    for missing in hints.numbers().into_iter().filter(|number| numbers.binary_search(number).is_err()) {
        let what = "the segment is missing";
        if mode == Mode::Strict {
            return Err(damaged(missing, 0, what));
        }
        each(Found::Damage(Finding::at(FindingKind::SegmentMissing, u64::from(missing), 0, what)));
    }
    for number in numbers {
        match files.header(number)? {
            Some(header) => headers.push(header),
            None if mode == Mode::Strict => return Err(damaged(number, 0, "the segment's header is not valid")),
            None => {
                let what = "the segment's header is not valid";
                each(Found::Damage(Finding::at(FindingKind::SegmentHeader, u64::from(number), 0, what)));
                headers.extend(guess(files, number, headers.last())?);
            }
        }
    }
    let mut headers = headers.into_iter().peekable();
    while let Some(header) = headers.next() {
        if header.first_group < scanned.next_group && mode == Mode::Strict {
            return Err(damaged(header.number, 0, "its groups come before those of the segment before it"));
        }
        let ends = match headers.peek() {
            // A guessed header knows of no predecessor.
            Some(next) if next.number == header.number + 1 && next.predecessor_end > 0 => {
                Ends::At { end: next.predecessor_end, next_group: next.first_group }
            }
            Some(_) => Ends::Somewhere,
            None => Ends::Open,
        };
        let hint = hints.get(header.number).and_then(|hint| Hint::decode(hint, &header)).filter(|hint| ends.fits(hint));
        // A hint is made when its segment is sealed, so it knows the end as well as the next segment does.
        let ends = hint.as_ref().map_or(ends, |hint| Ends::At { end: hint.end, next_group: hint.next_group });
        let has_hint = hint.is_some();
        let (end, next_group, last_group) = match hint.filter(|_| mode == Mode::Strict) {
            Some(hint) => {
                let whole = |fact, place| each(Found::Fact { fact, place, content: Content::Whole });
                hint.records(whole).ok_or_else(|| damaged(header.number, 0, "its hint makes no sense"))?;
                (hint.end, hint.next_group, None)
            }
            None => Reader::read(files, (header, ends, mode), each)?,
        };
        if let Ends::At { end, .. } = ends
            && (!has_hint || files.size(header.number) > u64::from(end))
        {
            scanned.uncut.push((header.number, end));
        }
        scanned.next_group = next_group;
        scanned.next_sequence = scanned.next_sequence.max(header.first_sequence);
        scanned.last = Some(LastSegment { header, end, last_group });
    }
    Ok(scanned)
}

/// The header of a segment whose own header is damaged, as far as two readable groups of it tell that follow each other. One
/// alone could be of an earlier use of the file, or be part of a message.
fn guess(files: &Files, number: u32, before: Option<&SegmentHeader>) -> Result<Option<SegmentHeader>, OpenError> {
    let failed = |error: io::Error| OpenError::of_file(&segment_name(number), &error);
    let Some(file) = files.file(number).map_err(failed)? else { return Ok(None) };
    let (size, mut at) = (file.size().map_err(failed)?, u64::from(GROUPS_START));
    let mut piece = vec![0; PIECE_OCTETS];
    while at < size {
        let length = usize::try_from(size - at).map_or(piece.len(), |left| left.min(piece.len()));
        file.read_at(at, &mut piece[..length]).map_err(failed)?;
        let headers = piece[..length].windows(GROUP_HEADER_OCTETS).enumerate();
        let mut groups =
            headers.filter_map(|(offset, octets)| Some((at + offset as u64, GroupHeader::decode_any(octets)?)));
        let is_later = |group: &GroupHeader| before.is_none_or(|before| group.number > before.first_group);
        let found = groups.find(|(at, (salt, group))| {
            let next = header_at(&*file, *salt, at + group.group_octets(), size).ok().flatten();
            is_later(group) && next.is_some_and(|next| next.number == group.number + 1)
        });
        if let Some((_, (salt, group))) = found {
            let (predecessor_end, first_group, first_sequence) = (0, group.number, 0);
            return Ok(Some(SegmentHeader { number, salt, predecessor_end, first_group, first_sequence }));
        }
        // A header may lie across the border of two pieces.
        at += (length as u64).saturating_sub(GROUP_HEADER_OCTETS as u64).max(1);
    }
    Ok(None)
}

/// What is known of a segment's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    /// The next segment names it.
    At { end: u32, next_group: u64 },
    /// The segment is sealed, and the next one is gone.
    Somewhere,
    /// It is the last segment, which a crash may have cut short.
    Open,
}

impl Ends {
    /// Whether a hint agrees.
    fn fits(self, hint: &Hint) -> bool {
        match self {
            Self::At { end, next_group } => (hint.end, hint.next_group) == (end, next_group),
            Self::Somewhere | Self::Open => true,
        }
    }
}

/// The end of a segment, the number of the next group, and where the last group begins.
type Read = (u32, u64, Option<u32>);

/// Reads one segment group by group.
struct Reader<'a> {
    header: SegmentHeader,
    ends: Ends,
    mode: Mode,
    file: Arc<dyn DiskFile>,
    /// Nothing behind this belongs to the segment.
    end: u64,
    each: &'a mut dyn FnMut(Found),
}

impl Reader<'_> {
    fn read(
        files: &Files,
        (header, ends, mode): (SegmentHeader, Ends, Mode),
        each: &mut dyn FnMut(Found),
    ) -> Result<Read, OpenError> {
        let failed = |error: io::Error| OpenError::of_file(&segment_name(header.number), &error);
        let Some(file) = files.file(header.number).map_err(failed)? else {
            return Err(damaged(header.number, 0, "the segment is missing"));
        };
        let size = file.size().map_err(failed)?;
        let mut reader = Reader { header, ends, mode, file, end: size, each };
        if let Ends::At { end, .. } = ends {
            if u64::from(end) > size {
                reader.tell(FindingKind::Group, size, "the segment is shorter than the next one says")?;
            }
            reader.end = size.min(u64::from(end));
        }
        reader.run()
    }

    fn failed(&self, error: &io::Error) -> OpenError {
        OpenError::of_file(&segment_name(self.header.number), error)
    }

    fn run(&mut self) -> Result<Read, OpenError> {
        let mut at = u64::from(GROUPS_START);
        let (mut group, mut last_group) = (self.header.first_group, None);
        loop {
            let Some(header) = self.group_at(at, group)? else {
                let Some(next) = self.behind(at, group)? else { break };
                at = next;
                continue;
            };
            let records = self.records(at, header)?;
            if !records.is_whole {
                if self.ends == Ends::Open && self.search(at + 1, header.number + 1)?.is_none() {
                    // Nobody was promised a torn group, but what is whole of it may be kept.
                    if self.mode == Mode::Lenient {
                        let is_whole = |found: &Found| matches!(found, Found::Fact { content: Content::Whole, .. });
                        records.found.into_iter().filter(is_whole).for_each(|found| (self.each)(found));
                    }
                    break;
                }
                let broken_at = records.broken_at.unwrap_or(at);
                self.tell(FindingKind::Record, broken_at, "a record of a durable group does not read back")?;
            }
            records.found.into_iter().for_each(|found| (self.each)(found));
            last_group = Some(narrow(at));
            (at, group) = (at + header.group_octets(), header.number + 1);
        }
        match self.ends {
            Ends::At { next_group, .. } if group != next_group => {
                self.tell(FindingKind::Group, at, "groups are missing before the next segment")?;
                Ok((narrow(at), next_group, last_group))
            }
            _ => Ok((narrow(at), group, last_group)),
        }
    }

    /// The header of a group at `at`: in a strict scan the one with this number, otherwise this or a later one.
    fn group_at(&self, at: u64, number: u64) -> Result<Option<GroupHeader>, OpenError> {
        let header = self.header_at(at)?;
        let is_lenient = self.mode == Mode::Lenient;
        let is_expected = |header: &GroupHeader| header.number == number || (is_lenient && header.number > number);
        Ok(header.filter(|header| is_expected(header) && at + header.group_octets() <= self.end))
    }

    fn header_at(&self, at: u64) -> Result<Option<GroupHeader>, OpenError> {
        header_at(&*self.file, self.header.salt, at, self.end).map_err(|error| self.failed(&error))
    }

    /// Finds the first group from `from` on with at least this number.
    fn search(&self, from: u64, number: u64) -> Result<Option<u64>, OpenError> {
        let is_wanted = |at, header: &GroupHeader| header.number >= number && at + header.group_octets() <= self.end;
        find_header(&*self.file, self.header.salt, from..self.end, is_wanted).map_err(|error| self.failed(&error))
    }

    /// Looks behind octets that are no group. `None` at the end of the segment.
    fn behind(&mut self, at: u64, number: u64) -> Result<Option<u64>, OpenError> {
        let next = self.search(at + 1, number)?;
        if next.is_some() || (at < self.end && self.is_cut(at)?) {
            let what = format!("{} octets are no group of records", next.unwrap_or(self.end) - at);
            self.tell(FindingKind::Group, at, &what)?;
        }
        Ok(next)
    }

    /// Whether a group must have been at `at`, behind the last readable one.
    fn is_cut(&self, at: u64) -> Result<bool, OpenError> {
        match self.ends {
            Ends::At { .. } => Ok(true),
            Ends::Open => Ok(false),
            // The segment was truncated to its valid part, unless that failed and zeros stayed.
            Ends::Somewhere => {
                let mut rest = [0; GROUP_HEADER_OCTETS];
                let length = usize::try_from(self.end - at).map_or(rest.len(), |left| left.min(rest.len()));
                self.file.read_at(at, &mut rest[..length]).map_err(|error| self.failed(&error))?;
                Ok(rest.iter().any(|octet| *octet != 0))
            }
        }
    }

    /// Reads the records of the group at `at`, up to the first with a damaged header or meta.
    fn records(&self, at: u64, header: GroupHeader) -> Result<Records, OpenError> {
        let start = at + GROUP_HEADER_OCTETS as u64;
        let mut octets = vec![0; header.length as usize];
        self.file.read_at(start, &mut octets).map_err(|error| self.failed(&error))?;
        // A group that no later one follows may be torn, and then its contents decide.
        let is_in_doubt = self.ends == Ends::Open && self.header_at(start + u64::from(header.length))?.is_none();
        let mut records = Records { found: Vec::new(), is_whole: true, broken_at: None };
        let mut offset = 0;
        for _ in 0..header.records {
            let at = start + offset as u64;
            let Some((fact, place, length, content)) = self.record(&octets[offset..], narrow(at), is_in_doubt) else {
                return Ok(Records { is_whole: false, broken_at: Some(at), ..records });
            };
            records.is_whole &= !is_in_doubt || content == Content::Whole;
            records.found.push(Found::Fact { fact, place, content });
            offset += length;
        }
        records.is_whole &= offset == octets.len();
        Ok(records)
    }

    /// Decodes a record: its fact, place, length and content.
    fn record(&self, octets: &[u8], offset: u32, is_in_doubt: bool) -> Option<(Change, RecordPlace, usize, Content)> {
        let (head, fact) = decode_meta(octets)?;
        let content = octets.get(head.content_start()..head.length())?;
        let is_looked_at = self.mode == Mode::Lenient || is_in_doubt;
        let content = if !is_looked_at || head.is_of(content) {
            Content::Whole
        } else if content.iter().all(|octet| *octet == 0) {
            Content::Punched
        } else {
            Content::Damaged
        };
        Some((fact, head.place(self.header.number, offset)?, head.length(), content))
    }

    /// Tells of damage, or fails in a strict scan.
    fn tell(&mut self, kind: FindingKind, offset: u64, what: &str) -> Result<(), OpenError> {
        let segment = self.header.number;
        if self.mode == Mode::Strict {
            return Err(damaged(segment, offset, "a durable group cannot be read"));
        }
        (self.each)(Found::Damage(Finding::at(kind, u64::from(segment), offset, what)));
        Ok(())
    }
}

/// The records of a group as they are on the disk.
struct Records {
    found: Vec<Found>,
    /// Whether they are all there: each with its header and meta, and in the last group with its content.
    is_whole: bool,
    broken_at: Option<u64>,
}

/// An offset in a segment, which is below 4 GiB.
fn narrow(offset: u64) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

fn damaged(segment: u32, offset: u64, what: &'static str) -> OpenError {
    OpenError::Damaged { segment: u64::from(segment), offset, what }
}
