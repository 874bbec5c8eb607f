//! The octets of an incoming message, within the size limit and within the memory that its client may use.

use bytes::Bytes;

use super::reply::Reply;
use crate::admission::Permit;

/// The smallest step by which the memory of a message grows.
const GROW_OCTETS: usize = 8 * 1024;

/// The octets of one message. A refused message holds no octets, but it is still read to its end: its octets must not be
/// taken for commands.
#[derive(Debug)]
pub(super) struct Body {
    /// The capacity never exceeds the permit.
    raw: Vec<u8>,
    room: Permit,
    octets_max: u64,
    /// Why the message is refused: it is too large, or no memory is left for it.
    refusal: Option<Reply>,
}

impl Body {
    /// An empty message. `room` is for its octets; it takes nothing before they arrive.
    pub(super) const fn new(room: Permit, octets_max: u64) -> Self {
        Self { raw: Vec::new(), room, octets_max, refusal: None }
    }

    /// The number of octets so far.
    pub(super) const fn octets(&self) -> u64 {
        self.raw.len() as u64
    }

    /// Adds octets.
    pub(super) fn push(&mut self, content: &[u8]) {
        if self.refusal.is_some() {
            return;
        }
        match self.make_room(content.len()) {
            Ok(()) => self.raw.extend_from_slice(content),
            Err(refusal) => {
                self.refusal = Some(refusal);
                self.raw = Vec::new();
                self.room.shrink_to(0);
            }
        }
    }

    /// The message, or its refusal.
    pub(super) fn unless_refused(self) -> Result<Self, Reply> {
        match self.refusal {
            Some(refusal) => Err(refusal),
            None => Ok(self),
        }
    }

    /// The complete message with its memory.
    pub(super) fn finish(self) -> Result<(Bytes, Permit), Reply> {
        let Self { raw, room, .. } = self.unless_refused()?;
        Ok((raw.into(), room))
    }

    /// Makes room for more octets: twice the memory if the client may have it, and else what is needed.
    fn make_room(&mut self, octets: usize) -> Result<(), Reply> {
        let Self { raw, room, octets_max, .. } = self;
        let needed = raw.len() + octets;
        if needed as u64 > *octets_max {
            return Err(Reply::message_too_large(*octets_max));
        }
        if needed <= raw.capacity() {
            return Ok(());
        }
        let at_best = (raw.capacity() * 2).max(raw.capacity() + GROW_OCTETS).max(needed);
        let mut capacity = usize::try_from(*octets_max).unwrap_or(usize::MAX).min(at_best);
        if room.grow_to(capacity as u64).is_err() {
            capacity = needed;
            room.grow_to(needed as u64).map_err(Reply::of_refused)?;
        }
        raw.reserve_exact(capacity - raw.len());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::admission::{Admission, What, Who};
    use crate::config::{Config, Revision};

    fn admission(octets_max: u64) -> Arc<Admission> {
        let mut config = Config::of_revision(Revision::Two, "unused".into());
        config.smtp.bodies_octets_max = octets_max;
        Arc::new(Admission::new(&config))
    }

    fn body(admission: &Arc<Admission>, octets_max: u64) -> Body {
        Body::new(admission.admit(Who::Server, What::MailOctets, 0).expect("nothing"), octets_max)
    }

    #[test]
    fn a_message_of_the_largest_size_is_accepted_and_none_above() {
        let taken = |content: &[u8], octets_max| {
            let mut body = body(&admission(1 << 20), octets_max);
            body.push(content);
            body.finish().ok().map(|(raw, _)| raw)
        };
        assert_eq!(taken(b".23\r\n", 5).as_deref(), Some(&b".23\r\n"[..]));
        assert_eq!(taken(b".23\r\n", 4), None);
        assert_eq!(taken(b"", 0).as_deref(), Some(&b""[..]));
    }

    #[test]
    fn a_message_over_the_limit_holds_no_octets() {
        let admission = admission(1 << 20);
        let mut body = body(&admission, 10);
        for _ in 0..1000 {
            body.push(&[b'x'; 1000]);
            assert_eq!((body.raw.capacity(), admission.held(What::MailOctets)), (0, 0));
        }
        assert_eq!(body.finish().err(), Some(Reply::message_too_large(10)));
    }

    #[test]
    fn a_message_never_uses_more_memory_than_its_permit() {
        for (octets_max, is_accepted) in [(1 << 20, true), (210_000, true), (100 << 10, false)] {
            let admission = admission(octets_max);
            let mut body = body(&admission, 300_000);
            assert_eq!(admission.held(What::MailOctets), 0, "nothing before octets come");
            for _ in 0..200 {
                body.push(&[b'x'; 1000]);
                assert!(body.raw.capacity() as u64 <= admission.held(What::MailOctets));
            }
            match body.finish() {
                Ok((raw, room)) => assert!(is_accepted && raw.len() == 200_000 && room.amount() >= 200_000),
                Err(refusal) => assert!(!is_accepted && refusal.code() == 452),
            }
            assert_eq!(admission.held(What::MailOctets), 0, "all of it is released");
        }
    }
}
