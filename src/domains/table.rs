//! The domains that are served, in memory. SMTP reads this table at every RCPT.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tokio::time::Instant;

use super::DomainEntry;
use crate::config::DomainsConfig;
use crate::model::{DomainName, DomainPattern, DomainRecord, DomainStatus};
use crate::store::Store;

/// Whether mail is received for a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// Mail is received for the domain.
    Active,
    /// The domain is registered, but its MX points elsewhere.
    Deactivated,
    /// The domain is not registered.
    Unknown,
}

/// The record of a registered domain. The table has the same `Arc` until the record changes.
pub type Record = Arc<DomainRecord>;

/// The fixed and the registered domains. Clones share one table. A look at one domain takes a lock for microseconds.
#[derive(Clone)]
pub struct DomainTable(pub(super) Arc<Shared>);

pub(super) struct Shared {
    pub(super) config: DomainsConfig,
    pub(super) store: Arc<dyn Store>,
    registered: RwLock<Registered>,
    /// Held during a change.
    pub(super) changing: tokio::sync::Mutex<()>,
    /// When the current second began, and the unknown domains that the store was asked about since.
    pub(super) asked: std::sync::Mutex<(Instant, HashSet<DomainName>)>,
}

type Registered = BTreeMap<DomainName, Record>;

impl fmt::Debug for DomainTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DomainTable").finish_non_exhaustive()
    }
}

impl DomainTable {
    /// A table of the domains that the settings fix.
    pub(super) fn new(config: DomainsConfig, store: Arc<dyn Store>) -> Self {
        Self(Arc::new(Shared {
            config,
            store,
            registered: RwLock::default(),
            changing: tokio::sync::Mutex::default(),
            asked: std::sync::Mutex::new((Instant::now(), HashSet::new())),
        }))
    }

    /// Whether mail for `name` is received.
    pub fn served(&self, name: &DomainName) -> Served {
        if self.is_fixed(name) {
            return Served::Active;
        }
        match self.read().get(name).map(|record| record.status) {
            Some(DomainStatus::Active) => Served::Active,
            Some(DomainStatus::Deactivated) => Served::Deactivated,
            None => Served::Unknown,
        }
    }

    /// The sorted names of the active domains, both fixed and registered. Names that only a wildcard matches are not
    /// included.
    pub fn active(&self) -> Vec<DomainName> {
        let registered = self.read();
        let active = registered.values().filter(|record| record.status == DomainStatus::Active);
        let exact = self.0.config.fixed.iter().filter_map(|pattern| match pattern {
            DomainPattern::Exact(name) => Some(name),
            DomainPattern::Below(_) | DomainPattern::Any => None,
        });
        let sorted: BTreeSet<&DomainName> = active.map(|record| &record.name).chain(exact).collect();
        sorted.into_iter().cloned().collect()
    }

    /// Every fixed or registered domain and every wildcard, sorted by name. A registered domain that is also fixed is
    /// listed as fixed.
    pub(super) fn list(&self) -> Vec<DomainEntry> {
        let registered = self.records().into_iter().map(|record| (record.name.to_string(), Some(record)));
        let fixed = self.0.config.fixed.iter().map(|pattern| (pattern.to_string(), None));
        let sorted: BTreeMap<String, Option<Record>> = registered.chain(fixed).collect();
        sorted.into_iter().map(|(domain, record)| DomainEntry { domain, record }).collect()
    }

    /// The numbers of active and of deactivated domains. Each domain counts once, and a wildcard counts as one active
    /// domain.
    pub(super) fn count(&self) -> (usize, usize) {
        let (active, deactivated): (Vec<_>, Vec<_>) =
            self.list().into_iter().partition(|entry| entry.status() == DomainStatus::Active);
        (active.len(), deactivated.len())
    }

    /// Whether the settings fix `name`, either by name or by a wildcard.
    pub fn is_fixed(&self, name: &DomainName) -> bool {
        self.0.config.fixed.iter().any(|pattern| pattern.matches(name))
    }

    /// Whether the settings fix `name` by itself.
    pub(super) fn is_fixed_by_name(&self, name: &DomainName) -> bool {
        let mut fixed = self.0.config.fixed.iter();
        fixed.any(|pattern| !pattern.is_wildcard() && pattern.matches(name))
    }

    /// The record of a registered domain.
    pub(super) fn record(&self, name: &DomainName) -> Option<Record> {
        self.read().get(name).cloned()
    }

    /// The records of all registered domains, sorted by name.
    pub(super) fn records(&self) -> Vec<Record> {
        self.read().values().cloned().collect()
    }

