//! The check of a store that nobody has open. It writes nothing.
//!
//! The check reads every record of the journal and every table of the index, and compares them. The index may be behind the
//! journal, as after a crash. Records after its position are checked on their own. A cluster has a check of its own, with the same report.

mod finding;

use std::sync::Arc;

pub use finding::{Finding, FindingKind};

use super::disk::Disk;
use super::index::{Audit, Index, View};
use super::journal::{Position, SegmentFiles, WalkItem, WalkedContent, WalkedRecord};
use super::{OpenError, StoreOptions};

/// The most findings that a report lists. Further ones are counted.
pub(super) const FINDINGS_MAX: usize = 10_000;

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// The first 10,000 findings.
    pub findings: Vec<Finding>,
    /// The number of further findings.
    pub unlisted: u64,
    /// Segments that were read.
    pub segments: u64,
    /// Records that were read; in a cluster, the parts of messages.
    pub records: u64,
    /// Emails in the index.
    pub emails: u64,
    /// In a cluster, records to which no Email leads. They end by themselves.
    pub unused: u64,
}

impl CheckReport {
    /// Adds a finding.
    pub(super) fn found(&mut self, finding: Finding) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(finding);
        } else {
            self.unlisted += 1;
        }
    }

    /// Whether the index could be read.
    pub(super) fn has_index(&self) -> bool {
        let is_of_index = |kind| matches!(kind, FindingKind::IndexMissing | FindingKind::IndexDamaged);
        !self.findings.iter().any(|finding| is_of_index(finding.kind))
    }

    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Checks the store on `disk`, which nobody else has open.
///
/// `progress` gets the octets read so far, and all octets. An error means that nothing could be checked: the format is
/// another one, there is no store, or the directory is unreadable.
pub fn check(
    disk: &Arc<dyn Disk>,
    options: &StoreOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<CheckReport, OpenError> {
    let files = SegmentFiles::in_directory(disk)?;
    let mut report = CheckReport::default();
    let index = match Index::open_untouched(disk, options) {
        Ok(Some(index)) => Some(index),
        Ok(None) if files.is_empty() => return Err(OpenError::Empty),
        Ok(None) => {
            report.found(Finding::index(FindingKind::IndexMissing, "index.redb is missing"));
            None
        }
        Err(OpenError::Index(reason)) => {
            report.found(Finding::index(FindingKind::IndexDamaged, reason));
            None
        }
        Err(other) => return Err(other),
    };
    let index = index.and_then(|index| sound(index, &mut report));
    let position = index.as_ref().map_or(Ok(Position::START), Index::position)?;
    let view = index.as_ref().map(Index::view).transpose()?;
    let mut audit = view.as_ref().map(View::audit).transpose()?;
    for number in &files.damaged {
        report.found(Finding::at(FindingKind::SegmentHeader, *number, 0, "the segment's header is not valid"));
    }
    missing(&files, position, audit.as_ref(), &mut report);
    let mut walked = Walked { files: &files, position, audit: audit.as_mut(), report: &mut report };
    walked.all(progress)?;
    if let Some(audit) = audit {
        report.emails = audit.finish(&mut |finding| report.found(finding))?;
    }
    report.segments = files.numbers().len() as u64;
    Ok(report)
}

/// Returns the index if redb's own check finds no damage. A damaged index is not worth comparing.
fn sound(mut index: Index, report: &mut CheckReport) -> Option<Index> {
    let reason = match index.is_sound() {
        Ok(true) => return Some(index),
        Ok(false) => "its pages do not agree with each other".to_owned(),
        Err(error) => error.to_string(),
    };
    report.found(Finding::index(FindingKind::IndexDamaged, reason));
    None
}

/// Reports missing segments: those with live messages, and those from the index's position on.
fn missing(files: &SegmentFiles, position: Position, audit: Option<&Audit>, report: &mut CheckReport) {
    let Some(audit) = audit else { return };
    let last = files.numbers().last().copied().unwrap_or(0);
    let needed = audit.segments().filter(|number| *number < position.segment).chain(position.segment..=last);
    let is_new = position == Position::START && files.is_empty();
    let at_position = Some(position.segment).filter(|number| *number > last && !is_new);
    for number in needed.chain(at_position) {
        if !files.has(number) {
            report.found(Finding::at(FindingKind::SegmentMissing, number, 0, "the segment is missing"));
        }
    }
}

struct Walked<'a, 'v> {
    files: &'a SegmentFiles,
    position: Position,
    audit: Option<&'a mut Audit<'v>>,
    report: &'a mut CheckReport,
}

impl Walked<'_, '_> {
    fn all(&mut self, progress: &mut dyn FnMut(u64, u64)) -> Result<(), OpenError> {
        let all = self.files.octets();
        let mut before = 0;
        for number in self.files.numbers() {
            self.segment(number, &mut |offset| progress((before + offset).min(all), all))?;
            before += self.files.size(number);
            progress(before.min(all), all);
        }
        Ok(())
    }

    fn segment(&mut self, number: u64, progress: &mut dyn FnMut(u64)) -> Result<(), OpenError> {
        let failed = |error: std::io::Error| OpenError::Io {
            path: super::journal::segment_name(number).into(),
            reason: error.to_string(),
        };
        let Some(mut walk) = self.files.walk(number).map_err(failed)? else { return Ok(()) };
        while let Some(item) = walk.next_item().map_err(failed)? {
            progress(walk.offset());
            match item {
                WalkItem::Gap { from, to } => {
                    let what = format!("{} octets are no group of records", to - from);
                    self.report.found(Finding::at(FindingKind::Group, number, from, what));
                }
                WalkItem::Group { number: group, offset, records, broken_at } => {
                    let is_whole = broken_at.is_none()
                        && records.iter().all(|record| matches!(record.content, WalkedContent::Whole(_)));
                    // The group is after the index's position, and no later header says that it was durable.
                    if !is_whole && group >= self.position.group && walk.may_be_torn().map_err(failed)? {
                        continue;
                    }
                    self.records(&records)?;
                    if let Some(broken) = broken_at {
                        let what = format!("a record of the group at {offset} does not read back");
                        self.report.found(Finding::at(FindingKind::Record, number, broken, what));
                    }
                }
            }
        }
        self.short(number, walk.offset());
        Ok(())
    }

    /// Reports a segment that ends before the index's position.
    fn short(&mut self, number: u64, end: u64) {
        let is_short = number == self.position.segment && end < u64::from(self.position.offset);
        if self.audit.is_some() && is_short {
            let what = "the segment ends before what the index has read of it";
            self.report.found(Finding::at(FindingKind::Group, number, end, what));
        }
    }

    fn records(&mut self, records: &[WalkedRecord]) -> Result<(), OpenError> {
        for record in records {
            self.report.records += 1;
            let is_named = match self.audit.as_deref_mut() {
                Some(audit) => audit.record(record)?,
                None => false,
            };
            // A live message has a finding of its own, and a deleted one may be half punched out.
            if matches!(record.content, WalkedContent::Damaged) && !is_named {
                let (segment, offset) = (record.place.segment, u64::from(record.place.offset));
                let what = "the content of a record is not what was written";
                self.report.found(Finding::at(FindingKind::Content, segment, offset, what));
            }
        }
        Ok(())
    }
}
