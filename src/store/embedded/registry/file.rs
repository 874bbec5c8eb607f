//! The file `registry.redb`.
//!
//! redb panics on some damaged pages, so every use of it is caught. A commit can panic again while that panic unwinds, which
//! ends the process; so a start first checks all pages in use. After any error the database is dropped without a further
//! commit, since redb then refuses all work, and opened again at the next use.
//!
//! A durable commit syncs its pages before the header that names them, and an opening writes the header again. So nothing is
//! built on pages of a sync that failed, which the system holds for written.

use std::fmt::{self, Debug, Formatter};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use redb::backends::InMemoryBackend;
use redb::{
    Database, ReadOnlyTable, ReadTransaction, ReadableDatabase, ReadableTable, ReadableTableMetadata, StorageBackend,
    TableError,
};

use super::backend::{Backend, Gate};
use super::file_error::{FileError, quietly};
use super::row::{CHECKSUM_OCTETS, Row, Table, seal, unseal};
use crate::store::StoreError;
use crate::store::disk::{Disk, DiskFile};
use crate::store::names::HashKey;

/// The name of the file.
pub(crate) const NAME: &str = "registry.redb";
/// Its name until it is complete.
const NEW_NAME: &str = "registry.new";
/// The format that this version writes and reads.
pub(super) const FORMAT: u32 = 1;
const FORMAT_KEY: &[u8] = b"format";
const SECRET_KEY: &[u8] = b"secret";
/// Memory for pages that were read or will be written.
const CACHE_OCTETS: usize = 1 << 20;
/// How much of the file is copied at once.
const COPY_OCTETS: u64 = 1 << 20;

/// Takes the key and the octets of a row. An error is what is wrong with it.
pub(super) type Each<'e> = dyn FnMut(&[u8], &[u8]) -> Result<(), String> + 'e;
/// A table as of a transaction.
type Rows = ReadOnlyTable<&'static [u8], &'static [u8]>;
/// The key and the octets of a row.
type Found = (Vec<u8>, Vec<u8>);

/// The file, open or to be opened again.
pub(super) struct RegistryFile {
    /// `None` if the file is a copy in memory.
    disk: Option<Arc<dyn Disk>>,
    open: Option<Opened>,
}

struct Opened {
    database: Database,
    gate: Arc<Gate>,
}

impl Opened {
    fn close(self) {
        let _ = quietly(|| {
            drop(self.database);
            Ok(())
        });
    }

    /// Ends the database without a commit. redb makes none while a panic unwinds.
    fn abandon(self) {
        self.gate.shut();
        let _: Result<(), _> = catch_unwind(AssertUnwindSafe(move || {
            let _database = self.database;
            resume_unwind(Box::new(()))
        }));
    }
}

impl Drop for RegistryFile {
    fn drop(&mut self) {
        self.close();
    }
}

impl Debug for RegistryFile {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegistryFile").field("is_open", &self.open.is_some()).finish_non_exhaustive()
    }
}

impl RegistryFile {
    /// Opens the file on `disk`, or creates it with this secret. A wrong checksum of any page in use is an error.
    pub(super) fn open(disk: &Arc<dyn Disk>, secret_if_new: &HashKey) -> Result<Self, FileError> {
        let mut file = Self { disk: Some(Arc::clone(disk)), open: None };
        if !exists(disk)? {
            create(disk, secret_if_new)?;
        }
        file.open = Some(file.reopen(true)?);
        file.check_format()?;
        // Until a commit, redb could repair only by reading every page. If this one fails, a later one is made.
        let _ = file.with(|database| commit(database, &[]));
        Ok(file)
    }

    /// Copies the file into memory, where all changes stay. `None` if there is no file.
    pub(super) fn copy(disk: &Arc<dyn Disk>) -> Result<Option<Self>, FileError> {
        if !exists(disk)? {
            return Ok(None);
        }
        let (file, copy) = (disk.open(NAME).map_err(FileError::Io)?, InMemoryBackend::new());
        each_part(&*file, |offset, part| {
            copy.set_len(offset + part.len() as u64)?;
            copy.write(offset, part)
        })?;
        if file.size().map_err(FileError::Io)? == 0 {
            return Err(FileError::Damaged("it is empty".into()));
        }
        let mut file = quietly(|| Self::of_backend(copy))?;
        file.check_format()?;
        Ok(Some(file))
    }

    /// A new file in memory.
    pub(super) fn in_memory(secret: &HashKey) -> Result<Self, FileError> {
        let mut file = Self::of_backend(InMemoryBackend::new())?;
        file.with(|database| initialize(database, secret))?;
        Ok(file)
    }

    fn of_backend(backend: impl StorageBackend) -> Result<Self, FileError> {
        let opened = Opened { database: database(backend, false)?, gate: Arc::default() };
        Ok(Self { disk: None, open: Some(opened) })
    }

