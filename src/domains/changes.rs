//! Changes of registered domains: in the store, and then in the table.
//!
//! The invariant: changes are made one at a time, and reach the table only after the store has them. A change runs to
//! its end even if its caller is dropped. Otherwise the store could be ahead of the table, and nothing would notice.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::table::{Record, Served};
use super::{DomainError, DomainTable};
use crate::model::{Client, DomainName, DomainRecord};
use crate::store::{Registration, StoreError};

/// How often a process looks whether another one has changed a domain.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How often it reads all domains again, in case the other one died before it could say so.
const FULL_LOOK_EVERY: Duration = Duration::from_mins(1);
/// The most unknown domains that a shared store is asked about in a second, since strangers can name any.
const LOOK_UPS_MAX: usize = 100;

impl DomainTable {
    /// Checks whether one more domain can be registered by `registrant`. The administrator (`None`) has no limit of its
    /// own. A deactivated domain counts, since it keeps its place.
    pub(super) fn room(&self, registrant: Option<Client>) -> Result<(), DomainError> {
        let records = self.records();
        if records.len() >= self.0.config.registered_max {
            return Err(DomainError::TooMany);
        }
        let of_client_max = self.0.config.registered_per_client_max;
        let of_client = || records.iter().filter(|record| record.registrant == registrant).count();
        if registrant.is_some() && of_client() >= of_client_max {
            return Err(DomainError::TooManyOfClient(of_client_max));
        }
        Ok(())
    }

    /// Registers a domain within the limits, unless it is registered already. Returns its record, and whether this call
    /// registered it.
    pub(super) async fn register(&self, record: DomainRecord) -> Result<(Record, bool), DomainError> {
        self.alone(|table| async move {
            if table.record(&record.name).is_none() {
                table.room(record.registrant)?;
            }
            let outcome = table.0.store.register_domain(record.clone(), table.0.config.registered_max).await;
            match table.settled(outcome).await? {
                Registration::Won => Ok((table.put(record), true)),
                Registration::Taken(there) => Ok((table.put(there), false)),
                Registration::Full => Err(DomainError::TooMany),
            }
        })
        .await
    }

    /// Changes a record; `None` if the domain's record is no longer `before`.
    pub(super) async fn update(
        &self,
        before: &Record,
        change: impl FnOnce(&mut DomainRecord),
    ) -> Result<Option<Record>, StoreError> {
        let mut record = DomainRecord::clone(before);
        change(&mut record);
        let before = Arc::clone(before);
        self.alone(|table| async move {
            if !table.has(&before) {
                return Ok(None);
            }
            let outcome = table.0.store.update_domain(record.clone()).await;
            if table.settled(outcome).await? {
                return Ok(Some(table.put(record)));
            }
            table.forget(&record.name);
            Ok(None)
        })
        .await
    }

    /// Removes a domain; `false` if it is not registered, or its record is no longer `before`.
    pub(super) async fn remove(&self, name: &DomainName, before: Option<Record>) -> Result<bool, StoreError> {
        let name = name.clone();
        self.alone(|table| async move {
            if before.is_some_and(|before| !table.has(&before)) {
                return Ok(false);
            }
            let outcome = table.0.store.remove_domain(&name).await;
            let was_registered = table.settled(outcome).await?;
            table.forget(&name);
            Ok(was_registered)
        })
        .await
    }

    /// Whether this process verifies the domains, among those that share the store.
    pub(super) fn leads(&self) -> bool {
        self.0.store.leads()
    }

    /// Whether to ask the store about a domain, which another process may have registered a moment ago. Whoever gets
    /// `true` calls [`DomainTable::look_up`].
    pub fn must_look_up(&self, name: &DomainName) -> bool {
        self.0.store.is_shared() && self.served(name) == Served::Unknown && self.is_question_due(name)
    }

    fn is_question_due(&self, name: &DomainName) -> bool {
        let mut asked = self.0.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.0.elapsed() >= Duration::from_secs(1) {
            *asked = (Instant::now(), HashSet::new());
        }
        asked.1.len() < LOOK_UPS_MAX && asked.1.insert(name.clone())
    }

    /// Asks the store about a domain. If the store has it, the table has it as well when this returns.
    pub async fn look_up(&self, name: &DomainName) {
        let asked = async {
            // Most names are unknown to the store as well, and no change waits for those.
            if self.0.store.domain(name).await?.is_some() {
                let _changing = self.0.changing.lock().await;
                if let Some(record) = self.0.store.domain(name).await? {
                    self.put(record);
                }
            }
            Ok::<(), StoreError>(())
        };
        if let Err(error) = asked.await {
            tracing::debug!(%error, "the store could not be asked about a domain");
        }
    }

