//! Caps on mailboxes and domains: whether one more Email finds room, and which ones make way for it.
//!
//! Decided when a message is applied, from the index and the caps in its change alone, so that a replay decides the same.

use std::collections::{BTreeMap, HashMap};

use redb::{ReadableTable, ReadableTableMetadata, Table, WriteTransaction};

use super::IndexError;
use super::apply::{Apply, Removal};
use super::read::View;
use super::tables::{EMAILS_OF, HeadRow, MAIL, MailKey, MailRow, domain_hash, mail_key, mailbox_hash};
use crate::model::{Caps, Envelope, Mailbox, Timestamp, WhenFull};
use crate::store::check::{Finding, FindingKind};
use crate::store::journal::RecordPlace;

/// Emails of one mailbox that one message drops at most: one that was filled under a higher cap shrinks by steps.
const DROPS_MAX: u64 = 256;

/// The Emails of each domain, open for writing. What a group changes is written once at its end.
pub(super) struct EmailsOf<'t> {
    table: Table<'t, &'static [u8; 16], u64>,
    changes: BTreeMap<[u8; 16], i64>,
}

impl<'t> EmailsOf<'t> {
    /// Opens the table, making it if it is missing.
    pub(super) fn open(transaction: &'t WriteTransaction) -> Result<Self, IndexError> {
        Ok(Self { table: transaction.open_table(EMAILS_OF)?, changes: BTreeMap::new() })
    }

    pub(super) fn add(&mut self, domain: [u8; 16], emails: i64) {
        *self.changes.entry(domain).or_default() += emails;
    }

    fn of(&self, domain: [u8; 16]) -> Result<u64, IndexError> {
        let kept = self.table.get(&domain)?.map_or(0, |row| row.value());
        Ok(kept.saturating_add_signed(self.changes.get(&domain).copied().unwrap_or(0)))
    }

    pub(super) fn flush(&mut self) -> Result<(), IndexError> {
        for domain in self.changes.keys() {
            match self.of(*domain)? {
                0 => self.table.remove(domain)?,
                emails => self.table.insert(domain, emails)?,
            };
        }
        self.changes.clear();
        Ok(())
    }
}

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
    emails_of: &'a dyn Fn([u8; 16]) -> Result<u64, IndexError>,
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

    /// In a full domain each mailbox makes way for its own mail alone.
    fn decide_domains(&self, places: &mut [Place]) -> Result<bool, IndexError> {
        let cap = u64::from(self.caps.emails_per_domain);
        if cap == 0 {
            return Ok(true);
        }
        let mut coming: HashMap<[u8; 16], (u64, u64)> = HashMap::new();
        for place in places.iter() {
            let (new, dropped) = coming.entry(place.domain).or_default();
            (*new, *dropped) = (*new + 1, *dropped + place.drops);
        }
        for (domain, (new, dropped)) in coming {
            let mut over = ((self.emails_of)(domain)? + new).saturating_sub(dropped).saturating_sub(cap);
            if over > 0 && self.caps.when_full == WhenFull::Reject {
                return Ok(false);
            }
            for place in places.iter_mut().filter(|place| place.domain == domain && place.drops == 0) {
                if over > 0 && readable(self.mail, place.mailbox, self.now)? > 0 {
                    place.drops = 1;
                    over -= 1;
                }
            }
            if over > 0 {
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
            let row = decode(row.value())?;
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
            self.remove(&key, &row, Removal::MakeWay)?;
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
        let room = Room { mail: &self.mail, emails_of: &|domain| self.emails_of.of(domain), caps, now };
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
    /// Whether there is room for one more Email in `mailbox`.
    pub(crate) fn takes(&self, mailbox: &Mailbox, caps: &Caps, now: Timestamp) -> Result<bool, IndexError> {
        let (mail, emails_of) = (self.transaction.open_table(MAIL)?, self.transaction.open_table(EMAILS_OF)?);
        let emails_of = |domain| Ok(emails_of.get(&domain)?.map_or(0, |row| row.value()));
        let room = Room { mail: &mail, emails_of: &emails_of, caps, now };
        room.decide(&mut [place(&self.hash_key, mailbox)])
    }

    /// What the counts of domains have that `counted`, the sums over the heads of their mailboxes, has not.
    pub(super) fn audit_emails_of(
        &self,
        counted: &HashMap<[u8; 16], u64>,
        found: &mut dyn FnMut(Finding),
    ) -> Result<(), IndexError> {
        let table = self.transaction.open_table(EMAILS_OF)?;
        let mut is_right = table.len()? == counted.len() as u64;
        for (domain, emails) in counted {
            is_right &= table.get(domain)?.is_some_and(|row| row.value() == *emails);
        }
        if !is_right {
            found(Finding::index(FindingKind::Rows, "the counts of Emails by domain are not those of the mailboxes"));
        }
        Ok(())
    }
}

fn place(secret: &super::HashKey, mailbox: &Mailbox) -> Place {
    Place { mailbox: mailbox_hash(secret, mailbox), domain: domain_hash(secret, mailbox.domain()), drops: 0 }
}

fn head(
    mail: &impl ReadableTable<&'static MailKey, &'static [u8]>,
    mailbox: [u8; 16],
) -> Result<Option<HeadRow>, IndexError> {
    match mail.get(&mail_key(mailbox, 0))? {
        None => Ok(None),
        Some(row) => {
            HeadRow::decode(row.value()).map(Some).ok_or(IndexError::Corrupt("a mailbox's head has a wrong length"))
        }
    }
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
        let expires_at = decode(row.value())?.expires_at;
        if expires_at <= now {
            expired += 1;
        } else if head.ends_expired(expires_at, now) {
            break;
        }
    }
    Ok(head.emails.saturating_sub(expired))
}

fn decode(octets: &[u8]) -> Result<MailRow, IndexError> {
    MailRow::decode(octets).ok_or(IndexError::Corrupt("a row of mail has a wrong length"))
}
