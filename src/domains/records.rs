//! The registered domains: the store's records, and their copy in memory.
//!
//! The invariant: changes are made one at a time, and reach memory and table only after the store has them. A change
//! runs to its end even if its caller is dropped. Otherwise the store could be ahead of the table, and nothing would
//! notice.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard};
use tokio::time::{Instant, sleep};

use super::{DomainError, DomainTable};
use crate::model::{Client, DomainName, DomainRecord, DomainStatus};
use crate::store::{Registration, Store, StoreError};

/// How often a process looks whether another one has changed a domain.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How often it reads all domains again, in case the other one died before it could say so.
const FULL_LOOK_EVERY: Duration = Duration::from_mins(1);

/// A record with its version. Every change gives a record a new version, so equal versions mean an unchanged record.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) record: DomainRecord,
    pub(super) version: u64,
}

/// How many domains may be registered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) total: usize,
    pub(super) per_client: usize,
}

pub(super) struct Records {
    store: Arc<dyn Store>,
    table: DomainTable,
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    by_name: BTreeMap<DomainName, Entry>,
    changes: u64,
}

impl Entries {
    /// Checks whether one more domain can be registered by `registrant`. The administrator (`None`) has no limit of its
    /// own. A deactivated domain counts, since it keeps its place.
    fn room(&self, registrant: Option<Client>, limits: Limits) -> Result<(), DomainError> {
        if self.by_name.len() >= limits.total {
            return Err(DomainError::TooMany);
        }
        let of_client = || self.by_name.values().filter(|entry| entry.record.registrant == registrant).count();
        if registrant.is_some() && of_client() >= limits.per_client {
            return Err(DomainError::TooManyOfClient(limits.per_client));
        }
        Ok(())
    }
}

impl Records {
    /// Reads the store's records into memory and `table`.
    pub(super) async fn open(store: Arc<dyn Store>, table: DomainTable) -> Result<Arc<Self>, StoreError> {
        let records = Self { store, table, entries: Mutex::default() };
        let mut entries = records.entries.lock().await;
        records.reload(&mut entries).await?;
        drop(entries);
        Ok(Arc::new(records))
    }

    pub(super) async fn find(&self, name: &DomainName) -> Option<Entry> {
        self.entries.lock().await.by_name.get(name).cloned()
    }

    pub(super) async fn all(&self) -> Vec<DomainRecord> {
        self.entries.lock().await.by_name.values().map(|entry| entry.record.clone()).collect()
    }

    /// The deactivated domains.
    pub(super) async fn deactivated(&self) -> Vec<Entry> {
        let entries = self.entries.lock().await;
        let deactivated = |entry: &&Entry| entry.record.status == DomainStatus::Deactivated;
        entries.by_name.values().filter(deactivated).cloned().collect()
    }

    /// Checks whether one more domain can be registered by `registrant`.
    pub(super) async fn room(&self, registrant: Option<Client>, limits: Limits) -> Result<(), DomainError> {
        self.entries.lock().await.room(registrant, limits)
    }

    /// Registers a domain, unless it is registered already or a limit is reached.
    pub(super) async fn register(
        self: &Arc<Self>,
        record: DomainRecord,
        limits: Limits,
    ) -> Result<Registration, DomainError> {
        let records = self.clone();
        to_its_end(async move {
            let mut entries = records.entries.lock().await;
            if !entries.by_name.contains_key(&record.name) {
                entries.room(record.registrant, limits)?;
            }
            let outcome = records.store.register_domain(record.clone(), limits.total).await;
            match records.settled(&mut entries, outcome).await? {
                Registration::Won => {
                    records.show(&mut entries, record);
                    Ok(Registration::Won)
                }
                Registration::Taken(there) => {
                    records.show(&mut entries, there.clone());
                    Ok(Registration::Taken(there))
                }
                Registration::Full => Ok(Registration::Full),
            }
        })
        .await
    }

    /// Changes the record of a domain; `None` if it is not registered, or no longer has `version`.
    pub(super) async fn update(
        self: &Arc<Self>,
        name: &DomainName,
        version: Option<u64>,
        change: impl FnOnce(&mut DomainRecord) + Send + 'static,
    ) -> Result<Option<Entry>, StoreError> {
        let (records, name) = (self.clone(), name.clone());
        to_its_end(async move {
            let mut entries = records.entries.lock().await;
            let Some(entry) = entries.by_name.get(&name) else { return Ok(None) };
            if version.is_some_and(|version| version != entry.version) {
                return Ok(None);
            }
            let mut record = entry.record.clone();
            change(&mut record);
            let outcome = records.store.update_domain(record.clone()).await;
            if records.settled(&mut entries, outcome).await? {
                return Ok(Some(records.show(&mut entries, record)));
            }
            records.hide(&mut entries, &name);
            Ok(None)
        })
        .await
    }

