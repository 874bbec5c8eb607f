//! Registering, pinning and removing domains.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::counters::Counters;
use super::storm::Streaks;
use super::{DomainEntry, DomainError, DomainTable, NewDomain};
use crate::admission::{Admission, What, Who};
use crate::clock::Clock;
use crate::config::{Config, DomainsConfig};
use crate::dns::{self, Failure, FoundDetail, MxReport, Ours, Resolver};
use crate::metrics::{Measured, MetricFamily, collect, numbers};
use crate::model::{Client, DomainName, DomainPattern, DomainRecord, DomainStatus};
use crate::store::{Storage, StoreError};

/// How long a whole check may take, however many queries it makes.
const DEADLINE: Duration = Duration::from_secs(15);

/// The domains that mail is received for. SMTP, HTTP and the verifier share it.
pub struct Registry {
    /// The domains as they are now.
    pub table: DomainTable,
    pub(super) config: DomainsConfig,
    pub(super) store: Arc<dyn Storage>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ours: Ours,
    /// Held during a change.
    pub(super) changing: tokio::sync::Mutex<()>,
    /// When the current second began, and the unknown domains that the store was asked about since.
    pub(super) asked: Mutex<(Instant, HashSet<DomainName>)>,
    pub(super) streaks: Streaks,
    pub(super) counters: Counters,
    resolver: Arc<dyn Resolver>,
    admission: Arc<Admission>,
}

impl Registry {
    /// Opens the registry of the domains that `config` fixes and `store` holds. Makes no DNS query.
    pub async fn open(
        config: &Config,
        store: Arc<dyn Storage>,
        resolver: Arc<dyn Resolver>,
        clock: Arc<dyn Clock>,
        admission: Arc<Admission>,
    ) -> Result<Arc<Self>, StoreError> {
        let config = config.domains.clone();
        let table = DomainTable::new(config.fixed.clone());
        table.set_all(store.domains().await?);
        Ok(Arc::new(Self {
            table,
            ours: Ours { hosts: config.mx_hosts.clone(), addresses: config.public_addresses.clone() },
            config,
            store,
            clock,
            resolver,
            changing: tokio::sync::Mutex::default(),
            asked: Mutex::new((Instant::now(), HashSet::new())),
            streaks: Streaks::default(),
            admission,
            counters: Counters::default(),
        }))
    }

    /// Checks whether the MX of a domain points here. The domain need not be registered, and nothing is changed.
    ///
    /// `client` is the client that asks; `None` for the administrator, who alone sees the addresses of hosts.
    pub async fn check(&self, name: &DomainName, client: Option<Client>) -> Result<MxReport, DomainError> {
        let detail = if client.is_some() { FoundDetail::Ours } else { FoundDetail::Addresses };
        self.check_for(client, name, detail).await
    }

    /// Registers a domain whose MX points here, within the limits of all domains and of those of one client. A
    /// registered domain is checked again, and a deactivated one becomes active again. Returns the domain as it is listed
    /// now, and whether this call registered it.
    ///
    /// Anybody may call this, so it never changes the owner's data of a registered domain. It also never deactivates a
    /// domain whose MX points elsewhere, but only reports it. A fixed or pinned domain is returned without a check.
    ///
    /// `client` is the client that asks; `None` for the administrator.
    pub async fn register(
        self: &Arc<Self>,
        new: NewDomain,
        client: Option<Client>,
    ) -> Result<(DomainEntry, bool), DomainError> {
        if self.table.is_fixed(&new.name) {
            return Ok((DomainEntry { domain: new.name.into(), record: None }, false));
        }
        match self.table.record(&new.name) {
            Some(record) if record.pinned => return Ok((record.into(), false)),
            Some(_) => {}
            None => self.room(client)?,
        }
        let report = self.check_for(client, &new.name, FoundDetail::Ours).await?;
        if !report.ok {
            return Err(DomainError::MxMismatch(Box::new(report)));
        }
        let checked_at = self.clock.now();
        let change = |record: &mut DomainRecord| {
            // The administrator may have pinned it during the check.
            if !record.pinned {
                record.activate();
                record.last_checked_at = Some(checked_at);
                record.last_check_result = Some(report.sentence.clone());
            }
        };
        self.register_or_change(new, client, change).await
    }

