//! The octets of one BDAT (RFC 3030): so many, whatever they are. Nothing in them ends them, no dot is taken away.

use super::body::Body;
use super::reply::Reply;

/// A chunk on its way in.
#[derive(Debug)]
pub(super) struct Chunk {
    octets_left: u64,
    is_last: bool,
    /// Where they go; the refusal, if they are read only so that the replies stay in step.
    body: Result<Body, Reply>,
}

impl Chunk {
    /// A chunk of so many octets for a message, the last of it if `is_last`.
    pub(super) const fn new(octets: u64, is_last: bool, body: Result<Body, Reply>) -> Self {
        Self { octets_left: octets, is_last, body }
    }

    /// Takes what is in `input` of the chunk and moves `input` behind it. `true`: the chunk is whole.
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

    /// How much memory is set aside for its message.
    pub(super) fn held_octets(&self) -> u64 {
        self.body.as_ref().map_or(0, Body::held_octets)
    }

    /// Whether the message ends with it.
    pub(super) const fn is_last(&self) -> bool {
        self.is_last
    }

    /// The message up to the end of the chunk.
    pub(super) fn finish(self) -> Result<Body, Reply> {
        self.body.and_then(Body::checked)
    }
}
