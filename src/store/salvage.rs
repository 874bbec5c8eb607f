//! Going on without what is damaged.
//!
//! A new store is filled with what can still be read, and takes the place of the damaged one, whose files are kept aside
//! as they are. Where the index can be read, it says what lives, which domains, webhooks and events there are; what the
//! journal has beyond it is done again; events of Emails that were deleted or have expired are left behind. Where it
//! can't, the whole journal is done again: what was deleted is deleted again as far as the records of that are there, and
//! domains and webhooks are those whose records are.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use super::backup::{BackupCounts, BackupItem, BackupRecord, Damage, Source, load};
use super::change::Change;
use super::check::{CheckReport, check};
use super::disk::{Directory, Disk, OldFiles};
use super::embedded::Loader;
use super::index::{Index, IndexError, View};
use super::journal::{Position, SegmentFiles, Step, WalkedContent};
use super::{OpenError, OutboxLimits, StoreError, StoreOptions};
use crate::model::Caps;

/// A message that the journal may hold: the settings may have permitted larger ones once.
const MESSAGE_OCTETS: u64 = 128 << 20;

/// What a salvage did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Salvaged {
    /// What was wrong.
    pub report: CheckReport,
    /// What the index said lives and could be read; `None` where the index could not.
    pub kept: Option<BackupCounts>,
    /// Changes of the journal that were done again.
    pub replayed: u64,
    /// Where the files of the damaged store are.
    pub aside: PathBuf,
}

