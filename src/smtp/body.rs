//! A message on its way in: what has come of it, as long as that is within the limit and its share of the memory.

use bytes::Bytes;

use super::budget::Share;
use super::reply::Reply;

/// The least by which the memory of a message grows.
const GROW_OCTETS: usize = 8 * 1024;

/// The octets of one message. Of one that is refused nothing is kept, but its octets are read to their end, so that the
/// replies stay in step with the commands.
#[derive(Debug)]
pub(super) struct Body {
    /// Its capacity is never more than the share.
    raw: Vec<u8>,
    share: Share,
    octets_max: u64,
    /// Why nothing is kept: it is too large, or larger than its share of the memory when no more is left, or has a line that is
    /// too long.
    refusal: Option<Reply>,
}

impl Body {
    /// `share` is what was set aside for it, `size_octets` what the client said the size will be, if it did.
    pub(super) fn new(share: Share, size_octets: Option<u64>, octets_max: u64) -> Self {
        let expected = size_octets.unwrap_or(0).min(octets_max).min(share.octets());
        let raw = Vec::with_capacity(usize::try_from(expected).unwrap_or(0));
        Self { raw, share, octets_max, refusal: None }
    }

    /// How many octets it has.
    pub(super) fn octets(&self) -> u64 {
        self.raw.len() as u64
    }

    /// How much memory is set aside for it.
    pub(super) fn held_octets(&self) -> u64 {
        self.share.octets()
    }

    /// Takes content.
    pub(super) fn push(&mut self, content: &[u8]) {
        if self.refusal.is_some() {
            return;
        }
        match self.make_room(content.len()) {
            Ok(()) => self.raw.extend_from_slice(content),
            Err(refusal) => self.refuse(refusal),
        }
    }

    /// Keeps nothing of it, for this reason unless there was one.
    pub(super) fn refuse(&mut self, refusal: Reply) {
        self.refusal.get_or_insert(refusal);
        self.raw = Vec::new();
        self.share.shrink_to(0);
    }

    /// Itself, unless it is refused.
    pub(super) fn checked(self) -> Result<Self, Reply> {
        match self.refusal {
            Some(refusal) => Err(refusal),
            None => Ok(self),
        }
    }

    /// The whole message with its share of the memory.
    pub(super) fn finish(self) -> Result<(Bytes, Share), Reply> {
        let Self { raw, mut share, .. } = self.checked()?;
        share.shrink_to(raw.capacity() as u64);
        Ok((raw.into(), share))
    }

    /// Makes room for so many octets more, within the share where that is enough, else by more of the budget.
    fn make_room(&mut self, octets: usize) -> Result<(), Reply> {
        let Self { raw, share, octets_max, .. } = self;
        let needed = raw.len() + octets;
        if needed as u64 > *octets_max {
            return Err(Reply::message_too_large(*octets_max));
        }
        if needed <= raw.capacity() {
            return Ok(());
        }
        let at_best = (raw.capacity() * 2).max(raw.capacity() + GROW_OCTETS).max(needed);
        let mut capacity = usize::try_from(*octets_max).unwrap_or(usize::MAX).min(at_best);
        if needed as u64 <= share.octets() {
            capacity = capacity.min(usize::try_from(share.octets()).unwrap_or(usize::MAX));
        } else if share.grow_to(capacity as u64).is_err() {
            capacity = needed;
            share.grow_to(needed as u64).map_err(Reply::of_memory)?;
        }
        raw.reserve_exact(capacity - raw.len());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::budget::Budget;
    use super::*;

    fn taken(content: &[u8], octets_max: u64) -> Option<Bytes> {
        let share = Budget::new(1 << 20).share(octets_max).expect("room");
        let mut body = Body::new(share, None, octets_max);
        body.push(content);
        body.finish().ok().map(|(raw, _)| raw)
    }

    #[test]
    fn a_message_of_the_largest_size_is_taken_and_none_above() {
        assert_eq!(taken(b".23\r\n", 5).as_deref(), Some(&b".23\r\n"[..]));
        assert_eq!(taken(b".23\r\n", 4), None);
        assert_eq!(taken(b"", 0).as_deref(), Some(&b""[..]));
    }

    #[test]
    fn nothing_of_a_message_over_the_limit_is_kept() {
        let budget = Budget::new(1 << 20);
        let mut body = Body::new(budget.share(10).expect("room"), Some(u64::MAX), 10);
        for _ in 0..1000 {
            body.push(&[b'x'; 1000]);
            assert!(body.raw.capacity() <= 10);
        }
        assert!(budget.share(1 << 20).is_ok(), "its share is given back at once");
        assert_eq!(body.finish().err(), Some(Reply::message_too_large(10)));
    }

    #[test]
    fn a_message_never_takes_more_than_its_share() {
        for (budget_octets, size_octets, kept) in [
            (1 << 20, Some(0), true),
            (1 << 20, Some(150_000), true),
            (1 << 20, None, true),
            (100 << 10, Some(1), false),
        ] {
            let budget = Budget::new(budget_octets);
            let mut body = Body::new(budget.share(size_octets.unwrap_or(300_000)).expect("room"), size_octets, 300_000);
            for _ in 0..200 {
                body.push(&[b'x'; 1000]);
                assert!(body.raw.capacity() as u64 <= body.share.octets(), "{size_octets:?}");
            }
            match body.finish() {
                Ok((raw, share)) => assert!(kept && raw.len() == 200_000 && share.octets() >= 200_000),
                Err(refusal) => assert!(!kept && refusal == Reply::NO_MEMORY),
            }
            assert!(budget.share(budget_octets).is_ok(), "all of it is given back");
        }
    }

    #[test]
    fn a_promise_that_is_kept_needs_no_more_memory_than_it_says() {
        let budget = Budget::new(200 << 10);
        let mut body = Body::new(budget.share(200_000).expect("room"), Some(200_000), 300_000);
        body.push(&vec![b'x'; 199_998]);
        body.push(b"\r\n");
        assert_eq!(body.finish().map(|(raw, _)| raw.len()).ok(), Some(200_000));
    }
}