    /// Removes a domain; `false` if it is not registered, or no longer has `version`.
    pub(super) async fn remove(self: &Arc<Self>, name: &DomainName, version: Option<u64>) -> Result<bool, StoreError> {
        let (records, name) = (self.clone(), name.clone());
        to_its_end(async move {
            let mut entries = records.entries.lock().await;
            let is_newer = |version| entries.by_name.get(&name).is_none_or(|entry| entry.version != version);
            if version.is_some_and(is_newer) {
                return Ok(false);
            }
            let outcome = records.store.remove_domain(&name).await;
            let was_registered = records.settled(&mut entries, outcome).await?;
            records.hide(&mut entries, &name);
            Ok(was_registered)
        })
        .await
    }

    /// Whether other processes may change the records.
    pub(super) fn are_shared(&self) -> bool {
        self.store.is_shared()
    }

    /// Reads the record of a domain that another process may have registered.
    pub(super) async fn look_up(&self, name: &DomainName) -> Result<(), StoreError> {
        if let Some(record) = self.store.domain(name).await? {
            let mut entries = self.entries.lock().await;
            self.show(&mut entries, record);
        }
        Ok(())
    }

    /// Whether this process verifies the domains, among those that share the store.
    pub(super) fn leads(&self) -> bool {
        self.store.leads()
    }

    /// Reads the records again when another process that shares the store has changed them. Ends at once if none does.
    pub(super) async fn follow(&self) {
        if !self.store.is_shared() {
            return;
        }
        let (mut seen, mut read_at) = (None, Instant::now());
        loop {
            let version = self.store.domain_version().await;
            let is_due = read_at.elapsed() >= FULL_LOOK_EVERY;
            match version {
                Ok(version) if seen == Some(version) && !is_due => {}
                Ok(version) => {
                    let mut entries = self.entries.lock().await;
                    match self.reload(&mut entries).await {
                        Ok(()) => (seen, read_at) = (Some(version), Instant::now()),
                        Err(error) => tracing::warn!(%error, "the registered domains could not be read again"),
                    }
                }
                Err(error) => tracing::debug!(%error, "it is not known whether domains have changed"),
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// Returns `outcome`. If the outcome is unknown, the store's records are read again first.
    async fn settled<T>(
        &self,
        entries: &mut MutexGuard<'_, Entries>,
        outcome: Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if matches!(outcome, Err(StoreError::OutcomeUnknown))
            && let Err(error) = self.reload(entries).await
        {
            tracing::warn!(%error, "the registered domains could not be read again; the copy in memory stays in use");
        }
        outcome
    }

    async fn reload(&self, entries: &mut MutexGuard<'_, Entries>) -> Result<(), StoreError> {
        let records = self.store.domains().await?;
        entries.changes += 1;
        let version = entries.changes;
        self.table.replace(records.iter().map(|record| (record.name.clone(), record.status)).collect());
        entries.by_name = records.into_iter().map(|record| (record.name.clone(), Entry { record, version })).collect();
        Ok(())
    }

    fn show(&self, entries: &mut MutexGuard<'_, Entries>, record: DomainRecord) -> Entry {
        entries.changes += 1;
        let entry = Entry { version: entries.changes, record };
        let status: DomainStatus = entry.record.status;
        entries.by_name.insert(entry.record.name.clone(), entry.clone());
        self.table.set(&entry.record.name, Some(status));
        entry
    }

    fn hide(&self, entries: &mut MutexGuard<'_, Entries>, name: &DomainName) {
        entries.by_name.remove(name);
        self.table.set(name, None);
    }
}

/// Runs `change` in a task of its own, so that it completes even if the caller is dropped.
async fn to_its_end<T: Send + 'static, E: From<StoreError> + Send + 'static>(
    change: impl Future<Output = Result<T, E>> + Send + 'static,
) -> Result<T, E> {
    match tokio::spawn(change).await {
        Ok(outcome) => outcome,
        Err(error) => Err(StoreError::Failed(error.to_string()).into()),
    }
}
