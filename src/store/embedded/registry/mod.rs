//! The registry: what people typed in, and what is known of webhooks' receivers. Damage to it costs no mail, but a salvage.
//!
//! ```text
//! mod       opening, the check, and how a change reaches the file and then memory
//! domains   registered domains
//! webhooks  webhooks, attempts, limits
//! leases    leases of addresses          lease_table   in memory
//! opened    mailboxes that were opened
//! memory    what readers ask: all domains, webhooks and tokens
//! logs      delivery logs, in the file only
//! hints     the index of sealed segments, in the file only
//! file      registry.redb; row has its rows, backend its storage, file_error what fails there. Only these touch redb
//! ```
//!
//! One writer at a time decides by what is in memory, commits to the file, and then changes memory. Readers wait for no
//! disk. What is known of receivers changes in memory first, and [`EmbeddedRegistry::flush`] writes it.

mod backend;
mod domains;
mod file;
mod file_error;
mod hints;
mod lease_table;
mod leases;
mod logs;
mod memory;
mod opened;
mod row;
#[cfg(test)]
mod tests;
mod webhooks;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use file::RegistryFile;
use file_error::FileError;
use memory::{ENDINGS_KEY, Memory, TOKENS_KEY, Unwritten};
use row::{Row, Table};

pub(crate) use file::NAME;

use crate::model::{AttemptRecord, TokenRecord, WebhookId};
use crate::store::StoreError;
use crate::store::change::Ending;
use crate::store::disk::Disk;
use crate::store::error::OpenError;
use crate::store::names::HashKey;

/// How many rows of a backup are written together.
const LOADED_AT_ONCE: usize = 1_000;
/// The most endings that are kept: each is one more time that the clock was set back or the retention made shorter. Beyond
/// them the first one is forgotten.
const ENDINGS_MAX: usize = 64;

/// The registry of a store.
///
/// Reads come from memory. Changes block until the disk has them, unless they say otherwise. Each can return
/// [`StoreError::Full`] and [`StoreError::Failed`], after which nothing changed, and [`StoreError::OutcomeUnknown`], after
/// which a later read tells, once the file can be read again.
#[derive(Debug)]
pub struct EmbeddedRegistry {
    secret: HashKey,
    writer: Mutex<Writer>,
    /// Never locked while waiting for the disk.
    memory: RwLock<Memory>,
    has_warned_of_hints: AtomicBool,
}

/// The file, for one writer at a time.
#[derive(Debug)]
struct Writer {
    file: RegistryFile,
    /// Rows that may or may not be as memory has them.
    doubtful: Vec<(Table, Vec<u8>)>,
    /// Rows of a backup that are not written yet.
    loaded: Vec<Row>,
}

impl Writer {
    /// Reads something of a delivery log. Damage there counts as nothing, so that it costs no other change.
    fn or_none<T: Default>(
        &mut self,
        read: impl FnOnce(&mut RegistryFile) -> Result<T, FileError>,
    ) -> Result<T, StoreError> {
        match read(&mut self.file) {
            Err(error @ FileError::Damaged(_)) => {
                tracing::warn!(error = %error.to_store_error(), "a delivery log cannot be read");
                Ok(T::default())
            }
            other => other.map_err(|error| error.to_store_error()),
        }
    }
}

impl EmbeddedRegistry {
    /// Whether there is a registry on `disk`.
    pub(crate) fn is_on(disk: &Arc<dyn Disk>) -> Result<bool, OpenError> {
        file::exists(disk).map_err(|error| OpenError::from(&error))
    }

    /// Opens the registry on `disk`. If there is none, creates it, durably, with `secret_if_new`.
    ///
    /// [`OpenError::Registry`] names the file and the commands that mend it, whatever is wrong with its content.
    pub(crate) fn open(disk: &Arc<dyn Disk>, secret_if_new: HashKey) -> Result<Self, OpenError> {
        Self::load_all(RegistryFile::open(disk, &secret_if_new)).map_err(|error| OpenError::from(&error))
    }

    /// Opens the registry without writing to its file: changes stay in memory, which takes the file's size. `None` if there
    /// is no file.
    pub(crate) fn open_untouched(disk: &Arc<dyn Disk>) -> Result<Option<Self>, OpenError> {
        let file = RegistryFile::copy(disk).transpose();
        file.map(Self::load_all).transpose().map_err(|error| OpenError::from(&error))
    }

