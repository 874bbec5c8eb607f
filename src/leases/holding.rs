//! Taking, changing and ending leases.

use super::key::KeyHash;
use super::life::Terms;
use super::reading::Reader;
use super::{LeaseError, Leases};
use crate::admission::{What, Who};
use crate::model::{Address, Client, DomainName, DomainStatus, LeaseId, LeaseRecord, Secret, Subaddressing, Timestamp};
use crate::random;
use crate::store::{PageRequest, StoreError};

/// The most leases of one key.
const PER_KEY_MAX: usize = 1_000;

/// A lease that somebody wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The address. A `+tag` does not matter.
    pub address: Address,
    /// Whether its local part is a new one of [`random::private_local_part`].
    pub is_random: bool,
    /// For how long, and so on.
    pub terms: Terms,
}

/// A lease that was taken.
#[derive(Debug)]
pub struct Taken {
    /// The lease.
    pub lease: LeaseRecord,
    /// Its key, if that is a new one. It cannot be shown again.
    pub key: Option<Secret>,
}

impl Leases {
    /// Leases an address, for `key` or for a new one. The lease is durable on return, and mail that arrives from now on is
    /// its own.
    ///
    /// [`What::NewLeases`] is for the caller to spend.
    pub async fn take(&self, wanted: Wanted, key: Option<KeyHash>, who: Who) -> Result<Taken, LeaseError> {
        let Wanted { address, is_random, terms } = wanted;
        let (config, now) = (&self.config, self.clock.now());
        let mailbox = address.mailbox(Subaddressing::Strip);
        if config.mail.role_addresses.has(&mailbox) {
            return Err(LeaseError::Role);
        }
        if self.domains.table.status(address.domain()) != Some(DomainStatus::Active) {
            return Err(LeaseError::DomainUnknown);
        }
        if !is_random && random::is_private(mailbox.local_part()) {
            return Err(LeaseError::Random);
        }
        terms.check(&config.leases)?;
        let before = self.store.lease(&mailbox).await?;
        if let Some(before) = before.as_ref().filter(|before| now < before.rests_until()) {
            return Err(in_use(before, now));
        }
        // Whoever reads an address without a lease must not lose it to another. Other tags of it nobody can look for: the store
        // finds mailboxes by their whole names.
        for subaddressing in [Subaddressing::Strip, config.mail.subaddressing] {
            let newest = PageRequest { offset: 0, limit: 1 };
            let newest = self.store.list(&address.mailbox(subaddressing), newest, now).await?;
            if let Some(newest) = newest.emails.first() {
                return Err(LeaseError::InUse { until: newest.expires_at });
            }
        }
        let client = self.room(key, who, now).await?;
        let fresh = || {
            let (secret, hash) = KeyHash::fresh();
            (Some(secret), hash)
        };
        let (secret, hash) = key.map_or_else(fresh, |hash| (None, hash));
        let mut lease = LeaseRecord {
            id: LeaseId::from_octets(rand::random()),
            mailbox,
            key: hash.0,
            client,
            created_at: now,
            expires_at: now.plus(config.leases.life),
            idle: None,
            read_at: now,
            messages_left: None,
            keep: 0,
            ended_at: None,
        };
        terms.apply(&mut lease, now);
        if !self.store.replace_lease(before.as_ref(), Some(&lease)).await? {
            let winner = self.store.lease(&lease.mailbox).await?;
            return Err(winner.map_or(LeaseError::InUse { until: now }, |winner| in_use(&winner, now)));
        }
        Ok(Taken { lease, key: secret })
    }

    /// Checks that a caller may have one more lease. Returns the client that it counts for.
    async fn room(&self, key: Option<KeyHash>, who: Who, now: Timestamp) -> Result<Option<Client>, LeaseError> {
        if let Some(key) = key
            && self.living_of(key, now).await?.len() >= PER_KEY_MAX
        {
            return Err(LeaseError::KeyFull(PER_KEY_MAX));
        }
        let client = self.admission.counted(who, What::Leases);
        let there = self.store.lease_counts(client).await?;
        self.admission.allows(who, What::Leases, there).map_err(LeaseError::TooMany)?;
        Ok(client)
    }

