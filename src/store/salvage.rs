//! Going on without what is damaged.
//!
//! A new store is filled with what can still be read, and takes the place of the damaged one, whose files are kept aside
//! as they are. Where the index can be read, it says what lives, which domains, webhooks and events there are; what the
//! journal has beyond it is done again; events of Emails that were deleted or have expired are left behind. Where it
//! can't, the whole journal is done again: what was deleted is deleted again as far as the records of that are there, and
//! domains and webhooks are those whose records are. A message that was moved is in its mailbox where it was moved to.

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
use crate::model::{Caps, EmailId, Timestamp};

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
            let counts = living(index, disk, |item| {
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
    let replayed = replay(&SegmentFiles::in_directory(&**disk)?, from, &mut loader)?;
    loader.finish().map_err(to_open_error)?;
    Ok((kept, replayed))
}

fn living(
    index: &Index,
    disk: &Arc<dyn Disk>,
    mut emit: impl FnMut(BackupItem) -> Result<(), StoreError>,
) -> Result<BackupCounts, StoreError> {
    let read = |ask: &mut dyn FnMut(&View) -> Result<(), IndexError>| {
        index.view().and_then(|view| ask(&view)).map_err(|error| error.to_store_error())
    };
    let files = || SegmentFiles::in_directory(&**disk);
    Source { read: &read, files: &files, damage: Damage::IsLeftOut, emit: &mut emit }.run()
}

/// Does every change from `from` on again that reads back; how many.
fn replay(files: &SegmentFiles, from: Position, loader: &mut Loader) -> Result<u64, OpenError> {
    let mut replayed = 0;
    for number in files.numbers().into_iter().filter(|number| *number >= from.segment) {
        let Some(mut walk) = files.walk(number) else { continue };
        let failed = |error: std::io::Error| OpenError::Io { path: "the journal".into(), reason: error.to_string() };
        while let Some(step) = walk.step().map_err(failed)? {
            let Step::Group { number: group, records, .. } = step else { continue };
            for record in records.into_iter().filter(|_| group >= from.group) {
                let WalkedContent::Whole(content) = record.content else { continue };
                let (change, dead) = again(record.change);
                loader.push(change, &content).map_err(to_open_error)?;
                for id in dead {
                    let deleted = Change::Deleted { id, now: Timestamp::from_millis(i64::MIN) };
                    loader.push(deleted, &[]).map_err(to_open_error)?;
                }
                replayed += 1;
            }
        }
    }
    Ok(replayed)
}

/// A change as it is done again in another store, and the Emails that are to be deleted after it.
fn again(change: Change) -> (Change, Vec<EmailId>) {
    let mut dead = Vec::new();
    let change = match change {
        Change::Received { envelope, received_at, expires_at, outbox, .. } => {
            // Rather one Email too many than one too few, and as many events, unless nobody was told of any.
            let outbox = if outbox.events_per_webhook == 0 { outbox } else { OutboxLimits::UNBOUNDED };
            Change::Received { envelope, received_at, expires_at, caps: Caps::default(), outbox }
        }
        // Sequence numbers are new here; what this sees was received before it.
        Change::MailboxDeleted { mailbox, now, limit, .. } => {
            Change::MailboxDeleted { mailbox, through: u64::MAX, now, limit }
        }
        Change::Replayed { webhook, which, now, .. } => {
            Change::Replayed { webhook, which, now, outbox: OutboxLimits::UNBOUNDED }
        }
        // Its first record may be gone with its segment; where it is not, the message is known and this does nothing. Who was
        // to be told of it was told, or is lost with the index.
        Change::Moved { envelope, received_at, expires_at, living, .. } => {
            dead = envelope.recipients.iter().map(|it| it.id).filter(|id| !living.contains(id)).collect();
            let outbox = OutboxLimits { events_per_webhook: 0, ..OutboxLimits::UNBOUNDED };
            Change::Received { envelope, received_at, expires_at, caps: Caps::default(), outbox }
        }
        other => other,
    };
    (change, dead)
}

fn to_store_error(error: OpenError) -> StoreError {
    StoreError::Failed(error.to_string())
}

fn to_open_error(error: StoreError) -> OpenError {
    OpenError::Io { path: "the new store".into(), reason: error.to_string() }
}
