//! Reads of mail, domains and counts. A view is for one short read.

use redb::{ReadTransaction, ReadableTable, ReadableTableMetadata, TableDefinition};

use super::IndexError;
use super::caps::{Counted, count};
use super::keys::{MailKey, mail_key, sequence_of};
use super::rows::{IndexState, MailRow, decode_domain, decode_mail};
use super::tables::{
    ATTEMPTS, DOMAINS, DUE, EVENTS, EXPIRY, HOLDER_USAGE, IDS, MAIL, META, META_STATE, PUNCHES, REFCOUNTS, SEGMENTS,
    WEBHOOK_SETS, WEBHOOKS,
};
use crate::model::{DomainRecord, EmailId, Listed, Mailbox, Timestamp};
use crate::store::names::{HashKey, mailbox_hash};
use crate::store::{EmailsAfter, MailboxPage, PageRequest, StoreStats};

/// The most rows of mail that one read counts or examines, since a reopening of the index waits for readers.
pub(super) const ROWS_AT_ONCE: usize = 20_000;

/// The times of receipt of the oldest and the newest of some Emails.
pub(crate) type Span = (Timestamp, Timestamp);

/// Counts the octets of the file that a table uses. Reads its pages.
pub(crate) type TableOctets = fn(&View) -> Result<u64, IndexError>;

/// One function for each table.
pub(crate) const TABLES: [TableOctets; 14] = [
    |view| view.octets(META),
    |view| view.octets(MAIL),
    |view| view.octets(IDS),
    |view| view.octets(EXPIRY),
    |view| view.octets(REFCOUNTS),
    |view| view.octets(SEGMENTS),
    |view| view.octets(PUNCHES),
    |view| view.octets(DOMAINS),
    |view| view.octets(WEBHOOKS),
    |view| view.octets(EVENTS),
    |view| view.octets(DUE),
    |view| view.octets(ATTEMPTS),
    |view| view.octets(WEBHOOK_SETS),
    |view| view.octets(HOLDER_USAGE),
];

/// One consistent view of the index.
pub(crate) struct View {
    pub(super) transaction: ReadTransaction,
    pub(super) hash_key: HashKey,
}

impl View {
    pub(super) fn new(transaction: ReadTransaction, hash_key: HashKey) -> Self {
        Self { transaction, hash_key }
    }

    /// Lists a page of a mailbox. `None` if that takes more than `rows_max` rows of mail.
    pub(crate) fn list(
        &self,
        mailbox: &Mailbox,
        page: PageRequest,
        now: Timestamp,
        rows_max: u64,
    ) -> Result<Option<MailboxPage>, IndexError> {
        let hash = mailbox_hash(&self.hash_key, mailbox);
        let table = self.transaction.open_table(MAIL)?;
        let Some(Counted { readable: total, expired }) = count(&table, hash, now, rows_max)? else { return Ok(None) };
        let PageRequest { offset, limit } = page;
        let wanted = total.saturating_sub(offset).min(limit as u64);
        // Without this check a page far past the end would read the whole mailbox.
        if wanted == 0 {
            return Ok(Some(MailboxPage { emails: Vec::new(), total }));
        }
        if offset + wanted > rows_max {
            return Ok(None);
        }
        let mut emails = Vec::with_capacity(limit.min(1024));
        let mut to_skip = offset;
        for row in table.range::<&MailKey>(&mail_key(hash, 1)..=&mail_key(hash, u64::MAX))?.rev() {
            let (key, row) = row?;
            if expired == 0 && to_skip > 0 {
                to_skip -= 1;
                continue;
            }
            let row = decode_mail(row.value())?;
            if row.expires_at <= now {
                continue;
            }
            if to_skip > 0 {
                to_skip -= 1;
                continue;
            }
            emails.push(row.listed(key.value()));
            if emails.len() as u64 == wanted {
                break;
            }
        }
        Ok(Some(MailboxPage { emails, total }))
    }

