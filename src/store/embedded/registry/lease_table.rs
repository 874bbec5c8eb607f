//! All leases in memory: each as the octets of its row, found by mailbox, by key and by what is due.
//!
//! A million of them take less than 200 MB, however many clients have them.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;
use slab::Slab;

use super::row::{Table, decode};
use crate::model::{Client, LeaseRecord, Share, Timestamp};
use crate::store::numbers::Numbers;

#[derive(Debug, Default)]
pub(super) struct LeaseTable {
    slab: Slab<Box<[u8]>>,
    by_mailbox: Numbers,
    /// Those that have not ended.
    by_key: Numbers,
    /// Leases that have not ended, by a part of the hash of the client or the network that has them.
    counts: HashTable<(u32, u32)>,
    /// Leases by the second in which they are due.
    due: BTreeSet<(u32, u32)>,
    /// How many have not ended.
    unended: u64,
    hasher: RandomState,
}

impl LeaseTable {
    /// Takes over a row of the file. An error is what is wrong with it.
    pub(super) fn put(&mut self, key: &[u8], octets: &[u8]) -> Result<(), String> {
        let record: LeaseRecord = decode(Table::Leases, octets)?;
        if record.mailbox.as_str().as_bytes() != key {
            return Err(format!("a row of {} has the key of another", Table::Leases.name()));
        }
        self.remove(key);
        let number = self.slab.insert(octets.into());
        let number = u32::try_from(number).map_err(|_| "there are too many leases")?;
        let Self { slab, by_mailbox, by_key, hasher, .. } = self;
        by_mailbox.insert(hasher.hash_one(key), number, |other| {
            record_at(slab, other).map_or(0, |other| hasher.hash_one(other.mailbox.as_str().as_bytes()))
        });
        // What only rests is asked for by nobody, and a key may have much of it.
        if record.ended_at.is_none() {
            by_key.insert(hasher.hash_one(record.key), number, |other| {
                record_at(slab, other).map_or(0, |other| hasher.hash_one(other.key))
            });
        }
        self.due.insert((second_of(record.due_at()), number));
        self.count(&record, true);
        Ok(())
    }

    /// Removes the record of a mailbox, if there is one.
    pub(super) fn remove(&mut self, key: &[u8]) {
        let Some((number, record)) = self.find(key) else { return };
        self.by_mailbox.remove(self.hasher.hash_one(key), number);
        self.by_key.remove(self.hasher.hash_one(record.key), number);
        self.due.remove(&(second_of(record.due_at()), number));
        self.count(&record, false);
        self.slab.remove(number as usize);
    }

    /// The record of a mailbox.
    pub(super) fn get(&self, key: &[u8]) -> Option<LeaseRecord> {
        self.find(key).map(|(_, record)| record)
    }

    fn find(&self, key: &[u8]) -> Option<(u32, LeaseRecord)> {
        let is_it = |number| self.record(number).is_some_and(|record| record.mailbox.as_str().as_bytes() == key);
        let number = self.by_mailbox.find(self.hasher.hash_one(key), is_it)?;
        Some((number, self.record(number)?))
    }

    /// The records with a key that have not ended, in the order of their creation.
    pub(super) fn of_key(&self, key: &[u8; 32]) -> Vec<LeaseRecord> {
        let numbers = self.by_key.all(self.hasher.hash_one(key));
        let records = numbers.filter_map(|number| self.record(number));
        let mut records: Vec<_> = records.filter(|record| record.has_key(key)).collect();
        records.sort_by_key(|record| record.created_at);
        records
    }

    /// Some of the records that are due at `now`, about the earliest first.
    pub(super) fn due(&self, now: Timestamp, limit: usize) -> Vec<LeaseRecord> {
        let due = self.due.range(..=(second_of(now), u32::MAX));
        let records = due.filter_map(|(_, number)| self.record(*number));
        records.filter(|record| record.due_at() <= now).take(limit).collect()
    }

    /// Records by their places. Of a change in between, those at other places are as they were.
    pub(super) fn at(&self, places: std::ops::Range<usize>) -> Vec<LeaseRecord> {
        places.filter_map(|place| record_at(&self.slab, u32::try_from(place).ok()?)).collect()
    }

    /// The end of all places.
    pub(super) fn places(&self) -> usize {
        self.slab.capacity()
    }

    /// How many leases that have not ended a client and its network have, and how many records there are.
    pub(super) fn counts(&self, client: Option<Client>) -> Share {
        let of = |name: u32| self.counts.find(spread(name), |(known, _)| *known == name).map_or(0, |(_, count)| *count);
        let [client, network] = client.map_or([0, 0], |client| self.names(client).map(|name| u64::from(of(name))));
        Share { client, network, all: self.slab.len() as u64 }
    }

    /// How many leases have not ended.
    pub(super) fn unended(&self) -> u64 {
        self.unended
    }

    fn names(&self, client: Client) -> [u32; 2] {
        let short = |hash: u64| u32::try_from(hash >> 32).unwrap_or(0);
        // The first client of a network has the same octets.
        [short(self.hasher.hash_one((0, client))), short(self.hasher.hash_one((1, client.network())))]
    }

    fn count(&mut self, record: &LeaseRecord, is_added: bool) {
        if record.ended_at.is_some() {
            return;
        }
        self.unended = if is_added { self.unended + 1 } else { self.unended - 1 };
        let Some(client) = record.client else { return };
        for name in self.names(client) {
            match self.counts.entry(spread(name), |(known, _)| *known == name, |(known, _)| spread(*known)) {
                hashbrown::hash_table::Entry::Occupied(mut entry) => {
                    let (_, count) = entry.get_mut();
                    *count = if is_added { *count + 1 } else { *count - 1 };
                    if *count == 0 {
                        entry.remove();
                    }
                }
                hashbrown::hash_table::Entry::Vacant(entry) => drop(entry.insert((name, 1))),
            }
        }
    }

    fn record(&self, number: u32) -> Option<LeaseRecord> {
        record_at(&self.slab, number)
    }
}

/// The record with a number. Its octets were decoded once before.
fn record_at(slab: &Slab<Box<[u8]>>, number: u32) -> Option<LeaseRecord> {
    decode(Table::Leases, slab.get(number as usize)?).ok()
}

/// A hash with all bits from one with half of them.
fn spread(name: u32) -> u64 {
    u64::from(name).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The second of a time.
fn second_of(at: Timestamp) -> u32 {
    u32::try_from(at.millis().div_euclid(1000).max(0)).unwrap_or(u32::MAX)
}
