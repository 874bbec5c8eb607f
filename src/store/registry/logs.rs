//! The delivery logs of webhooks, in pages of some records.
//!
//! Whole pages are removed, so there may be a few more records than those that are shown. The pages of a webhook have
//! consecutive numbers, so that the newest one tells which there are.

use super::file::{FileError, RegistryFile};
use super::row::{Row, Table, decode};
use crate::model::{AttemptRecord, Timestamp, WebhookId};
use crate::store::outbox_rules::{RECORD_AGE_MAX, RECORDS_SHOWN};

/// The most records of a page.
const RECORDS_PER_PAGE: usize = 16;
/// The most pages of a webhook: enough for the shown records, even if the newest page has a single one.
const PAGES_MAX: u32 = 8;

/// Adds records to the log of a webhook, oldest first, as changes of rows. Records that the log has already are left out.
pub(super) fn add(file: &mut RegistryFile, webhook: WebhookId, added: &[AttemptRecord]) -> Result<Vec<Row>, FileError> {
    let Some(last) = added.last() else { return Ok(Vec::new()) };
    let (mut number, mut page) = newest(file, webhook)?.unwrap_or_default();
    let mut rows = Vec::new();
    if page.iter().all(|record| is_too_old(record, last.at)) {
        page.clear();
        rows.extend(before(number).map(|number| Row::remove(Table::Logs, &key(webhook, number))));
    }
    for record in &added[added.len().saturating_sub(RECORDS_SHOWN)..] {
        if page.contains(record) {
            continue;
        }
        if page.len() >= RECORDS_PER_PAGE {
            rows.push(row(webhook, number, &page)?);
            page.clear();
            number += 1;
            if let Some(unneeded) = number.checked_sub(PAGES_MAX) {
                rows.push(Row::remove(Table::Logs, &key(webhook, unneeded)));
            }
        }
        page.push(record.clone());
    }
    rows.push(row(webhook, number, &page)?);
    Ok(rows)
}

/// Removes the log of a webhook, as changes of rows.
pub(super) fn remove(file: &mut RegistryFile, webhook: WebhookId) -> Result<Vec<Row>, FileError> {
    let Some((number, _)) = newest(file, webhook)? else { return Ok(Vec::new()) };
    let numbers = before(number).chain([number]);
    Ok(numbers.map(|number| Row::remove(Table::Logs, &key(webhook, number))).collect())
}

/// Reads all records of a webhook, oldest first.
pub(super) fn read(file: &mut RegistryFile, webhook: WebhookId) -> Result<Vec<AttemptRecord>, FileError> {
    let mut records = Vec::new();
    let (first, last) = (key(webhook, 0), key(webhook, u32::MAX));
    file.range(Table::Logs, (&first, &last), &mut |key, octets| {
        records.extend(page(key, octets)?);
        Ok(())
    })?;
    Ok(records)
}

/// The records that are shown at `now`, newest first, of a log that begins with its oldest.
pub(super) fn shown(log: Vec<AttemptRecord>, limit: usize, now: Timestamp) -> Vec<AttemptRecord> {
    let recent = log.into_iter().rev().filter(|record| !is_too_old(record, now));
    recent.take(limit.min(RECORDS_SHOWN)).collect()
}

/// Decodes a page. An error is what is wrong with it.
pub(super) fn page(key: &[u8], octets: &[u8]) -> Result<Vec<AttemptRecord>, String> {
    let records: Vec<AttemptRecord> = decode(Table::Logs, octets)?;
    if key.len() != 20 || records.iter().any(|record| record.webhook.octets() != key[..16]) {
        return Err("a row of logs has the key of another".into());
    }
    Ok(records)
}

fn newest(file: &mut RegistryFile, webhook: WebhookId) -> Result<Option<(u32, Vec<AttemptRecord>)>, FileError> {
    let (first, last) = (key(webhook, 0), key(webhook, u32::MAX));
    let Some((key, octets)) = file.last(Table::Logs, (&first, &last))? else { return Ok(None) };
    let records = page(&key, &octets).map_err(FileError::Damaged)?;
    Ok(key.last_chunk().map(|number| (u32::from_be_bytes(*number), records)))
}

/// The numbers of the pages that there may be before the newest one.
fn before(newest: u32) -> std::ops::Range<u32> {
    newest.saturating_sub(PAGES_MAX - 1)..newest
}

fn is_too_old(record: &AttemptRecord, now: Timestamp) -> bool {
    now.since(record.at) > RECORD_AGE_MAX
}

fn row(webhook: WebhookId, number: u32, page: &[AttemptRecord]) -> Result<Row, FileError> {
    Row::put(Table::Logs, &key(webhook, number), &page).map_err(|error| FileError::Damaged(error.to_string()))
}

fn key(webhook: WebhookId, number: u32) -> Vec<u8> {
    [&webhook.octets()[..], &number.to_be_bytes()].concat()
}
