//! The octets of an incoming message, within the size limit and within its share of the memory.

use bytes::Bytes;

use super::budget::Share;
use super::reply::Reply;

/// The smallest step by which the memory of a message grows.
const GROW_OCTETS: usize = 8 * 1024;

/// The octets of one message. A refused message holds no octets, but it is still read to its end: its octets must not be
/// taken for commands.
#[derive(Debug)]
pub(super) struct Body {
    /// The capacity never exceeds the share.
    raw: Vec<u8>,
    share: Share,
    octets_max: u64,
    /// Why the message is refused: it is too large, no memory is left for it, or one of its lines is too long.
    refusal: Option<Reply>,
}

impl Body {
    /// An empty message. `share` is the memory that it reserves, `size_octets` the size that the client announced.
    pub(super) fn new(share: Share, size_octets: Option<u64>, octets_max: u64) -> Self {
        let expected = size_octets.unwrap_or(0).min(octets_max).min(share.octets());
        let raw = Vec::with_capacity(usize::try_from(expected).unwrap_or(0));
        Self { raw, share, octets_max, refusal: None }
    }

    /// The number of octets so far.
    pub(super) fn octets(&self) -> u64 {
        self.raw.len() as u64
    }

    /// How much memory the message reserves, in octets.
    pub(super) fn reserved_octets(&self) -> u64 {
        self.share.octets()
    }

    /// Adds octets.
    pub(super) fn push(&mut self, content: &[u8]) {
        if self.refusal.is_some() {
            return;
        }
        match self.make_room(content.len()) {
            Ok(()) => self.raw.extend_from_slice(content),
            Err(refusal) => self.refuse(refusal),
        }
    }

    /// Refuses the message, drops its octets and releases its memory. The first refusal counts.
    pub(super) fn refuse(&mut self, refusal: Reply) {
        self.refusal.get_or_insert(refusal);
        self.raw = Vec::new();
        self.share.shrink_to(0);
    }

    /// The message, or its refusal.
    pub(super) fn unless_refused(self) -> Result<Self, Reply> {
        match self.refusal {
            Some(refusal) => Err(refusal),
            None => Ok(self),
        }
    }

    /// The complete message with its share of the memory.
    pub(super) fn finish(self) -> Result<(Bytes, Share), Reply> {
        let Self { raw, mut share, .. } = self.unless_refused()?;
        share.shrink_to(raw.capacity() as u64);
        Ok((raw.into(), share))
    }

    /// Makes room for more octets: within the share if that suffices, else by a larger share.
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
            share.grow_to(needed as u64).map_err(Reply::of_limit)?;
        }
        raw.reserve_exact(capacity - raw.len());
        Ok(())
    }
}

/// The octets of one BDAT (RFC 3030 section 2): a fixed number of octets, whatever they are. Nothing in them ends the
/// chunk, and no dot is removed.
#[derive(Debug)]
pub(super) struct Chunk {
    octets_left: u64,
    is_last: bool,
    /// The message, or the refusal if the octets are only read to find the next command.
    body: Result<Body, Reply>,
}

impl Chunk {
    /// A chunk of so many octets; the message ends with it if `is_last`.
    pub(super) const fn new(octets: u64, is_last: bool, body: Result<Body, Reply>) -> Self {
        Self { octets_left: octets, is_last, body }
    }

    /// Takes the octets of the chunk that are in `input`, and moves `input` behind them; whether the chunk is complete.
    pub(super) fn take(&mut self, input: &mut &[u8]) -> bool {
        let octets = usize::try_from(self.octets_left).unwrap_or(usize::MAX).min(input.len());
        let (content, rest) = input.split_at(octets);
        if let Ok(body) = &mut self.body {
            body.push(content);
        }
        self.octets_left -= octets as u64;
        *input = rest;
        self.octets_left == 0
    }

    /// How much memory its message reserves, in octets.
    pub(super) fn reserved_octets(&self) -> u64 {
        self.body.as_ref().map_or(0, Body::reserved_octets)
    }

    /// Whether the message ends with it.
    pub(super) const fn is_last(&self) -> bool {
        self.is_last
    }

    /// The message, up to the end of the chunk.
    pub(super) fn finish(self) -> Result<Body, Reply> {
        self.body.and_then(Body::unless_refused)
    }
}

#[cfg(test)]
mod tests {
    use super::super::budget::Budget;
    use super::super::reasons::Limit;
    use super::*;

    fn taken(content: &[u8], octets_max: u64) -> Option<Bytes> {
        let share = Budget::new(1 << 20).reserve(None, octets_max).expect("room");
        let mut body = Body::new(share, None, octets_max);
        body.push(content);
        body.finish().ok().map(|(raw, _)| raw)
    }

    #[test]
    fn a_message_of_the_largest_size_is_accepted_and_none_above() {
        assert_eq!(taken(b".23\r\n", 5).as_deref(), Some(&b".23\r\n"[..]));
        assert_eq!(taken(b".23\r\n", 4), None);
        assert_eq!(taken(b"", 0).as_deref(), Some(&b""[..]));
    }

    #[test]
    fn a_message_over_the_limit_holds_no_octets() {
        let budget = Budget::new(1 << 20);
        let mut body = Body::new(budget.reserve(None, 10).expect("room"), Some(u64::MAX), 10);
        for _ in 0..1000 {
            body.push(&[b'x'; 1000]);
            assert!(body.raw.capacity() <= 10);
        }
        assert!(budget.reserve(None, 1 << 20).is_ok(), "its share is released at once");
        assert_eq!(body.finish().err(), Some(Reply::message_too_large(10)));
    }

    #[test]
    fn a_message_never_uses_more_memory_than_its_share() {
        for (budget_octets, size_octets, is_accepted) in [
            (1 << 20, Some(0), true),
            (1 << 20, Some(150_000), true),
            (1 << 20, None, true),
            (100 << 10, Some(1), false),
        ] {
            let budget = Budget::new(budget_octets);
            let mut body =
                Body::new(budget.reserve(None, size_octets.unwrap_or(300_000)).expect("room"), size_octets, 300_000);
            for _ in 0..200 {
                body.push(&[b'x'; 1000]);
                assert!(body.raw.capacity() as u64 <= body.share.octets(), "{size_octets:?}");
            }
            match body.finish() {
                Ok((raw, share)) => assert!(is_accepted && raw.len() == 200_000 && share.octets() >= 200_000),
                Err(refusal) => assert!(!is_accepted && refusal == Reply::of_limit(Limit::Memory)),
            }
            assert!(budget.reserve(None, budget_octets).is_ok(), "all of it is released");
        }
    }

    #[test]
    fn a_true_size_reserves_no_more_memory_than_it_says() {
        let budget = Budget::new(200 << 10);
        let mut body = Body::new(budget.reserve(None, 200_000).expect("room"), Some(200_000), 300_000);
        body.push(&vec![b'x'; 199_998]);
        body.push(b"\r\n");
        assert_eq!(body.finish().map(|(raw, _)| raw.len()).ok(), Some(200_000));
    }
}
