//! What is known of mailboxes with many Emails, so that not each list reads all their rows.
//!
//! An entry lasts until this node learns of an event in the mailbox, and a few seconds at most. A list compares it with
//! the newest Email, which it reads anyway. So only a deletion at another node may show late, until its hint is here.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use tokio::time::Instant;

use super::rows::EmailRow;
use super::state::ClusterState;
use crate::model::Timestamp;

/// A mailbox with fewer rows is read whole each time.
pub(super) const ROWS_MIN: usize = 1000;
/// How long an entry lasts without an event.
const LASTS: Duration = Duration::from_secs(5);
/// The most rows of all entries.
const ROWS_MAX: u64 = 4_000_000;
const ENTRIES: usize = 1000;

/// All rows of a mailbox, as far as a count needs them.
#[derive(Debug)]
pub(super) struct Counted {
    newest: u64,
    /// When each Email expires in effect, in milliseconds.
    expiries: Vec<i64>,
    read_at: Instant,
}

#[derive(Clone, Debug)]
pub(super) struct RowWeight;

impl Weighter<[u8; 16], Arc<Counted>> for RowWeight {
    fn weight(&self, _: &[u8; 16], counted: &Arc<Counted>) -> u64 {
        counted.expiries.len().max(1) as u64
    }
}

/// The mailboxes with many Emails.
#[derive(Debug)]
pub(super) struct Totals {
    counted: Cache<[u8; 16], Arc<Counted>, RowWeight>,
    /// What was read before this moment may be outdated in any mailbox.
    outdated_before: Mutex<Option<Instant>>,
}

impl Default for Totals {
    fn default() -> Self {
        Self { counted: Cache::with_weighter(ENTRIES, ROWS_MAX, RowWeight), outdated_before: Mutex::default() }
    }
}

impl Totals {
    pub(super) fn get(&self, mailbox: &[u8; 16]) -> Option<Arc<Counted>> {
        let outdated_before = *self.outdated_before.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = |counted: &Arc<Counted>| {
            counted.read_at.elapsed() < LASTS && outdated_before.is_none_or(|before| counted.read_at > before)
        };
        self.counted.get(mailbox).filter(is_known)
    }

    /// Something happened in a mailbox.
    pub(super) fn forget(&self, mailbox: [u8; 16]) {
        // A list that has begun before must not bring back what it read.
        let nothing = Counted { newest: u64::MAX, expiries: Vec::new(), read_at: Instant::now() };
        self.counted.insert(mailbox, Arc::new(nothing));
    }

    /// Something happened in a mailbox, and nobody knows in which.
    pub(super) fn forget_all(&self) {
        *self.outdated_before.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Keeps what a list has read of a whole mailbox.
    pub(super) fn keep(&self, mailbox: [u8; 16], newest: u64, expiries: Vec<i64>, read_at: Instant) {
        let is_newer = self.counted.get(&mailbox).is_none_or(|there| there.read_at < read_at);
        if expiries.len() >= ROWS_MIN && is_newer {
            self.counted.insert(mailbox, Arc::new(Counted { newest, expiries, read_at }));
        }
    }
}

impl Counted {
    /// Whether `row` is still the newest.
    pub(super) fn begins_with(&self, row: &EmailRow) -> bool {
        self.newest == row.sequence.cast_unsigned()
    }

    /// How many Emails are readable.
    pub(super) fn readable(&self, now: Timestamp, state: &ClusterState) -> u64 {
        let gone_through = state.expired().expires_at().max(now.millis());
        self.expiries.iter().filter(|expiry| gone_through < **expiry).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_list_began_to_read_before_all_was_forgotten_stays_unknown() {
        let (totals, mailbox) = (Totals::default(), [1; 16]);
        let keep = |read_at| totals.keep(mailbox, 7, vec![i64::MAX; ROWS_MIN], read_at);
        let begun = Instant::now();
        keep(begun);
        assert!(totals.get(&mailbox).is_some());
        std::thread::sleep(Duration::from_millis(1));
        totals.forget_all();
        assert!(totals.get(&mailbox).is_none());
        keep(begun + Duration::from_micros(1));
        assert!(totals.get(&mailbox).is_none());
        keep(Instant::now() + Duration::from_micros(1));
        assert!(totals.get(&mailbox).is_some());
    }
}
