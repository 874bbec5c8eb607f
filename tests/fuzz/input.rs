//! How inputs are made: seeds, changed, and the places where TCP cuts them.

use std::fmt;

use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Octets and where they are cut; shown so that a failure can become a seed.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Input {
    pub(crate) octets: Vec<u8>,
    /// In ascending order, within the octets.
    cuts: Vec<usize>,
}

impl Input {
    /// The octets in one piece.
    pub(crate) fn whole(octets: Vec<u8>) -> Self {
        Self { octets, cuts: Vec::new() }
    }

    /// The same with LHLO for EHLO.
    pub(crate) fn of_lmtp(&self) -> Self {
        let mut lmtp = self.clone();
        for at in memchr::memmem::find_iter(&self.octets, b"EHLO") {
            lmtp.octets[at] = b'L';
        }
        lmtp
    }

    /// The octets as they are cut.
    pub(crate) fn pieces(&self) -> Vec<&[u8]> {
        let ends = self.cuts.iter().copied().chain([self.octets.len()]);
        let mut start = 0;
        ends.map(|end| &self.octets[std::mem::replace(&mut start, end)..end]).collect()
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} cut at {:?}", self.octets.escape_ascii().to_string(), self.cuts)
    }
}

/// What `octets` makes, cut in up to eight places.
pub(crate) fn cut(octets: impl Strategy<Value = Vec<u8>>) -> impl Strategy<Value = Input> {
    (octets, proptest::collection::vec(any::<Index>(), 0..8)).prop_map(|(octets, cuts)| {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.index(octets.len() + 1)).collect();
        cuts.sort_unstable();
        Input { octets, cuts }
    })
}

/// One change to a seed.
#[derive(Clone, Debug)]
enum Mutation {
    Remove(Index, usize),
    Insert(Index, Vec<u8>),
    Overwrite(Index, Vec<u8>),
    Repeat(Index, usize, usize),
    Splice(Index, Vec<u8>, Index),
}

impl Mutation {
    fn apply(self, octets: &mut Vec<u8>) {
        let place = |index: Index, octets: &[u8]| index.index(octets.len() + 1);
        match self {
            Self::Remove(at, length) => {
                let at = place(at, octets);
                octets.drain(at..octets.len().min(at + length));
            }
            Self::Insert(at, new) => {
                let at = place(at, octets);
                octets.splice(at..at, new);
            }
            Self::Overwrite(at, new) => {
                let at = place(at, octets);
                octets.splice(at..octets.len().min(at + new.len()), new);
            }
            Self::Repeat(at, length, times) => {
                let at = place(at, octets);
                let again = octets[at..octets.len().min(at + length)].repeat(times);
                octets.splice(at..at, again);
            }
            Self::Splice(at, other, from) => {
                let at = place(at, octets);
                octets.truncate(at);
                octets.extend_from_slice(&other[place(from, &other)..]);
            }
        }
    }
}

/// Octets that parsers of mail trip over.
fn fragment() -> impl Strategy<Value = Vec<u8>> {
    let fragments: Vec<&[u8]> = vec![
        b"\r",
        b"\n",
        b"\r\n",
        b".",
        b"\r\n.\r\n",
        b"\n.\n",
        b"\r.\r",
        b"\0",
        b" ",
        b"\t",
        b"<",
        b">",
        b"@",
        b":",
        b"\"",
        b"\\",
        b",",
        b"=",
        b"[",
        b"]",
        b"+",
        b"\x7f",
        b"\x80",
        b"\xff",
        b"\xc3\xa9",
        b"\xe2\x80\xa8",
        b"SIZE=",
        b"BODY=",
        b"18446744073709551616",
        b"DATA\r\n",
        b"RSET\r\n",
        b"BDAT 0 LAST\r\n",
    ];
    prop_oneof![
        4 => select(fragments).prop_map(<[u8]>::to_vec),
        1 => proptest::collection::vec(any::<u8>(), 1..8),
        1 => (any::<u8>(), 1usize..3000).prop_map(|(octet, length)| vec![octet; length]),
    ]
}

/// Any of `seeds` after a few changes.
pub(crate) fn mutated(seeds: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let others = seeds.clone();
    let mutation = prop_oneof![
        2 => (any::<Index>(), 1usize..40).prop_map(|(at, length)| Mutation::Remove(at, length)),
        4 => (any::<Index>(), fragment()).prop_map(|(at, new)| Mutation::Insert(at, new)),
        2 => (any::<Index>(), fragment()).prop_map(|(at, new)| Mutation::Overwrite(at, new)),
        1 => (any::<Index>(), 1usize..200, 1usize..6).prop_map(|(at, length, times)| Mutation::Repeat(at, length, times)),
        1 => (any::<Index>(), select(others), any::<Index>()).prop_map(|(at, other, from)| Mutation::Splice(at, other, from)),
    ];
    (select(seeds), proptest::collection::vec(mutation, 0..6)).prop_map(|(mut octets, mutations)| {
        for mutation in mutations {
            mutation.apply(&mut octets);
        }
        octets
    })
}