/// Replaces the damaged store in `directory` by what of it can be read. Until the end nothing of it is touched.
pub fn salvage(
    directory: Arc<Directory>,
    options: &StoreOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Salvaged, OpenError> {
    let disk: Arc<dyn Disk> = directory.clone();
    let report = check(&disk, options, progress)?;
    let staged: Arc<dyn Disk> = Arc::new(directory.stage()?);
    let filled = fill(&disk, &staged, &options.taking(MESSAGE_OCTETS), &report);
    drop(staged);
    let (kept, replayed) = filled.inspect_err(|_| directory.discard())?;
    let failed = |error: std::io::Error| OpenError::Io { path: "the data directory".into(), reason: error.to_string() };
    let aside = directory.replace(OldFiles::AreKept).map_err(failed)?.unwrap_or_default();
    Ok(Salvaged { report, kept, replayed, aside })
}

fn fill(
    disk: &Arc<dyn Disk>,
    staged: &Arc<dyn Disk>,
    options: &StoreOptions,
    report: &CheckReport,
) -> Result<(Option<BackupCounts>, u64), OpenError> {
    let index = if report.has_index() { Index::open_untouched(disk, options)? } else { None };
    let mut loader = None;
    let (kept, from) = match &index {
        Some(index) => {
            let counts = copy_live(index, disk, |item| {
                if let BackupRecord::Store { secret } = item.record {
                    loader = Some(Loader::begin(staged, options, secret).map_err(to_store_error)?);
                }
                loader.as_mut().map_or(Ok(()), |loader| load(loader, item))
            });
            (Some(counts.map_err(to_open_error)?), index.position()?)
        }
        None => (None, Position::START),
    };
    let mut loader = match loader {
        Some(loader) => loader,
        None => Loader::begin(staged, options, rand::random())?,
    };
    let replayed = Replay::of(SegmentFiles::in_directory(disk)?, from)?.run(&mut loader)?;
    loader.finish().map_err(to_open_error)?;
    Ok((kept, replayed))
}

fn copy_live(
    index: &Index,
    disk: &Arc<dyn Disk>,
    mut emit: impl FnMut(BackupItem) -> Result<(), StoreError>,
) -> Result<BackupCounts, StoreError> {
    let read = |ask: &mut dyn FnMut(&View) -> Result<(), IndexError>| {
        index.view().and_then(|view| ask(&view)).map_err(|error| error.to_store_error())
    };
    let files = || SegmentFiles::in_directory(disk);
    Source { read: &read, files: &files, damage: Damage::IsLeftOut, emit: &mut emit }.run()
}

/// What takes a change with the number of its group and its content.
type TakeChange<'t> = &'t mut dyn FnMut(u64, Change, &[u8]) -> Result<(), StoreError>;

/// The changes of the journal that are done again, from a position on.
struct Replay {
    files: SegmentFiles,
    from: Position,
    /// The groups that deletions of mailboxes name, and the highest number that an Email has before each in the new store.
    numbers: BTreeMap<u64, u64>,
}

impl Replay {
    /// Looks through the journal for the groups that its changes name.
    fn of(files: SegmentFiles, from: Position) -> Result<Self, OpenError> {
        let mut replay = Self { files, from, numbers: BTreeMap::new() };
        let mut numbers = BTreeMap::new();
        replay.each(&mut |_, change, _| {
            if let Change::MailboxDeleted { group, .. } = change {
                numbers.insert(group, 0);
            }
            Ok(())
        })?;
        replay.numbers = numbers;
        Ok(replay)
    }

    /// Hands over every change that reads back.
    fn each(&self, take: TakeChange<'_>) -> Result<(), OpenError> {
        for number in self.files.numbers().into_iter().filter(|number| *number >= self.from.segment) {
            let failed =
                |error: std::io::Error| OpenError::Io { path: "the journal".into(), reason: error.to_string() };
            let Some(mut walk) = self.files.walk(number).map_err(failed)? else { continue };
            while let Some(step) = walk.step().map_err(failed)? {
                let Step::Group { number: group, records, .. } = step else { continue };
                for record in records.into_iter().filter(|_| group >= self.from.group) {
                    if let WalkedContent::Whole(content) = record.content {
                        take(group, record.change, &content).map_err(to_open_error)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Does all of them again; how many.
    fn run(mut self, loader: &mut Loader) -> Result<u64, OpenError> {
        let mut numbers = std::mem::take(&mut self.numbers);
        let mut awaited: VecDeque<u64> = numbers.keys().copied().collect();
        let mut replayed = 0;
        self.each(&mut |group, change, content| {
            while let Some(next) = awaited.pop_front_if(|next| *next <= group) {
                numbers.insert(next, loader.last_sequence()?);
            }
            if let Some(change) = again(change, self.from.group, &numbers) {
                loader.push(change, content)?;
                replayed += 1;
            }
            Ok(())
        })?;
        Ok(replayed)
    }
}

/// A change as it is done again in another store, in which what came before group `from` has its old numbers. `numbers` are
/// the highest of Emails before the groups that changes name, those before `from` together.
fn again(change: Change, from: u64, numbers: &BTreeMap<u64, u64>) -> Option<Change> {
    Some(match change {
        Change::Received { envelope, received_at, expires_at, outbox, .. } => {
            // Rather one Email too many than one too few, and as many events, unless nobody was told of any.
            let outbox = if outbox.events_per_webhook == 0 { outbox } else { OutboxLimits::UNBOUNDED };
            Change::Received { envelope, received_at, expires_at, caps: Caps::default(), outbox }
        }
        Change::MailboxDeleted { mailbox, through, group, now, limit } => {
            let number = numbers.get(&group).copied().unwrap_or(0);
            let through = if group < from { through.min(number) } else { number };
            Change::MailboxDeleted { mailbox, through, group, now, limit }
        }
        Change::Replayed { webhook, which, now, .. } => {
            Change::Replayed { webhook, which, now, outbox: OutboxLimits::UNBOUNDED }
        }
        // Its Emails are gone, and the events that needed it are lost with the index.
        Change::Relocated { .. } => return None,
        other => other,
    })
}

fn to_store_error(error: OpenError) -> StoreError {
    StoreError::Failed(error.to_string())
}

fn to_open_error(error: StoreError) -> OpenError {
    OpenError::Io { path: "the new store".into(), reason: error.to_string() }
}