    /// Adds a record, or replaces that of the same domain. The store must have it.
    pub(super) fn put(&self, record: DomainRecord) -> Record {
        let mut registered = self.write();
        let record = kept(&registered, record);
        registered.insert(record.name.clone(), Arc::clone(&record));
        record
    }

    /// Replaces all records by those of the store.
    pub(super) fn replace(&self, records: Vec<DomainRecord>) {
        let mut registered = self.write();
        let records = records.into_iter().map(|record| (record.name.clone(), kept(&registered, record))).collect();
        *registered = records;
    }

    pub(super) fn forget(&self, name: &DomainName) {
        self.write().remove(name);
    }

    fn read(&self) -> RwLockReadGuard<'_, Registered> {
        self.0.registered.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Registered> {
        self.0.registered.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The record as the table has it, if it has not changed.
fn kept(registered: &Registered, record: DomainRecord) -> Record {
    let unchanged = registered.get(&record.name).filter(|there| ***there == record);
    unchanged.cloned().unwrap_or_else(|| Arc::new(record))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{active, table};
    use super::*;

    fn name(text: &str) -> DomainName {
        text.parse().expect(text)
    }

    fn deactivated(domain: &str) -> DomainRecord {
        DomainRecord { status: DomainStatus::Deactivated, ..active(domain) }
    }

    #[tokio::test]
    async fn a_domain_is_served_as_it_is_fixed_or_registered() {
        let (_dir, table) = table(&["fixed.example", "*.wild.example"]);
        table.put(active("active.example"));
        table.put(deactivated("lost.example"));
        table.put(deactivated("lost.wild.example"));
        for (domain, served) in [
            ("fixed.example", Served::Active),
            ("sub.fixed.example", Served::Unknown),
            ("any.wild.example", Served::Active),
            ("wild.example", Served::Unknown),
            ("active.example", Served::Active),
            ("lost.example", Served::Deactivated),
            ("lost.wild.example", Served::Active),
            ("other.example", Served::Unknown),
        ] {
            assert_eq!(table.served(&name(domain)), served, "{domain}");
        }
    }

    #[tokio::test]
    async fn each_domain_counts_once() {
        let (_dir, table) = table(&["m.example", "*", "b.example"]);
        assert_eq!(table.count(), (3, 0));
        for domain in ["z.example", "b.example", "a.example"] {
            table.put(active(domain));
        }
        table.put(deactivated("c.example"));
        assert_eq!(table.count(), (5, 1));
    }

    #[tokio::test]
    async fn a_list_has_each_name_once_and_sorted() {
        let (_dir, table) = table(&["m.example", "*", "m.example", "b.example"]);
        for domain in ["z.example", "b.example", "a.example"] {
            table.put(active(domain));
        }
        let listed: Vec<_> = table.list().into_iter().map(|entry| (entry.domain, entry.record.is_some())).collect();
        let expected =
            [("*", false), ("a.example", true), ("b.example", false), ("m.example", false), ("z.example", true)];
        assert_eq!(listed, expected.map(|(domain, is_registered)| (domain.to_owned(), is_registered)));
    }

    #[tokio::test]
    async fn the_active_names_are_sorted_and_each_there_once() {
        let (_dir, table) = table(&["m.example", "*", "b.example"]);
        for domain in ["z.example", "b.example", "a.example"] {
            table.put(active(domain));
        }
        table.put(deactivated("c.example"));
        assert_eq!(table.active(), ["a.example", "b.example", "m.example", "z.example"].map(name));
    }

    #[tokio::test]
    async fn a_clone_sees_what_changes_and_what_is_removed() {
        let (_dir, table) = table(&[]);
        let seen_by_smtp = table.clone();
        table.put(active("a.example"));
        assert_eq!(seen_by_smtp.served(&name("a.example")), Served::Active);
        table.forget(&name("a.example"));
        assert_eq!(seen_by_smtp.served(&name("a.example")), Served::Unknown);
    }

    #[tokio::test]
    async fn a_record_is_the_same_one_until_it_changes() {
        let (_dir, table) = table(&[]);
        let (a, b) = (table.put(active("a.example")), table.put(active("b.example")));
        assert!(Arc::ptr_eq(&table.put(active("a.example")), &a));
        table.replace(vec![active("a.example"), deactivated("b.example")]);
        let is_same = |before: &Record| Arc::ptr_eq(&table.record(&before.name).expect("a record"), before);
        assert!(is_same(&a) && !is_same(&b));
        table.replace(Vec::new());
        assert!(table.records().is_empty());
    }
}
