//! Rows of webhooks. While a group is applied, each row is read once and written once, however many changes use it.

use std::collections::BTreeMap;

use redb::{ReadableTable, WriteTransaction};
use serde::{Deserialize, Serialize};

use super::IndexError;
use super::lazy_table::LazyTable;
use super::tables::WEBHOOKS;
use crate::model::{Timestamp, WebhookId, WebhookRecord, WebhookStatus};
use crate::store::receiver_health::ReceiverHealth;

/// A webhook with the counts of its pending events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WebhookRow {
    pub(super) record: WebhookRecord,
    /// Pending events.
    pub(super) events: u32,
    /// Octets of their messages.
    pub(super) octets: u64,
    /// Records in the delivery log.
    pub(super) attempts: u32,
    pub(super) health: ReceiverHealth,
}

/// The table of webhooks, open for writing, with the rows that the group has used.
pub(super) struct WebhookRows<'t> {
    table: LazyTable<'t, &'static [u8; 16], &'static [u8]>,
    used: BTreeMap<WebhookId, Used>,
}

struct Used {
    /// `None` if there is no such webhook.
    row: Option<WebhookRow>,
    /// Whether the row must be written.
    is_changed: bool,
}

impl<'t> WebhookRows<'t> {
    /// The table, which is opened when it is used.
    pub(super) fn new(transaction: &'t WriteTransaction) -> Self {
        Self { table: LazyTable::new(transaction, WEBHOOKS), used: BTreeMap::new() }
    }

    pub(super) fn get(&mut self, id: WebhookId) -> Result<Option<&WebhookRow>, IndexError> {
        if !self.used.contains_key(&id) {
            let row = self.table.get()?.get(&id.octets())?.map(|row| postcard::from_bytes(row.value()));
            let row = row.transpose().map_err(|_| IndexError::Corrupt("a webhook cannot be decoded"))?;
            self.used.insert(id, Used { row, is_changed: false });
        }
        Ok(self.used.get(&id).and_then(|used| used.row.as_ref()))
    }

    /// Records new mail for a webhook. Returns whether the webhook is active.
    pub(super) fn record_mail(&mut self, id: WebhookId, at: Timestamp) -> Result<bool, IndexError> {
        self.get(id)?;
        let Some(Used { row: Some(row), is_changed }) = self.used.get_mut(&id) else { return Ok(false) };
        row.record.last_mail_at = row.record.last_mail_at.max(at);
        *is_changed = true;
        Ok(row.record.status == WebhookStatus::Active)
    }

    /// Takes a row, to be changed and put back. Until then the webhook does not exist.
    pub(super) fn take(&mut self, id: WebhookId) -> Result<Option<WebhookRow>, IndexError> {
        self.get(id)?;
        Ok(self.used.get_mut(&id).and_then(|used| used.row.take()))
    }

    pub(super) fn put(&mut self, row: WebhookRow) {
        self.used.insert(row.record.id, Used { row: Some(row), is_changed: true });
    }

    pub(super) fn remove(&mut self, id: WebhookId) -> Result<(), IndexError> {
        self.table.get_mut()?.remove(&id.octets())?;
        self.used.insert(id, Used { row: None, is_changed: false });
        Ok(())
    }

    /// Writes the changed rows.
    pub(super) fn flush(&mut self) -> Result<(), IndexError> {
        for row in
            std::mem::take(&mut self.used).into_values().filter(|used| used.is_changed).filter_map(|used| used.row)
        {
            let value = postcard::to_stdvec(&row).map_err(|_| IndexError::Corrupt("a webhook cannot be encoded"))?;
            self.table.get_mut()?.insert(&row.record.id.octets(), &value[..])?;
        }
        Ok(())
    }
}
