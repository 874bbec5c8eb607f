//! Keys of leases.

use std::fmt;

use crate::model::Secret;
use crate::tokens;

/// What every key begins with.
pub const KEY_PREFIX: &str = "tmk_";

/// The SHA-256 of a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KeyHash(pub(super) [u8; 32]);

impl KeyHash {
    /// The hash of a presented text; `None` if it has not the form of a key.
    pub(super) fn of(presented: &str) -> Option<Self> {
        presented.starts_with(KEY_PREFIX).then(|| Self(tokens::hash(presented)))
    }

    /// A new key, and its hash.
    pub(super) fn fresh() -> (Secret, Self) {
        let key = tokens::fresh(KEY_PREFIX);
        let hash = Self(tokens::hash(key.expose()));
        (key, hash)
    }
}

/// Shows nothing of the hash.
impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash")
    }
}