    /// An empty registry without a file.
    pub(crate) fn in_memory(secret: HashKey) -> Result<Self, OpenError> {
        Self::load_all(RegistryFile::in_memory(&secret)).map_err(|error| OpenError::from(&error))
    }

    fn load_all(file: Result<RegistryFile, FileError>) -> Result<Self, FileError> {
        let (mut file, mut memory) = (file?, Memory::default());
        let secret = file.secret()?;
        for table in Table::IN_MEMORY {
            file.all(table, &mut |key, octets| memory.apply(&Row::new(table, key, octets.into())))?;
        }
        Ok(Self {
            secret,
            writer: Mutex::new(Writer { file, doubtful: Vec::new(), loaded: Vec::new() }),
            memory: RwLock::new(memory),
            has_warned_of_hints: AtomicBool::new(false),
        })
    }

    /// Checks the file, which nobody has open, without writing to it. Returns what is wrong.
    ///
    /// Every page has its checksum, and every row decodes and fits its key. An error means that the file could not be read,
    /// or has another format.
    pub(crate) fn check(disk: &Arc<dyn Disk>) -> Result<Vec<String>, OpenError> {
        let examinations = Table::ALL.map(Some).into_iter().chain([None]);
        let mut found = Vec::new();
        for table in examinations {
            // After damage a copy is of no use, so each look has its own.
            let result = match RegistryFile::copy(disk) {
                Ok(None) => return Ok(vec![format!("{NAME} is missing")]),
                Ok(Some(file)) => examine(file, table),
                Err(error) => Err(error),
            };
            match result {
                Ok(()) => {}
                Err(FileError::Damaged(reason)) => found.push(format!("{NAME}: {reason}")),
                Err(other) => return Err(OpenError::from(&other)),
            }
        }
        found.dedup();
        Ok(found)
    }

    /// The store's secret.
    pub(crate) fn secret(&self) -> HashKey {
        self.secret
    }

    /// The tokens of remote callers, in the order of creation.
    pub(crate) fn tokens(&self) -> Vec<TokenRecord> {
        self.memory().tokens.clone()
    }

    /// Replaces all tokens, durably. `false` if they are not `before` any more.
    pub(crate) fn replace_tokens(&self, before: &[TokenRecord], after: &[TokenRecord]) -> Result<bool, StoreError> {
        let mut writer = self.writer()?;
        if self.memory().tokens != before {
            return Ok(false);
        }
        self.change(&mut writer, &[Row::put(Table::Meta, TOKENS_KEY, &after)?])?;
        Ok(true)
    }

    /// What ended Emails without a fact in the journal, in that order.
    pub(crate) fn endings(&self) -> Vec<Ending> {
        self.memory().endings.clone()
    }

    /// Records an ending. Durable with the next flush.
    pub(crate) fn record_ending(&self, ending: Ending) {
        let mut memory = self.memory_mut();
        while memory.endings.pop_if(|before| ending.includes(before)).is_some() {}
        memory.endings.push(ending);
        if memory.endings.len() > ENDINGS_MAX {
            memory.endings.remove(0);
        }
        memory.unwritten.has_endings = true;
    }

    /// Makes everything durable that is not yet. Costs nothing if there is nothing.
    ///
    /// After an error it is kept for the next flush, except for the oldest records of delivery logs if there are thousands.
    pub(crate) fn flush(&self) -> Result<(), StoreError> {
        let mut writer = self.writer()?;
        self.write_loaded(&mut writer)?;
        let unwritten = std::mem::take(&mut self.memory_mut().unwritten);
        if unwritten.is_empty() {
            return Ok(());
        }
        let rows = self.rows(&mut writer, &unwritten);
        rows.and_then(|rows| writer.file.write(&rows)).inspect_err(|_| self.memory_mut().put_back(unwritten))
    }

    /// Makes everything durable and closes the file, so that another process can open it. Later changes fail.
    pub(crate) fn close(&self) -> Result<(), StoreError> {
        let flushed = self.flush();
        self.lock().file.close();
        flushed
    }

