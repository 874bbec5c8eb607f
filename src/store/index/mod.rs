//! The index: a redb database with small rows about what the journal holds.
//!
//! One redb transaction applies each group of changes and stores the journal position up to which the index is complete.
//! It does not wait for the disk. A [checkpoint](Index::checkpoint) makes the index durable. So the index is never ahead of
//! the synced journal, and a replay restores whatever a crash took from it.
//!
//! ```text
//! mod, error, applied  the database: opening, applying a group, checkpoints; the errors; the result of a group
//! backend, overlay     storage for redb: on a disk, and on a file that is only read
//! tables, keys, rows   the layout; lazy_table opens a table when it is used
//! apply                what each change does to mail and domains; caps, restore, retention and relocation are parts of it
//! happenings           what happened to Emails, for subscribers
//! segment_usage        what is live in each segment
//! refcounts            how many Emails and events refer to a message
//! domain_rows          the records of domains
//! outbox               what changes do to webhooks: outbox_events, webhook_rows, webhook_sets, delivery_log
//! outbox_limits        which events are dropped when the outbox is full, by outbox_usage
//! outbox_replay        ended events that are sent again
//! read, newest, outbox_reads, backup_reads   what readers ask
//! audit, audit_sets    the checks of `db check`
//! compaction           gives free pages back to the file system
//! ```

mod applied;
mod apply;
mod audit;
mod audit_sets;
mod backend;
mod backup_reads;
mod caps;
mod compaction;
mod delivery_log;
mod domain_rows;
mod error;
mod happenings;
mod keys;
mod lazy_table;
mod newest;
mod outbox;
mod outbox_events;
mod outbox_limits;
mod outbox_reads;
mod outbox_replay;
mod outbox_usage;
mod overlay;
mod read;
mod refcounts;
mod relocation;
mod restore;
mod retention;
mod rows;
mod segment_usage;
mod tables;
mod webhook_rows;
mod webhook_sets;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use redb::{Database, Durability, ReadableDatabase, ReadableTable};

pub(crate) use applied::{Applied, GroupCounts, GroupEvents};
use apply::Apply;
pub(crate) use audit::Audit;
use backend::{Backend, Gate, Gated};
pub(crate) use backup_reads::LiveEmails;
pub(crate) use compaction::AT_START_OCTETS_MAX;
pub(crate) use error::IndexError;
pub(crate) use outbox_reads::Due;
use overlay::Overlay;
pub(crate) use read::{TABLES, View};
use rows::IndexState;
pub(crate) use rows::record_place;
pub(crate) use segment_usage::SegmentUsage;
use tables::{
    ATTEMPTS, DOMAINS, DUE, EVENTS, EXPIRY, FORMAT, HOLDER_USAGE, IDS, MAIL, META, META_FORMAT, META_HASH_KEY,
    META_RETENTION, META_STATE, PUNCHES, REFCOUNTS, SEGMENTS, WEBHOOK_SETS, WEBHOOKS,
};

use super::StoreOptions;
use super::change::Change;
use super::disk::{Disk, DiskFile};
use super::error::OpenError;
use super::journal::{Position, RecordPlace};
use super::names::HashKey;

/// The file of the index.
pub(crate) const NAME: &str = "index.redb";

/// The most deleted records that one checkpoint names. The next one names further ones.
pub(crate) const DELETED_MAX: usize = 8192;
/// What a redb database begins with.
const MAGIC: [u8; 9] = *b"redb\x1A\x0A\xA9\x0D\x0A";

/// An open index.
#[derive(Debug)]
pub(crate) struct Index {
    database: Database,
    pub(crate) hash_key: HashKey,
    has_failed: AtomicBool,
    gate: Arc<Gate>,
}

/// The result of a checkpoint: what may be removed from the journal's files.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    /// No replay needs the journal before this position.
    pub(crate) position: Position,
    /// The segments with live messages.
    pub(crate) live_segments: BTreeMap<u64, SegmentUsage>,
    /// Records whose content is to be punched out, in the order of the journal, at most [`DELETED_MAX`].
    pub(crate) deleted: Vec<RecordPlace>,
}

impl Index {
    /// Creates the index of a new store. It is durable on return.
    pub(crate) fn create(disk: &Arc<dyn Disk>, options: &StoreOptions) -> Result<Self, OpenError> {
        Self::create_keyed(disk, options, rand::random())
    }

    /// Creates an index with a given secret, under which events keep their ids.
    pub(crate) fn create_keyed(
        disk: &Arc<dyn Disk>,
        options: &StoreOptions,
        hash_key: HashKey,
    ) -> Result<Self, OpenError> {
        // An interrupted creation may have left a file. The caller has made sure that there is no journal.
        let _ = disk.remove(NAME);
        let file = disk.create(NAME).map_err(|error| failed(&error))?;
        let (storage, gate) = Gated::new(Backend(file)).map_err(|error| failed(&error))?;
        let database = Database::builder()
            .set_cache_size(options.index_cache_octets)
            .create_with_backend(storage)
            .map_err(IndexError::from)?;
        initialize(&database, &hash_key)?;
        disk.sync_dir().map_err(|error| failed(&error))?;
        Ok(Self { database, hash_key, has_failed: AtomicBool::new(false), gate })
    }

