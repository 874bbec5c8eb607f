//! What the tests of several modules need.

use std::sync::Arc;

use tempfile::TempDir;

use super::DomainTable;
use crate::config::{Config, Revision};
use crate::model::{DomainRecord, DomainStatus, Timestamp};
use crate::store::disk::Directory;
use crate::store::{EmbeddedStore, StoreOptions};

/// A table of these fixed domains over a new store, and the directory of the store.
pub(super) fn table(fixed: &[&str]) -> (TempDir, DomainTable) {
    let dir = tempfile::tempdir().expect("directory");
    let mut config = Config::of_revision(Revision::Two, dir.path().into());
    config.domains.fixed = fixed.iter().map(|pattern| pattern.parse().expect(pattern)).collect();
    let disk = Arc::new(Directory::lock(dir.path()).expect("lock"));
    let store = EmbeddedStore::open_on(disk, &StoreOptions::from_config(&config)).expect("open");
    (dir, DomainTable::new(config.domains, Arc::new(store)))
}

/// The record of an active domain that was registered at the epoch.
pub(super) fn active(domain: &str) -> DomainRecord {
    DomainRecord {
        name: domain.parse().expect(domain),
        status: DomainStatus::Active,
        pinned: false,
        owner: None,
        email: None,
        added_at: Timestamp::from_millis(0),
        last_checked_at: None,
        last_check_result: None,
        registrant: None,
        deactivated_at: None,
    }
}
