//! The rows of mail: one for each Email, found by id, by mailbox and by the second of expiry.
//!
//! A row has a number in the slab, and everything else names rows by their numbers. The Emails of one message form a ring.

use std::collections::{BTreeMap, VecDeque};

use slab::Slab;

use crate::model::{EmailId, Listed, Timestamp};
use crate::store::change::RecordPlace;
use crate::store::numbers::Numbers;

/// An Email.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) id: EmailId,
    pub(super) sequence: u64,
    pub(super) received_at: Timestamp,
    pub(super) expires_at: Timestamp,
    /// Its message.
    pub(super) place: RecordPlace,
    mailbox: u32,
    /// The next Email of the same message; the only one names itself. The highest bit says whether it has a life of its own.
    sibling: u32,
}

const OWN_LIFE: u32 = 1 << 31;

impl Row {
    pub(super) fn listed(&self) -> Listed {
        Listed {
            id: self.id,
            sequence: self.sequence,
            received_at: self.received_at,
            expires_at: self.expires_at,
            size_octets: u64::from(self.place.content),
            place: self.place.opaque(),
        }
    }

    /// Whether its expiry alone ends it, whatever today's retention is.
    pub(super) fn has_own_life(&self) -> bool {
        self.sibling & OWN_LIFE != 0
    }

    fn next(&self) -> u32 {
        self.sibling & !OWN_LIFE
    }
}

/// A mailbox with at least one Email.
#[derive(Debug)]
pub(super) struct Mailbox {
    /// The hash of its name.
    pub(super) name: [u8; 16],
    /// A part of the hash of its domain's name.
    pub(super) domain: u64,
    /// Octets of its messages.
    pub(super) octets: u64,
    /// Whether its Emails expire in the order of their sequence.
    pub(super) is_in_order: bool,
    /// Whether they were received in that order.
    pub(super) came_in_order: bool,
    pub(super) rows: Sequence,
}

/// The rows of a mailbox, oldest first. Most mailboxes have one.
#[derive(Debug)]
pub(super) enum Sequence {
    One(u32),
    Many(VecDeque<u32>),
}

impl Sequence {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Many(rows) => rows.len(),
        }
    }

    /// The row at a position that is below the length.
    pub(super) fn at(&self, position: usize) -> u32 {
        match self {
            Self::One(row) => *row,
            Self::Many(rows) => rows[position],
        }
    }

    /// The number of rows before the first one that `is_before` refuses, which refuses all behind it.
    pub(super) fn partition_point(&self, is_before: impl Fn(u32) -> bool) -> usize {
        match self {
            Self::One(row) => usize::from(is_before(*row)),
            // What is new comes last.
            Self::Many(rows) if rows.back().is_none_or(|row| is_before(*row)) => rows.len(),
            Self::Many(rows) => rows.partition_point(|row| is_before(*row)),
        }
    }

    fn insert(&mut self, position: usize, row: u32) {
        match self {
            Self::One(first) => {
                let mut rows = VecDeque::from([*first]);
                rows.insert(position, row);
                *self = Self::Many(rows);
            }
            Self::Many(rows) => rows.insert(position, row),
        }
    }

    /// Removes a row. `false` if it was the last one.
    fn remove(&mut self, position: usize) -> bool {
        match self {
            Self::One(_) => false,
            Self::Many(rows) => {
                rows.remove(position);
                // Memory of a mailbox that was large once must not stay.
                if rows.len() * 4 < rows.capacity() {
                    rows.shrink_to(rows.len() * 2);
                }
                !rows.is_empty()
            }
        }
    }
}

/// The hash of an id or of a hashed name. Both have random octets at their end.
fn hash(octets: [u8; 16]) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|n| octets[8 + n]))
}

/// All rows.
#[derive(Debug, Default)]
pub(super) struct Rows {
    slab: Slab<Row>,
    ids: Numbers,
    mailboxes: Slab<Mailbox>,
    names: Numbers,
    /// Rows by the first second in which they have expired, each in the order of sequence numbers.
    due: BTreeMap<i64, Vec<u32>>,
}

/// A message to insert. Its Emails follow each other in the order of `emails`.
pub(crate) struct NewMessage {
    pub(crate) place: RecordPlace,
    pub(crate) received_at: Timestamp,
    pub(crate) expires_at: Timestamp,
    pub(crate) has_own_life: bool,
    /// Of each Email: id, sequence number, and the hashes of its mailbox and its domain.
    pub(crate) emails: Vec<(EmailId, u64, [u8; 16], u64)>,
}

/// The first full second at which an Email has expired.
pub(super) fn second_of(expires_at: Timestamp) -> i64 {
    expires_at.millis().saturating_add(999).div_euclid(1000)
}