    /// Opens the index of an existing store. `Ok(None)` if there is no file, or its creation was interrupted.
    ///
    /// Opening may write to the file even if its format is another one: see [`Index::open_untouched`].
    pub(crate) fn open(disk: &Arc<dyn Disk>, options: &StoreOptions) -> Result<Option<Self>, OpenError> {
        let Some(file) = find(disk)? else { return Ok(None) };
        Self::open_backend(Backend(file), options)
    }

    /// Opens the index without writing to its file. Changes are lost when it is dropped.
    pub(crate) fn open_untouched(disk: &Arc<dyn Disk>, options: &StoreOptions) -> Result<Option<Self>, OpenError> {
        let Some(file) = find(disk)? else { return Ok(None) };
        let overlay = Overlay::new(file).map_err(|error| failed(&error))?;
        Self::open_backend(overlay, options)
    }

    fn open_backend(backend: impl redb::StorageBackend, options: &StoreOptions) -> Result<Option<Self>, OpenError> {
        let (storage, gate) = Gated::new(backend).map_err(|error| failed(&error))?;
        let database = Database::builder()
            .set_cache_size(options.index_cache_octets)
            .create_with_backend(storage)
            .map_err(IndexError::from)?;
        let transaction = database.begin_read().map_err(IndexError::from)?;
        let meta = match transaction.open_table(META) {
            Ok(meta) => meta,
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(None),
            Err(error) => return Err(IndexError::from(error).into()),
        };
        let read =
            |key: u8| -> Result<Option<Vec<u8>>, IndexError> { Ok(meta.get(key)?.map(|row| row.value().to_vec())) };
        let format = read(META_FORMAT)?.and_then(|row| Some(u32::from_le_bytes(row.try_into().ok()?)));
        match format {
            Some(FORMAT) => {}
            Some(found) => return Err(OpenError::Format { file: NAME.into(), found, known: FORMAT }),
            None => return Err(OpenError::Index("it does not say its format".into())),
        }
        let hash_key = read(META_HASH_KEY)?
            .and_then(|row| row.try_into().ok())
            .ok_or(OpenError::Index("its hash key is missing".into()))?;
        drop((meta, transaction));
        Ok(Some(Self { database, hash_key, has_failed: AtomicBool::new(false), gate }))
    }

    /// Whether redb's own check finds no damage.
    pub(crate) fn is_sound(&mut self) -> Result<bool, IndexError> {
        Ok(self.database.check_integrity()?)
    }

    /// The length of the index's file.
    pub(crate) fn octets(&self) -> u64 {
        self.gate.octets()
    }

    /// The length of the index's file, which need not be open.
    pub(crate) fn octets_on(disk: &Arc<dyn Disk>) -> std::io::Result<u64> {
        disk.open(NAME)?.size()
    }

    /// The journal position up to which the index is complete.
    pub(crate) fn position(&self) -> Result<Position, IndexError> {
        Ok(read_state(&self.database)?.position())
    }

