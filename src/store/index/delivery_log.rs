//! Delivery logs, in pages: what a group adds to the log of one webhook is one row.

use std::collections::BTreeMap;
use std::time::Duration;

use redb::{ReadTransaction, ReadableTable, Table, WriteTransaction};

use super::IndexError;
use super::keys::{WebhookKey, webhook_key};
use super::tables::ATTEMPTS;
use super::webhook_rows::WebhookRows;
use crate::model::{AttemptRecord, Timestamp, WebhookId};

/// Lines that are shown of each webhook's log at most. Whole pages are kept, and so there may be some more of them.
const RECORDS_SHOWN: usize = 100;
/// Lines in one page at most.
const RECORDS_PER_PAGE: usize = 32;
/// How long lines are shown at most, and kept while others follow.
const AGE_MAX: Duration = Duration::from_hours(30 * 24);

/// The table of logs, open for writing, and what the group adds to it.
pub(super) struct DeliveryLogs<'t> {
    table: Table<'t, &'static WebhookKey, &'static [u8]>,
    added: BTreeMap<WebhookId, Vec<Page>>,
}

struct Page {
    /// The number of its first line in this store.
    first: u64,
    lines: usize,
    octets: Vec<u8>,
    /// The time of its last line.
    at: Timestamp,
}

impl<'t> DeliveryLogs<'t> {
    /// Opens the table, making it if it is missing.
    pub(super) fn open(transaction: &'t WriteTransaction) -> Result<Self, IndexError> {
        Ok(Self { table: transaction.open_table(ATTEMPTS)?, added: BTreeMap::new() })
    }

    /// Adds a line with a number above all others'.
    pub(super) fn add(&mut self, number: u64, line: &AttemptRecord) -> Result<(), IndexError> {
        let octets = postcard::to_stdvec(line).map_err(|_| IndexError::Corrupt("an attempt can't be written"))?;
        let pages = self.added.entry(line.webhook).or_default();
        match pages.last_mut().filter(|page| page.lines < RECORDS_PER_PAGE) {
            Some(page) => {
                page.octets.extend(octets);
                (page.lines, page.at) = (page.lines + 1, line.at);
            }
            None => pages.push(Page { first: number, lines: 1, octets, at: line.at }),
        }
        Ok(())
    }

    /// The lines of a webhook that are shown at `now`, the newest first.
    pub(super) fn shown(&mut self, webhook: WebhookId, now: Timestamp) -> Result<Vec<AttemptRecord>, IndexError> {
        self.write(webhook)?;
        newest(&self.table, webhook, RECORDS_SHOWN, now)
    }

    pub(super) fn remove(&mut self, webhook: WebhookId) -> Result<(), IndexError> {
        self.added.remove(&webhook);
        let (first, last) = ends(webhook);
        self.table.retain_in::<&WebhookKey, _>(&first..=&last, |_, _| false)?;
        Ok(())
    }

    /// Writes what was added, and trims the logs that it was added to: their rows count the lines.
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
            self.table.insert(&webhook_key(webhook, page.first), &page.octets[..])?;
        }
        Ok(())
    }

    /// Takes the oldest pages off the log while there are enough lines without, or they are too old at `now`; how many of
    /// the `lines` are left.
    fn trim(&mut self, webhook: WebhookId, lines: u32, now: Timestamp) -> Result<u32, IndexError> {
        let (first, last) = ends(webhook);
        let mut left = lines as usize;
        let mut trimmed = Vec::new();
        for page in self.table.range::<&WebhookKey>(&first..=&last)? {
            let (key, page) = page?;
            let page = decode(page.value())?;
            let is_too_old = page.iter().all(|line| now.since(line.at) > AGE_MAX);
            if !is_too_old && left.saturating_sub(page.len()) < RECORDS_SHOWN {
                break;
            }
            left = left.saturating_sub(page.len());
            trimmed.push(*key.value());
        }
        for key in &trimmed {
            self.table.remove(key)?;
        }
        Ok(u32::try_from(left).unwrap_or(u32::MAX))
    }
}

/// The newest lines of a webhook's log that are not too old at `now`, the newest first.
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
    let mut lines = Vec::new();
    for page in table.range::<&WebhookKey>(&first..=&last)?.rev() {
        if lines.len() >= limit {
            break;
        }
        lines.extend(decode(page?.1.value())?.into_iter().rev().filter(|line| now.since(line.at) <= AGE_MAX));
    }
    lines.truncate(limit);
    Ok(lines)
}

/// How many lines there are of each webhook.
pub(super) fn count_records(transaction: &ReadTransaction) -> Result<BTreeMap<WebhookId, u32>, IndexError> {
    let mut counts = BTreeMap::new();
    for page in transaction.open_table(ATTEMPTS)?.iter()? {
        for line in decode(page?.1.value())? {
            *counts.entry(line.webhook).or_default() += 1;
        }
    }
    Ok(counts)
}

/// The first and the last key that a page of this webhook can have.
fn ends(webhook: WebhookId) -> (WebhookKey, WebhookKey) {
    (webhook_key(webhook, 0), webhook_key(webhook, u64::MAX))
}

/// The lines of a page, one after the other.
fn decode(mut page: &[u8]) -> Result<Vec<AttemptRecord>, IndexError> {
    let mut lines = Vec::new();
    while !page.is_empty() {
        let (line, rest) =
            postcard::take_from_bytes(page).map_err(|_| IndexError::Corrupt("an attempt does not read"))?;
        lines.push(line);
        page = rest;
    }
    Ok(lines)
}
