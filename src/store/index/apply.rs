//! Applying a group of changes. Nothing else changes the rows of a store in use.

use std::collections::BTreeMap;

use redb::{ReadableTable, Table, WriteTransaction};

use super::IndexError;
use super::applied::{GroupCounts, GroupEvents};
use super::happenings::Happenings;
use super::keys::{MailKey, expiry_second, head_key, mail_key, sequence_of};
use super::lazy_table::LazyTable;
use super::outbox::OutboxTables;
use super::outbox_limits::ENDS_MAX;
use super::refcounts::{RefCount, RefCounts};
use super::rows::{EventRow, HeadRow, IndexState, MailRow, decode_head, decode_mail};
use super::segment_usage::SegmentUsages;
use super::tables::{DOMAINS, EXPIRY, EXPIRY_ROW_KEYS, IDS, MAIL, META, META_STATE, PUNCHES};
use crate::events::Happening;
use crate::model::{EmailId, Envelope, Mailbox, Timestamp};
use crate::store::OutboxLimits;
use crate::store::change::{Change, ChangeResult};
use crate::store::journal::{Position, RecordPlace};
use crate::store::names::{HashKey, domain_hash, mailbox_hash};

/// The tables of one redb transaction. Those that most groups do not use are opened when they are used.
pub(super) struct Apply<'t> {
    meta: Table<'t, u8, &'static [u8]>,
    pub(super) mail: Table<'t, &'static MailKey, &'static [u8]>,
    pub(super) ids: Table<'t, &'static [u8; 16], &'static MailKey>,
    pub(super) expiry: Table<'t, (u64, u64), &'static [u8]>,
    pub(super) refcounts: RefCounts<'t>,
    pub(super) segment_usage: SegmentUsages<'t>,
    punches: LazyTable<'t, (u64, u32), (u32, u32)>,
    pub(super) domains: LazyTable<'t, &'static str, &'static [u8]>,
    pub(super) outbox: OutboxTables<'t>,
    pub(super) hash_key: HashKey,
    /// The outbox limits of the current change.
    pub(super) limits: OutboxLimits,
    /// How many further events the current change may end.
    pub(super) ends_left: u32,
    /// Whether the current change has dropped events to make room.
    pub(super) has_dropped: bool,
    pub(super) state: IndexState,
    pub(super) counts: GroupCounts,
    happenings: Happenings,
    /// The group's new keys of mail, by the second in which they expire.
    expiring: BTreeMap<u64, Vec<MailKey>>,
}

/// Why an Email is removed, which decides what happens to its octets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Removal {
    /// Somebody deleted it: the octets are punched out.
    Delete,
    /// A cap evicts it for a new Email: the octets are punched out.
    Evict,
    /// It has expired: the octets go with their segment.
    Expire,
}

impl<'t> Apply<'t> {
    pub(super) fn begin(
        transaction: &'t WriteTransaction,
        hash_key: HashKey,
        is_watched: bool,
    ) -> Result<Self, IndexError> {
        let meta = transaction.open_table(META)?;
        let state = meta
            .get(META_STATE)?
            .and_then(|row| postcard::from_bytes(row.value()).ok())
            .ok_or(IndexError::Corrupt("the state row is missing"))?;
        Ok(Self {
            meta,
            mail: transaction.open_table(MAIL)?,
            ids: transaction.open_table(IDS)?,
            expiry: transaction.open_table(EXPIRY)?,
            refcounts: RefCounts::new(transaction),
            segment_usage: SegmentUsages::open(transaction)?,
            punches: LazyTable::new(transaction, PUNCHES),
            domains: LazyTable::new(transaction, DOMAINS),
            outbox: OutboxTables::new(transaction, hash_key),
            hash_key,
            limits: OutboxLimits::UNBOUNDED,
            ends_left: ENDS_MAX,
            has_dropped: false,
            state,
            counts: GroupCounts::default(),
            happenings: Happenings::new(is_watched),
            expiring: BTreeMap::new(),
        })
    }

