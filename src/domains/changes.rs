//! Changes of registered domains: in the store, and then in the table.
//!
//! The invariant: changes are made one at a time, and reach the table only after the store has them. A change runs to
//! its end even if its caller is dropped. Otherwise the store could be ahead of the table, and nothing would notice.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{DomainError, Record, Registry};
use crate::model::{Client, DomainName, DomainRecord};
use crate::store::{Registration, StoreError};

/// How soon domains are read again that could not be read.
const READ_AGAIN_AFTER: Duration = Duration::from_millis(500);
/// The most unknown domains that a shared store is asked about in a second, since strangers can name any.
const LOOK_UPS_MAX: usize = 100;

impl Registry {
    /// Replaces the record of a domain; `None` is no record. `false` if the domain's record was not `before`.
    ///
    /// A new domain must be within the limits: see [`Registry::room`].
    pub(super) async fn replace(
        self: &Arc<Self>,
        name: &DomainName,
        before: Option<Record>,
        after: Option<Record>,
    ) -> Result<bool, DomainError> {
        let (registry, name) = (Arc::clone(self), name.clone());
        let change = tokio::spawn(async move {
            let outcome = registry.replace_alone(&name, before, after).await;
            if outcome == Err(StoreError::OutcomeUnknown.into()) {
                registry.reload().await;
            }
            outcome
        });
        change.await.unwrap_or_else(|panic| Err(StoreError::Failed(panic.to_string()).into()))
    }

    async fn replace_alone(
        &self,
        name: &DomainName,
        before: Option<Record>,
        after: Option<Record>,
    ) -> Result<bool, DomainError> {
        let _changing = self.changing.lock().await;
        if self.table.record(name).as_ref().map(Arc::as_ptr) != before.as_ref().map(Arc::as_ptr) {
            return Ok(false);
        }
        // Another process can have changed the domain a moment ago.
        let (is_replaced, there) = match after {
            None => {
                // A record that another process has changed is not the one that was to go.
                let there = if self.store.is_shared() { self.store.domain(name).await? } else { None };
                match (there, &before) {
                    (Some(there), Some(before)) if there != **before => (false, Some(Arc::new(there))),
                    _ => (self.store.remove_domain(name).await?, None),
                }
            }
            Some(after) if let Some(before) = &before => {
                let is_replaced = self.store.update_domain(before, DomainRecord::clone(&after)).await?;
                let there = if is_replaced { Some(after) } else { self.store.domain(name).await?.map(Arc::new) };
                (is_replaced, there)
            }
            Some(after) => {
                self.room(after.registrant)?;
                let registration = self.store.register_domain(DomainRecord::clone(&after), self.config.registered_max);
                match registration.await? {
                    Registration::Won => (true, Some(after)),
                    Registration::Taken(there) => (false, Some(Arc::new(there))),
                    Registration::Full => return Err(DomainError::TooMany),
                }
            }
        };
        self.table.set(name, there);
        Ok(is_replaced)
    }

    /// Changes a record. Returns the new one, or `None` if the domain's record is no longer `before`.
    pub(super) async fn update(
        self: &Arc<Self>,
        before: &Record,
        change: impl FnOnce(&mut DomainRecord),
    ) -> Result<Option<Record>, DomainError> {
        let mut after = Arc::clone(before);
        change(Arc::make_mut(&mut after));
        let is_changed = self.replace(&before.name, Some(Arc::clone(before)), Some(Arc::clone(&after))).await?;
        Ok(is_changed.then_some(after))
    }

    /// Checks whether one more domain can be registered by `registrant`. The administrator (`None`) has no limit of its
    /// own. A deactivated domain counts, since it keeps its place.
    pub(super) fn room(&self, registrant: Option<Client>) -> Result<(), DomainError> {
        let records = self.table.records();
        if records.len() >= self.config.registered_max {
            return Err(DomainError::TooMany);
        }
        let of_client_max = self.config.registered_per_client_max;
        let of_client = || records.iter().filter(|record| record.registrant == registrant).count();
        if registrant.is_some() && of_client() >= of_client_max {
            return Err(DomainError::TooManyOfClient(of_client_max));
        }
        Ok(())
    }

