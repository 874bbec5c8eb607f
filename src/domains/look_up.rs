//! Asks a shared store about one domain, because another process may have registered it a moment ago.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use quick_cache::sync::Cache;

use super::records::Records;
use crate::clock::Clock;
use crate::model::DomainName;

/// How long nobody asks about a domain again.
const ASKED_ONCE_IN: Duration = Duration::from_secs(1);
/// The most questions in a second, since strangers can name any domain.
const PER_SECOND_MAX: u32 = 100;
/// The most domains that are remembered.
const REMEMBERED_MAX: usize = 4096;

/// Questions about unknown domains.
pub struct LookUps {
    records: Arc<Records>,
    clock: Arc<dyn Clock>,
    asked: Cache<DomainName, Duration>,
    /// The current second of the boot clock, and how many questions it had.
    rate: Mutex<(u64, u32)>,
}

impl LookUps {
    pub(super) fn new(records: Arc<Records>, clock: Arc<dyn Clock>) -> Self {
        Self { records, clock, asked: Cache::new(REMEMBERED_MAX), rate: Mutex::default() }
    }

    /// Whether the store should be asked about a domain that this process does not know. Whoever gets `true` asks.
    pub fn is_due(&self, name: &DomainName) -> bool {
        let now = self.clock.boot();
        if self.asked.get(name).is_some_and(|at| now.saturating_sub(at) < ASKED_ONCE_IN) {
            return false;
        }
        let mut rate = self.rate.lock().unwrap_or_else(PoisonError::into_inner);
        if rate.0 != now.as_secs() {
            *rate = (now.as_secs(), 0);
        }
        if rate.1 >= PER_SECOND_MAX {
            return false;
        }
        rate.1 += 1;
        self.asked.insert(name.clone(), now);
        true
    }

    /// Asks the store. If it has the domain, the table has it as well when this returns.
    pub async fn ask(&self, name: &DomainName) {
        if let Err(error) = self.records.look_up(name).await {
            tracing::debug!(%error, "the store could not be asked about a domain");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;
    use crate::domains::DomainTable;
    use crate::store::disk::Directory;
    use crate::store::{EmbeddedStore, StoreOptions};

    #[tokio::test]
    async fn a_domain_is_asked_about_once_and_few_are_in_a_second() {
        let dir = tempfile::tempdir().expect("directory");
        let config = crate::config::Config::of_revision(crate::config::Revision::Two, dir.path().into());
        let disk = Arc::new(Directory::lock(dir.path()).expect("lock"));
        let store = EmbeddedStore::open_on(disk, &StoreOptions::from_config(&config)).expect("open");
        let records = Records::open(Arc::new(store), DomainTable::new(Vec::new())).await.expect("records");
        let look_ups = LookUps::new(records, Arc::new(SystemClock));
        let name = |number: u32| format!("d{number}.example").parse::<DomainName>().expect("name");
        assert!(look_ups.is_due(&name(0)));
        assert!(!look_ups.is_due(&name(0)));
        let asked = (1..1000).filter(|number| look_ups.is_due(&name(*number))).count();
        assert!((99..=300).contains(&asked), "{asked}");
    }
}
