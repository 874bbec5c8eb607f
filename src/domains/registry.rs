//! Registering, pinning, listing and removing domains.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::counters::Counters;
use super::storm::Streaks;
use super::turns::Turns;
use super::{DomainEntry, DomainError, DomainTable, NewDomain, Record, Registered};
use crate::clock::Clock;
use crate::config::Config;
use crate::dns::{self, FoundDetail, MxReport, Ours, Resolver};
use crate::model::{Client, Counts, DomainName, DomainRecord, DomainStatus};
use crate::store::{Store, StoreError};

/// The domains that mail is received for. HTTP and the verifier share it, and SMTP reads its [`Registry::table`].
pub struct Registry {
    pub(super) period: Duration,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) resolver: Arc<dyn Resolver>,
    pub(super) ours: Arc<Ours>,
    pub(super) table: DomainTable,
    pub(super) counters: Arc<Counters>,
    streaks: Mutex<Streaks>,
    turns: Turns,
}

impl Registry {
    /// Opens the registry of the domains that `config` fixes and `store` holds. Makes no DNS query.
    pub async fn open(
        config: &Config,
        store: Arc<dyn Store>,
        resolver: Arc<dyn Resolver>,
        clock: Arc<dyn Clock>,
    ) -> Result<Arc<Self>, StoreError> {
        let settings = config.domains.clone();
        let ours = Ours { hosts: settings.mx_hosts.clone(), addresses: settings.public_addresses.clone() };
        let period = settings.verify_every;
        let table = DomainTable::new(settings, store);
        table.reload().await?;
        Ok(Arc::new(Self {
            period,
            clock,
            resolver,
            ours: Arc::new(ours),
            counters: Arc::new(Counters::new(table.clone())),
            table,
            streaks: Mutex::default(),
            turns: Turns::new(),
        }))
    }

    /// The table from which SMTP learns whether a domain is served. It follows every change.
    pub fn table(&self) -> DomainTable {
        self.table.clone()
    }

    /// The counters of domains and of MX checks.
    pub fn counters(&self) -> Arc<dyn Counts> {
        self.counters.clone()
    }

    /// Lists every fixed or registered domain and every wildcard, sorted by name.
    pub fn list(&self) -> Vec<DomainEntry> {
        self.table.list()
    }

    /// Checks whether the MX of a domain points here. The domain need not be registered, and nothing is changed.
    ///
    /// `client` is the client that asks; `None` for the administrator, who alone sees the addresses of hosts.
    pub async fn check(&self, name: &DomainName, client: Option<Client>) -> Result<MxReport, DomainError> {
        let detail = if client.is_some() { FoundDetail::Ours } else { FoundDetail::Addresses };
        self.ask(name, client, detail).await
    }

    /// Registers a domain whose MX points here, within the limits of all domains and of those of one client. A
    /// registered domain is checked again, and a deactivated one becomes active again.
    ///
    /// Anybody may call this, so it never changes the owner's data of a registered domain. It also never deactivates a
    /// domain whose MX points elsewhere, but only reports it. A fixed or pinned domain is returned without a check.
    ///
    /// `client` is the client that asks; `None` for the administrator.
    pub async fn register(&self, new: NewDomain, client: Option<Client>) -> Result<Registered, DomainError> {
        if self.table.is_fixed(&new.name) {
            return Ok(Registered::fixed(new.name));
        }
        match self.table.record(&new.name) {
            Some(record) if record.pinned => return Ok(Registered::known(record)),
            Some(_) => {}
            None => self.table.room(client)?,
        }
        let report = self.ask(&new.name, client, FoundDetail::Ours).await?;
        if !report.ok {
            return Err(DomainError::MxMismatch(Box::new(report)));
        }
        self.streaks(|streaks| streaks.forget(&new.name));
        let (now, result) = (self.clock.now(), report.sentence);
        let record = DomainRecord {
            last_checked_at: Some(now),
            last_check_result: Some(result.clone()),
            registrant: client,
            ..self.active_record(new)
        };
        self.put(record, |record| {
            // The administrator may have pinned it during the check.
            if !record.pinned {
                record.activate();
                record.last_checked_at = Some(now);
                record.last_check_result = Some(result.clone());
            }
        })
        .await
    }

    /// Pins a domain, which makes it active without DNS and exempt from verification. Given fields of the owner's data
    /// replace the stored ones.
    ///
    /// Only the administrator may call this. A domain that is fixed in the settings is returned as it is and not
    /// stored.
    pub async fn pin(&self, new: NewDomain) -> Result<Registered, DomainError> {
        if self.table.is_fixed(&new.name) {
            return Ok(Registered::fixed(new.name));
        }
        self.streaks(|streaks| streaks.forget(&new.name));
        let (owner, email) = (new.owner.clone(), new.email.clone());
        let record = DomainRecord { pinned: true, ..self.active_record(new) };
        self.put(record, |record| {
            record.pinned = true;
            record.registrant = None;
            record.activate();
            record.owner = owner.clone().or(record.owner.take());
            record.email = email.clone().or(record.email.take());
        })
        .await
    }

    /// Removes a registered domain; `false` if it is not registered. Fails with [`DomainError::Fixed`] if the settings
    /// keep the domain served.
    pub async fn remove(&self, name: &DomainName) -> Result<bool, DomainError> {
        if self.table.is_fixed_by_name(name) {
            return Err(DomainError::Fixed);
        }
        let was_registered = self.table.remove(name, None).await?;
        self.streaks(|streaks| streaks.forget(name));
        if !was_registered && self.table.is_fixed(name) {
            return Err(DomainError::Fixed);
        }
        Ok(was_registered)
    }

    /// Registers `record`, or applies `change` to the existing record of the domain.
    async fn put(&self, record: DomainRecord, change: impl Fn(&mut DomainRecord)) -> Result<Registered, DomainError> {
        loop {
            let (there, created) = self.table.register(record.clone()).await?;
            if created {
                return Ok(Registered { created, ..Registered::known(there) });
            }
            // A record that has changed meanwhile is read again.
            if let Some(changed) = self.table.update(&there, &change).await? {
                return Ok(Registered::known(changed));
            }
        }
    }

    fn active_record(&self, new: NewDomain) -> DomainRecord {
        DomainRecord {
            name: new.name,
            status: DomainStatus::Active,
            pinned: false,
            owner: new.owner,
            email: new.email,
            added_at: self.clock.now(),
            last_checked_at: None,
            last_check_result: None,
            registrant: None,
            deactivated_at: None,
        }
    }

    /// Checks a domain for a caller. A client needs a turn for that; the administrator does not.
    async fn ask(
        &self,
        name: &DomainName,
        client: Option<Client>,
        detail: FoundDetail,
    ) -> Result<MxReport, DomainError> {
        if self.ours.hosts.is_empty() {
            return Err(DomainError::MxHostUnset);
        }
        let _turn = match client {
            Some(client) => Some(self.turns.take(client).await.ok_or(DomainError::Busy)?),
            None => None,
        };
        let result = dns::check(&*self.resolver, &self.ours, name, detail).await;
        self.counters.checked(&result);
        result.map_err(DomainError::Dns)
    }

    pub(super) fn streaks<T>(&self, what: impl FnOnce(&mut Streaks) -> T) -> T {
        what(&mut self.streaks.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Registered {
    fn fixed(name: DomainName) -> Self {
        Self { entry: DomainEntry { domain: name.into(), record: None }, created: false }
    }

    fn known(record: Record) -> Self {
        Self { entry: DomainEntry { domain: record.name.to_string(), record: Some(record) }, created: false }
    }
}
