//! What is known of mailboxes with many Emails, so that not each list reads all their rows.
//!
//! An entry lasts until this node learns of an event in the mailbox, and a few seconds at most. A list compares it with
//! the newest Email, which it reads anyway. So only a deletion at another node may show late, until its hint is here.

use std::sync::Arc;
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
pub(super) struct Totals(Cache<[u8; 16], Arc<Counted>, RowWeight>);

impl Default for Totals {
    fn default() -> Self {
        Self(Cache::with_weighter(ENTRIES, ROWS_MAX, RowWeight))
    }
}

impl Totals {
    pub(super) fn get(&self, mailbox: &[u8; 16]) -> Option<Arc<Counted>> {
        self.0.get(mailbox).filter(|counted| counted.read_at.elapsed() < LASTS)
    }

    /// Something happened in a mailbox.
    pub(super) fn forget(&self, mailbox: [u8; 16]) {
        // A list that has begun before must not bring back what it read.
        let nothing = Counted { newest: u64::MAX, expiries: Vec::new(), read_at: Instant::now() };
        self.0.insert(mailbox, Arc::new(nothing));
    }

    /// Keeps what a list has read of a whole mailbox.
    pub(super) fn keep(&self, mailbox: [u8; 16], newest: u64, expiries: Vec<i64>, read_at: Instant) {
        let is_newer = self.0.get(&mailbox).is_none_or(|there| there.read_at < read_at);
        if expiries.len() >= ROWS_MIN && is_newer {
            self.0.insert(mailbox, Arc::new(Counted { newest, expiries, read_at }));
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
