//! Registering, pinning, listing and removing domains.

use std::sync::{Arc, Mutex, PoisonError};

use super::counters::Counters;
use super::records::{Limits, Records};
use super::round::Streaks;
use super::turns::Turns;
use super::{DomainEntry, DomainError, DomainTable, LookUps, NewDomain, Registered};
use crate::clock::Clock;
use crate::config::{Config, DomainsConfig};
use crate::dns::{FoundDetail, MxCheck, MxReport, MxVerdict, Resolver, mx, report};
use crate::model::{Client, Counts, DomainName, DomainRecord, DomainStatus};
use crate::store::{Registration, Store, StoreError};

/// The domains that mail is received for. HTTP and the verifier share it, and SMTP reads its [`Registry::table`].
pub struct Registry {
    pub(super) config: Arc<Config>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) check: MxCheck,
    pub(super) records: Arc<Records>,
    pub(super) table: DomainTable,
    counters: Arc<Counters>,
    streaks: Mutex<Streaks>,
    turns: Turns,
}

impl Registry {
    /// Opens the registry of the domains that `config` fixes and `store` holds. Makes no DNS query.
    pub async fn open(
        config: Arc<Config>,
        store: Arc<dyn Store>,
        resolver: Arc<dyn Resolver>,
        clock: Arc<dyn Clock>,
    ) -> Result<Arc<Self>, StoreError> {
        let table = DomainTable::new(config.domains.fixed.clone());
        let records = Records::open(store, table.clone()).await?;
        let ours =
            mx::Ours { hosts: config.domains.mx_hosts.clone(), addresses: config.domains.public_addresses.clone() };
        Ok(Arc::new(Self {
            config,
            clock,
            check: MxCheck::new(resolver, ours),
            records,
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

    /// Questions about domains that are unknown here; `None` if no other process can register any.
    pub fn look_ups(&self) -> Option<LookUps> {
        self.records.are_shared().then(|| LookUps::new(Arc::clone(&self.records), Arc::clone(&self.clock)))
    }

    /// The counters of domains and of MX checks.
    pub fn counters(&self) -> Arc<dyn Counts> {
        self.counters.clone()
    }

    /// Lists every fixed or registered domain and every wildcard, sorted by name.
    pub async fn list(&self) -> Result<Vec<DomainEntry>, StoreError> {
        let registered = self.records.all().await.into_iter();
        let mut entries: Vec<DomainEntry> = registered
            .filter(|record| !self.table.is_fixed_by_name(&record.name))
            .map(DomainEntry::from)
            .chain(self.config.domains.fixed.iter().map(DomainEntry::from))
            .collect();
        entries.sort_by(|a, b| a.domain.cmp(&b.domain));
        entries.dedup_by(|a, b| a.domain == b.domain);
        Ok(entries)
    }

    /// Checks whether the MX of a domain points here. The domain need not be registered, and nothing is changed.
    ///
    /// `client` is the client that asks; `None` for the administrator, who alone sees the addresses of hosts.
    pub async fn check(&self, name: &DomainName, client: Option<Client>) -> Result<MxReport, DomainError> {
        let verdict = self.ask(name, client).await?;
        let detail = if client.is_some() { FoundDetail::Ours } else { FoundDetail::Addresses };
        MxReport::of(name, self.check.hosts(), verdict, detail).map_err(DomainError::Dns)
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
            return Ok(Registered { entry: DomainEntry::fixed(new.name.into()), created: false });
        }
        let known = self.records.find(&new.name).await;
        if let Some(pinned) = known.as_ref().filter(|entry| entry.record.pinned) {
            return Ok(Registered { entry: pinned.record.clone().into(), created: false });
        }
        if known.is_none() {
            self.records.room(client, self.limits()).await?;
        }
        let verdict = self.ask(&new.name, client).await?;
        let result = report::sentence(&new.name, self.check.hosts(), &verdict);
        let report = MxReport::of(&new.name, self.check.hosts(), verdict, FoundDetail::Ours);
        let report = report.map_err(DomainError::Dns)?;
        if !report.ok {
            return Err(DomainError::MxMismatch(report));
        }
        self.streaks(|streaks| streaks.forget(&new.name));
        let now = self.clock.now();
        let record = DomainRecord {
            last_checked_at: Some(now),
            last_check_result: Some(result.clone()),
            registrant: client,
            ..self.active_record(new)
        };
        self.put(record, move |record| {
            // The administrator may have pinned it during the check.
            if !record.pinned {
                record.activate();
                record.last_checked_at = Some(now);
                record.last_check_result = Some(result);
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
            return Ok(Registered { entry: DomainEntry::fixed(new.name.into()), created: false });
        }
        self.streaks(|streaks| streaks.forget(&new.name));
        let (owner, email) = (new.owner.clone(), new.email.clone());
        let record = DomainRecord { pinned: true, ..self.active_record(new) };
        self.put(record, move |record| {
            record.pinned = true;
            record.registrant = None;
            record.activate();
            record.owner = owner.or(record.owner.take());
            record.email = email.or(record.email.take());
        })
        .await
    }

    /// Removes a registered domain; `false` if it is not registered. Fails with [`DomainError::Fixed`] if the settings
    /// keep the domain served.
    pub async fn remove(&self, name: &DomainName) -> Result<bool, DomainError> {
        if self.table.is_fixed_by_name(name) {
            return Err(DomainError::Fixed);
        }
        let was_registered = self.records.remove(name, None).await?;
        self.streaks(|streaks| streaks.forget(name));
        if !was_registered && self.table.is_fixed(name) {
            return Err(DomainError::Fixed);
        }
        Ok(was_registered)
    }

    /// Registers `record`, or applies `change` to the existing record of the domain.
    async fn put(
        &self,
        record: DomainRecord,
        change: impl FnOnce(&mut DomainRecord) + Send + 'static,
    ) -> Result<Registered, DomainError> {
        let name = record.name.clone();
        match self.records.register(record.clone(), self.limits()).await? {
            Registration::Won => Ok(Registered { entry: record.into(), created: true }),
            Registration::Full => Err(DomainError::TooMany),
            Registration::Taken(_) => match self.records.update(&name, None, change).await? {
                Some(entry) => Ok(Registered { entry: entry.record.into(), created: false }),
                None => Err(DomainError::NotRegistered),
            },
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

    fn limits(&self) -> Limits {
        let DomainsConfig { registered_max, registered_per_client_max, .. } = self.config.domains;
        Limits { total: registered_max, per_client: registered_per_client_max }
    }

    /// Checks a domain for a caller. A client needs a turn for that; the administrator does not.
    async fn ask(&self, name: &DomainName, client: Option<Client>) -> Result<MxVerdict, DomainError> {
        if self.check.hosts().is_empty() {
            return Err(DomainError::MxHostUnset);
        }
        let _turn = match client {
            Some(client) => Some(self.turns.take(client).await.ok_or(DomainError::Busy)?),
            None => None,
        };
        Ok(self.asked(name).await)
    }

    /// Checks the MX of a domain and counts the result.
    pub(super) async fn asked(&self, name: &DomainName) -> MxVerdict {
        let verdict = self.check.ask(name).await;
        self.counters.asked(&verdict);
        verdict
    }

    pub(super) fn streaks<T>(&self, what: impl FnOnce(&mut Streaks) -> T) -> T {
        what(&mut self.streaks.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
