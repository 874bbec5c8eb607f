//! What the tests of several modules need.

use std::sync::Arc;

use tempfile::TempDir;

use super::Registry;
use crate::admission::Admission;
use crate::clock::{Clock, SystemClock};
use crate::config::{Config, Revision};
use crate::dns::{DnsResolver, Resolver};
use crate::model::{DomainRecord, Timestamp};
use crate::store::disk::Directory;
use crate::store::{EmbeddedStore, StoreOptions};

/// A registry that asks no DNS, and the directory of its store.
pub(super) async fn registry() -> (TempDir, Arc<Registry>) {
    let dns = DnsResolver::new(Vec::new(), std::time::Duration::ZERO);
    registry_with(|_| (), Arc::new(dns), Arc::new(SystemClock)).await
}

/// A registry over a new store, and the directory of the store.
pub(super) async fn registry_with(
    set: impl FnOnce(&mut Config),
    dns: Arc<dyn Resolver>,
    clock: Arc<dyn Clock>,
) -> (TempDir, Arc<Registry>) {
    let dir = tempfile::tempdir().expect("directory");
    let mut config = Config::of_revision(Revision::Two, dir.path().into());
    set(&mut config);
    let disk = Arc::new(Directory::lock(dir.path()).expect("lock"));
    let store = EmbeddedStore::open_on(disk, &StoreOptions::from_config(&config)).expect("open");
    let admission = Arc::new(Admission::new(&config));
    (dir, Registry::open(&config, Arc::new(store), dns, clock, admission).await.expect("registry"))
}

/// The record of an active domain that was registered at the epoch.
pub(super) fn active(domain: &str) -> DomainRecord {
    DomainRecord::new(domain.parse().expect(domain), Timestamp::from_millis(0))
}
