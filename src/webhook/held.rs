//! What is held in memory of one webhook's events, and how many may be.
//!
//! Pure.

use std::collections::HashSet;

/// Events of all webhooks together that wait in memory for their turn: the webhooks share them out, unless a share were less
/// than [`PAGE_MIN`].
const QUEUED_MAX: usize = 8 * 1024;
/// The share of one webhook at most: what is read at once costs little more than one event by itself.
const PAGE_MAX: usize = 128;
/// And at least, however many webhooks there are.
const PAGE_MIN: usize = 16;

/// How many events of one webhook wait in memory for their turn at most; the others stay in the store until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Page(usize);

impl Page {
    /// That of each where so many `webhooks` have events in memory.
    pub(super) fn among(webhooks: usize) -> Self {
        Self((QUEUED_MAX / webhooks.max(1)).clamp(PAGE_MIN, PAGE_MAX))
    }
}

/// Events of a webhook that are in memory, so that none is taken twice.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Those that are queued, in flight or not noted yet, and those that wait for something else before they are read again.
    pub(super) sequences: HashSet<u64>,
    /// How many of them are queued.
    pub(super) queued: usize,
    /// More of its events are due than these.
    pub(super) has_more: bool,
    /// Its events are about to be read, or are being read.
    pub(super) is_listed: bool,
}

impl Held {
    /// Few are queued, so that as many are read at once as can be, and there is room for others.
    pub(super) fn is_low(&self, Page(page): Page) -> bool {
        !self.is_listed && self.queued <= page / 8 && self.sequences.len() <= page + page / 2
    }

    /// How many may be read in addition: those that are not queued are as many as a page again at most.
    pub(super) fn room(&self, Page(page): Page) -> usize {
        page.saturating_sub(self.queued).min((2 * page).saturating_sub(self.sequences.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(queued: usize, others: u64) -> Held {
        Held { sequences: (0..queued as u64 + others).collect(), queued, ..Held::default() }
    }

    #[test]
    fn many_webhooks_have_a_smaller_share_each() {
        let pages = [0, 1, 64, 128, 1024, 100_000].map(|webhooks| Page::among(webhooks).0);
        assert_eq!(pages, [128, 128, 128, 64, 16, 16]);
    }

    #[test]
    fn what_is_read_in_addition_as_a_table() {
        for (queued, others, is_low, room) in [
            (0, 0, true, 128),
            (16, 4, true, 112),
            (17, 4, false, 111),
            (0, 192, true, 64),
            (0, 193, false, 63),
            (16, 128, true, 112),
            (0, 256, false, 0),
        ] {
            let held = held(queued, others);
            let page = Page::among(1);
            assert_eq!((held.is_low(page), held.room(page)), (is_low, room), "{queued} and {others}");
        }
        // The page was larger when these were read.
        let many = held(128, 0);
        assert_eq!((many.is_low(Page::among(10_000)), many.room(Page::among(10_000))), (false, 0));
        assert!(!Held { is_listed: true, ..held(0, 0) }.is_low(Page::among(1)));
    }
}