    /// Moves the position over a part of the journal without changes. It is durable with the next checkpoint.
    pub(crate) fn set_position(&self, position: Position) -> Result<(), IndexError> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_durability(Durability::None)?;
        let mut state = read_state(&self.database)?;
        if state.position().group != position.group {
            return Err(IndexError::Corrupt("it lacks the groups before"));
        }
        state.set_position(position);
        transaction.open_table(META)?.insert(META_STATE, &state.encode()?[..])?;
        Ok(transaction.commit()?)
    }

    /// Records that a read failed at the disk. Returns whether this is the first time.
    ///
    /// From then on redb fails every read that needs the disk, until the index is reopened.
    pub(crate) fn mark_failed(&self) -> bool {
        !self.has_failed.swap(true, Ordering::Relaxed)
    }

    /// Whether a read failed at the disk.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// Cuts the index off from its file, before the file is opened again.
    ///
    /// Nothing is written any more, even when the index is dropped. Reads find what is in memory, or fail.
    pub(crate) fn cut_off(&self) {
        self.gate.shut();
        self.mark_failed();
    }

    /// Opens a consistent view for a reader. It must be short-lived, since it keeps pages from being freed.
    pub(crate) fn view(&self) -> Result<View, IndexError> {
        Ok(View::new(self.database.begin_read()?, self.hash_key))
    }

    /// Applies a group, all or nothing.
    ///
    /// Every later view shows it, and the next checkpoint makes it durable. Fails if the index lacks the group before. The
    /// events are collected only if somebody watches.
    pub(crate) fn apply<'c>(
        &self,
        changes: impl IntoIterator<Item = (&'c Change, RecordPlace)>,
        end: Position,
        is_watched: bool,
    ) -> Result<Applied, IndexError> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_durability(Durability::None)?;
        let mut apply = Apply::begin(&transaction, self.hash_key, is_watched)?;
        let results =
            changes.into_iter().map(|(change, place)| apply.change(change, place)).collect::<Result<_, _>>()?;
        let (counts, events) = apply.finish(end)?;
        transaction.commit()?;
        Ok(Applied { results, counts, events })
    }

    /// Makes everything applied so far durable, and forgets segments without live messages.
    pub(crate) fn checkpoint(&self) -> Result<Checkpoint, IndexError> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_durability(Durability::Immediate)?;
        transaction.set_quick_repair(true);
        let position = read_state(&self.database)?.position();
        let mut live_segments = BTreeMap::new();
        let mut deleted = Vec::new();
        {
            let mut segments = transaction.open_table(SEGMENTS)?;
            segments.retain_in(..position.segment, |_, (messages, ..)| messages > 0)?;
            for row in segments.iter()? {
                let (number, usage) = row?;
                live_segments.insert(number.value(), SegmentUsage::decode(usage.value()));
            }
            for row in transaction.open_table(PUNCHES)?.iter()?.take(DELETED_MAX) {
                let (key, value) = row?;
                let ((segment, offset), (length, content)) = (key.value(), value.value());
                deleted.push(RecordPlace { segment, offset, length, content });
            }
        }
        transaction.commit()?;
        Ok(Checkpoint { position, live_segments, deleted })
    }

    /// Forgets records whose content was punched out.
    pub(crate) fn punched(&self, places: &[RecordPlace]) -> Result<(), IndexError> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_durability(Durability::None)?;
        {
            let mut punches = transaction.open_table(PUNCHES)?;
            for place in places {
                punches.remove((place.segment, place.offset))?;
            }
        }
        Ok(transaction.commit()?)
    }

    /// Shortens the life of every Email to `retention`, if that is shorter than the retention before.
    pub(crate) fn shorten_lives_to(&self, retention: Duration) -> Result<(), IndexError> {
        retention::shorten_lives_to(&self.database, retention)
    }

    /// Computes the heads of all mailboxes again, after Emails were added out of order.
    pub(crate) fn measure_mailboxes(&self) -> Result<(), IndexError> {
        retention::measure_mailboxes(&self.database)
    }
}

/// Opens the file of the index. `None` if there is none, or its creation was interrupted.
///
/// redb writes its magic number last, so the file of an interrupted creation begins with zeros.
fn find(disk: &Arc<dyn Disk>) -> Result<Option<Arc<dyn DiskFile>>, OpenError> {
    let names = disk.list().map_err(|error| failed(&error))?;
    if !names.iter().any(|name| name == NAME) {
        return Ok(None);
    }
    let file = disk.open(NAME).map_err(|error| failed(&error))?;
    let octets = file.size().map_err(|error| failed(&error))?;
    let mut start = [0; MAGIC.len()];
    let length = start.len().min(usize::try_from(octets).unwrap_or(usize::MAX));
    file.read_at(0, &mut start[..length]).map_err(|error| failed(&error))?;
    match start {
        MAGIC => Ok(Some(file)),
        start if start == [0; MAGIC.len()] => Ok(None),
        _ => Err(OpenError::Foreign { file: NAME.into() }),
    }
}

fn failed(error: &std::io::Error) -> OpenError {
    OpenError::of_file(NAME, error)
}

fn initialize(database: &Database, hash_key: &HashKey) -> Result<(), IndexError> {
    let mut transaction = database.begin_write()?;
    transaction.set_durability(Durability::Immediate)?;
    transaction.set_quick_repair(true);
    {
        let mut meta = transaction.open_table(META)?;
        meta.insert(META_FORMAT, &FORMAT.to_le_bytes()[..])?;
        meta.insert(META_HASH_KEY, &hash_key[..])?;
        meta.insert(META_RETENTION, &u64::MAX.to_le_bytes()[..])?;
        meta.insert(META_STATE, &IndexState::NEW.encode()?[..])?;
        transaction.open_table(MAIL)?;
        transaction.open_table(IDS)?;
        transaction.open_table(EXPIRY)?;
        transaction.open_table(REFCOUNTS)?;
        transaction.open_table(SEGMENTS)?;
        transaction.open_table(PUNCHES)?;
        transaction.open_table(DOMAINS)?;
        transaction.open_table(WEBHOOKS)?;
        transaction.open_table(WEBHOOK_SETS)?;
        transaction.open_table(HOLDER_USAGE)?;
        transaction.open_table(EVENTS)?;
        transaction.open_table(DUE)?;
        transaction.open_table(ATTEMPTS)?;
    }
    Ok(transaction.commit()?)
}

fn read_state(database: &Database) -> Result<IndexState, IndexError> {
    let transaction = database.begin_read()?;
    let meta = transaction.open_table(META)?;
    let row = meta.get(META_STATE)?.ok_or(IndexError::Corrupt("the state row is missing"))?;
    postcard::from_bytes(row.value()).map_err(|_| IndexError::Corrupt("the state row does not read"))
}

#[cfg(test)]
mod tests;
