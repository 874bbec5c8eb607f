//! The clock of sequence numbers: the order of a mailbox's Emails, whichever node received them.
//!
//! A number has the time of receipt in milliseconds in its upper bits. It is above every number that this node has given
//! or seen, and above the newest Email of its mailbox. So it rises while the clocks of nodes differ or go back.
//!
//! The Emails of one message have numbers in a row, as in every store. So one number says the place of a message in each of
//! its mailboxes, which is what a backup keeps of it.

use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::sync::Cache;
use uuid::Uuid;

use crate::model::Timestamp;

/// The bits below the milliseconds: enough for two million numbers in each.
const LOW_BITS: u32 = 21;
/// The largest number, since the cluster's are signed.
const MAX: u64 = i64::MAX as u64;
/// How many of its last messages a node remembers, to give the same numbers to a second delivery of one.
const RECENT_MESSAGES: usize = 8192;

#[derive(Debug)]
pub(super) struct Sequences {
    last: AtomicU64,
    recent: Cache<Uuid, Box<[u64]>>,
}

impl Default for Sequences {
    fn default() -> Self {
        Self { last: AtomicU64::new(0), recent: Cache::new(RECENT_MESSAGES) }
    }
}

impl Sequences {
    /// The first of `count` numbers in a row, for the Emails of a message received at `at`. All are above `newest`.
    pub(super) fn next(&self, at: Timestamp, newest: u64, count: u64) -> u64 {
        // Two nodes must not give one number within a millisecond. A rest of the range is left to count in.
        let random = u64::from(rand::random::<u32>() >> (33 - LOW_BITS));
        let by_clock = least_of(at) | random;
        let further = count.saturating_sub(1);
        let first = |last: u64| {
            by_clock.max(last.saturating_add(1)).max(newest.saturating_add(1)).min(MAX.saturating_sub(further))
        };
        let last = self.last.update(Ordering::Relaxed, Ordering::Relaxed, |last| first(last).saturating_add(further));
        first(last)
    }

    /// Takes note of a number that another node gave.
    pub(super) fn observe(&self, sequence: u64) {
        self.last.fetch_max(sequence, Ordering::Relaxed);
    }

    /// The highest number so far.
    pub(super) fn last(&self) -> u64 {
        self.last.load(Ordering::Relaxed)
    }

    /// The numbers that a message got before.
    pub(super) fn of_message(&self, message: Uuid) -> Option<Box<[u64]>> {
        self.recent.get(&message)
    }

    /// Remembers the numbers of a message.
    pub(super) fn remember(&self, message: Uuid, sequences: Box<[u64]>) {
        self.recent.insert(message, sequences);
    }
}

/// The least number of an Email that was received at `at`.
pub(super) fn least_of(at: Timestamp) -> u64 {
    let millis = u64::try_from(at.millis()).unwrap_or(0);
    millis.saturating_mul(1 << LOW_BITS).min(MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_rise_while_the_clock_stands_still_or_goes_back() {
        let sequences = Sequences::default();
        let at = |millis: i64| Timestamp::from_millis(1_700_000_000_000 + millis);
        let given: Vec<u64> = [0, 0, -5, 3, -10].into_iter().map(|millis| sequences.next(at(millis), 0, 1)).collect();
        assert!(given.is_sorted_by(|a, b| a < b), "{given:?}");
        assert!(given[0] >= least_of(at(0)) && given[0] < least_of(at(1)));
        let newest = least_of(at(60_000));
        assert_eq!(sequences.next(at(0), newest, 1), newest + 1);
        sequences.observe(least_of(at(90_000)));
        assert!(sequences.next(at(0), 0, 1) > least_of(at(90_000)));
    }

    #[test]
    fn two_nodes_give_other_numbers_in_one_millisecond() {
        let at = Timestamp::from_millis(1_700_000_000_000);
        let given: std::collections::HashSet<u64> = (0..20).map(|_| Sequences::default().next(at, 0, 1)).collect();
        assert!(given.len() > 15);
    }

    #[test]
    fn no_number_falls_between_those_of_a_message() {
        let sequences = Sequences::default();
        let at = Timestamp::from_millis(1_700_000_000_000);
        let first = sequences.next(at, 0, 100);
        assert_eq!(sequences.last(), first + 99);
        assert!(sequences.next(at, 0, 2) > first + 99);
    }
}