    /// Lists the newest Emails with sequence numbers below `before`, at most `limit`, among [`ROWS_AT_ONCE`] rows.
    pub(crate) fn list_before(
        &self,
        mailbox: &Mailbox,
        before: u64,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<Listed>, IndexError> {
        let hash = mailbox_hash(&self.hash_key, mailbox);
        let table = self.transaction.open_table(MAIL)?;
        let mut emails = Vec::with_capacity(limit.min(1024));
        let rows = table.range::<&MailKey>(&mail_key(hash, 1)..&mail_key(hash, before.max(1)))?.rev();
        for row in rows.take(ROWS_AT_ONCE) {
            let (key, row) = row?;
            let row = decode_mail(row.value())?;
            if row.expires_at > now {
                emails.push(row.listed(key.value()));
                if emails.len() == limit {
                    break;
                }
            }
        }
        Ok(emails)
    }

    /// Lists the oldest Emails with sequence numbers above `after`, at most `limit`, among `rows_max` rows.
    pub(crate) fn list_after(
        &self,
        mailbox: &Mailbox,
        after: u64,
        limit: usize,
        rows_max: u64,
        now: Timestamp,
    ) -> Result<EmailsAfter, IndexError> {
        let hash = mailbox_hash(&self.hash_key, mailbox);
        let table = self.transaction.open_table(MAIL)?;
        let (mut emails, mut rows, mut last) = (Vec::new(), 0, after);
        for row in table.range::<&MailKey>(&mail_key(hash, after.saturating_add(1))..=&mail_key(hash, u64::MAX))? {
            let (key, row) = row?;
            if rows == rows_max || emails.len() == limit {
                return Ok(EmailsAfter { emails, next: Some(last) });
            }
            (rows, last) = (rows + 1, sequence_of(key.value()));
            let row = decode_mail(row.value())?;
            if row.expires_at > now {
                emails.push(row.listed(key.value()));
            }
        }
        Ok(EmailsAfter { emails, next: None })
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

    /// When the first Email expires. `None` if there are none.
    pub(crate) fn next_due_at(&self) -> Result<Option<Timestamp>, IndexError> {
        let table = self.transaction.open_table(EXPIRY)?;
        Ok(table.first()?.map(|(first, _)| start_of(first.value().0)))
    }

    /// The highest sequence number so far, and the number of the next group.
    pub(crate) fn last_sequence(&self) -> Result<(u64, u64), IndexError> {
        let state = self.state()?;
        Ok((state.next_sequence.saturating_sub(1), state.position().group))
    }

    pub(crate) fn domains(&self) -> Result<Vec<DomainRecord>, IndexError> {
        let table = self.transaction.open_table(DOMAINS)?;
        table.iter()?.map(|row| decode_domain(row?.1.value())).collect()
    }

    /// Counts what is stored, without the sizes of files. Reads as many rows as there are segments.
    pub(crate) fn stats(&self) -> Result<StoreStats, IndexError> {
        let IndexState { emails, mailboxes, live_octets, webhooks, .. } = self.state()?;
        let mut messages = 0;
        for segment in self.transaction.open_table(SEGMENTS)?.iter()? {
            messages += segment?.1.value().0;
        }
        let events = self.transaction.open_table(EVENTS)?.len()?;
        Ok(StoreStats { emails, mailboxes, messages, live_octets, webhooks, events, ..StoreStats::default() })
    }

    /// Counts the registered domains.
    pub(crate) fn domain_count(&self) -> Result<u64, IndexError> {
        Ok(self.transaction.open_table(DOMAINS)?.len()?)
    }

    /// The times of receipt of some Emails from the key `from` on, and where to continue, `None` at the end.
    pub(crate) fn received(&self, from: MailKey) -> Result<(Option<Span>, Option<MailKey>), IndexError> {
        let mut span: Option<Span> = None;
        for (nth, row) in self.transaction.open_table(MAIL)?.range::<&MailKey>(&from..)?.enumerate() {
            let (key, row) = row?;
            if nth == ROWS_AT_ONCE {
                return Ok((span, Some(*key.value())));
            }
            if sequence_of(key.value()) == 0 {
                continue;
            }
            let row = decode_mail(row.value())?;
            let (oldest, newest) = span.unwrap_or((row.received_at, row.received_at));
            span = Some((oldest.min(row.received_at), newest.max(row.received_at)));
        }
        Ok((span, None))
    }

    fn octets<K: redb::Key, V: redb::Value>(&self, table: TableDefinition<K, V>) -> Result<u64, IndexError> {
        let stats = self.transaction.open_table(table)?.stats()?;
        Ok(stats.stored_bytes() + stats.metadata_bytes() + stats.fragmented_bytes())
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
