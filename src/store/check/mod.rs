//! The check of a store that nobody has open. It writes nothing.
//!
//! The check reads every record of the journal with its content, and every row of the registry. Damage of what nobody can
//! read any more, such as a deleted message, is no finding. A cluster has a check of its own, with the same report.

mod finding;
mod salvage;

use std::collections::HashSet;
use std::sync::Arc;

pub use finding::{Finding, FindingKind};
pub use salvage::{Salvaged, salvage};

use super::change::RecordPlace;
use super::disk::Disk;
use super::embedded::EmbeddedRegistry;
use super::journal::{Content, Files, Found, Mode, scan};
use super::mail::{Limits, Mail};
use super::{OpenError, StoreOptions};
use crate::model::Timestamp;

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
    /// Records that were read; in a cluster, messages.
    pub records: u64,
    /// Emails that are readable.
    pub emails: u64,
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

    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }
}

/// What a check could read of a store.
pub(super) struct Readable {
    pub(super) files: Files,
    /// An empty one in memory if the store's is damaged.
    pub(super) registry: EmbeddedRegistry,
    pub(super) mail: Mail,
}

/// Checks the store on `disk`, which nobody else has open, as of `now`.
///
/// `progress` gets the octets read so far, and all octets. An error means that nothing could be checked: the format is
/// another one, there is no store, or the directory is unreadable.
pub fn check(
    disk: &Arc<dyn Disk>,
    options: &StoreOptions,
    now: Timestamp,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<CheckReport, OpenError> {
    read(disk, options, now, progress).map(|(report, _)| report)
}

/// Reads whatever can be read, and reports the rest.
pub(super) fn read(
    disk: &Arc<dyn Disk>,
    options: &StoreOptions,
    now: Timestamp,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(CheckReport, Readable), OpenError> {
    let files = Files::open(disk)?;
    let mut report = CheckReport::default();
    let registry = open_registry(disk, &files, &mut report)?;
    let mut mail = Mail::new(registry.secret(), Limits::of(options));
    let mut damaged = HashSet::new();
    let (all, mut done) = (files.octets(), 0);
    scan(&files, &registry, Mode::Lenient, &mut |found| match found {
        Found::Fact { fact, place, content } => {
            report.records += 1;
            done = all.min(done + u64::from(place.length));
            progress(done, all);
            mail.apply(&fact, place, &registry);
            if content != Content::Whole {
                damaged.insert(place);
            }
        }
        Found::Damage(finding) => report.found(finding),
    })?;
    progress(all, all);
    report.segments = files.numbers().len() as u64;
    // What has expired may have been punched out, by the clock of that time as well.
    registry.endings().iter().for_each(|ending| mail.end(ending));
    while mail.expire(now, usize::MAX).1 {}
    report.emails = mail.stats().emails;
    report_unreadable(&mail, &damaged, &mut report);
    Ok((report, Readable { files, registry, mail }))
}

/// Opens the registry, or an empty one in memory instead of a damaged one, with the findings.
fn open_registry(disk: &Arc<dyn Disk>, files: &Files, report: &mut CheckReport) -> Result<EmbeddedRegistry, OpenError> {
    let damaged = match EmbeddedRegistry::open_untouched(disk) {
        Ok(Some(registry)) => {
            for what in EmbeddedRegistry::check(disk)? {
                report.found(Finding::of(FindingKind::RegistryDamaged, what));
            }
            return Ok(registry);
        }
        Ok(None) if files.is_empty() => return Err(OpenError::Empty),
        Ok(None) => "registry.redb is missing".to_owned(),
        Err(OpenError::Registry(reason)) => reason,
        Err(other) => return Err(other),
    };
    report.found(Finding::of(FindingKind::RegistryDamaged, damaged));
    EmbeddedRegistry::in_memory(rand::random())
}

/// Reports living Emails and pending events whose message does not read back.
fn report_unreadable(mail: &Mail, damaged: &HashSet<RecordPlace>, report: &mut CheckReport) {
    let mut tell = |kind, place: RecordPlace, what: String| {
        report.found(Finding::at(kind, u64::from(place.segment), u64::from(place.offset), what));
    };
    for message in mail.live(None).filter(|message| damaged.contains(&message.place)) {
        for (_, email) in message.emails {
            tell(FindingKind::Email, message.place, format!("the message of Email {email} cannot be read"));
        }
    }
    for event in mail.events_after(None) {
        let place = RecordPlace::of(&event.email);
        if damaged.contains(&place) {
            tell(FindingKind::Event, place, format!("the message of event {} cannot be read", event.id));
        }
    }
}
