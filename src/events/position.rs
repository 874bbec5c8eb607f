//! Where a subscriber of a mailbox is, as a text that survives a restart.

use std::fmt;
use std::str::FromStr;

/// A position in the events of a topic of one store.
///
/// Its text is the tag of the topic and the number, both in hexadecimal. The tag depends on a secret of the store, so the
/// text of another store or topic has another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The tag of the topic.
    pub tag: u32,
    /// The sequence number of an Email: all up to it are before this position.
    pub sequence: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}-{:x}", self.tag, self.sequence)
    }
}

/// The text is no position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a position of this service")]
pub struct PositionError;

impl FromStr for Position {
    type Err = PositionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (tag, sequence) = text.split_once('-').ok_or(PositionError)?;
        let tag = u32::from_str_radix(tag, 16).map_err(|_| PositionError)?;
        let sequence = u64::from_str_radix(sequence, 16).map_err(|_| PositionError)?;
        Ok(Self { tag, sequence })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_as_it_is_written() {
        for (tag, sequence) in [(0, 0), (0xdead_beef, 17), (u32::MAX, u64::MAX)] {
            let position = Position { tag, sequence };
            assert_eq!(position.to_string().parse(), Ok(position));
        }
        for text in ["", "-", "1", "x-1", "1-x", "123456789-1", "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b"] {
            assert_eq!(text.parse::<Position>(), Err(PositionError), "{text}");
        }
    }
}
