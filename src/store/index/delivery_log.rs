//! The delivery logs of webhooks, in pages: the records that a group adds to one log are one row.
//!
//! Whole pages are removed, so there may be a few more records than those that are shown.

use std::collections::BTreeMap;

use redb::{ReadTransaction, ReadableTable, WriteTransaction};

use super::IndexError;
use super::keys::{WebhookKey, webhook_key};
use super::lazy_table::LazyTable;
use super::tables::ATTEMPTS;
use super::webhook_rows::WebhookRows;
use crate::model::{AttemptRecord, Timestamp, WebhookId};
use crate::store::outbox_rules::{RECORD_AGE_MAX, RECORDS_SHOWN};

/// The most records of a page.
const RECORDS_PER_PAGE: usize = 32;

/// The table of logs, open for writing, with the records that the group adds.
pub(super) struct DeliveryLogs<'t> {
    table: LazyTable<'t, &'static WebhookKey, &'static [u8]>,
    added: BTreeMap<WebhookId, Vec<Page>>,
}

struct Page {
    /// The number of the first record.
    first: u64,
    records: usize,
    octets: Vec<u8>,
    /// The time of the last record.
    at: Timestamp,
}

impl<'t> DeliveryLogs<'t> {
    /// The table, which is opened when it is used.
    pub(super) fn new(transaction: &'t WriteTransaction) -> Self {
        Self { table: LazyTable::new(transaction, ATTEMPTS), added: BTreeMap::new() }
    }

    /// Adds a record. Its number must be above all others.
    pub(super) fn add(&mut self, number: u64, record: &AttemptRecord) -> Result<(), IndexError> {
        let octets = postcard::to_stdvec(record).map_err(|_| IndexError::Corrupt("an attempt cannot be encoded"))?;
        let pages = self.added.entry(record.webhook).or_default();
        match pages.last_mut().filter(|page| page.records < RECORDS_PER_PAGE) {
            Some(page) => {
                page.octets.extend(octets);
                (page.records, page.at) = (page.records + 1, record.at);
            }
            None => pages.push(Page { first: number, records: 1, octets, at: record.at }),
        }
        Ok(())
    }

    /// Reads the records of a webhook that are shown at `now`, newest first.
    pub(super) fn shown(&mut self, webhook: WebhookId, now: Timestamp) -> Result<Vec<AttemptRecord>, IndexError> {
        self.write(webhook)?;
        newest(self.table.get()?, webhook, RECORDS_SHOWN, now)
    }

    pub(super) fn remove(&mut self, webhook: WebhookId) -> Result<(), IndexError> {
        self.added.remove(&webhook);
        let (first, last) = ends(webhook);
        self.table.get_mut()?.retain_in::<&WebhookKey, _>(&first..=&last, |_, _| false)?;
        Ok(())
    }

    /// Writes the added records and trims their logs. The rows of the webhooks count the records.
    pub(super) fn flush(&mut self, rows: &mut WebhookRows<'_>) -> Result<(), IndexError> {
        let added = self.added.iter().filter_map(|(webhook, pages)| Some((*webhook, pages.last()?.at)));
        for (webhook, now) in added.collect::<Vec<_>>() {
            self.write(webhook)?;
            if let Some(mut row) = rows.take(webhook)? {
                row.attempts = self.trim(webhook, row.attempts, now)?;
                rows.put(row);
            }
        }
        Ok(())
    }

    fn write(&mut self, webhook: WebhookId) -> Result<(), IndexError> {
        for page in self.added.remove(&webhook).unwrap_or_default() {
            self.table.get_mut()?.insert(&webhook_key(webhook, page.first), &page.octets[..])?;
        }
        Ok(())
    }

    /// Removes the oldest pages that are too old at `now`, or not needed for the shown records.
    ///
    /// Returns how many of the `records` records are left.
    fn trim(&mut self, webhook: WebhookId, records: u32, now: Timestamp) -> Result<u32, IndexError> {
        let (first, last) = ends(webhook);
        let mut left = records as usize;
        let mut trimmed = Vec::new();
        for page in self.table.get()?.range::<&WebhookKey>(&first..=&last)? {
            let (key, page) = page?;
            let page = decode(page.value())?;
            let is_too_old = page.iter().all(|record| now.since(record.at) > RECORD_AGE_MAX);
            if !is_too_old && left.saturating_sub(page.len()) < RECORDS_SHOWN {
                break;
            }
            left = left.saturating_sub(page.len());
            trimmed.push(*key.value());
        }
        for key in &trimmed {
            self.table.get_mut()?.remove(key)?;
        }
        Ok(u32::try_from(left).unwrap_or(u32::MAX))
    }
}

/// Reads the newest records of a webhook's log that are not too old at `now`, newest first.
pub(super) fn newest_records(
    transaction: &ReadTransaction,
    webhook: WebhookId,
    limit: usize,
    now: Timestamp,
) -> Result<Vec<AttemptRecord>, IndexError> {
    newest(&transaction.open_table(ATTEMPTS)?, webhook, limit.min(RECORDS_SHOWN), now)
}

fn newest(
    table: &impl ReadableTable<&'static WebhookKey, &'static [u8]>,
    webhook: WebhookId,
    limit: usize,
    now: Timestamp,
) -> Result<Vec<AttemptRecord>, IndexError> {
    let (first, last) = ends(webhook);
    let mut records = Vec::new();
    for page in table.range::<&WebhookKey>(&first..=&last)?.rev() {
        if records.len() >= limit {
            break;
        }
        records
            .extend(decode(page?.1.value())?.into_iter().rev().filter(|record| now.since(record.at) <= RECORD_AGE_MAX));
    }
    records.truncate(limit);
    Ok(records)
}

/// Counts the records of each webhook.
pub(super) fn count_records(transaction: &ReadTransaction) -> Result<BTreeMap<WebhookId, u32>, IndexError> {
    let mut counts = BTreeMap::new();
    for page in transaction.open_table(ATTEMPTS)?.iter()? {
        for record in decode(page?.1.value())? {
            *counts.entry(record.webhook).or_default() += 1;
        }
    }
    Ok(counts)
}

/// The first and the last possible key of a webhook's pages.
fn ends(webhook: WebhookId) -> (WebhookKey, WebhookKey) {
    (webhook_key(webhook, 0), webhook_key(webhook, u64::MAX))
}

/// Decodes the records of a page.
fn decode(mut page: &[u8]) -> Result<Vec<AttemptRecord>, IndexError> {
    let mut records = Vec::new();
    while !page.is_empty() {
        let (record, rest) =
            postcard::take_from_bytes(page).map_err(|_| IndexError::Corrupt("an attempt cannot be decoded"))?;
        records.push(record);
        page = rest;
    }
    Ok(records)
}
