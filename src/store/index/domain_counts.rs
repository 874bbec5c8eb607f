//! The counts of domains: how many Emails each has, and how many of them have expired.
//!
//! A domain has a row for all its Emails, and one for each minute in which some expire. Expired Emails are soon removed, so
//! few rows count those that are still there.

use std::collections::BTreeMap;

use redb::{ReadableTable, ReadableTableMetadata, Table, WriteTransaction};

use super::IndexError;
use super::keys::{DomainKey, domain_key};
use super::read::View;
use super::tables::DOMAIN_COUNTS;
use crate::model::Timestamp;
use crate::store::check::{Finding, FindingKind};

/// The number under which all Emails of a domain are counted; minutes begin at 1.
const ALL: u64 = 0;
const MINUTE_MILLIS: u64 = 60_000;

/// No changes of a group.
const UNCHANGED: &Changes = &Changes::new();

/// The changes of a group by row.
type Changes = BTreeMap<DomainKey, i64>;

/// The first minute at whose start an Email with the expiry `at` has expired.
fn expiry_minute(at: Timestamp) -> u64 {
    u64::try_from(at.millis()).unwrap_or(0).div_ceil(MINUTE_MILLIS).max(1)
}

/// The table of counts, open for writing, with the changes of the group.
pub(super) struct DomainCountRows<'t> {
    table: Table<'t, &'static DomainKey, u64>,
    changes: Changes,
}

impl<'t> DomainCountRows<'t> {
    /// Opens the table and creates it if it is missing.
    pub(super) fn open(transaction: &'t WriteTransaction) -> Result<Self, IndexError> {
        Ok(Self { table: transaction.open_table(DOMAIN_COUNTS)?, changes: BTreeMap::new() })
    }

    /// Counts an Email that expires at `expires_at`.
    pub(super) fn add(&mut self, domain: [u8; 16], expires_at: Timestamp) {
        self.change(domain, expires_at, 1);
    }

    /// Removes an Email from the counts.
    pub(super) fn remove(&mut self, domain: [u8; 16], expires_at: Timestamp) {
        self.change(domain, expires_at, -1);
    }

    fn change(&mut self, domain: [u8; 16], expires_at: Timestamp, emails: i64) {
        for number in [ALL, expiry_minute(expires_at)] {
            *self.changes.entry(domain_key(domain, number)).or_default() += emails;
        }
    }

    /// See [`unexpired`].
    pub(super) fn unexpired(&self, domain: [u8; 16], now: Timestamp, enough: u64) -> Result<u64, IndexError> {
        unexpired(&self.table, &self.changes, domain, now, enough)
    }

    pub(super) fn flush(&mut self) -> Result<(), IndexError> {
        for (key, change) in std::mem::take(&mut self.changes) {
            let emails = stored(&self.table, &key)?.saturating_add_signed(change);
            match emails {
                0 => self.table.remove(&key)?,
                emails => self.table.insert(&key, emails)?,
            };
        }
        Ok(())
    }
}

fn stored(table: &impl ReadableTable<&'static DomainKey, u64>, key: &DomainKey) -> Result<u64, IndexError> {
    Ok(table.get(key)?.map_or(0, |row| row.value()))
}

/// Counts the Emails of a domain without those that had expired when the minute of `now` began.
///
/// If the domain has fewer than `enough` Emails in all, the expired ones are counted as well, to save reads.
fn unexpired(
    table: &impl ReadableTable<&'static DomainKey, u64>,
    changes: &Changes,
    domain: [u8; 16],
    now: Timestamp,
    enough: u64,
) -> Result<u64, IndexError> {
    let all = domain_key(domain, ALL);
    let emails = stored(table, &all)?.saturating_add_signed(changes.get(&all).copied().unwrap_or(0));
    let minute = u64::try_from(now.millis()).unwrap_or(0) / MINUTE_MILLIS;
    if emails < enough || minute == ALL {
        return Ok(emails);
    }
    let (first, last) = (domain_key(domain, ALL + 1), domain_key(domain, minute));
    let mut expired: u64 = 0;
    for row in table.range::<&DomainKey>(&first..=&last)? {
        expired += row?.1.value();
    }
    let of_group: i64 = changes.range(first..=last).map(|(_, change)| change).sum();
    Ok(emails.saturating_sub(expired.saturating_add_signed(of_group)))
}

impl View {
    /// See [`unexpired`].
    pub(super) fn unexpired(&self, domain: [u8; 16], now: Timestamp, enough: u64) -> Result<u64, IndexError> {
        unexpired(&self.transaction.open_table(DOMAIN_COUNTS)?, UNCHANGED, domain, now, enough)
    }

    /// Compares the table with `counted`, and reports a difference.
    pub(super) fn audit_domain_counts(
        &self,
        counted: &RecountedDomains,
        found: &mut dyn FnMut(Finding),
    ) -> Result<(), IndexError> {
        let table = self.transaction.open_table(DOMAIN_COUNTS)?;
        let mut is_right = table.len()? == counted.0.len() as u64;
        for (key, emails) in &counted.0 {
            is_right &= stored(&table, key)? == *emails;
        }
        if !is_right {
            found(Finding::index(FindingKind::Rows, "the counts of Emails by domain are not those of the mailboxes"));
        }
        Ok(())
    }
}

/// The counts made again from the rows of mail.
#[derive(Debug, Default)]
pub(super) struct RecountedDomains(BTreeMap<DomainKey, u64>);

impl RecountedDomains {
    pub(super) fn add(&mut self, domain: [u8; 16], expires_at: Timestamp) {
        for number in [ALL, expiry_minute(expires_at)] {
            *self.0.entry(domain_key(domain, number)).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use redb::Database;
    use redb::backends::InMemoryBackend;

    use super::*;

    const DOMAIN: [u8; 16] = [7; 16];

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_millis(60_000 * minute)
    }

    /// Changes of the group count like written rows.
    #[test]
    fn what_has_expired_is_not_counted_whether_written_or_not() {
        let database = Database::builder().create_with_backend(InMemoryBackend::new()).expect("database");
        let transaction = database.begin_write().expect("write");
        let mut domain_counts = DomainCountRows::open(&transaction).expect("open");
        for is_written in [false, true] {
            let unexpired = |domain_counts: &DomainCountRows<'_>, minute| {
                domain_counts.unexpired(DOMAIN, at(minute), 0).expect("read")
            };
            for minute in [10, 10, 20] {
                domain_counts.add(DOMAIN, at(minute));
            }
            if is_written {
                domain_counts.flush().expect("flush");
            }
            assert_eq!([9, 10, 19, 20].map(|minute| unexpired(&domain_counts, minute)), [3, 1, 1, 0]);
            domain_counts.remove(DOMAIN, at(10));
            assert_eq!([9, 10, 19, 20].map(|minute| unexpired(&domain_counts, minute)), [2, 1, 1, 0]);
            domain_counts.remove(DOMAIN, at(10));
            domain_counts.remove(DOMAIN, at(20));
            assert_eq!([9, 10, 20].map(|minute| unexpired(&domain_counts, minute)), [0, 0, 0]);
            domain_counts.flush().expect("flush");
            assert_eq!(domain_counts.table.len().expect("length"), 0);
        }
    }
}
