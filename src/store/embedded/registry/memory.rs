//! All domains, webhooks, tokens and leases in memory: what readers ask, and what the file is to hold.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::lease_table::LeaseTable;
use super::opened::OpenMailboxes;
use super::row::{Row, Table, decode};
use crate::model::{AttemptRecord, DomainRecord, Mailbox, TokenRecord, WebhookId, WebhookRecord};
use crate::store::StoreError;
use crate::store::change::Ending;
use crate::store::receiver_health::ReceiverHealth;

/// The key of the row with the endings.
pub(super) const ENDINGS_KEY: &[u8] = b"endings";
/// The key of the row with all tokens.
pub(super) const TOKENS_KEY: &[u8] = b"tokens";
/// The most records of delivery logs that wait to be written. Beyond them, the oldest are lost.
const UNWRITTEN_RECORDS_MAX: usize = 4096;

/// A webhook, and what is known of its receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WebhookRow {
    pub(super) record: WebhookRecord,
    pub(super) health: ReceiverHealth,
}

impl WebhookRow {
    pub(super) fn row(&self) -> Result<Row, StoreError> {
        Row::put(Table::Webhooks, &self.record.id.octets(), self)
    }
}

/// The rows, and which of them the file does not have yet.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// By name.
    pub(super) domains: BTreeMap<String, DomainRecord>,
    pub(super) webhooks: BTreeMap<WebhookId, WebhookRow>,
    /// In the order of creation.
    pub(super) tokens: Vec<TokenRecord>,
    /// In the order of registration.
    by_mailbox: HashMap<Mailbox, Vec<WebhookId>>,
    pub(super) endings: Vec<Ending>,
    pub(super) leases: LeaseTable,
    pub(super) opened: OpenMailboxes,
    pub(super) unwritten: Unwritten,
}

/// What the file does not have yet.
#[derive(Debug, Default)]
pub(super) struct Unwritten {
    pub(super) webhooks: BTreeSet<WebhookId>,
    /// Records of delivery logs, oldest first.
    pub(super) records: VecDeque<AttemptRecord>,
    pub(super) has_endings: bool,
    /// Mailboxes that were opened, by their hashes.
    pub(super) opened: BTreeSet<[u8; 16]>,
}

impl Unwritten {
    pub(super) fn is_empty(&self) -> bool {
        self.webhooks.is_empty() && self.records.is_empty() && !self.has_endings && self.opened.is_empty()
    }
}

impl Memory {
    /// Takes over a row of the file. An error is what is wrong with it.
    pub(super) fn apply(&mut self, row: &Row) -> Result<(), String> {
        let misfit = || format!("a row of {} has the key of another", row.table.name());
        match (row.table, &row.octets) {
            (Table::Domains, None) => self.domains.retain(|name, _| name.as_bytes() != row.key),
            (Table::Domains, Some(octets)) => {
                let record: DomainRecord = decode(row.table, octets)?;
                if record.name.as_str().as_bytes() != row.key {
                    return Err(misfit());
                }
                self.domains.insert(record.name.as_str().to_owned(), record);
            }
            (Table::Webhooks, octets) => {
                let id = WebhookId::from_octets(row.key[..].try_into().map_err(|_| misfit())?);
                let Some(octets) = octets else {
                    self.remove_webhook(id);
                    return Ok(());
                };
                let webhook: WebhookRow = decode(row.table, octets)?;
                if webhook.record.id != id {
                    return Err(misfit());
                }
                self.put_webhook(webhook);
            }
            (Table::Meta, Some(octets)) if row.key == ENDINGS_KEY => self.endings = decode(row.table, octets)?,
            (Table::Meta, Some(octets)) if row.key == TOKENS_KEY => self.tokens = decode(row.table, octets)?,
            (Table::Leases, None) => self.leases.remove(&row.key),
            (Table::Leases, Some(octets)) => self.leases.put(&row.key, octets)?,
            (Table::Opened, octets) => {
                let name = row.key[..].try_into().map_err(|_| misfit())?;
                let until = octets.as_deref().map(|octets| decode(row.table, octets)).transpose()?;
                self.opened.set(name, until);
            }
            (Table::Meta | Table::Logs | Table::Segments, _) => {}
        }
        Ok(())
    }

    fn put_webhook(&mut self, mut row: WebhookRow) {
        let (id, created_at) = (row.record.id, row.record.created_at);
        if let Some(known) = self.webhooks.get(&id) {
            // Mail and drops are recorded while a change of the row is written.
            row.record.last_mail_at = row.record.last_mail_at.max(known.record.last_mail_at);
            row.record.dropped = row.record.dropped.max(known.record.dropped);
        } else {
            let of_mailbox = self.by_mailbox.entry(row.record.mailbox.clone()).or_default();
            let is_before = |other: &WebhookId| {
                self.webhooks.get(other).is_some_and(|row| (row.record.created_at, *other) < (created_at, id))
            };
            of_mailbox.insert(of_mailbox.partition_point(is_before), id);
        }
        self.webhooks.insert(id, row);
    }

    fn remove_webhook(&mut self, id: WebhookId) {
        let Some(row) = self.webhooks.remove(&id) else { return };
        if let Some(of_mailbox) = self.by_mailbox.get_mut(&row.record.mailbox) {
            of_mailbox.retain(|other| *other != id);
            if of_mailbox.is_empty() {
                self.by_mailbox.remove(&row.record.mailbox);
            }
        }
        self.unwritten.webhooks.remove(&id);
        self.unwritten.records.retain(|record| record.webhook != id);
    }

    /// The webhooks of a mailbox, in the order of registration.
    pub(super) fn of_mailbox(&self, mailbox: &Mailbox) -> impl Iterator<Item = &WebhookRow> {
        self.by_mailbox.get(mailbox).into_iter().flatten().filter_map(|id| self.webhooks.get(id))
    }

    /// The webhooks of mailboxes of a domain.
    pub(super) fn of_domain(&self, domain: &str) -> Vec<WebhookId> {
        self.ids(&|record| record.mailbox.domain() == domain)
    }

    /// The webhooks that `which` accepts.
    pub(super) fn ids(&self, which: &dyn Fn(&WebhookRecord) -> bool) -> Vec<WebhookId> {
        self.webhooks.values().filter(|row| which(&row.record)).map(|row| row.record.id).collect()
    }

    /// A webhook, to be changed. The file gets it with the next flush.
    pub(super) fn change(&mut self, id: WebhookId) -> Option<&mut WebhookRow> {
        let row = self.webhooks.get_mut(&id)?;
        self.unwritten.webhooks.insert(id);
        Some(row)
    }

    /// Adds a record to the delivery log of a webhook that exists.
    pub(super) fn log(&mut self, record: AttemptRecord) {
        self.unwritten.records.push_back(record);
        if self.unwritten.records.len() > UNWRITTEN_RECORDS_MAX {
            self.unwritten.records.pop_front();
        }
    }

    /// The records of a webhook that the file does not have yet, oldest first.
    pub(super) fn unwritten_records(&self, webhook: WebhookId) -> impl Iterator<Item = &AttemptRecord> {
        self.unwritten.records.iter().filter(move |record| record.webhook == webhook)
    }

    /// Puts back what could not be written.
    pub(super) fn put_back(&mut self, mut unwritten: Unwritten) {
        self.unwritten.has_endings |= unwritten.has_endings;
        self.unwritten.webhooks.append(&mut unwritten.webhooks);
        self.unwritten.opened.append(&mut unwritten.opened);
        for record in std::mem::replace(&mut self.unwritten.records, unwritten.records) {
            self.log(record);
        }
    }
}
