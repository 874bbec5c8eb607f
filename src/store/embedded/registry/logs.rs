//! The delivery logs of webhooks, a row for each record.
//!
//! The rows of a webhook have consecutive numbers, so that the newest one tells which there are.

use super::file::RegistryFile;
use super::file_error::FileError;
use super::row::{Row, Table, decode};
use crate::model::{AttemptRecord, Timestamp, WebhookId};
use crate::store::outbox_rules::{RECORD_AGE_MAX, RECORDS_SHOWN};

/// The most rows of a webhook.
const ROWS_MAX: usize = RECORDS_SHOWN;

/// Adds records to the log of a webhook, oldest first, as changes of rows. Those up to one that the log has are left out: it was
/// not known that they were written.
pub(super) fn add(file: &mut RegistryFile, webhook: WebhookId, added: &[AttemptRecord]) -> Result<Vec<Row>, FileError> {
    let newest = newest(file, webhook)?;
    let first = newest.as_ref().map_or(0, |(number, _)| number + 1);
    let is_over = |(_, newest): &(u32, AttemptRecord)| added.last().is_some_and(|last| is_too_old(newest, last.at));
    let mut rows = if newest.as_ref().is_some_and(is_over) { remove(file, webhook)? } else { Vec::new() };
    let known = newest.and_then(|(_, newest)| added.iter().rposition(|record| *record == newest));
    let skipped = known.map_or(0, |position| position + 1).max(added.len().saturating_sub(ROWS_MAX));
    for (record, number) in added[skipped..].iter().zip(first..) {
        let row = Row::put(Table::Logs, &key(webhook, number), record);
        rows.push(row.map_err(|error| FileError::Damaged(error.to_string()))?);
        rows.extend(unneeded_at(number).map(|number| Row::remove(Table::Logs, &key(webhook, number))));
    }
    Ok(rows)
}

/// Removes the log of a webhook, as changes of rows.
pub(super) fn remove(file: &mut RegistryFile, webhook: WebhookId) -> Result<Vec<Row>, FileError> {
    let Some((number, _)) = newest(file, webhook)? else { return Ok(Vec::new()) };
    let numbers = unneeded_at(number).map_or(0, |unneeded| unneeded + 1)..=number;
    Ok(numbers.map(|number| Row::remove(Table::Logs, &key(webhook, number))).collect())
}

/// Reads all records of a webhook, oldest first.
pub(super) fn read(file: &mut RegistryFile, webhook: WebhookId) -> Result<Vec<AttemptRecord>, FileError> {
    let mut records = Vec::new();
    let (first, last) = (key(webhook, 0), key(webhook, u32::MAX));
    file.range(Table::Logs, (&first, &last), &mut |key, octets| {
        records.push(record(key, octets)?);
        Ok(())
    })?;
    Ok(records)
}

/// The records that are shown at `now`, newest first, of a log that begins with its oldest.
pub(super) fn shown(log: Vec<AttemptRecord>, limit: usize, now: Timestamp) -> Vec<AttemptRecord> {
    let recent = log.into_iter().rev().filter(|record| !is_too_old(record, now));
    recent.take(limit.min(RECORDS_SHOWN)).collect()
}

/// Decodes a row. An error is what is wrong with it.
pub(super) fn record(key: &[u8], octets: &[u8]) -> Result<AttemptRecord, String> {
    let record: AttemptRecord = decode(Table::Logs, octets)?;
    if key.len() != 20 || record.webhook.octets() != key[..16] {
        return Err("a row of logs has the key of another".into());
    }
    Ok(record)
}

fn newest(file: &mut RegistryFile, webhook: WebhookId) -> Result<Option<(u32, AttemptRecord)>, FileError> {
    let (first, last) = (key(webhook, 0), key(webhook, u32::MAX));
    let Some((key, octets)) = file.last(Table::Logs, (&first, &last))? else { return Ok(None) };
    let record = record(&key, &octets).map_err(FileError::Damaged)?;
    Ok(key.last_chunk().map(|number| (u32::from_be_bytes(*number), record)))
}

/// The newest row that is not kept beside one with this number.
fn unneeded_at(number: u32) -> Option<u32> {
    number.checked_sub(u32::try_from(ROWS_MAX).unwrap_or(u32::MAX))
}

fn is_too_old(record: &AttemptRecord, now: Timestamp) -> bool {
    now.since(record.at) > RECORD_AGE_MAX
}

fn key(webhook: WebhookId, number: u32) -> Vec<u8> {
    [&webhook.octets()[..], &number.to_be_bytes()].concat()
}
