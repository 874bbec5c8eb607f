//! Caps on mailboxes and domains: whether there is room for one more Email, and which ones are evicted for it.
//!
//! The decision uses only the index and the caps in the change, so that a replay has the same result.

use std::collections::BTreeSet;

use redb::ReadableTable;

use super::IndexError;
use super::apply::{Apply, Removal};
use super::keys::{MailKey, mail_key};
use super::read::View;
use super::rows::{HeadRow, MailRow, decode_head, decode_mail};
use super::tables::MAIL;
use crate::model::{Caps, Envelope, Mailbox, Timestamp, WhenFull};
use crate::store::journal::RecordPlace;
use crate::store::names::{HashKey, domain_hash, mailbox_hash};

/// The most Emails of one mailbox that one message evicts. A mailbox that was filled under a higher cap shrinks in steps.
const EVICTIONS_MAX: u64 = 256;

/// The mailbox of a new Email.
struct RecipientMailbox {
    hash: [u8; 16],
    domain: [u8; 16],
    /// How many of the mailbox's oldest Emails are evicted.
    evictions: u64,
}

/// The data for the decision.
struct CapDecision<'a, M> {
    mail: &'a M,
    /// Counts the unexpired Emails of a domain. The count is exact if it is at least the given number.
    unexpired: &'a dyn Fn([u8; 16], u64) -> Result<u64, IndexError>,
    caps: &'a Caps,
    now: Timestamp,
}

impl<M: ReadableTable<&'static MailKey, &'static [u8]>> CapDecision<'_, M> {
    /// Decides whether there is room in every mailbox, and how many Emails are evicted for that.
    fn decide(&self, mailboxes: &mut [RecipientMailbox]) -> Result<bool, IndexError> {
        Ok(self.decide_mailboxes(mailboxes)? && self.decide_domains(mailboxes)?)
    }

    fn decide_mailboxes(&self, mailboxes: &mut [RecipientMailbox]) -> Result<bool, IndexError> {
        let cap = u64::from(self.caps.emails_per_mailbox);
        if cap == 0 {
            return Ok(true);
        }
        for mailbox in mailboxes {
            // Most mailboxes are not full even with their expired Emails.
            if head(self.mail, mailbox.hash)?.is_none_or(|head| head.emails < cap) {
                continue;
            }
            let over = (readable(self.mail, mailbox.hash, self.now)? + 1).saturating_sub(cap);
            if over > 0 && self.caps.when_full == WhenFull::Reject {
                return Ok(false);
            }
            mailbox.evictions = over.min(EVICTIONS_MAX);
        }
        Ok(true)
    }

    /// In a full domain each mailbox evicts its own Emails for its own mail. If a domain was filled under a higher cap, its
    /// mailboxes also evict the excess.
    fn decide_domains(&self, mailboxes: &mut [RecipientMailbox]) -> Result<bool, IndexError> {
        let cap = u64::from(self.caps.emails_per_domain);
        if cap == 0 {
            return Ok(true);
        }
        let domains: BTreeSet<[u8; 16]> = mailboxes.iter().map(|mailbox| mailbox.domain).collect();
        for domain in domains {
            let mut of_domain: Vec<&mut RecipientMailbox> =
                mailboxes.iter_mut().filter(|mailbox| mailbox.domain == domain).collect();
            let new = of_domain.len() as u64;
            let evicted =
                |mailboxes: &[&mut RecipientMailbox]| mailboxes.iter().map(|mailbox| mailbox.evictions).sum::<u64>();
            let emails = (self.unexpired)(domain, cap.saturating_sub(new))?;
            let mut over = (emails + new).saturating_sub(evicted(&of_domain)).saturating_sub(cap);
            if over > 0 && self.caps.when_full == WhenFull::Reject {
                return Ok(false);
            }
            let mut too_many = emails.saturating_sub(cap);
            for mailbox in &mut of_domain {
                if over == 0 {
                    break;
                }
                let own = u64::from(mailbox.evictions == 0);
                let there =
                    readable(self.mail, mailbox.hash, self.now)?.min(EVICTIONS_MAX).saturating_sub(mailbox.evictions);
                let evictions = there.min(over).min(own + too_many);
                mailbox.evictions += evictions;
                over -= evictions;
                too_many -= too_many.min(evictions.saturating_sub(own));
            }
            if over > 0 && new > evicted(&of_domain) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads the Emails of a mailbox that are evicted: the oldest readable ones.
    fn oldest(&self, mailbox: &RecipientMailbox) -> Result<Vec<(MailKey, MailRow)>, IndexError> {
        let mut oldest = Vec::new();
        if mailbox.evictions == 0 {
            return Ok(oldest);
        }
        for row in self.mail.range::<&MailKey>(&mail_key(mailbox.hash, 1)..=&mail_key(mailbox.hash, u64::MAX))? {
            let (key, row) = row?;
            let row = decode_mail(row.value())?;
            if row.expires_at > self.now {
                oldest.push((*key.value(), row));
            }
            if oldest.len() as u64 == mailbox.evictions {
                break;
            }
        }
        Ok(oldest)
    }
}

impl Apply<'_> {
    /// Evicts Emails for a new message as the caps demand. `false` if there is no room, and then its octets are punched out.
    pub(super) fn evict_for(
        &mut self,
        envelope: &Envelope,
        caps: &Caps,
        now: Timestamp,
        place: RecordPlace,
    ) -> Result<bool, IndexError> {
        let Some(evicted) = self.to_evict(envelope, caps, now)? else {
            self.punch(place)?;
            return Ok(false);
        };
        for (key, row) in evicted {
            self.remove(&key, &row, Removal::Evict)?;
        }
        Ok(true)
    }

    /// Finds the Emails to evict for a message at `now`. `None` if there is no room.
    fn to_evict(
        &self,
        envelope: &Envelope,
        caps: &Caps,
        now: Timestamp,
    ) -> Result<Option<Vec<(MailKey, MailRow)>>, IndexError> {
        if !caps.are_set() {
            return Ok(Some(Vec::new()));
        }
        let unexpired = |domain, enough| self.domain_counts.unexpired(domain, now, enough);
        let decision = CapDecision { mail: &self.mail, unexpired: &unexpired, caps, now };
        let mut mailboxes: Vec<RecipientMailbox> =
            envelope.recipients.iter().map(|recipient| recipient_mailbox(&self.hash_key, &recipient.mailbox)).collect();
        if !decision.decide(&mut mailboxes)? {
            return Ok(None);
        }
        let mut evicted = Vec::new();
        for mailbox in &mailboxes {
            evicted.extend(decision.oldest(mailbox)?);
        }
        Ok(Some(evicted))
    }
}

