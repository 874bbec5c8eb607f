//! The domains that are served, in memory. SMTP reads this table at every RCPT.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::DomainEntry;
use crate::model::{DomainName, DomainPattern, DomainRecord, DomainStatus};

/// The record of a registered domain. The table has the same `Arc` until the record changes.
pub type Record = Arc<DomainRecord>;

/// The fixed and the registered domains. A look at one domain takes a lock for microseconds.
#[derive(Debug)]
pub struct DomainTable {
    fixed: Vec<DomainPattern>,
    registered: Mutex<BTreeMap<DomainName, Record>>,
}

impl DomainTable {
    /// A table of the domains that the settings fix.
    pub(super) fn new(fixed: Vec<DomainPattern>) -> Self {
        Self { fixed, registered: Mutex::default() }
    }

    /// The status of a fixed or registered domain. Mail is received for active domains only.
    pub fn status(&self, name: &DomainName) -> Option<DomainStatus> {
        if self.is_fixed(name) {
            Some(DomainStatus::Active)
        } else {
            self.registered().get(name).map(|record| record.status)
        }
    }

    /// The sorted names of the active domains, both fixed and registered. Names that only a wildcard matches are not
    /// included.
    pub fn active(&self) -> Vec<DomainName> {
        let registered = self.records();
        let active = registered.iter().filter(|record| record.status == DomainStatus::Active);
        let exact = self.fixed.iter().filter_map(|pattern| match pattern {
            DomainPattern::Exact(name) => Some(name),
            DomainPattern::Below(_) | DomainPattern::Any => None,
        });
        let sorted: BTreeSet<&DomainName> = active.map(|record| &record.name).chain(exact).collect();
        sorted.into_iter().cloned().collect()
    }

    /// Every fixed or registered domain and every wildcard, sorted by name. A registered domain that is also fixed is
    /// listed as fixed.
    pub fn list(&self) -> Vec<DomainEntry> {
        let registered = self.records().into_iter().map(|record| (record.name.to_string(), Some(record)));
        let fixed = self.fixed.iter().map(|pattern| (pattern.to_string(), None));
        let sorted: BTreeMap<String, Option<Record>> = registered.chain(fixed).collect();
        sorted.into_iter().map(|(domain, record)| DomainEntry { domain, record }).collect()
    }

    /// Whether the settings fix `name`, either by name or by a wildcard.
    pub(super) fn is_fixed(&self, name: &DomainName) -> bool {
        self.fixed.iter().any(|pattern| pattern.matches(name))
    }

    /// The record of a registered domain.
    pub(super) fn record(&self, name: &DomainName) -> Option<Record> {
        self.registered().get(name).cloned()
    }

    /// The records of all registered domains, sorted by name.
    pub(super) fn records(&self) -> Vec<Record> {
        self.registered().values().cloned().collect()
    }

    /// Sets the record of a domain to that of the store.
    pub(super) fn set(&self, name: &DomainName, record: Option<Record>) {
        match record {
            Some(record) => self.registered().insert(name.clone(), record),
            None => self.registered().remove(name),
        };
    }

    /// Sets all records to those of the store.
    pub(super) fn set_all(&self, records: Vec<DomainRecord>) {
        let mut registered = self.registered();
        let kept = |record: &DomainRecord| registered.get(&record.name).filter(|there| ***there == *record).cloned();
        let all = records.into_iter().map(|record| kept(&record).unwrap_or_else(|| Arc::new(record)));
        *registered = all.map(|record| (record.name.clone(), record)).collect();
    }

    fn registered(&self) -> MutexGuard<'_, BTreeMap<DomainName, Record>> {
        self.registered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::active;
    use super::*;

    fn name(text: &str) -> DomainName {
        text.parse().expect(text)
    }

    /// A table of these fixed domains.
    fn table(fixed: &[&str]) -> DomainTable {
        DomainTable::new(fixed.iter().map(|pattern| pattern.parse().expect(pattern)).collect())
    }

    fn put(table: &DomainTable, record: DomainRecord) -> Record {
        let record = Record::new(record);
        table.set(&record.name, Some(record.clone()));
        record
    }

    fn deactivated(domain: &str) -> DomainRecord {
        DomainRecord { status: DomainStatus::Deactivated, ..active(domain) }
    }

    #[test]
    fn a_domain_is_served_as_it_is_fixed_or_registered() {
        let table = table(&["fixed.example", "*.wild.example"]);
        put(&table, active("active.example"));
        put(&table, deactivated("lost.example"));
        put(&table, deactivated("lost.wild.example"));
        for (domain, status) in [
            ("fixed.example", Some(DomainStatus::Active)),
            ("sub.fixed.example", None),
            ("any.wild.example", Some(DomainStatus::Active)),
            ("wild.example", None),
            ("active.example", Some(DomainStatus::Active)),
            ("lost.example", Some(DomainStatus::Deactivated)),
            ("lost.wild.example", Some(DomainStatus::Active)),
            ("other.example", None),
        ] {
            assert_eq!(table.status(&name(domain)), status, "{domain}");
        }
    }

    #[test]
    fn a_list_has_each_name_once_and_sorted() {
        let table = table(&["m.example", "*", "m.example", "b.example"]);
        for domain in ["z.example", "b.example", "a.example"] {
            put(&table, active(domain));
        }
        let listed: Vec<_> = table.list().into_iter().map(|entry| (entry.domain, entry.record.is_some())).collect();
        let expected =
            [("*", false), ("a.example", true), ("b.example", false), ("m.example", false), ("z.example", true)];
        assert_eq!(listed, expected.map(|(domain, is_registered)| (domain.to_owned(), is_registered)));
    }

    #[test]
    fn the_active_names_are_sorted_and_each_there_once() {
        let table = table(&["m.example", "*", "b.example"]);
        for domain in ["z.example", "b.example", "a.example"] {
            put(&table, active(domain));
        }
        put(&table, deactivated("c.example"));
        assert_eq!(table.active(), ["a.example", "b.example", "m.example", "z.example"].map(name));
    }

    #[test]
    fn a_record_is_the_same_one_until_it_changes() {
        let table = table(&[]);
        let (a, b) = (put(&table, active("a.example")), put(&table, active("b.example")));
        table.set_all(vec![active("a.example"), deactivated("b.example")]);
        let is_same = |before: &Record| Arc::ptr_eq(&table.record(&before.name).expect("a record"), before);
        assert!(is_same(&a) && !is_same(&b));
        table.set(&b.name, None);
        assert_eq!(table.records(), [a]);
        table.set_all(Vec::new());
        assert!(table.records().is_empty());
    }
}