    fn check_format(&mut self) -> Result<(), FileError> {
        let octets = self.get(Table::Meta, FORMAT_KEY)?;
        match octets.and_then(|octets| Some(u32::from_le_bytes(octets.try_into().ok()?))) {
            Some(FORMAT) => Ok(()),
            Some(found) => Err(FileError::Format(found)),
            None => Err(FileError::Damaged("it does not say its format".into())),
        }
    }

    /// The store's secret.
    pub(super) fn secret(&mut self) -> Result<HashKey, FileError> {
        let octets = self.get(Table::Meta, SECRET_KEY)?;
        octets
            .and_then(|octets| octets.try_into().ok())
            .ok_or_else(|| FileError::Damaged("the store's secret is missing".into()))
    }

    /// Does something with the database. After an error it is dropped, and opened again at the next use.
    fn with<T>(&mut self, work: impl FnOnce(&mut Database) -> Result<T, FileError>) -> Result<T, FileError> {
        let mut opened = match self.open.take() {
            Some(opened) => opened,
            None => self.reopen(false)?,
        };
        let result = quietly(|| work(&mut opened.database));
        if result.is_ok() {
            self.open = Some(opened);
        } else {
            opened.abandon();
        }
        result
    }

    /// Closes the file. Every later use fails.
    pub(super) fn close(&mut self) {
        let is_copy = self.disk.take().is_none();
        match self.open.take() {
            Some(opened) if is_copy => opened.abandon(),
            Some(opened) => opened.close(),
            None => {}
        }
    }

    /// Opens the file, which exists. If `is_checked`, a wrong checksum of a page is damage.
    fn reopen(&self, is_checked: bool) -> Result<Opened, FileError> {
        let unusable = || FileError::Io(io::Error::other("it is closed, or a copy that has failed"));
        let disk = self.disk.as_ref().ok_or_else(unusable)?;
        let file = disk.open(NAME).map_err(FileError::Io)?;
        if file.size().map_err(FileError::Io)? == 0 {
            // redb would begin a new database, but a new file gets its name when it is complete.
            return Err(FileError::Damaged("it is empty".into()));
        }
        // What an earlier process wrote may be in memory only.
        file.sync().map_err(FileError::Io)?;
        let gate = Arc::new(Gate::default());
        let backend = Backend { file, gate: Arc::clone(&gate) };
        let database = quietly(|| database(backend, is_checked))?;
        Ok(Opened { database, gate })
    }

    /// Makes all changes or none, durably.
    ///
    /// [`StoreError::OutcomeUnknown`] if the file cannot be read after a failure. After any other error nothing changed.
    pub(super) fn write(&mut self, rows: &[Row]) -> Result<(), StoreError> {
        let Err(failed) = self.with(|database| commit(database, rows)) else {
            return Ok(());
        };
        // The file itself says whether the commit was made. What it says is durable, see `reopen`.
        match self.with(|database| holds(database, rows)) {
            Ok(true) => Ok(()),
            Ok(false) => Err(failed.to_store_error()),
            Err(_) => Err(StoreError::OutcomeUnknown),
        }
    }

    /// Reads the octets of one row.
    pub(super) fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>, FileError> {
        self.with(|database| get(&database.begin_read()?, table, key))
    }

    /// Passes the keys and the octets of the rows from `first` to `last` to `each`, in order.
    pub(super) fn range(
        &mut self,
        table: Table,
        (first, last): (&[u8], &[u8]),
        each: &mut Each<'_>,
    ) -> Result<(), FileError> {
        self.with(|database| {
            let Some(rows) = rows_of(&database.begin_read()?, table)? else { return Ok(()) };
            for row in rows.range(first..=last)? {
                let (key, value) = row?;
                each(key.value(), unsealed(table, key.value(), value.value())?).map_err(FileError::Damaged)?;
            }
            Ok(())
        })
    }

    /// Reads the last row from `first` to `last`: its key and its octets.
    pub(super) fn last(&mut self, table: Table, (first, last): (&[u8], &[u8])) -> Result<Option<Found>, FileError> {
        self.with(|database| {
            let Some(rows) = rows_of(&database.begin_read()?, table)? else { return Ok(None) };
            let Some(row) = rows.range(first..=last)?.next_back() else { return Ok(None) };
            let (key, value) = row?;
            Ok(Some((key.value().to_vec(), unsealed(table, key.value(), value.value())?.to_vec())))
        })
    }

    /// Passes all rows of a table to `each`.
    pub(super) fn all(&mut self, table: Table, each: &mut Each<'_>) -> Result<(), FileError> {
        self.with(|database| {
            let Some(rows) = rows_of(&database.begin_read()?, table)? else { return Ok(()) };
            let mut count = 0;
            for row in rows.iter()? {
                let (key, value) = row?;
                each(key.value(), unsealed(table, key.value(), value.value())?).map_err(FileError::Damaged)?;
                count += 1;
            }
            if count != rows.len()? {
                return Err(FileError::Damaged(format!("rows of {} are missing", table.name())));
            }
            Ok(())
        })
    }

