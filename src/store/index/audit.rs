//! The audit: compares the index with the journal, and its tables with each other.
//!
//! [`Audit::record`] gets every record of the journal. Then [`Audit::finish`] reports rows without a record, and rows that
//! contradict each other.

use std::collections::{BTreeMap, HashMap, HashSet};

use redb::{ReadTransaction, ReadableTable, ReadableTableMetadata};

use super::IndexError;
use super::delivery_log::count_records;
use super::keys::{MailKey, due_key, expiry_second, sequence_of};
use super::outbox_events::all_events;
use super::read::View;
use super::refcounts::RefCount;
use super::rows::{HeadRow, MailRow, decode_domain, decode_head, decode_mail, decode_webhook};
use super::segment_usage::SegmentUsage;
use super::tables::{DOMAINS, DUE, EXPIRY, EXPIRY_ROW_KEYS, IDS, MAIL, PUNCHES, REFCOUNTS, SEGMENTS, WEBHOOKS};
use crate::model::WebhookId;
use crate::store::check::{Finding, FindingKind};
use crate::store::journal::{WalkedContent, WalkedRecord};
use crate::store::names::{HashKey, mailbox_hash};

/// The start of a record: segment and offset.
type Start = (u64, u32);

/// The references to a record, counted from the rows.
#[derive(Clone, Copy, Debug, Default)]
struct References {
    count: u32,
    length: u32,
    content: u32,
    is_marked_refcounted: bool,
    has_email: bool,
}

/// An audit in progress.
pub(crate) struct Audit<'v> {
    view: &'v View,
    transaction: &'v ReadTransaction,
    hash_key: HashKey,
    segments: BTreeMap<u64, SegmentUsage>,
    /// The sequence numbers of Emails whose record is whole and names them.
    confirmed: HashSet<u64>,
    /// The records of pending events, and whether they are whole.
    of_events: HashMap<Start, bool>,
}

impl View {
    /// Begins an audit. It is not for a store in use, since the view stays open for long.
    pub(crate) fn audit(&self) -> Result<Audit<'_>, IndexError> {
        let transaction = &self.transaction;
        let mut segments = BTreeMap::new();
        for row in transaction.open_table(SEGMENTS)?.iter()? {
            let (number, usage) = row?;
            segments.insert(number.value(), SegmentUsage::decode(usage.value()));
        }
        let mut of_events = HashMap::new();
        for event in all_events(transaction)? {
            let place = event?.2.place;
            of_events.insert((place.segment, place.offset), false);
        }
        Ok(Audit { view: self, transaction, hash_key: self.hash_key, segments, confirmed: HashSet::new(), of_events })
    }
}

