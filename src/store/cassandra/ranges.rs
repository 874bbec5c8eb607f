//! Ranges of tokens, by which all rows of a table are read in parts.
//!
//! A cluster refuses to pass over too many deleted rows in one read, so a range that fails is read in halves.

/// The ranges that a walk begins with.
const RANGES: i128 = 64;
/// A range with fewer tokens is not divided.
const TOKENS_MIN: i64 = 1 << 44;

/// Tokens above `after`, up to `through`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TokenRange {
    pub(super) after: i64,
    pub(super) through: i64,
}

impl TokenRange {
    /// The ranges of all tokens. No row has the least one.
    pub(super) fn all() -> Vec<Self> {
        let edge = |nth: i128| {
            let width = i128::from(i64::MAX) - i128::from(i64::MIN);
            i64::try_from(i128::from(i64::MIN) + width * nth / RANGES).unwrap_or(i64::MAX)
        };
        (0..RANGES).map(|nth| Self { after: edge(nth), through: edge(nth + 1) }).collect()
    }

    /// Two ranges with the same tokens; `None` if this one is too small.
    pub(super) fn halves(self) -> Option<[Self; 2]> {
        let Self { after, through } = self;
        let middle = after.midpoint(through);
        let is_divided = through.saturating_sub(after) > TOKENS_MIN;
        is_divided.then_some([Self { after, through: middle }, Self { after: middle, through }])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ranges_have_every_token_once() {
        let mut ranges = TokenRange::all();
        for _ in 0..3 {
            ranges = ranges.into_iter().flat_map(|range| range.halves().expect("a large one")).collect();
        }
        assert_eq!((ranges[0].after, ranges[ranges.len() - 1].through), (i64::MIN, i64::MAX));
        assert!(ranges.windows(2).all(|pair| pair[0].through == pair[1].after && pair[0].after < pair[0].through));
        assert_eq!(TokenRange { after: 5, through: 50 }.halves(), None);
    }
}
