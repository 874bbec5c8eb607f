//! The domains that are served, in memory. SMTP reads this table at every RCPT.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::model::{DomainName, DomainPattern, DomainStatus};

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

/// The fixed and the registered domains. Clones share one table. Reading takes no lock.
#[derive(Clone, Debug)]
pub struct DomainTable(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    exact: HashSet<DomainName>,
    wildcards: Vec<DomainPattern>,
    registered: ArcSwap<HashMap<DomainName, DomainStatus>>,
}

impl DomainTable {
    /// Creates a table of the fixed domains. The registry adds the registered ones.
    pub fn new(fixed: Vec<DomainPattern>) -> Self {
        let mut exact = HashSet::new();
        let mut wildcards = Vec::new();
        for pattern in fixed {
            match pattern {
                DomainPattern::Exact(name) => {
                    exact.insert(name);
                }
                wildcard => wildcards.push(wildcard),
            }
        }
        Self(Arc::new(Shared { exact, wildcards, registered: ArcSwap::default() }))
    }

    /// Whether mail for `name` is received.
    pub fn served(&self, name: &DomainName) -> Served {
        if self.is_fixed(name) {
            return Served::Active;
        }
        match self.0.registered.load().get(name) {
            Some(DomainStatus::Active) => Served::Active,
            Some(DomainStatus::Deactivated) => Served::Deactivated,
            None => Served::Unknown,
        }
    }

    /// The sorted names of the active domains, both fixed and registered. Names that only a wildcard matches are not
    /// included.
    pub fn active(&self) -> Vec<DomainName> {
        let registered = self.0.registered.load();
        let active = registered.iter().filter(|(_, status)| **status == DomainStatus::Active).map(|(name, _)| name);
        let sorted: BTreeSet<&DomainName> = active.chain(&self.0.exact).collect();
        sorted.into_iter().cloned().collect()
    }

    /// The numbers of active and of deactivated domains. Each domain counts once, and a wildcard counts as one active
    /// domain.
    pub fn count(&self) -> (usize, usize) {
        let registered = self.0.registered.load();
        let own = registered.iter().filter(|(name, _)| !self.is_fixed_by_name(name));
        let (active, deactivated): (Vec<_>, Vec<_>) = own.partition(|(_, status)| **status == DomainStatus::Active);
        (self.0.exact.len() + self.0.wildcards.len() + active.len(), deactivated.len())
    }

    /// Whether the settings fix `name`, either by name or by a wildcard.
    pub fn is_fixed(&self, name: &DomainName) -> bool {
        self.is_fixed_by_name(name) || self.0.wildcards.iter().any(|pattern| pattern.matches(name))
    }

    pub(super) fn is_fixed_by_name(&self, name: &DomainName) -> bool {
        self.0.exact.contains(name)
    }

    pub(super) fn replace(&self, registered: HashMap<DomainName, DomainStatus>) {
        self.0.registered.store(Arc::new(registered));
    }

    /// Sets or removes one registered domain. The caller must hold the lock of the records: a concurrent call could be
    /// lost.
    pub(super) fn set(&self, name: &DomainName, status: Option<DomainStatus>) {
        let registered = self.0.registered.load();
        if registered.get(name).copied() == status {
            return;
        }
        let mut registered = HashMap::clone(&registered);
        match status {
            Some(status) => registered.insert(name.clone(), status),
            None => registered.remove(name),
        };
        self.replace(registered);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> DomainName {
        text.parse().expect(text)
    }

    fn table(fixed: &[&str]) -> DomainTable {
        DomainTable::new(fixed.iter().map(|pattern| pattern.parse().expect(pattern)).collect())
    }

    #[test]
    fn a_domain_is_served_as_it_is_fixed_or_registered() {
        let table = table(&["fixed.example", "*.wild.example"]);
        table.set(&name("active.example"), Some(DomainStatus::Active));
        table.set(&name("lost.example"), Some(DomainStatus::Deactivated));
        table.set(&name("lost.wild.example"), Some(DomainStatus::Deactivated));
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

    #[test]
    fn each_domain_counts_once() {
        let table = table(&["m.example", "*", "b.example"]);
        assert_eq!(table.count(), (3, 0));
        for domain in ["z.example", "b.example", "a.example"] {
            table.set(&name(domain), Some(DomainStatus::Active));
        }
        table.set(&name("c.example"), Some(DomainStatus::Deactivated));
        assert_eq!(table.count(), (5, 1));
    }

    #[test]
    fn the_active_names_are_sorted_and_each_there_once() {
        let table = table(&["m.example", "*", "b.example"]);
        for domain in ["z.example", "b.example", "a.example"] {
            table.set(&name(domain), Some(DomainStatus::Active));
        }
        table.set(&name("c.example"), Some(DomainStatus::Deactivated));
        assert_eq!(table.active(), ["a.example", "b.example", "m.example", "z.example"].map(name));
    }

    #[test]
    fn a_clone_sees_what_changes_and_what_is_removed() {
        let table = table(&[]);
        let seen_by_smtp = table.clone();
        table.set(&name("a.example"), Some(DomainStatus::Active));
        assert_eq!(seen_by_smtp.served(&name("a.example")), Served::Active);
        table.set(&name("a.example"), None);
        assert_eq!(seen_by_smtp.served(&name("a.example")), Served::Unknown);
    }
}