    /// Whether to ask the store about a domain, which another process may have registered a moment ago. Whoever gets
    /// `true` calls [`Registry::look_up`].
    pub fn must_look_up(&self, name: &DomainName) -> bool {
        self.store.is_shared() && self.table.status(name).is_none() && self.is_question_due(name)
    }

    fn is_question_due(&self, name: &DomainName) -> bool {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.0.elapsed() >= Duration::from_secs(1) {
            *asked = (Instant::now(), HashSet::new());
        }
        asked.1.len() < LOOK_UPS_MAX && asked.1.insert(name.clone())
    }

    /// Asks the store about a domain. If the store has it, the table has it as well when this returns.
    pub async fn look_up(&self, name: &DomainName) {
        match self.store.domain(name).await {
            Ok(Some(_)) => _ = self.reload().await,
            Ok(None) => {}
            Err(error) => tracing::debug!(%error, "the store could not be asked about a domain"),
        }
    }

    /// Reads the records again when another process that shares the store has changed them. Ends at once if none does.
    pub(super) async fn follow(&self) {
        let mut changed = self.store.changed();
        while changed.changed().await.is_ok() {
            while !self.reload().await {
                sleep(READ_AGAIN_AFTER).await;
            }
        }
    }

    /// Reads all records of the store, while no change is in progress; `false` if the store failed.
    async fn reload(&self) -> bool {
        let _changing = self.changing.lock().await;
        match self.store.domains().await {
            Ok(records) => self.table.set_all(records),
            Err(error) => {
                tracing::warn!(%error, "the registered domains could not be read again; the copy in memory stays in use");
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::super::tests::{active, registry};
    use super::*;

    #[tokio::test]
    async fn only_the_record_that_was_read_is_changed_or_removed() {
        let (_dir, registry) = registry().await;
        let first = Record::new(active("a.example"));
        assert!(registry.replace(&first.name, None, Some(first.clone())).await.expect("registered"));
        assert!(!registry.replace(&first.name, None, Some(first.clone())).await.expect("no change"));
        let second = registry.update(&first, |record| record.pinned = true).await.expect("updated").expect("a record");
        assert!(registry.update(&first, |record| record.pinned = false).await.expect("no change").is_none());
        assert!(!registry.replace(&first.name, Some(first.clone()), None).await.expect("no change"));
        assert_eq!(registry.table.records(), std::slice::from_ref(&second));
        assert!(registry.replace(&first.name, Some(second), None).await.expect("removed"));
        assert!(registry.table.records().is_empty());
    }

    /// A regression: a question showed what it had read before the removal, until all domains were read again.
    #[tokio::test]
    async fn a_question_about_a_domain_does_not_undo_its_removal() {
        let (_dir, registry) = registry().await;
        let record = Record::new(active("a.example"));
        assert!(registry.replace(&record.name, None, Some(record.clone())).await.expect("registered"));
        let removal = registry.changing.lock().await;
        let mut question = Box::pin(registry.look_up(&record.name));
        // It reads the record on another thread, and then waits for the removal.
        for _ in 0..100 {
            assert!(question.as_mut().now_or_never().is_none());
            sleep(Duration::from_millis(1)).await;
        }
        assert!(registry.store.remove_domain(&record.name).await.expect("removed"));
        registry.table.set(&record.name, None);
        drop(removal);
        question.await;
        assert_eq!(registry.table.status(&record.name), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_domain_is_asked_about_once_and_few_are_in_a_second() {
        let (_dir, registry) = registry().await;
        let name = |number: u32| format!("d{number}.example").parse::<DomainName>().expect("name");
        for _ in 0..2 {
            assert!(registry.is_question_due(&name(0)));
            assert!(!registry.is_question_due(&name(0)));
            assert_eq!((1..1000).filter(|number| registry.is_question_due(&name(*number))).count(), 99);
            tokio::time::advance(Duration::from_secs(1)).await;
        }
    }
}
