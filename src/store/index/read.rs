//! What readers ask of the index. Every function is one short read transaction.

use redb::{ReadTransaction, ReadableTable, ReadableTableMetadata};

use super::IndexError;
use super::caps::readable;
use super::keys::{HashKey, MailKey, mail_key, mailbox_hash};
use super::rows::{IndexState, MailRow};
use super::rows::{decode_domain, decode_mail};
use super::tables::{DOMAINS, EVENTS, EXPIRY, IDS, MAIL, META, META_STATE, SEGMENTS};
use crate::model::{DomainRecord, EmailId, Listed, Mailbox, Timestamp};
use crate::store::{MailboxPage, PageRequest, StoreStats};

/// One consistent view of the index.
pub(crate) struct View {
    pub(super) transaction: ReadTransaction,
    pub(super) hash_key: HashKey,
}

impl View {
    pub(super) fn new(transaction: ReadTransaction, hash_key: HashKey) -> Self {
        Self { transaction, hash_key }
    }

    pub(crate) fn list(&self, mailbox: &Mailbox, page: PageRequest, now: Timestamp) -> Result<MailboxPage, IndexError> {
        let hash = mailbox_hash(&self.hash_key, mailbox);
        let total = readable(&self.transaction.open_table(MAIL)?, hash, now)?;
        let PageRequest { offset, limit } = page;
        // Without this check a page far past the end would read the whole mailbox.
        if offset >= total {
            return Ok(MailboxPage { emails: Vec::new(), total });
        }
        let table = self.transaction.open_table(MAIL)?;
        let mut emails = Vec::with_capacity(limit.min(1024));
        let mut to_skip = offset;
        for row in table.range::<&MailKey>(&mail_key(hash, 1)..=&mail_key(hash, u64::MAX))?.rev() {
            if emails.len() == limit {
                break;
            }
            let (key, row) = row?;
            let row = decode_mail(row.value())?;
            if row.expires_at <= now {
                continue;
            }
            if to_skip > 0 {
                to_skip -= 1;
                continue;
            }
            emails.push(row.listed(key.value()));
        }
        Ok(MailboxPage { emails, total })
    }

    pub(crate) fn find(&self, id: EmailId, now: Timestamp) -> Result<Option<Listed>, IndexError> {
        Ok(self.row(id)?.filter(|(_, row)| row.expires_at > now).map(|(key, row)| row.listed(&key)))
    }

    fn row(&self, id: EmailId) -> Result<Option<(MailKey, MailRow)>, IndexError> {
        let Some(key) = self.transaction.open_table(IDS)?.get(&id.octets())?.map(|key| *key.value()) else {
            return Ok(None);
        };
        match self.transaction.open_table(MAIL)?.get(&key)? {
            None => Ok(None),
            Some(row) => Ok(Some((key, decode_mail(row.value())?))),
        }
    }

    /// When the first Emails are due to be removed, and when the last; `None` if there are none.
    pub(crate) fn due(&self) -> Result<Option<(Timestamp, Timestamp)>, IndexError> {
        let table = self.transaction.open_table(EXPIRY)?;
        let due = table.first()?.zip(table.last()?);
        Ok(due.map(|((first, _), (last, _))| (start_of(first.value().0), start_of(last.value().0))))
    }

    /// The highest sequence number given so far, and the number of the group that gives the next one.
    pub(crate) fn last_sequence(&self) -> Result<(u64, u64), IndexError> {
        let state = self.state()?;
        Ok((state.next_sequence.saturating_sub(1), state.position().group))
    }

    pub(crate) fn domains(&self) -> Result<Vec<DomainRecord>, IndexError> {
        let table = self.transaction.open_table(DOMAINS)?;
        table.iter()?.map(|row| decode_domain(row?.1.value())).collect()
    }

    /// Counts of what is alive, from as many rows as there are segments; the sizes of files are not the index's to know.
    pub(crate) fn stats(&self) -> Result<StoreStats, IndexError> {
        let IndexState { emails, mailboxes, live_octets, webhooks, .. } = self.state()?;
        let mut messages = 0;
        for segment in self.transaction.open_table(SEGMENTS)?.iter()? {
            messages += segment?.1.value().0;
        }
        let events = self.transaction.open_table(EVENTS)?.len()?;
        Ok(StoreStats { emails, mailboxes, messages, live_octets, webhooks, events, ..StoreStats::default() })
    }

    pub(super) fn state(&self) -> Result<IndexState, IndexError> {
        let table = self.transaction.open_table(META)?;
        let row = table.get(META_STATE)?.ok_or(IndexError::Corrupt("the state row is missing"))?;
        postcard::from_bytes(row.value()).map_err(|_| IndexError::Corrupt("the state row does not read"))
    }
}

/// When a second begins.
fn start_of(second: u64) -> Timestamp {
    Timestamp::from_millis(i64::try_from(second.saturating_mul(1000)).unwrap_or(i64::MAX))
}