    /// Writes the collected rows of the group and the new position. Returns the group's counts and events.
    pub(super) fn finish(mut self, position: Position) -> Result<(GroupCounts, GroupEvents), IndexError> {
        if position.group != self.state.position().group + 1 {
            return Err(IndexError::Corrupt("it lacks the groups before"));
        }
        self.flush_expiring()?;
        self.outbox.logs.flush(&mut self.outbox.webhooks)?;
        self.outbox.webhooks.flush()?;
        self.refcounts.flush()?;
        self.segment_usage.flush()?;
        self.state.set_position(position);
        self.meta.insert(META_STATE, &self.state.encode()?[..])?;
        Ok((self.counts, self.happenings.into_events()))
    }

    pub(super) fn change(&mut self, change: &Change, place: RecordPlace) -> Result<ChangeResult, IndexError> {
        (self.limits, self.ends_left, self.has_dropped) = (OutboxLimits::UNBOUNDED, ENDS_MAX, false);
        match change {
            Change::Received { envelope, received_at, expires_at, cap, outbox } => {
                self.limits = *outbox;
                if self.is_known(envelope)? {
                    self.punch(place)?;
                    return Ok(ChangeResult::Received { has_events: false, has_dropped: false });
                }
                if !self.evict_for(envelope, *cap, *received_at, place)? {
                    return Ok(ChangeResult::MailboxFull);
                }
                let has_events = self.receive(envelope, *received_at, *expires_at, place)?;
                Ok(ChangeResult::Received { has_events, has_dropped: self.has_dropped })
            }
            Change::Deleted { id, now } => self.delete(*id, *now),
            Change::MailboxDeleted { mailbox, through, now, limit, .. } => {
                self.delete_mailbox(mailbox, *through, *now, *limit as usize)
            }
            Change::Expired { now, limit } => self.remove_expired(*now, *limit as usize),
            Change::DomainRegistered { record, limit } => self.register_domain(record, u64::from(*limit)),
            Change::DomainUpdated { record } => {
                let is_registered = self.domains.get()?.get(record.name.as_str())?.is_some();
                if is_registered {
                    self.put_domain(record)?;
                }
                Ok(ChangeResult::Domain(is_registered))
            }
            Change::DomainRemoved { name } => {
                Ok(ChangeResult::Domain(self.domains.get_mut()?.remove(name.as_str())?.is_some()))
            }
            Change::WebhookRegistered { record, limits } => self.register_webhook(record, *limits),
            Change::WebhookDeleted { id } => {
                let (number, more) = self.delete_webhook(*id)?;
                Ok(ChangeResult::Changed { number, more })
            }
            Change::WebhooksSwept { webhooks, filter } => self.sweep_webhooks(webhooks, filter),
            Change::Attempted { attempts } => self.record_attempts(attempts),
            Change::Replayed { webhook, which, now, outbox } => {
                self.limits = *outbox;
                self.replay(*webhook, which, *now)
            }
            Change::EventRestored { webhook, email, attempts, due_at } => {
                self.restore_event(*webhook, *email, *attempts, *due_at)
            }
            Change::EventsEnded { webhook, expired_by } => self.end_events(*webhook, *expired_by),
            Change::Restored { envelope, received_at, expires_at, sequence, live } => {
                self.restore(envelope, (*received_at, *expires_at), *sequence, live, place)
            }
            Change::Relocated { from, envelope, .. } => self.relocate(&envelope.recipients, *from, place),
        }
    }