impl View {
    /// Whether there is room for an Email in the last of `mailboxes`, if each of the others gets one as well.
    pub(crate) fn has_room(&self, mailboxes: &[Mailbox], caps: &Caps, now: Timestamp) -> Result<bool, IndexError> {
        let Some((last, others)) = mailboxes.split_last() else { return Ok(true) };
        // Eviction always makes room in a mailbox. A mailbox that is named twice gets one Email.
        let evicts = caps.when_full == WhenFull::DropOldest && caps.emails_per_domain == 0;
        if evicts || others.contains(last) {
            return Ok(true);
        }
        let mail = self.transaction.open_table(MAIL)?;
        let unexpired = |domain, enough| self.unexpired(domain, now, enough);
        let decision = CapDecision { mail: &mail, unexpired: &unexpired, caps, now };
        let of_domain: BTreeSet<&Mailbox> = match caps.emails_per_domain {
            0 => BTreeSet::from([last]),
            _ => mailboxes.iter().filter(|mailbox| mailbox.domain() == last.domain()).collect(),
        };
        let mut mailboxes: Vec<RecipientMailbox> =
            of_domain.into_iter().map(|mailbox| recipient_mailbox(&self.hash_key, mailbox)).collect();
        decision.decide(&mut mailboxes)
    }
}

fn recipient_mailbox(secret: &HashKey, mailbox: &Mailbox) -> RecipientMailbox {
    RecipientMailbox {
        hash: mailbox_hash(secret, mailbox),
        domain: domain_hash(secret, mailbox.domain()),
        evictions: 0,
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
