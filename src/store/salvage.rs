//! Salvage: a new store from what a damaged one still has.
//!
//! The new store replaces the damaged one, whose files are moved aside unchanged. If the index is readable, the new store
//! gets the live Emails, domains, webhooks and events of the index. Then it gets the later changes of the journal. Events of
//! deleted or expired Emails are lost.
//!
//! If the index is not readable, the new store gets every change of the journal. Deletions, domains and webhooks are lost
//! if their records are gone.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use super::backup::{BackupCounts, BackupItem, BackupRecord, BackupSource, Damage, load};
use super::change::Change;
use super::check::{CheckReport, check};
use super::disk::{Directory, Disk, OldFiles};
use super::embedded::Loader;
use super::index::{Index, IndexError, View};
use super::journal::{Position, SegmentFiles, WalkItem, WalkedContent};
use super::{OpenError, OutboxLimits, StoreError, StoreOptions};

/// The largest message that the journal may hold. Earlier settings may have permitted larger messages than today's.
const MESSAGE_OCTETS: u64 = 128 << 20;

/// The result of a salvage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Salvaged {
    /// The damage.
    pub report: CheckReport,
    /// What was copied by the index. `None` if the index is not readable.
    pub copied: Option<BackupCounts>,
    /// How many changes of the journal were applied again.
    pub replayed: u64,
    /// The directory of the damaged store's files.
    pub aside: PathBuf,
}

/// Replaces the damaged store in `directory` by what can be read of it. No file of it changes before the end.
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
    let (copied, replayed) = filled.inspect_err(|_| directory.discard())?;
    let failed = |error: std::io::Error| OpenError::Io { path: "the data directory".into(), reason: error.to_string() };
    let aside = directory.replace(OldFiles::AreKept).map_err(failed)?.unwrap_or_default();
    Ok(Salvaged { report, copied, replayed, aside })
}

fn fill(
    disk: &Arc<dyn Disk>,
    staged: &Arc<dyn Disk>,
    options: &StoreOptions,
    report: &CheckReport,
) -> Result<(Option<BackupCounts>, u64), OpenError> {
    let index = if report.has_index() { Index::open_untouched(disk, options)? } else { None };
    let mut loader = None;
    let (copied, from) = match &index {
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
    let replayed = ReplayedChanges::of(SegmentFiles::in_directory(disk)?, from)?.run(&mut loader)?;
    loader.finish().map_err(to_open_error)?;
    Ok((copied, replayed))
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
    BackupSource { read: &read, files: &files, damage: Damage::IsLeftOut, emit: &mut emit }.run()
}

/// Takes a change with the number of its group and its content.
type TakeChange<'t> = &'t mut dyn FnMut(u64, Change, &[u8]) -> Result<(), StoreError>;

/// The changes of the journal that are applied again, from a position on.
struct ReplayedChanges {
    files: SegmentFiles,
    from: Position,
    /// The groups that deletions of mailboxes name, each with the last sequence number before it in the new store.
    numbers: BTreeMap<u64, u64>,
}

impl ReplayedChanges {
    /// Finds the groups that deletions of mailboxes name.
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

    /// Calls `take` for every readable change.
    fn each(&self, take: TakeChange<'_>) -> Result<(), OpenError> {
        for number in self.files.numbers().into_iter().filter(|number| *number >= self.from.segment) {
            let failed =
                |error: std::io::Error| OpenError::Io { path: "the journal".into(), reason: error.to_string() };
            let Some(mut walk) = self.files.walk(number).map_err(failed)? else { continue };
            while let Some(item) = walk.next_item().map_err(failed)? {
                let WalkItem::Group { number: group, records, .. } = item else { continue };
                for record in records.into_iter().filter(|_| group >= self.from.group) {
                    if let WalkedContent::Whole(content) = record.content {
                        take(group, record.change, &content).map_err(to_open_error)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Applies all changes again. Returns how many.
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

/// Adapts a change to the new store. `None` if it is not applied.
///
/// Emails from before group `from` have their old sequence numbers there. `numbers` has the last number in the new store
/// before each group that a deletion of a mailbox names.
fn again(change: Change, from: u64, numbers: &BTreeMap<u64, u64>) -> Option<Change> {
    Some(match change {
        Change::Received { envelope, received_at, expires_at, outbox, .. } => {
            // One Email or event too many is better than one too few. But no event is created where nobody sends any.
            let outbox = if outbox.events_per_webhook == 0 { outbox } else { OutboxLimits::UNBOUNDED };
            Change::Received { envelope, received_at, expires_at, cap: 0, outbox }
        }
        Change::MailboxDeleted { mailbox, through, group, now, limit } => {
            let number = numbers.get(&group).copied().unwrap_or(0);
            let through = if group < from { through.min(number) } else { number };
            Change::MailboxDeleted { mailbox, through, group, now, limit }
        }
        Change::Replayed { webhook, which, now, .. } => {
            Change::Replayed { webhook, which, now, outbox: OutboxLimits::UNBOUNDED }
        }
        // The Emails of the message are gone, and its events are lost with the index.
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