    /// Reads the records again when another process that shares the store has changed them. Ends at once if none does.
    pub(super) async fn follow(&self) {
        if !self.0.store.is_shared() {
            return;
        }
        let (mut seen, mut read_at) = (None, Instant::now());
        loop {
            match self.0.store.domain_version().await {
                Ok(version) if seen == Some(version) && read_at.elapsed() < FULL_LOOK_EVERY => {}
                Ok(version) => {
                    let _changing = self.0.changing.lock().await;
                    match self.reload().await {
                        Ok(()) => (seen, read_at) = (Some(version), Instant::now()),
                        Err(error) => tracing::warn!(%error, "the registered domains could not be read again"),
                    }
                }
                Err(error) => tracing::debug!(%error, "it is not known whether domains have changed"),
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// Reads all records of the store. No change may be in progress.
    pub(super) async fn reload(&self) -> Result<(), StoreError> {
        self.replace(self.0.store.domains().await?);
        Ok(())
    }

    fn has(&self, record: &Record) -> bool {
        self.record(&record.name).is_some_and(|there| Arc::ptr_eq(&there, record))
    }

    /// Returns `outcome`. If the outcome is unknown, the store's records are read again first.
    async fn settled<T>(&self, outcome: Result<T, StoreError>) -> Result<T, StoreError> {
        if matches!(outcome, Err(StoreError::OutcomeUnknown))
            && let Err(error) = self.reload().await
        {
            tracing::warn!(%error, "the registered domains could not be read again; the copy in memory stays in use");
        }
        outcome
    }

    /// Makes a change after all others, in a task of its own.
    async fn alone<T, E, C>(&self, change: impl FnOnce(Self) -> C) -> Result<T, E>
    where
        C: Future<Output = Result<T, E>> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (table, change) = (self.clone(), change(self.clone()));
        let alone = tokio::spawn(async move {
            let _changing = table.0.changing.lock().await;
            change.await
        });
        alone.await.unwrap_or_else(|panic| Err(StoreError::Failed(panic.to_string()).into()))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::super::tests::{active, table};
    use super::*;

    #[tokio::test]
    async fn only_the_record_that_was_read_is_changed_or_removed() {
        let (_dir, table) = table(&[]);
        let (first, created) = table.register(active("a.example")).await.expect("registered");
        assert!(created);
        let second =
            table.update(&first, |record| record.pinned = true).await.expect("updated").expect("the same record");
        assert!(table.update(&first, |record| record.pinned = false).await.expect("no change").is_none());
        assert!(!table.remove(&first.name, Some(first.clone())).await.expect("no change"));
        assert_eq!(table.records(), std::slice::from_ref(&second));
        assert!(table.remove(&first.name, Some(second)).await.expect("removed"));
        assert!(table.records().is_empty());
    }

    /// A regression: a question showed what it had read before the removal, until all domains were read again.
    #[tokio::test]
    async fn a_question_about_a_domain_does_not_undo_its_removal() {
        let (_dir, table) = table(&[]);
        let (record, _) = table.register(active("a.example")).await.expect("registered");
        let removal = table.0.changing.lock().await;
        let mut question = Box::pin(table.look_up(&record.name));
        // It reads the record on another thread, and then waits for the removal.
        for _ in 0..100 {
            assert!(question.as_mut().now_or_never().is_none());
            sleep(Duration::from_millis(1)).await;
        }
        assert!(table.0.store.remove_domain(&record.name).await.expect("removed"));
        table.forget(&record.name);
        drop(removal);
        question.await;
        assert_eq!(table.served(&record.name), Served::Unknown);
    }

    #[tokio::test(start_paused = true)]
    async fn a_domain_is_asked_about_once_and_few_are_in_a_second() {
        let (_dir, table) = table(&[]);
        let name = |number: u32| format!("d{number}.example").parse::<DomainName>().expect("name");
        for _ in 0..2 {
            assert!(table.is_question_due(&name(0)));
            assert!(!table.is_question_due(&name(0)));
            assert_eq!((1..1000).filter(|number| table.is_question_due(&name(*number))).count(), 99);
            tokio::time::advance(Duration::from_secs(1)).await;
        }
    }
}