impl Rows {
    pub(super) fn len(&self) -> usize {
        self.slab.len()
    }

    pub(super) fn mailbox_count(&self) -> usize {
        self.mailboxes.len()
    }

    pub(super) fn row(&self, number: u32) -> &Row {
        &self.slab[number as usize]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Row> {
        self.slab.iter().map(|(_, row)| row)
    }

    pub(super) fn find(&self, id: EmailId) -> Option<u32> {
        self.ids.find(hash(id.octets()), |number| self.row(number).id == id)
    }

    fn mailbox_number(&self, name: [u8; 16]) -> Option<u32> {
        self.names.find(hash(name), |number| self.mailboxes[number as usize].name == name)
    }

    pub(super) fn mailbox(&self, name: [u8; 16]) -> Option<&Mailbox> {
        self.mailbox_number(name).map(|number| &self.mailboxes[number as usize])
    }

    pub(super) fn mailbox_of(&self, row: &Row) -> &Mailbox {
        &self.mailboxes[row.mailbox as usize]
    }

    /// The rows by the second of their expiry.
    pub(super) fn due(&self) -> &BTreeMap<i64, Vec<u32>> {
        &self.due
    }

    /// All Emails of the message of a row, that of the row first.
    pub(super) fn ring(&self, number: u32) -> impl Iterator<Item = &Row> {
        let next = move |row: &Row| Some(row.next()).filter(|next| *next != number);
        std::iter::successors(Some(self.row(number)), move |row| next(row).map(|next| self.row(next)))
    }

    /// Inserts the Emails of a message.
    pub(super) fn insert(&mut self, message: NewMessage) -> Vec<u32> {
        let NewMessage { place, received_at, expires_at, has_own_life, emails } = message;
        let mut numbers: Vec<u32> = Vec::with_capacity(emails.len());
        for (id, sequence, name, domain) in emails {
            let mailbox = self.open_mailbox(name, domain);
            let entry = self.slab.vacant_entry();
            let number = narrow(entry.key());
            let own = if has_own_life { OWN_LIFE } else { 0 };
            entry.insert(Row { id, sequence, received_at, expires_at, place, mailbox, sibling: number | own });
            let Self { slab: rows, ids, .. } = self;
            ids.insert(hash(id.octets()), number, |number| hash(rows[number as usize].id.octets()));
            self.enter_mailbox(number);
            self.enter_due(number);
            numbers.push(number);
        }
        for (number, next) in numbers.iter().zip(numbers.iter().cycle().skip(1)) {
            let row = &mut self.slab[*number as usize];
            row.sibling = (row.sibling & OWN_LIFE) | next;
        }
        numbers
    }

    /// The number of a mailbox, which is new if it has no Email.
    fn open_mailbox(&mut self, name: [u8; 16], domain: u64) -> u32 {
        if let Some(number) = self.mailbox_number(name) {
            return number;
        }
        let rows = Sequence::Many(VecDeque::new());
        let number = narrow(self.mailboxes.insert(Mailbox {
            name,
            domain,
            octets: 0,
            is_in_order: true,
            came_in_order: true,
            rows,
        }));
        let Self { mailboxes, names, .. } = self;
        names.insert(hash(name), number, |number| hash(mailboxes[number as usize].name));
        number
    }

    fn enter_mailbox(&mut self, number: u32) {
        let row = self.slab[number as usize];
        let Self { slab: rows, mailboxes, .. } = self;
        let mailbox = &mut mailboxes[row.mailbox as usize];
        mailbox.octets += u64::from(row.place.content);
        let at = |position: usize| &rows[mailbox.rows.at(position) as usize];
        let length = mailbox.rows.len();
        if length == 0 {
            mailbox.rows = Sequence::One(number);
            return;
        }
        let position = mailbox.rows.partition_point(|other| rows[other as usize].sequence < row.sequence);
        let are_in_order = |first: &Row, second: &Row| {
            (first.expires_at <= second.expires_at, first.received_at <= second.received_at)
        };
        let follows = if position == 0 { (true, true) } else { are_in_order(at(position - 1), &row) };
        let precedes = if position == length { (true, true) } else { are_in_order(&row, at(position)) };
        let (expire, came) = (follows.0 && precedes.0, follows.1 && precedes.1);
        mailbox.is_in_order &= expire;
        mailbox.came_in_order &= came;
        mailbox.rows.insert(position, number);
    }

    fn enter_due(&mut self, number: u32) {
        let Self { slab: rows, due, .. } = self;
        let row = rows[number as usize];
        let numbers = due.entry(second_of(row.expires_at)).or_default();
        let is_before = |other: &u32| rows[*other as usize].sequence < row.sequence;
        if numbers.last().is_none_or(is_before) {
            numbers.push(number);
        } else {
            numbers.insert(numbers.partition_point(is_before), number);
        }
    }

    fn leave_due(&mut self, number: u32) {
        let Self { slab: rows, due, .. } = self;
        let row = rows[number as usize];
        let second = second_of(row.expires_at);
        let Some(numbers) = due.get_mut(&second) else { return };
        let first = numbers.partition_point(|other| rows[*other as usize].sequence < row.sequence);
        if let Some(position) = numbers[first..].iter().position(|other| *other == number) {
            numbers.remove(first + position);
        }
        if numbers.is_empty() {
            due.remove(&second);
        }
    }

    /// Removes a row. Returns it with the hash of its mailbox's name, and whether it was the last one of its message.
    pub(super) fn remove(&mut self, number: u32) -> (Row, [u8; 16], bool) {
        self.leave_due(number);
        self.remove_from_all_but_due(number)
    }

    /// Removes the rows that have expired by a second, at most `limit`.
    pub(super) fn pop_due(&mut self, by_second: i64, limit: usize) -> Vec<(Row, [u8; 16], bool)> {
        let mut removed = Vec::new();
        while removed.len() < limit
            && let Some(mut first) = self.due.first_entry().filter(|first| *first.key() <= by_second)
        {
            let numbers = first.get_mut();
            let some = numbers.split_off(numbers.len().saturating_sub(limit - removed.len()));
            if numbers.is_empty() {
                first.remove();
            }
            removed.extend(some.into_iter().map(|number| self.remove_from_all_but_due(number)));
        }
        removed
    }

    /// Removes the rows up to a sequence number that have expired by a second.
    pub(super) fn remove_due(&mut self, by_second: i64, through: u64) -> Vec<(Row, [u8; 16], bool)> {
        let due = self.due.range(..=by_second).flat_map(|(_, numbers)| numbers).copied();
        let numbers: Vec<u32> = due.filter(|number| self.row(*number).sequence <= through).collect();
        numbers.into_iter().map(|number| self.remove(number)).collect()
    }

    fn remove_from_all_but_due(&mut self, number: u32) -> (Row, [u8; 16], bool) {
        let row = self.slab[number as usize];
        self.ids.remove(hash(row.id.octets()), number);
        let name = self.leave_mailbox(&row, number);
        let is_last = row.next() == number;
        if !is_last {
            self.leave_ring(number, row.next());
        }
        self.slab.remove(number as usize);
        (row, name, is_last)
    }

    fn leave_mailbox(&mut self, row: &Row, number: u32) -> [u8; 16] {
        let Self { slab: rows, mailboxes, .. } = self;
        let mailbox = &mut mailboxes[row.mailbox as usize];
        let name = mailbox.name;
        mailbox.octets -= u64::from(row.place.content);
        let mut position = mailbox.rows.partition_point(|other| rows[other as usize].sequence < row.sequence);
        // Sequence numbers differ, but for those of a store that somebody else made.
        while mailbox.rows.at(position) != number {
            position += 1;
        }
        if !mailbox.rows.remove(position) {
            self.mailboxes.remove(row.mailbox as usize);
            self.names.remove(hash(name), row.mailbox);
        }
        name
    }

    fn leave_ring(&mut self, number: u32, next: u32) {
        let mut before = next;
        while self.row(before).next() != number {
            before = self.row(before).next();
        }
        let row = &mut self.slab[before as usize];
        row.sibling = (row.sibling & OWN_LIFE) | next;
    }

    /// Ends Emails earlier, by the time that `ends` gives for a row. Looks at every row.
    pub(super) fn shorten(&mut self, ends: impl Fn(&Row) -> Timestamp) {
        let mut due: BTreeMap<i64, Vec<u32>> = BTreeMap::new();
        for (number, row) in &mut self.slab {
            row.expires_at = ends(row);
            due.entry(second_of(row.expires_at)).or_default().push(narrow(number));
        }
        for numbers in due.values_mut() {
            numbers.sort_by_key(|number| self.slab[*number as usize].sequence);
        }
        self.due = due;
        for (_, mailbox) in &mut self.mailboxes {
            let expires_at = |position: usize| self.slab[mailbox.rows.at(position) as usize].expires_at;
            let in_order = (1..mailbox.rows.len()).all(|position| expires_at(position - 1) <= expires_at(position));
            mailbox.is_in_order = in_order;
        }
    }
}

/// The number of a row or a mailbox. There are fewer than 2^31, by the limit of Emails.
fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_takes_64_octets() {
        assert!(size_of::<Row>() <= 64, "{}", size_of::<Row>());
        assert!(size_of::<Mailbox>() <= 72, "{}", size_of::<Mailbox>());
    }
}
