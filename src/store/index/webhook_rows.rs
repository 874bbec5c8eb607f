//! The rows of webhooks while a group is applied: each is read once and written once, however many changes touch it.

use std::collections::BTreeMap;
use std::time::Duration;

use redb::{ReadableTable, Table, WriteTransaction};

use super::IndexError;
use super::tables::{WEBHOOKS, WebhookRow};
use crate::model::{Timestamp, WebhookId, WebhookStatus};

/// A webhook that has had nothing but failures for so long is disabled. Two failures that are as far apart say nothing of the
/// time between them: nobody called, or the clock was wrong.
pub(super) const FAILING_MAX: Duration = Duration::from_hours(5 * 24);

impl WebhookRow {
    /// Notes an attempt that failed; for how long all have by then.
    pub(super) fn failing_for(&mut self, at: Timestamp) -> Duration {
        let is_one_of_a_row = self.failed_at.is_some_and(|last| at.since(last) < FAILING_MAX);
        let since = self.record.failing_since.filter(|_| is_one_of_a_row).unwrap_or(at).min(at);
        (self.record.failing_since, self.failed_at) = (Some(since), Some(at));
        at.since(since)
    }
}

/// The table of webhooks, open for writing, and what the group has seen of it.
pub(super) struct WebhookRows<'t> {
    table: Table<'t, &'static [u8; 16], &'static [u8]>,
    seen: BTreeMap<WebhookId, Seen>,
}

struct Seen {
    /// `None` if there is none.
    row: Option<WebhookRow>,
    /// The table does not hold it yet.
    is_new: bool,
}

impl<'t> WebhookRows<'t> {
    /// Opens the table, making it if it is missing.
    pub(super) fn open(transaction: &'t WriteTransaction) -> Result<Self, IndexError> {
        Ok(Self { table: transaction.open_table(WEBHOOKS)?, seen: BTreeMap::new() })
    }

    pub(super) fn get(&mut self, id: WebhookId) -> Result<Option<&WebhookRow>, IndexError> {
        if !self.seen.contains_key(&id) {
            let row = self.table.get(&id.octets())?.map(|row| postcard::from_bytes(row.value()));
            let row = row.transpose().map_err(|_| IndexError::Corrupt("a webhook does not read"))?;
            self.seen.insert(id, Seen { row, is_new: false });
        }
        Ok(self.seen.get(&id).and_then(|seen| seen.row.as_ref()))
    }

    /// Notes that mail has come for a webhook; whether it is to be told.
    pub(super) fn note_mail(&mut self, id: WebhookId, at: Timestamp) -> Result<bool, IndexError> {
        self.get(id)?;
        let Some(Seen { row: Some(row), is_new }) = self.seen.get_mut(&id) else { return Ok(false) };
        row.record.last_mail_at = row.record.last_mail_at.max(at);
        *is_new = true;
        Ok(row.record.status == WebhookStatus::Active)
    }

    /// Takes a row out, to be changed and put back: until then there is none.
    pub(super) fn take(&mut self, id: WebhookId) -> Result<Option<WebhookRow>, IndexError> {
        self.get(id)?;
        Ok(self.seen.get_mut(&id).and_then(|seen| seen.row.take()))
    }

    pub(super) fn put(&mut self, row: WebhookRow) {
        self.seen.insert(row.record.id, Seen { row: Some(row), is_new: true });
    }

    pub(super) fn remove(&mut self, id: WebhookId) -> Result<(), IndexError> {
        self.table.remove(&id.octets())?;
        self.seen.insert(id, Seen { row: None, is_new: false });
        Ok(())
    }

    /// Writes what was put.
    pub(super) fn flush(&mut self) -> Result<(), IndexError> {
        for row in std::mem::take(&mut self.seen).into_values().filter(|seen| seen.is_new).filter_map(|seen| seen.row) {
            let value = postcard::to_stdvec(&row).map_err(|_| IndexError::Corrupt("a webhook can't be written"))?;
            self.table.insert(&row.record.id.octets(), &value[..])?;
        }
        Ok(())
    }
}
