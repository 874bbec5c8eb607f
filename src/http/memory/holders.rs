//! The answers that have room in a pool now.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::Asker;
use crate::http::principal::Requester;

/// The answers that have room, in the order in which they got it.
#[derive(Debug, Default)]
pub(super) struct Holders {
    next: u64,
    by_number: BTreeMap<u64, Holder>,
}

#[derive(Debug)]
struct Holder {
    /// Since when the client has been able to read the answer; `None` while it is prepared.
    readable_since: Option<Instant>,
    asker: Asker,
    /// Whether it has more than the share of its client.
    is_oversize: bool,
}

/// Whose answers must make room.
#[derive(Clone, Copy, Debug)]
pub(super) enum Whose {
    All,
    Of(Requester),
    /// The one that has more than the share of its client.
    Oversize,
}

impl Holders {
    /// Adds an answer that is prepared now. Returns its number.
    pub(super) fn add(&mut self, asker: Asker, is_oversize: bool) -> u64 {
        self.next += 1;
        self.by_number.insert(self.next, Holder { readable_since: None, asker, is_oversize });
        self.next
    }

    /// Records that the client can read the answer from now on.
    pub(super) fn is_readable(&mut self, number: u64) {
        if let Some(holder) = self.by_number.get_mut(&number) {
            holder.readable_since.get_or_insert_with(Instant::now);
        }
    }

    pub(super) fn remove(&mut self, number: u64) {
        self.by_number.remove(&number);
    }

    /// Aborts answers that clients could have read for longer than `held_min`.
    pub(super) fn abort_old(&self, held_min: Duration, whose: Whose) {
        let is_chosen = |holder: &&Holder| match whose {
            Whose::All => true,
            Whose::Of(requester) => holder.asker.requester == requester,
            Whose::Oversize => holder.is_oversize,
        };
        let is_old = |holder: &&Holder| holder.readable_since.is_some_and(|since| since.elapsed() >= held_min);
        for holder in self.by_number.values().filter(is_chosen).filter(is_old) {
            holder.asker.exchange.abort();
        }
    }
}