    /// Whether redb's own check of all pages finds no damage.
    pub(super) fn is_sound(&mut self) -> Result<bool, FileError> {
        self.with(|database| Ok(database.check_integrity()?))
    }
}

pub(super) fn exists(disk: &Arc<dyn Disk>) -> Result<bool, FileError> {
    Ok(disk.list().map_err(FileError::Io)?.iter().any(|name| name == NAME))
}

/// Creates the file, which is durable on return. It gets its name when it is complete.
fn create(disk: &Arc<dyn Disk>, secret: &HashKey) -> Result<(), FileError> {
    if disk.list().map_err(FileError::Io)?.iter().any(|name| name == NEW_NAME) {
        disk.remove(NEW_NAME).map_err(FileError::Io)?;
    }
    let backend = Backend { file: disk.create(NEW_NAME).map_err(FileError::Io)?, gate: Arc::default() };
    let file = Arc::clone(&backend.file);
    quietly(|| initialize(&database(backend, false)?, secret))?;
    // Dropping the database wrote to the file, and told nobody of an error.
    file.sync().map_err(FileError::Io)?;
    disk.rename(NEW_NAME, NAME).map_err(FileError::Io)?;
    disk.sync_dir().map_err(FileError::Io)
}

fn database(backend: impl StorageBackend, is_checked: bool) -> Result<Database, FileError> {
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE_OCTETS).set_check_integrity_on_open(is_checked);
    Ok(builder.create_with_backend(backend)?)
}

fn initialize(database: &Database, secret: &HashKey) -> Result<(), FileError> {
    let transaction = database.begin_write()?;
    for table in Table::ALL {
        transaction.open_table(table.definition())?;
    }
    transaction.commit()?;
    let meta = [
        Row::new(Table::Meta, FORMAT_KEY, FORMAT.to_le_bytes().into()),
        Row::new(Table::Meta, SECRET_KEY, secret.to_vec()),
    ];
    commit(database, &meta)
}

fn commit(database: &Database, rows: &[Row]) -> Result<(), FileError> {
    let mut transaction = database.begin_write()?;
    // An opening after a failure then takes milliseconds. The commit syncs twice, so that the header is written last.
    transaction.set_quick_repair(true);
    for row in rows {
        let mut table = transaction.open_table(row.table.definition())?;
        match &row.octets {
            // A hint can be large, so it is copied once.
            Some(octets) => {
                let mut value = table.insert_reserve(&row.key[..], octets.len() + CHECKSUM_OCTETS)?;
                seal(&row.key, octets, value.as_mut());
            }
            None => drop(table.remove(&row.key[..])?),
        }
    }
    Ok(transaction.commit()?)
}

/// Whether the rows are as a change would have left them.
fn holds(database: &Database, rows: &[Row]) -> Result<bool, FileError> {
    let transaction = database.begin_read()?;
    for row in rows {
        if get(&transaction, row.table, &row.key)? != row.octets {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A table; `None` if it is of a later version than the file and has no row yet.
fn rows_of(transaction: &ReadTransaction, table: Table) -> Result<Option<Rows>, FileError> {
    match transaction.open_table(table.definition()) {
        Err(TableError::TableDoesNotExist(_)) if table.is_later() => Ok(None),
        rows => Ok(Some(rows?)),
    }
}

fn get(transaction: &ReadTransaction, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>, FileError> {
    let Some(rows) = rows_of(transaction, table)? else { return Ok(None) };
    let value = rows.get(key)?;
    value.map(|value| Ok(unsealed(table, key, value.value())?.to_vec())).transpose()
}

fn unsealed<'v>(table: Table, key: &[u8], value: &'v [u8]) -> Result<&'v [u8], FileError> {
    unseal(key, value).ok_or_else(|| FileError::Damaged(format!("a row of {} has a wrong checksum", table.name())))
}

/// Reads a file in parts, each with its offset.
fn each_part(file: &dyn DiskFile, mut each: impl FnMut(u64, &[u8]) -> io::Result<()>) -> Result<(), FileError> {
    let octets = file.size().map_err(FileError::Io)?;
    let mut part = vec![0; usize::try_from(COPY_OCTETS.min(octets)).unwrap_or(0)];
    let mut offset = 0;
    while offset < octets {
        part.truncate(usize::try_from(octets - offset).unwrap_or(usize::MAX));
        file.read_at(offset, &mut part).and_then(|()| each(offset, &part)).map_err(FileError::Io)?;
        offset += part.len() as u64;
    }
    Ok(())
}
