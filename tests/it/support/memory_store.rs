//! A `Store` in memory, with faults on demand: for tests of what stands above a store.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use tempmail::model::{Delivery, DomainName, DomainRecord, EmailId, Listed, Mailbox, Place, StoredEmail, Timestamp};
use tempmail::store::{Expired, MailboxPart, Part, Registration, Store, StoreError, StoreStats};

/// Keeps everything in a `Vec`, oldest first.
#[derive(Debug, Default)]
pub(crate) struct MemoryStore(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    emails: Vec<StoredEmail>,
    domains: Vec<DomainRecord>,
    sequence: u64,
    /// What every method answers while it is set.
    fault: Option<StoreError>,
    /// What `load` answers for these ids.
    load_faults: Vec<(EmailId, Option<StoreError>)>,
}

impl MemoryStore {
    /// From now on every method fails with `error`, or works again.
    pub(crate) fn fail_with(&self, error: Option<StoreError>) {
        self.lock().fault = error;
    }

    /// `load` of this Email fails with `error`; with `None` it says that the Email is gone.
    pub(crate) fn fail_load(&self, id: EmailId, error: Option<StoreError>) {
        self.lock().load_faults.push((id, error));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("store")
    }

    fn working(&self) -> Result<MutexGuard<'_, State>, StoreError> {
        let state = self.lock();
        match &state.fault {
            Some(error) => Err(error.clone()),
            None => Ok(state),
        }
    }
}

fn is_readable(email: &StoredEmail, now: Timestamp) -> bool {
    now < email.listed.expires_at
}

#[async_trait]
impl Store for MemoryStore {
    async fn receive(&self, delivery: Delivery) -> Result<(), StoreError> {
        let mut state = self.working()?;
        for recipient in &delivery.envelope.recipients {
            if state.emails.iter().any(|email| email.listed.id == recipient.id) {
                continue;
            }
            state.sequence += 1;
            let listed = Listed {
                id: recipient.id,
                sequence: state.sequence,
                received_at: delivery.received_at,
                expires_at: delivery.expires_at,
                size_octets: delivery.raw.len() as u64,
                place: Place([0; 16]),
            };
            let email = StoredEmail { listed, envelope: delivery.envelope.clone(), raw: delivery.raw.clone() };
            state.emails.push(email);
        }
        Ok(())
    }

    fn accepts(&self) -> Result<(), StoreError> {
        self.working().map(|_| ())
    }

    async fn list(&self, mailbox: &Mailbox, part: Part, now: Timestamp) -> Result<MailboxPart, StoreError> {
        let state = self.working()?;
        let is_meant = |email: &&StoredEmail| email.mailbox() == Some(mailbox) && is_readable(email, now);
        let all: Vec<Listed> = state.emails.iter().rev().filter(is_meant).map(|email| email.listed.clone()).collect();
        let total = all.len() as u64;
        let emails = match part {
            Part::Offset { offset, limit } => {
                all.into_iter().skip(usize::try_from(offset).unwrap_or(usize::MAX)).take(limit).collect()
            }
            Part::Before { sequence, limit } => {
                all.into_iter().filter(|listed| listed.sequence < sequence).take(limit).collect()
            }
        };
        Ok(MailboxPart { emails, total })
    }

    async fn find(&self, id: EmailId, now: Timestamp) -> Result<Option<Listed>, StoreError> {
        let state = self.working()?;
        let found = state.emails.iter().find(|email| email.listed.id == id && is_readable(email, now));
        Ok(found.map(|email| email.listed.clone()))
    }

    async fn load(&self, listed: &Listed) -> Result<Option<StoredEmail>, StoreError> {
        let state = self.working()?;
        if let Some((_, fault)) = state.load_faults.iter().find(|(id, _)| *id == listed.id) {
            return fault.clone().map_or(Ok(None), Err);
        }
        Ok(state.emails.iter().find(|email| email.listed.id == listed.id).cloned())
    }

    async fn delete(&self, id: EmailId, now: Timestamp) -> Result<bool, StoreError> {
        let mut state = self.working()?;
        let position = state.emails.iter().position(|email| email.listed.id == id && is_readable(email, now));
        Ok(position.map(|position| state.emails.remove(position)).is_some())
    }

    async fn delete_all(&self, mailbox: &Mailbox, now: Timestamp) -> Result<u64, StoreError> {
        let mut state = self.working()?;
        let is_meant = |email: &StoredEmail| email.mailbox() == Some(mailbox);
        let readable = state.emails.iter().filter(|email| is_meant(email) && is_readable(email, now)).count();
        state.emails.retain(|email| !is_meant(email));
        Ok(readable as u64)
    }

    async fn expire(&self, now: Timestamp, limit: usize) -> Result<Expired, StoreError> {
        let mut state = self.working()?;
        let due: HashSet<EmailId> = state
            .emails
            .iter()
            .filter(|email| !is_readable(email, now))
            .map(|email| email.listed.id)
            .take(limit)
            .collect();
        state.emails.retain(|email| !due.contains(&email.listed.id));
        let next_due_at = state.emails.iter().map(|email| email.listed.expires_at).min();
        Ok(Expired { removed: due.len(), next_due_at })
    }

    async fn domains(&self) -> Result<Vec<DomainRecord>, StoreError> {
        Ok(self.working()?.domains.clone())
    }

    async fn register_domain(&self, record: DomainRecord, limit: usize) -> Result<Registration, StoreError> {
        let mut state = self.working()?;
        if let Some(taken) = state.domains.iter().find(|found| found.name == record.name) {
            return Ok(Registration::Taken(taken.clone()));
        }
        if state.domains.len() >= limit {
            return Ok(Registration::Full);
        }
        state.domains.push(record);
        state.domains.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Registration::Won)
    }

    async fn update_domain(&self, record: DomainRecord) -> Result<bool, StoreError> {
        let mut state = self.working()?;
        let found = state.domains.iter_mut().find(|found| found.name == record.name);
        Ok(found.map(|found| *found = record).is_some())
    }

    async fn remove_domain(&self, name: &DomainName) -> Result<bool, StoreError> {
        let mut state = self.working()?;
        let before = state.domains.len();
        state.domains.retain(|found| found.name != *name);
        Ok(state.domains.len() < before)
    }

    async fn stats(&self) -> Result<StoreStats, StoreError> {
        let state = self.working()?;
        let mailboxes: HashSet<_> = state.emails.iter().filter_map(StoredEmail::mailbox).collect();
        Ok(StoreStats {
            emails: state.emails.len() as u64,
            mailboxes: mailboxes.len() as u64,
            live_octets: state.emails.iter().map(|email| email.listed.size_octets).sum(),
            segments: 0,
            disk_octets: 0,
        })
    }

    async fn close(&self) -> Result<(), StoreError> {
        Ok(())
    }
}
