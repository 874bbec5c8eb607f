//! Caps on mailboxes and domains: whether one more Email finds room, and which ones make way for it.
//!
//! Decided when a message is applied, from the index and the caps in its change alone, so that a replay decides the same.

use std::collections::BTreeSet;

use redb::ReadableTable;

use super::IndexError;
use super::apply::{Apply, Removal};
use super::keys::{MailKey, domain_hash, mail_key, mailbox_hash};
use super::read::View;
use super::rows::{HeadRow, MailRow};
use super::rows::{decode_head, decode_mail};
use super::tables::MAIL;
use crate::model::{Caps, Envelope, Mailbox, Timestamp, WhenFull};
use crate::store::journal::RecordPlace;

/// Emails of one mailbox that one message drops at most: one that was filled under a higher cap shrinks by steps.
const DROPS_MAX: u64 = 256;

/// Where an Email is to go.
struct Place {
    mailbox: [u8; 16],
    domain: [u8; 16],
    /// How many of the mailbox's oldest Emails make way for it.
    drops: u64,
}

/// The tables that the decision is made from.
struct Room<'a, M> {
    mail: &'a M,
    /// The Emails of a domain that have not expired, exactly where they are at least so many.
    unexpired: &'a dyn Fn([u8; 16], u64) -> Result<u64, IndexError>,
    caps: &'a Caps,
    now: Timestamp,
}

impl<M: ReadableTable<&'static MailKey, &'static [u8]>> Room<'_, M> {
    /// Whether there is room in every place, and what has to make way for that.
    fn decide(&self, places: &mut [Place]) -> Result<bool, IndexError> {
        Ok(self.decide_mailboxes(places)? && self.decide_domains(places)?)
    }

    fn decide_mailboxes(&self, places: &mut [Place]) -> Result<bool, IndexError> {
        let cap = u64::from(self.caps.emails_per_mailbox);
        if cap == 0 {
            return Ok(true);
        }
        for place in places {
            // Most mailboxes are far from full: then there is no need to know which of their Emails have expired.
            if head(self.mail, place.mailbox)?.is_none_or(|head| head.emails < cap) {
                continue;
            }
            let over = (readable(self.mail, place.mailbox, self.now)? + 1).saturating_sub(cap);
            if over > 0 && self.caps.when_full == WhenFull::Reject {
                return Ok(false);
            }
            place.drops = over.min(DROPS_MAX);
        }
        Ok(true)
    }

    /// In a full domain each mailbox makes way for its own mail alone. Where a domain has more than it may, as it was filled
    /// under a higher cap, its mailboxes shrink by what is too much.
    fn decide_domains(&self, places: &mut [Place]) -> Result<bool, IndexError> {
        let cap = u64::from(self.caps.emails_per_domain);
        if cap == 0 {
            return Ok(true);
        }
        let domains: BTreeSet<[u8; 16]> = places.iter().map(|place| place.domain).collect();
        for domain in domains {
            let mut of_domain: Vec<&mut Place> = places.iter_mut().filter(|place| place.domain == domain).collect();
            let new = of_domain.len() as u64;
            let dropped = |places: &[&mut Place]| places.iter().map(|place| place.drops).sum::<u64>();
            let emails = (self.unexpired)(domain, cap.saturating_sub(new))?;
            let mut over = (emails + new).saturating_sub(dropped(&of_domain)).saturating_sub(cap);
            if over > 0 && self.caps.when_full == WhenFull::Reject {
                return Ok(false);
            }
            let mut too_many = emails.saturating_sub(cap);
            for place in &mut of_domain {
                if over == 0 {
                    break;
                }
                let own = u64::from(place.drops == 0);
                let there = readable(self.mail, place.mailbox, self.now)?.min(DROPS_MAX).saturating_sub(place.drops);
                let drops = there.min(over).min(own + too_many);
                place.drops += drops;
                over -= drops;
                too_many -= too_many.min(drops.saturating_sub(own));
            }
            if over > 0 && new > dropped(&of_domain) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The oldest readable Emails of a place, as many as make way.
    fn oldest(&self, place: &Place) -> Result<Vec<(MailKey, MailRow)>, IndexError> {
        let mut oldest = Vec::new();
        if place.drops == 0 {
            return Ok(oldest);
        }
        for row in self.mail.range::<&MailKey>(&mail_key(place.mailbox, 1)..=&mail_key(place.mailbox, u64::MAX))? {
            let (key, row) = row?;
            let row = decode_mail(row.value())?;
            if row.expires_at > self.now {
                oldest.push((*key.value(), row));
            }
            if oldest.len() as u64 == place.drops {
                break;
            }
        }
        Ok(oldest)
    }
}

impl Apply<'_> {
    /// Removes what the caps make a message replace; `false` if there is no room for it, and then its octets go.
    pub(super) fn make_way(
        &mut self,
        envelope: &Envelope,
        caps: &Caps,
        now: Timestamp,
        place: RecordPlace,
    ) -> Result<bool, IndexError> {
        let Some(leaving) = self.making_way(envelope, caps, now)? else {
            self.punch(place)?;
            return Ok(false);
        };
        for (key, row) in leaving {
            self.remove(&key, &row, Removal::Evict)?;
        }
        Ok(true)
    }

    /// What has to be removed so that a message received at `now` finds room; `None` if it finds none.
    fn making_way(
        &self,
        envelope: &Envelope,
        caps: &Caps,
        now: Timestamp,
    ) -> Result<Option<Vec<(MailKey, MailRow)>>, IndexError> {
        if !caps.are_set() {
            return Ok(Some(Vec::new()));
        }
        let unexpired = |domain, enough| self.domain_counts.unexpired(domain, now, enough);
        let room = Room { mail: &self.mail, unexpired: &unexpired, caps, now };
        let mut places: Vec<Place> =
            envelope.recipients.iter().map(|recipient| place(&self.hash_key, &recipient.mailbox)).collect();
        if !room.decide(&mut places)? {
            return Ok(None);
        }
        let mut leaving = Vec::new();
        for place in &places {
            leaving.extend(room.oldest(place)?);
        }
        Ok(Some(leaving))
    }
}