    /// The living leases of a key, in the order of their creation.
    pub async fn of(&self, key: KeyHash) -> Result<Vec<LeaseRecord>, StoreError> {
        self.living_of(key, self.clock.now()).await
    }

    pub(super) async fn living_of(&self, key: KeyHash, now: Timestamp) -> Result<Vec<LeaseRecord>, StoreError> {
        let mut leases = self.store.leases_of(&key.0).await?;
        leases.retain(|lease| lease.is_living(now));
        Ok(leases)
    }

    /// Changes a living lease of the caller: prolongs it, for instance.
    pub async fn change(&self, address: &Address, reader: Reader, terms: Terms) -> Result<LeaseRecord, LeaseError> {
        terms.check(&self.config.leases)?;
        let changed = |before: &LeaseRecord, now| {
            // Who changes nothing does not read it either.
            if terms == Terms::default() {
                return None;
            }
            let mut after = before.clone();
            terms.apply(&mut after, now);
            Some(after)
        };
        self.alter(&self.held(address, reader).await?, changed).await?.ok_or(LeaseError::Unknown)
    }

    /// Ends a living lease of the caller, with its mail and its webhooks. Returns how many readable Emails it had.
    pub async fn end(&self, address: &Address, reader: Reader) -> Result<u64, LeaseError> {
        // It takes no mail any more before its mail goes.
        let over = |before: &LeaseRecord, now| Some(LeaseRecord { expires_at: now, ..before.clone() });
        let over = self.alter(&self.held(address, reader).await?, over).await?.ok_or(LeaseError::Unknown)?;
        Ok(self.clear(&over, self.clock.now()).await?)
    }

    /// Removes the mail and the webhooks of a lease that is over, and then its record, or notes that its address rests. Returns
    /// how many readable Emails it had.
    pub(super) async fn clear(&self, lease: &LeaseRecord, now: Timestamp) -> Result<u64, StoreError> {
        let mailbox = lease.private_mailbox();
        let deleted = self.store.delete_all(&mailbox, u64::MAX, now).await?;
        for webhook in self.store.webhooks(&mailbox).await? {
            self.store.delete_webhook(webhook.id).await?;
        }
        // An address that was made at random shows by its form that nobody gets it again.
        let rest = (!random::is_private(lease.mailbox.local_part())).then(|| lease.clone().ended(now));
        self.store.replace_lease(Some(lease), rest.as_ref()).await?;
        Ok(deleted)
    }

    /// Ends all leases of a domain that is served no more, and then removes their mail and webhooks as at any end. Returns how
    /// many leases there were. A dry run only counts them.
    pub async fn end_domain(&self, domain: &DomainName, is_dry_run: bool) -> Result<u64, StoreError> {
        self.store.end_leases(domain, self.clock.now(), is_dry_run).await
    }

    /// The living lease of an address, if the caller holds it or is the administrator.
    pub async fn at(&self, address: &Address, reader: Reader) -> Result<Option<LeaseRecord>, StoreError> {
        let (lease, now) = (self.find(address).await?, self.clock.now());
        Ok(lease.filter(|lease| lease.is_living(now) && reader.holds(lease)))
    }

    async fn held(&self, address: &Address, reader: Reader) -> Result<LeaseRecord, LeaseError> {
        self.at(address, reader).await?.ok_or(LeaseError::Unknown)
    }
}

/// The refusal of an address that has a record.
fn in_use(record: &LeaseRecord, now: Timestamp) -> LeaseError {
    LeaseError::InUse { until: if record.is_living(now) { record.ends_at() } else { record.rests_until() } }
}