    /// Whether the message was received before. Some of its Emails may have been deleted since.
    pub(super) fn is_known(&self, envelope: &Envelope) -> Result<bool, IndexError> {
        for recipient in &envelope.recipients {
            if self.ids.get(&recipient.id.octets())?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Stores a new message. Returns whether it created events.
    fn receive(
        &mut self,
        envelope: &Envelope,
        received_at: Timestamp,
        expires_at: Timestamp,
        place: RecordPlace,
    ) -> Result<bool, IndexError> {
        if envelope.recipients.is_empty() {
            return Ok(false);
        }
        let mut webhooks = Vec::with_capacity(envelope.recipients.len());
        for recipient in &envelope.recipients {
            webhooks.push(self.webhooks_of(&recipient.mailbox, received_at)?);
        }
        let emails = envelope.recipients.len();
        let is_refcounted = emails > 1 || webhooks.iter().any(|webhooks: &Vec<_>| !webhooks.is_empty());
        if emails > 1 {
            let references = u32::try_from(emails).unwrap_or(u32::MAX);
            let refcount = RefCount { references, was_deleted: false, sequence: self.state.next_sequence };
            self.refcounts.begin((place.segment, place.offset), refcount)?;
        }
        let mut has_events = false;
        self.count_message(place);
        for (recipient, webhooks) in envelope.recipients.iter().zip(webhooks) {
            let key = mail_key(mailbox_hash(&self.hash_key, &recipient.mailbox), self.state.next_sequence);
            self.state.next_sequence += 1;
            let row = MailRow { id: recipient.id, received_at, expires_at, place, is_refcounted };
            self.insert_mail(&key, &row, domain_hash(&self.hash_key, recipient.mailbox.domain()))?;
            let event =
                EventRow { email: recipient.id, attempts: 0, due_at: received_at, received_at, expires_at, place };
            for webhook in webhooks {
                has_events |= self.add_event(webhook, sequence_of(&key), &event)?;
            }
        }
        Ok(has_events)
    }

    pub(super) fn insert_mail(&mut self, key: &MailKey, row: &MailRow, domain: [u8; 16]) -> Result<(), IndexError> {
        self.mail.insert(key, &row.encode()[..])?;
        self.ids.insert(&row.id.octets(), key)?;
        self.expiring.entry(expiry_second(row.expires_at)).or_default().push(*key);
        let mut head = self.head(key)?.unwrap_or(HeadRow::empty(domain));
        head.record(row.expires_at);
        head.emails += 1;
        head.octets = head.octets.saturating_add(u64::from(row.place.content));
        self.state.mailboxes += u64::from(head.emails == 1);
        self.mail.insert(&head_key(key), &head.encode()[..])?;
        self.state.emails += 1;
        self.segment_usage.add_email(row.place);
        self.happenings.add(Happening::Received, key, row);
        Ok(())
    }

    pub(super) fn head(&self, key: &MailKey) -> Result<Option<HeadRow>, IndexError> {
        self.mail.get(&head_key(key))?.map(|row| decode_head(row.value())).transpose()
    }

    pub(super) fn row(&self, key: &MailKey) -> Result<Option<MailRow>, IndexError> {
        self.mail.get(key)?.map(|row| decode_mail(row.value())).transpose()
    }

    fn delete(&mut self, id: EmailId, now: Timestamp) -> Result<ChangeResult, IndexError> {
        let key = self.ids.get(&id.octets())?.map(|key| *key.value());
        let mut readable = 0;
        if let Some(key) = key
            && let Some(row) = self.row(&key)?
            && row.expires_at > now
        {
            self.remove(&key, &row, Removal::Delete)?;
            readable = 1;
        }
        Ok(ChangeResult::Removed { readable, all: readable, more: false })
    }

    fn delete_mailbox(
        &mut self,
        mailbox: &Mailbox,
        through: u64,
        now: Timestamp,
        limit: usize,
    ) -> Result<ChangeResult, IndexError> {
        let hash = mailbox_hash(&self.hash_key, mailbox);
        let mut rows = Vec::new();
        for row in self.mail.range::<&MailKey>(&mail_key(hash, 1)..=&mail_key(hash, through))?.take(limit) {
            let (key, row) = row?;
            rows.push((*key.value(), decode_mail(row.value())?));
        }
        for (key, row) in &rows {
            self.remove(key, row, Removal::Delete)?;
        }
        let readable = rows.iter().filter(|(_, row)| row.expires_at > now).count() as u64;
        Ok(ChangeResult::Removed { readable, all: rows.len() as u64, more: rows.len() == limit })
    }

    /// Removes Emails that have expired by `now`, about `limit` of them.
    fn remove_expired(&mut self, now: Timestamp, limit: usize) -> Result<ChangeResult, IndexError> {
        self.flush_expiring()?;
        let due = u64::try_from(now.millis()).unwrap_or(0) / 1000;
        let mut keys = Vec::new();
        let mut rows = Vec::new();
        for row in self.expiry.range(..(due + 1, 0))? {
            if keys.len() >= limit {
                break;
            }
            let (row, value) = row?;
            rows.push(row.value());
            keys.extend(value.value().as_chunks::<24>().0);
        }
        let more = keys.len() >= limit;
        for row in rows {
            self.expiry.remove(row)?;
        }
        let mut all = 0;
        for key in keys {
            // The row may have been deleted before, which leaves its key here.
            if let Some(row) = self.row(&key)? {
                self.remove(&key, &row, Removal::Expire)?;
                all += 1;
            }
        }
        Ok(ChangeResult::Removed { readable: 0, all, more })
    }

    pub(super) fn remove(&mut self, key: &MailKey, row: &MailRow, removal: Removal) -> Result<(), IndexError> {
        self.mail.remove(key)?;
        self.ids.remove(&row.id.octets())?;
        self.state.emails = self.state.emails.saturating_sub(1);
        let (count, happening) = match removal {
            Removal::Delete => (&mut self.counts.deleted, Happening::Deleted),
            Removal::Evict => (&mut self.counts.evicted, Happening::Deleted),
            Removal::Expire => (&mut self.counts.expired, Happening::Expired),
        };
        *count += 1;
        self.happenings.add(happening, key, row);
        let mut head = self.head(key)?.ok_or(IndexError::Corrupt("a mailbox's head is missing"))?;
        head.emails = head.emails.saturating_sub(1);
        head.octets = head.octets.saturating_sub(u64::from(row.place.content));
        self.segment_usage.remove_email(row.place);
        if head.emails == 0 {
            self.mail.remove(&head_key(key))?;
            self.state.mailboxes = self.state.mailboxes.saturating_sub(1);
        } else {
            self.mail.insert(&head_key(key), &head.encode()[..])?;
        }
        let removal = if row.is_refcounted { self.release_reference(row.place, removal)? } else { Some(removal) };
        removal.map_or(Ok(()), |removal| self.remove_message(row.place, removal))
    }

    /// Removes the reference of an event.
    pub(super) fn release_event(&mut self, place: RecordPlace) -> Result<(), IndexError> {
        match self.release_reference(place, Removal::Expire)? {
            None => Ok(()),
            // All Emails of the record are gone, and one of them may have been deleted.
            Some(_) => self.remove_message(place, Removal::Delete),
        }
    }

    /// Adds the reference of an event to the record of the Email with this sequence number.
    ///
    /// The Email must exist, and its row must say that the record has a reference count.
    pub(super) fn add_reference(&mut self, place: RecordPlace, sequence: u64) -> Result<(), IndexError> {
        self.refcounts.add((place.segment, place.offset), sequence)
    }

    /// Writes into the row of an Email that its record has a reference count.
    pub(super) fn mark_refcounted(&mut self, key: &MailKey, row: &MailRow) -> Result<(), IndexError> {
        self.mail.insert(key, &MailRow { is_refcounted: true, ..*row }.encode()[..])?;
        Ok(())
    }

    fn remove_message(&mut self, place: RecordPlace, removal: Removal) -> Result<(), IndexError> {
        self.segment_usage.remove_message(place);
        self.state.live_octets = self.state.live_octets.saturating_sub(u64::from(place.content));
        if removal == Removal::Expire { Ok(()) } else { self.punch(place) }
    }

    /// Has the octets of an unreferenced record punched out after the next checkpoint.
    pub(super) fn punch(&mut self, place: RecordPlace) -> Result<(), IndexError> {
        let RecordPlace { segment, offset, length, content } = place;
        self.punches.get_mut()?.insert((segment, offset), (length, content))?;
        Ok(())
    }

    /// Removes a reference. Returns how the record is to be removed, `None` if it has other references.
    fn release_reference(&mut self, place: RecordPlace, removal: Removal) -> Result<Option<Removal>, IndexError> {
        self.refcounts.release((place.segment, place.offset), removal)
    }

    /// Counts a new message.
    pub(super) fn count_message(&mut self, place: RecordPlace) {
        self.segment_usage.add_message(place);
        self.state.live_octets = self.state.live_octets.saturating_add(u64::from(place.content));
    }

    pub(super) fn flush_expiring(&mut self) -> Result<(), IndexError> {
        for (second, keys) in std::mem::take(&mut self.expiring) {
            for keys in keys.chunks(EXPIRY_ROW_KEYS) {
                self.expiry.insert((second, sequence_of(&keys[0])), keys.as_flattened())?;
            }
        }
        Ok(())
    }
}