impl Audit<'_> {
    /// The segments with live messages.
    pub(crate) fn segments(&self) -> impl Iterator<Item = u64> {
        self.segments.iter().filter(|(_, usage)| usage.messages > 0).map(|(number, _)| *number)
    }

    /// Adds a record of the journal. Returns whether the index names it as live or to be punched out.
    pub(crate) fn record(&mut self, record: &WalkedRecord) -> Result<bool, IndexError> {
        let start = (record.place.segment, record.place.offset);
        let is_whole = matches!(record.content, WalkedContent::Whole(_));
        let mut is_named = self.transaction.open_table(PUNCHES)?.get(start)?.is_some();
        if let Some(of_events) = self.of_events.get_mut(&start) {
            *of_events |= is_whole;
            is_named = true;
        }
        let Some(recipients) = record.change.recipients() else { return Ok(is_named) };
        let (ids, mail) = (self.transaction.open_table(IDS)?, self.transaction.open_table(MAIL)?);
        for recipient in recipients {
            let Some(key) = ids.get(&recipient.id.octets())? else { continue };
            let row = mail.get(key.value())?.and_then(|row| MailRow::decode(row.value()));
            if row.is_some_and(|row| row.place == record.place && row.id == recipient.id) {
                is_named = true;
                if is_whole && key.value()[..16] == mailbox_hash(&self.hash_key, &recipient.mailbox) {
                    self.confirmed.insert(sequence_of(key.value()));
                }
            }
        }
        Ok(is_named)
    }

    /// Reports what is wrong. Returns the number of Emails.
    pub(crate) fn finish(self, found: &mut dyn FnMut(Finding)) -> Result<u64, IndexError> {
        let expiries = self.expiries(found)?;
        let mut references = HashMap::new();
        let (emails, mailboxes) = self.mail(&expiries, &mut references, found)?;
        let pending = self.events(&mut references, found)?;
        self.refcounts(&references, found)?;
        let live_octets = self.segments_used(&references, found);
        self.webhooks(&pending, found)?;
        let unproven_octets = self.view.audit_sets(found)?;
        for row in self.transaction.open_table(DOMAINS)?.iter()? {
            let (name, row) = row?;
            if decode_domain(row.value())?.name.as_str() != name.value() {
                found(rows(format!("the domain {} has a row under another name", name.value())));
            }
        }
        let state = self.view.state()?;
        let webhooks = self.transaction.open_table(WEBHOOKS)?.len()?;
        let outbox_octets: u64 = pending.values().map(|(_, octets)| octets).sum();
        for (what, stored, counted) in [
            ("Emails", state.emails, emails),
            ("mailboxes", state.mailboxes, mailboxes),
            ("live octets", state.live_octets, live_octets),
            ("webhooks", state.webhooks, webhooks),
            ("octets of the outbox", state.outbox_octets, outbox_octets),
            ("octets of unproven webhooks", state.unproven_octets, unproven_octets),
        ] {
            if stored != counted {
                found(rows(format!("the count of {what} is {stored}, but there are {counted}")));
            }
        }
        Ok(emails)
    }

    /// The second in which each Email is due, by its sequence number.
    fn expiries(&self, found: &mut dyn FnMut(Finding)) -> Result<HashMap<u64, u64>, IndexError> {
        let mut due = HashMap::new();
        for row in self.transaction.open_table(EXPIRY)?.iter()? {
            let (key, value) = row?;
            let (second, _) = key.value();
            let (keys, rest) = value.value().as_chunks::<24>();
            if keys.is_empty() || keys.len() > EXPIRY_ROW_KEYS || !rest.is_empty() {
                found(rows(format!("a row of expiry at second {second} has a wrong length")));
            }
            // Keys of deleted Emails stay until they expire. No other Email gets their numbers.
            due.extend(keys.iter().map(|key| (sequence_of(key), second)));
        }
        Ok(due)
    }

    /// Compares every row of mail with its head, its id, its expiry and its record. Counts Emails and mailboxes.
    fn mail(
        &self,
        expiries: &HashMap<u64, u64>,
        references: &mut HashMap<Start, References>,
        found: &mut dyn FnMut(Finding),
    ) -> Result<(u64, u64), IndexError> {
        let ids = self.transaction.open_table(IDS)?;
        let next_sequence = self.view.state()?.next_sequence;
        let (mut emails, mut mailboxes) = (0, 0);
        // The head of a mailbox comes before its rows.
        let mut head: Option<([u8; 16], HeadRow)> = None;
        let settle = |head: Option<([u8; 16], HeadRow)>, found: &mut dyn FnMut(Finding)| match head {
            Some((_, HeadRow { emails: left @ 1.., .. })) => {
                found(rows(format!("a mailbox counts {left} Emails too many")));
            }
            Some((_, HeadRow { octets: 1.., .. })) => {
                found(rows("a mailbox counts other octets than its Emails have".to_owned()));
            }
            _ => {}
        };
        for row in self.transaction.open_table(MAIL)?.iter()? {
            let (key, value) = row?;
            let key = *key.value();
            let mut hash = [0; 16];
            hash.copy_from_slice(&key[..16]);
            if sequence_of(&key) == 0 {
                settle(head, found);
                head = Some((hash, decode_head(value.value())?));
                mailboxes += 1;
                continue;
            }
            emails += 1;
            let row = decode_mail(value.value())?;
            match &mut head {
                Some((of, head)) if *of == hash && head.emails > 0 => {
                    head.emails -= 1;
                    // More than were counted shows as many octets too many.
                    head.octets = head.octets.wrapping_sub(u64::from(row.place.content));
                }
                _ => found(rows(format!("Email {} is not counted in its mailbox", row.id))),
            }
            if sequence_of(&key) >= next_sequence {
                found(rows(format!("Email {} has a number that was not given yet", row.id)));
            }
            if ids.get(&row.id.octets())?.is_none_or(|of| *of.value() != key) {
                found(rows(format!("Email {} cannot be found by its id", row.id)));
            }
            self.email(&key, &row, expiries, found);
            let of_record = references.entry((row.place.segment, row.place.offset)).or_default();
            *of_record = References {
                count: of_record.count + 1,
                length: row.place.length,
                content: row.place.content,
                is_marked_refcounted: of_record.is_marked_refcounted || row.is_refcounted,
                has_email: true,
            };
        }
        settle(head, found);
        if ids.len()? != emails {
            found(rows(format!("there are {} ids and {emails} Emails", ids.len()?)));
        }
        Ok((emails, mailboxes))
    }

    fn email(&self, key: &MailKey, row: &MailRow, expiries: &HashMap<u64, u64>, found: &mut dyn FnMut(Finding)) {
        match expiries.get(&sequence_of(key)) {
            None => found(rows(format!("Email {} would never be removed", row.id))),
            Some(second) if *second < expiry_second(row.expires_at) => {
                found(rows(format!("Email {} would be removed before it expires", row.id)));
            }
            Some(_) => {}
        }
        if !self.confirmed.contains(&sequence_of(key)) {
            let (segment, offset) = (row.place.segment, u64::from(row.place.offset));
            let what = format!("the message of Email {} cannot be read", row.id);
            found(Finding::at(FindingKind::Email, segment, offset, what));
        }
    }

    /// Compares every event with its record and its time. Counts the events and their octets by webhook.
    fn events(
        &self,
        references: &mut HashMap<Start, References>,
        found: &mut dyn FnMut(Finding),
    ) -> Result<HashMap<[u8; 16], (u32, u64)>, IndexError> {
        let due = self.transaction.open_table(DUE)?;
        let mut pending: HashMap<[u8; 16], (u32, u64)> = HashMap::new();
        let mut events = 0;
        for event in all_events(self.transaction)? {
            let (webhook, sequence, event) = event?;
            let of = pending.entry(webhook.octets()).or_default();
            *of = (of.0 + 1, of.1 + u64::from(event.place.content));
            let start = (event.place.segment, event.place.offset);
            let of_record = references.entry(start).or_default();
            of_record.count += 1;
            (of_record.length, of_record.content) = (event.place.length, event.place.content);
            if self.of_events.get(&start) != Some(&true) {
                let what = format!("the message of the event about Email {} cannot be read", event.email);
                found(Finding::at(FindingKind::Event, start.0, u64::from(start.1), what));
            }
            events += 1;
            if due.get(&due_key(webhook, &event, sequence))?.is_none() {
                found(rows(format!("the event about Email {} would never be sent again", event.email)));
            }
        }
        if due.len()? != events {
            found(rows(format!("{} events have a time and {events} are pending", due.len()?)));
        }
        Ok(pending)
    }

    /// Compares the reference counts with the references.
    fn refcounts(
        &self,
        references: &HashMap<Start, References>,
        found: &mut dyn FnMut(Finding),
    ) -> Result<(), IndexError> {
        let mut stored: HashMap<Start, u32> = HashMap::new();
        for row in self.transaction.open_table(REFCOUNTS)?.iter()? {
            let (start, number) = row?;
            stored.insert(start.value(), RefCount::decode(number.value()).references);
        }
        for (start, of_record) in references {
            let has = stored.remove(start);
            let is_right = match has {
                Some(number) => number == of_record.count && (of_record.is_marked_refcounted || !of_record.has_email),
                // Only a record with a single Email may have no row.
                None => of_record.count == 1 && of_record.has_email,
            };
            if !is_right {
                let what =
                    format!("the record has {} references, but its count is {}", of_record.count, has.unwrap_or(1));
                found(Finding::at(FindingKind::Rows, start.0, u64::from(start.1), what));
            }
        }
        for (start, number) in stored {
            let what = format!("the count of an unreferenced record is {number}");
            found(Finding::at(FindingKind::Rows, start.0, u64::from(start.1), what));
        }
        for row in self.transaction.open_table(PUNCHES)?.iter()? {
            let start = row?.0.value();
            if references.contains_key(&start) {
                let what = "a referenced record is to be punched out";
                found(Finding::at(FindingKind::Rows, start.0, u64::from(start.1), what));
            }
        }
        Ok(())
    }

    /// Compares the usage of each segment. Counts the live octets.
    fn segments_used(&self, references: &HashMap<Start, References>, found: &mut dyn FnMut(Finding)) -> u64 {
        let mut counted: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        for ((segment, _), of_record) in references {
            let of = counted.entry(*segment).or_default();
            *of = (of.0 + 1, of.1 + u64::from(of_record.length));
        }
        let numbers: HashSet<u64> = self.segments.keys().chain(counted.keys()).copied().collect();
        for number in numbers {
            let usage = self.segments.get(&number).copied().unwrap_or_default();
            let stored = (usage.messages, usage.octets);
            let (messages, octets) = counted.get(&number).copied().unwrap_or_default();
            if stored != (messages, octets) {
                let what = format!(
                    "the index counts {} messages with records of {} octets in it, but there are {messages} of {octets}",
                    stored.0, stored.1
                );
                found(Finding::at(FindingKind::Rows, number, 0, what));
            }
        }
        references.values().map(|of_record| u64::from(of_record.content)).sum()
    }

    fn webhooks(
        &self,
        pending: &HashMap<[u8; 16], (u32, u64)>,
        found: &mut dyn FnMut(Finding),
    ) -> Result<(), IndexError> {
        let table = self.transaction.open_table(WEBHOOKS)?;
        let records: HashMap<[u8; 16], u32> = count_records(self.transaction)?
            .into_iter()
            .map(|(webhook, records)| (webhook.octets(), records))
            .collect();
        for row in table.iter()? {
            let (id, row) = row?;
            let id = *id.value();
            let row = decode_webhook(row.value())?;
            let name = row.record.id;
            if (row.events, row.octets) != pending.get(&id).copied().unwrap_or_default() {
                found(rows(format!("webhook {name} has a wrong count of {} events", row.events)));
            }
            if row.attempts != records.get(&id).copied().unwrap_or_default() {
                found(rows(format!(
                    "webhook {name} has a wrong count of {} records in its delivery log",
                    row.attempts
                )));
            }
        }
        for id in pending.keys().chain(records.keys()) {
            if table.get(id)?.is_none() {
                let name = WebhookId::from_octets(*id);
                found(rows(format!("there are rows of webhook {name}, which does not exist")));
            }
        }
        Ok(())
    }
}

fn rows(detail: String) -> Finding {
    Finding::index(FindingKind::Rows, detail)
}
