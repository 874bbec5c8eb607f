//! A registry of domains whose answers a test sets.

use std::sync::Mutex;

use async_trait::async_trait;
use tempmail::dns::MxReport;
use tempmail::domains::{DomainEntry, DomainError, NewDomain, Registered, Round, Served};
use tempmail::http::Domains;
use tempmail::model::{Client, DomainName, DomainStatus, Timestamp};
use tempmail::store::StoreError;

/// Knows its entries; a check succeeds unless a fault is set.
#[derive(Debug, Default)]
pub(crate) struct FixedDomains {
    pub(crate) entries: Mutex<Vec<DomainEntry>>,
    /// What check, register, pin, remove and verify answer while it is set.
    pub(crate) fault: Mutex<Option<DomainError>>,
    /// The arguments of each call of verify.
    pub(crate) verified: Mutex<Vec<(Option<String>, bool)>>,
}

impl FixedDomains {
    fn working(&self) -> Result<(), DomainError> {
        self.fault.lock().expect("fault").clone().map_or(Ok(()), Err)
    }

    fn add(&self, new: NewDomain, pinned: bool) -> Registered {
        let mut entries = self.entries.lock().expect("entries");
        let at = Some(Timestamp::from_millis(1_700_000_000_000));
        let entry = DomainEntry {
            domain: new.name.to_string(),
            status: DomainStatus::Active,
            fixed: false,
            pinned,
            added_at: at,
            last_checked_at: at.filter(|_| !pinned),
            last_check_result: None,
            owner: new.owner,
            email: new.email,
            registrant: None,
        };
        let created = !entries.iter().any(|found| found.domain == entry.domain);
        entries.retain(|found| found.domain != entry.domain);
        entries.push(entry.clone());
        Registered { entry, created }
    }
}

#[async_trait]
impl Domains for FixedDomains {
    async fn list(&self) -> Result<Vec<DomainEntry>, StoreError> {
        Ok(self.entries.lock().expect("entries").clone())
    }

    fn active(&self) -> Vec<DomainName> {
        let entries = self.entries.lock().expect("entries");
        let active = entries.iter().filter(|entry| entry.status == DomainStatus::Active);
        active.filter_map(|entry| entry.domain.parse().ok()).collect()
    }

    fn served(&self, name: &DomainName) -> Served {
        let entries = self.entries.lock().expect("entries");
        match entries.iter().find(|entry| entry.domain == name.as_str()).map(|entry| entry.status) {
            Some(DomainStatus::Active) => Served::Active,
            Some(DomainStatus::Deactivated) => Served::Deactivated,
            None => Served::Unknown,
        }
    }

    async fn check(&self, name: &DomainName, _: Option<Client>) -> Result<MxReport, DomainError> {
        match self.working() {
            Err(DomainError::MxMismatch(report)) => Ok(report),
            Err(error) => Err(error),
            Ok(()) => Ok(MxReport {
                ok: true,
                message: format!("The MX record of {name} points at mx.example.test."),
                domain: name.clone(),
                expected: vec!["mx.example.test".into()],
                found: vec!["mx.example.test".into()],
            }),
        }
    }

    async fn register(&self, new: NewDomain, _: Option<Client>) -> Result<Registered, DomainError> {
        self.working()?;
        Ok(self.add(new, false))
    }

    async fn pin(&self, new: NewDomain) -> Result<Registered, DomainError> {
        if self.working() == Err(DomainError::Fixed) {
            return Err(DomainError::Fixed);
        }
        Ok(self.add(new, true))
    }

    async fn remove(&self, name: &DomainName) -> Result<bool, DomainError> {
        self.working()?;
        let mut entries = self.entries.lock().expect("entries");
        let before = entries.len();
        entries.retain(|found| found.domain != name.as_str());
        Ok(entries.len() < before)
    }

    async fn verify(&self, which: Option<&DomainName>, force: bool) -> Result<Round, DomainError> {
        self.working()?;
        self.verified.lock().expect("verified").push((which.map(ToString::to_string), force));
        Ok(Round { checked: 1, ..Round::default() })
    }
}
