//! Making, hashing and comparing tokens.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::model::Secret;

/// What every token begins with, so that people and scanners for leaked secrets recognize it.
const PREFIX: &str = "tm_";

/// A new token: the prefix, and 256 random bits in base64url.
pub(super) fn fresh() -> Secret {
    let random: [u8; 32] = rand::random();
    Secret::new(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(random))).expect("a text that is not empty")
}

/// The hash of a token. A fast hash is enough, since nobody can try 2^256 tokens.
pub(super) fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}

/// Whether two hashes are equal, in a time that does not depend on where they differ.
pub(super) fn is_equal(one: &[u8; 32], other: &[u8; 32]) -> bool {
    one.ct_eq(other).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_distinct_and_hashed_by_sha_256() {
        assert_ne!(fresh(), fresh());
        // FIPS 180-2, appendix B.1.
        assert_eq!(hash("abc")[..8], [0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea]);
        assert!(is_equal(&hash("abc"), &hash("abc")));
        assert!(!is_equal(&hash("abc"), &hash("abd")));
    }
}