    /// Pins a domain, which makes it active without DNS and exempt from verification. Given fields of the owner's data
    /// replace the stored ones. Returns what [`Registry::register`] does.
    ///
    /// Only the administrator may call this. A domain that is fixed in the settings is returned as it is and not
    /// stored.
    pub async fn pin(self: &Arc<Self>, new: NewDomain) -> Result<(DomainEntry, bool), DomainError> {
        if self.table.is_fixed(&new.name) {
            return Ok((DomainEntry { domain: new.name.into(), record: None }, false));
        }
        let (owner, email) = (new.owner.clone(), new.email.clone());
        let change = |record: &mut DomainRecord| {
            record.pinned = true;
            record.registrant = None;
            record.activate();
            record.owner = owner.clone().or(record.owner.take());
            record.email = email.clone().or(record.email.take());
        };
        self.register_or_change(new, None, change).await
    }

    /// Removes a registered domain; `false` if it is not registered. Fails with [`DomainError::Fixed`] if the settings
    /// keep the domain served.
    pub async fn remove(self: &Arc<Self>, name: &DomainName) -> Result<bool, DomainError> {
        if self.config.fixed.contains(&DomainPattern::Exact(name.clone())) {
            return Err(DomainError::Fixed);
        }
        loop {
            let before = self.table.record(name);
            let is_known = before.is_some();
            if self.replace(name, before, None).await? {
                self.streaks.forget(name);
                return Ok(true);
            }
            if !is_known {
                return if self.table.is_fixed(name) { Err(DomainError::Fixed) } else { Ok(false) };
            }
        }
    }

    /// Applies `change` to the record of a domain, be it a new one.
    async fn register_or_change(
        self: &Arc<Self>,
        new: NewDomain,
        registrant: Option<Client>,
        change: impl Fn(&mut DomainRecord),
    ) -> Result<(DomainEntry, bool), DomainError> {
        let fresh = DomainRecord::new(new.name, self.clock.now());
        let fresh = DomainRecord { owner: new.owner, email: new.email, registrant, ..fresh };
        self.streaks.forget(&fresh.name);
        loop {
            let before = self.table.record(&fresh.name);
            let created = before.is_none();
            let mut after = before.clone().unwrap_or_else(|| Arc::new(fresh.clone()));
            change(Arc::make_mut(&mut after));
            if self.replace(&fresh.name, before, Some(Arc::clone(&after))).await? {
                return Ok((after.into(), created));
            }
        }
    }

    /// Checks a domain for a caller, when it is the caller's turn.
    async fn check_for(
        &self,
        client: Option<Client>,
        name: &DomainName,
        detail: FoundDetail,
    ) -> Result<MxReport, DomainError> {
        if self.ours.hosts.is_empty() {
            return Err(DomainError::MxHostUnset);
        }
        let who = client.map_or(Who::Administrator, Who::Client);
        let _turn = self.admission.admit_soon(who, What::DnsLookup, 1).await.map_err(|_| DomainError::Busy)?;
        self.ask(name, detail).await.map_err(DomainError::Dns)
    }

    pub(super) async fn ask(&self, name: &DomainName, detail: FoundDetail) -> Result<MxReport, Failure> {
        let check = timeout(DEADLINE, dns::check(&*self.resolver, &self.ours, name, detail));
        let result = check.await.unwrap_or(Err(Failure::TimedOut));
        self.counters.checked(&result);
        result
    }
}

impl Measured for Registry {
    /// Each domain counts once, and a wildcard counts as one active domain.
    fn metrics(&self) -> Vec<MetricFamily> {
        let domains = self.table.list();
        let active = domains.iter().filter(|entry| entry.status() == DomainStatus::Active).count();
        let help = "Domains, fixed and registered; a wildcard counts as one.";
        let by_status = [(["active"], active as u64), (["deactivated"], (domains.len() - active) as u64)];
        let mut metrics = numbers("tempmail_domains", help, ["status"], by_status);
        metrics.extend(collect(&[&self.counters.0]));
        metrics
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").finish_non_exhaustive()
    }
}
