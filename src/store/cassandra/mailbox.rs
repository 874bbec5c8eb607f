//! Lists of a mailbox.

use scylla::DeserializeRow;
use tokio::time::Instant;
use uuid::Uuid;

use super::rows::{EmailRow, MailboxNames, signed};
use super::state::ClusterState;
use crate::model::{Listed, Mailbox, Timestamp};
use crate::store::{EmailsAfter, MailboxPage, PageRequest, StoreError};

/// An Email with the time of its writes, which its deletion needs.
#[derive(Clone, Debug, DeserializeRow)]
pub(super) struct WrittenRow {
    mailbox: Vec<u8>,
    domain: Vec<u8>,
    sequence: i64,
    id: Uuid,
    message: Uuid,
    received_at: i64,
    expires_at: i64,
    octets: i64,
    shared: bool,
    /// In microseconds since 1970.
    pub(super) written_at: i64,
}

impl WrittenRow {
    pub(super) fn email(&self) -> EmailRow {
        let Self { sequence, id, message, received_at, expires_at, octets, shared, .. } = *self;
        let (mailbox, domain) = (self.mailbox.clone(), self.domain.clone());
        EmailRow { mailbox, domain, sequence, id, message, received_at, expires_at, octets, shared }
    }
}

impl ClusterState {
    pub(super) async fn list(
        &self,
        mailbox: &Mailbox,
        page: PageRequest,
        now: Timestamp,
    ) -> Result<MailboxPage, StoreError> {
        let names = MailboxNames::new(&self.secret, mailbox);
        let begun = Instant::now();
        let counted = self.totals.get(&names.mailbox);
        let (mut emails, mut expiries) = (Vec::new(), Vec::new());
        let (mut newest, mut total, mut is_known) = (0, 0, false);
        let values = (&names.mailbox[..], signed(self.least_sequence(now)), i64::MAX);
        let take = |row: EmailRow| {
            if expiries.is_empty() {
                newest = row.sequence.cast_unsigned();
                is_known = counted.as_ref().is_some_and(|counted| counted.begins_with(&row));
            }
            expiries.push(self.expiry_of(&row));
            if self.is_readable(&row, now) {
                if total >= page.offset && emails.len() < page.limit {
                    emails.push(row.listed());
                }
                total += 1;
            }
            !is_known || emails.len() < page.limit
        };
        self.cluster.each(&self.statements.email_newest_first, values, take).await?;
        match counted.filter(|_| is_known) {
            Some(counted) => total = counted.readable(now, self),
            None => self.totals.keep(names.mailbox, newest, expiries, begun),
        }
        Ok(MailboxPage { emails, total })
    }

    pub(super) async fn list_before(
        &self,
        mailbox: &Mailbox,
        before: u64,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<Listed>, StoreError> {
        let names = MailboxNames::new(&self.secret, mailbox);
        let mut emails = Vec::new();
        if limit == 0 {
            return Ok(emails);
        }
        let values = (&names.mailbox[..], signed(self.least_sequence(now)), signed(before));
        let take = |row: EmailRow| {
            if self.is_readable(&row, now) {
                emails.push(row.listed());
            }
            emails.len() < limit
        };
        self.cluster.each(&self.statements.email_newest_first, values, take).await?;
        Ok(emails)
    }

    pub(super) async fn list_after(
        &self,
        mailbox: &Mailbox,
        after: u64,
        limit: usize,
        now: Timestamp,
    ) -> Result<EmailsAfter, StoreError> {
        let names = MailboxNames::new(&self.secret, mailbox);
        let (mut emails, mut last, mut next) = (Vec::new(), after, None);
        let values = (&names.mailbox[..], signed(after.max(self.least_sequence(now))));
        let take = |row: EmailRow| {
            if emails.len() >= limit {
                next = Some(last);
                return false;
            }
            last = row.sequence.cast_unsigned();
            if self.is_readable(&row, now) {
                emails.push(row.listed());
            }
            true
        };
        self.cluster.each(&self.statements.email_oldest_first, values, take).await?;
        Ok(EmailsAfter { emails, next })
    }

    /// The newest readable Emails of a mailbox, at most `limit`.
    pub(super) async fn readable(
        &self,
        mailbox: &[u8],
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<EmailRow>, StoreError> {
        let mut rows = Vec::new();
        let take = |row: EmailRow| {
            if self.is_readable(&row, now) {
                rows.push(row);
            }
            rows.len() < limit
        };
        let values = (mailbox, signed(self.least_sequence(now)), i64::MAX);
        self.cluster.each(&self.statements.email_newest_first, values, take).await?;
        Ok(rows)
    }

    /// All Emails of a mailbox below a number, expired ones as well, newest first.
    pub(super) async fn written(
        &self,
        mailbox: &[u8],
        before: u64,
        now: Timestamp,
    ) -> Result<Vec<WrittenRow>, StoreError> {
        let values = (mailbox, signed(self.least_sequence(now)), signed(before));
        self.cluster.all(&self.statements.email_written, values).await
    }

    /// The highest number of a mailbox's Emails; 0 without any.
    pub(super) async fn newest_of(&self, mailbox: &Mailbox) -> Result<u64, StoreError> {
        let names = MailboxNames::new(&self.secret, mailbox);
        let row = self.cluster.first::<(i64,)>(&self.statements.email_newest, (&names.mailbox[..], 0_i64)).await?;
        Ok(row.map_or(0, |(sequence,)| sequence.cast_unsigned()))
    }
}