    fn rows(&self, writer: &mut Writer, unwritten: &Unwritten) -> Result<Vec<Row>, StoreError> {
        let mut by_webhook = BTreeMap::<WebhookId, Vec<AttemptRecord>>::new();
        for record in &unwritten.records {
            by_webhook.entry(record.webhook).or_default().push(record.clone());
        }
        let mut rows = Vec::new();
        for (webhook, records) in by_webhook {
            rows.extend(writer.or_none(|file| logs::add(file, webhook, &records))?);
        }
        let memory = self.memory();
        for webhook in unwritten.webhooks.iter().filter_map(|id| memory.webhooks.get(id)) {
            rows.push(webhook.row()?);
        }
        rows.extend(memory.opened.rows(&unwritten.opened)?);
        if unwritten.has_endings {
            rows.push(Row::put(Table::Meta, ENDINGS_KEY, &memory.endings)?);
        }
        Ok(rows)
    }

    /// Takes over a row of a backup. It is durable with the next flush.
    fn load(&self, row: &Row) -> Result<(), StoreError> {
        let mut writer = self.writer()?;
        writer.loaded.push(row.clone());
        if writer.loaded.len() >= LOADED_AT_ONCE {
            self.write_loaded(&mut writer)?;
        }
        Ok(())
    }

    fn write_loaded(&self, writer: &mut Writer) -> Result<(), StoreError> {
        let rows = std::mem::take(&mut writer.loaded);
        if rows.is_empty() { Ok(()) } else { self.change(writer, &rows) }
    }

    /// Makes a change durable, and then visible.
    fn change(&self, writer: &mut Writer, rows: &[Row]) -> Result<(), StoreError> {
        match writer.file.write(rows) {
            Ok(()) => rows.iter().try_for_each(|row| self.apply(row)),
            Err(error) => {
                if error == StoreError::OutcomeUnknown {
                    writer.doubtful.extend(rows.iter().map(|row| (row.table, row.key.clone())));
                }
                Err(error)
            }
        }
    }

    fn apply(&self, row: &Row) -> Result<(), StoreError> {
        self.memory_mut().apply(row).map_err(|reason| FileError::Damaged(reason).to_store_error())
    }

    /// Takes the turn to write, and first finds out what became of changes whose outcome was unknown.
    fn writer(&self) -> Result<MutexGuard<'_, Writer>, StoreError> {
        let mut writer = self.lock();
        while let Some((table, key)) = writer.doubtful.last().cloned() {
            let octets = writer.file.get(table, &key).map_err(|error| error.to_store_error())?;
            self.apply(&Row { table, key, octets })?;
            writer.doubtful.pop();
        }
        Ok(writer)
    }

    fn lock(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn memory(&self) -> RwLockReadGuard<'_, Memory> {
        self.memory.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn memory_mut(&self) -> RwLockWriteGuard<'_, Memory> {
        self.memory.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gives the registry on `new`, which nobody has open, the tokens of the one on `old`, durably. `false` if those cannot be
/// read.
pub fn carry_tokens(old: &Arc<dyn Disk>, new: &Arc<dyn Disk>) -> Result<bool, StoreError> {
    let row = match RegistryFile::copy(old) {
        // Whatever else of it is damaged.
        Ok(Some(mut file)) => file.get(Table::Meta, TOKENS_KEY).ok(),
        Ok(None) => old.list().is_ok_and(|files| files.is_empty()).then_some(None),
        Err(_) => None,
    };
    if let Some(Some(octets)) = &row {
        let file = RegistryFile::open(new, &HashKey::default());
        let row = Row::new(Table::Meta, TOKENS_KEY, octets.clone());
        file.map_err(|error| error.to_store_error())?.write(&[row])?;
    }
    Ok(row.is_some())
}

/// Looks at the rows of a table, or at all pages.
fn examine(mut file: RegistryFile, table: Option<Table>) -> Result<(), FileError> {
    let Some(table) = table else {
        return if file.is_sound()? { Ok(()) } else { Err(FileError::Damaged("pages have wrong checksums".into())) };
    };
    let mut memory = Memory::default();
    file.all(table, &mut |key, octets| match table {
        Table::Logs => logs::record(key, octets).map(|_| ()),
        Table::Segments if key.len() != 4 => Err("a row of segments has a wrong key".into()),
        _ => memory.apply(&Row::new(table, key, octets.into())),
    })
}
