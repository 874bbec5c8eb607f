//! The cap on mailboxes: whether there is room for one more Email, and which ones are evicted for it.
//!
//! The decision uses only the index and the cap in the change, so that a replay has the same result.

use redb::ReadableTable;

use super::IndexError;
use super::apply::{Apply, Removal};
use super::keys::{MailKey, mail_key};
use super::read::View;
use super::rows::{HeadRow, MailRow, decode_head, decode_mail};
use super::tables::MAIL;
use crate::model::{Envelope, Mailbox, Timestamp};
use crate::store::journal::RecordPlace;
use crate::store::names::mailbox_hash;
use crate::store::options::is_young;

/// The most Emails of one mailbox that one message evicts. A mailbox that was filled under a higher cap shrinks in steps.
const EVICTIONS_MAX: u64 = 256;

/// The Emails of a mailbox that are evicted for one more. `None` if there is no room, since one of them is too young.
fn evicted(
    mail: &impl ReadableTable<&'static MailKey, &'static [u8]>,
    mailbox: [u8; 16],
    cap: u32,
    now: Timestamp,
) -> Result<Option<Vec<(MailKey, MailRow)>>, IndexError> {
    let cap = u64::from(cap);
    // Most mailboxes are not full even with their expired Emails.
    if cap == 0 || head(mail, mailbox)?.is_none_or(|head| head.emails < cap) {
        return Ok(Some(Vec::new()));
    }
    let over = (readable(mail, mailbox, now)? + 1).saturating_sub(cap);
    let oldest = oldest(mail, mailbox, over.min(EVICTIONS_MAX), now)?;
    let is_one_young = oldest.iter().any(|(_, row)| is_young(row.received_at, now));
    Ok((!is_one_young).then_some(oldest))
}

/// Reads the oldest readable Emails of a mailbox.
fn oldest(
    mail: &impl ReadableTable<&'static MailKey, &'static [u8]>,
    mailbox: [u8; 16],
    number: u64,
    now: Timestamp,
) -> Result<Vec<(MailKey, MailRow)>, IndexError> {
    let mut oldest = Vec::new();
    if number == 0 {
        return Ok(oldest);
    }
    for row in mail.range::<&MailKey>(&mail_key(mailbox, 1)..=&mail_key(mailbox, u64::MAX))? {
        let (key, row) = row?;
        let row = decode_mail(row.value())?;
        if row.expires_at > now {
            oldest.push((*key.value(), row));
        }
        if oldest.len() as u64 == number {
            break;
        }
    }
    Ok(oldest)
}

impl Apply<'_> {
    /// Evicts Emails for a new message as the cap demands. `false` if there is no room, and then its octets are punched out.
    pub(super) fn evict_for(
        &mut self,
        envelope: &Envelope,
        cap: u32,
        now: Timestamp,
        place: RecordPlace,
    ) -> Result<bool, IndexError> {
        let Some(evicted) = self.to_evict(envelope, cap, now)? else {
            self.punch(place)?;
            return Ok(false);
        };
        for (key, row) in evicted {
            self.remove(&key, &row, Removal::Evict)?;
        }
        Ok(true)
    }

    /// Finds the Emails to evict for a message at `now`. `None` if there is no room in one of its mailboxes.
    fn to_evict(
        &self,
        envelope: &Envelope,
        cap: u32,
        now: Timestamp,
    ) -> Result<Option<Vec<(MailKey, MailRow)>>, IndexError> {
        let mut all = Vec::new();
        for recipient in &envelope.recipients {
            let mailbox = mailbox_hash(&self.hash_key, &recipient.mailbox);
            let Some(of_mailbox) = evicted(&self.mail, mailbox, cap, now)? else { return Ok(None) };
            all.extend(of_mailbox);
        }
        Ok(Some(all))
    }
}

impl View {
    /// Whether there is room for one more Email in a mailbox.
    pub(crate) fn has_room(&self, mailbox: &Mailbox, cap: u32, now: Timestamp) -> Result<bool, IndexError> {
        let mail = self.transaction.open_table(MAIL)?;
        Ok(evicted(&mail, mailbox_hash(&self.hash_key, mailbox), cap, now)?.is_some())
    }
}

fn head(
    mail: &impl ReadableTable<&'static MailKey, &'static [u8]>,
    mailbox: [u8; 16],
) -> Result<Option<HeadRow>, IndexError> {
    mail.get(&mail_key(mailbox, 0))?.map(|row| decode_head(row.value())).transpose()
}

/// Counts the Emails of a mailbox that are readable at `now`.
fn readable(
    mail: &impl ReadableTable<&'static MailKey, &'static [u8]>,
    mailbox: [u8; 16],
    now: Timestamp,
) -> Result<u64, IndexError> {
    Ok(count(mail, mailbox, now, u64::MAX)?.map_or(0, |counted| counted.readable))
}

/// The counts of a mailbox.
pub(super) struct Counted {
    pub(super) readable: u64,
    /// Expired Emails that are not removed yet. Almost all of them are the oldest ones.
    pub(super) expired: u64,
}

/// Counts the Emails of a mailbox as of `now`. Reads its head, its oldest Email, and a row for each expired one. After the
/// clock was set back, it may read further rows.
///
/// `None` if that takes more than `rows_max` rows.
pub(super) fn count(
    mail: &impl ReadableTable<&'static MailKey, &'static [u8]>,
    mailbox: [u8; 16],
    now: Timestamp,
    rows_max: u64,
) -> Result<Option<Counted>, IndexError> {
    let mut rows = mail.range::<&MailKey>(&mail_key(mailbox, 0)..=&mail_key(mailbox, u64::MAX))?;
    let Some(head) = rows.next() else { return Ok(Some(Counted { readable: 0, expired: 0 })) };
    let head = decode_head(head?.1.value())?;
    let mut expired = 0;
    for (read, row) in (1..).zip(rows) {
        if read > rows_max {
            return Ok(None);
        }
        let (_, row) = row?;
        let expires_at = decode_mail(row.value())?.expires_at;
        if expires_at <= now {
            expired += 1;
        } else if head.ends_expired(expires_at, now) {
            break;
        }
    }
    Ok(Some(Counted { readable: head.emails.saturating_sub(expired), expired }))
}