impl View {
    /// Whether there is room for one more Email in the last of `mailboxes` beside one in each of the others.
    pub(crate) fn has_room(&self, mailboxes: &[Mailbox], caps: &Caps, now: Timestamp) -> Result<bool, IndexError> {
        let Some((last, others)) = mailboxes.split_last() else { return Ok(true) };
        // A mailbox makes way for as much as comes, and has one Email of a message however often it is named.
        let makes_way = caps.when_full == WhenFull::DropOldest && caps.emails_per_domain == 0;
        if makes_way || others.contains(last) {
            return Ok(true);
        }
        let mail = self.transaction.open_table(MAIL)?;
        let unexpired = |domain, enough| self.unexpired(domain, now, enough);
        let room = Room { mail: &mail, unexpired: &unexpired, caps, now };
        let of_domain: BTreeSet<&Mailbox> = match caps.emails_per_domain {
            0 => BTreeSet::from([last]),
            _ => mailboxes.iter().filter(|mailbox| mailbox.domain() == last.domain()).collect(),
        };
        let mut places: Vec<Place> = of_domain.into_iter().map(|mailbox| place(&self.hash_key, mailbox)).collect();
        room.decide(&mut places)
    }
}

fn place(secret: &super::HashKey, mailbox: &Mailbox) -> Place {
    Place { mailbox: mailbox_hash(secret, mailbox), domain: domain_hash(secret, mailbox.domain()), drops: 0 }
}

fn head(
    mail: &impl ReadableTable<&'static MailKey, &'static [u8]>,
    mailbox: [u8; 16],
) -> Result<Option<HeadRow>, IndexError> {
    mail.get(&mail_key(mailbox, 0))?.map(|row| decode_head(row.value())).transpose()
}

/// The mailbox's count less its rows that have expired by `now` and wait to be removed.
pub(super) fn readable(
    mail: &impl ReadableTable<&'static MailKey, &'static [u8]>,
    mailbox: [u8; 16],
    now: Timestamp,
) -> Result<u64, IndexError> {
    let Some(head) = head(mail, mailbox)? else { return Ok(0) };
    let mut expired = 0;
    for row in mail.range::<&MailKey>(&mail_key(mailbox, 1)..=&mail_key(mailbox, u64::MAX))? {
        let (_, row) = row?;
        let expires_at = decode_mail(row.value())?.expires_at;
        if expires_at <= now {
            expired += 1;
        } else if head.ends_expired(expires_at, now) {
            break;
        }
    }
    Ok(head.emails.saturating_sub(expired))
}
