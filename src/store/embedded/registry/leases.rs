//! Leases: what is decided and written.

use super::EmbeddedRegistry;
use super::row::{Row, Table};
use crate::model::{Client, DomainName, LeaseRecord, Mailbox, Share, Timestamp};
use crate::store::StoreError;

/// How many leases of a domain end together.
const ENDED_AT_ONCE: usize = 4_096;

impl EmbeddedRegistry {
    /// The record of an address.
    pub(crate) fn lease(&self, mailbox: &Mailbox) -> Option<LeaseRecord> {
        self.memory().leases.get(mailbox.as_str().as_bytes())
    }

    /// The records with a key that have not ended, in the order of their creation.
    pub(crate) fn leases_of(&self, key: &[u8; 32]) -> Vec<LeaseRecord> {
        self.memory().leases.of_key(key)
    }

    /// Some of the records that are due at `now`.
    pub(crate) fn due_leases(&self, now: Timestamp, limit: usize) -> Vec<LeaseRecord> {
        self.memory().leases.due(now, limit)
    }

    /// How many leases there are.
    pub(crate) fn lease_counts(&self, client: Option<Client>) -> Share {
        self.memory().leases.counts(client)
    }

    /// How many leases have not ended.
    pub(crate) fn unended_leases(&self) -> u64 {
        self.memory().leases.unended()
    }

    /// The records at some places. With [`Self::lease_places`], all records can be read in steps.
    pub(crate) fn leases_at(&self, places: std::ops::Range<usize>) -> Vec<LeaseRecord> {
        self.memory().leases.at(places)
    }

    /// The end of the places of leases.
    pub(crate) fn lease_places(&self) -> usize {
        self.memory().leases.places()
    }

    /// Replaces the record of an address, durably. `false` if it is not `before` any more.
    pub(crate) fn replace_lease(
        &self,
        before: Option<&LeaseRecord>,
        after: Option<&LeaseRecord>,
    ) -> Result<bool, StoreError> {
        let mut writer = self.writer()?;
        let Some(LeaseRecord { mailbox, .. }) = before.or(after) else { return Ok(true) };
        if self.lease(mailbox).as_ref() != before {
            return Ok(false);
        }
        let row = match after {
            Some(after) => row(after)?,
            None => Row::remove(Table::Leases, mailbox.as_str().as_bytes()),
        };
        self.change(&mut writer, &[row])?;
        Ok(true)
    }

    /// Makes `now` the end of all living leases of a domain, durably, unless it is a dry run. Returns how many there are.
    pub(crate) fn end_leases(&self, domain: &DomainName, now: Timestamp, is_dry_run: bool) -> Result<u64, StoreError> {
        let mut ended = 0;
        let mut first = 0;
        while first < self.lease_places() {
            let mut writer = self.writer()?;
            let records = self.leases_at(first..first + ENDED_AT_ONCE).into_iter();
            let living = records.filter(|it| it.mailbox.domain() == domain.as_str() && it.is_living(now));
            let over = living.map(|it| row(&LeaseRecord { expires_at: now, ..it }));
            let rows: Vec<Row> = over.collect::<Result<_, _>>()?;
            if !rows.is_empty() && !is_dry_run {
                self.change(&mut writer, &rows)?;
            }
            (ended, first) = (ended + rows.len() as u64, first + ENDED_AT_ONCE);
        }
        Ok(ended)
    }

    /// Takes over a lease of a backup. It is durable with the next flush.
    pub(crate) fn load_lease(&self, record: &LeaseRecord) -> Result<(), StoreError> {
        self.load(&row(record)?)
    }
}

fn row(record: &LeaseRecord) -> Result<Row, StoreError> {
    Row::put(Table::Leases, record.mailbox.as_str().as_bytes(), record)
}
