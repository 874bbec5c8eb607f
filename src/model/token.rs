//! Tokens with which remote callers show that the administrator trusts them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Timestamp;

/// What the bearer of a token may do, with its name in the interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Everything that the administrator may do.
    #[default]
    Admin,
    /// Reading what the administrator may read. A backup is more, since it has the secrets of webhooks.
    Read,
}

/// The text is not a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a scope is 'admin' or 'read'")]
pub struct ScopeError;

impl FromStr for Scope {
    type Err = ScopeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "admin" => Ok(Self::Admin),
            "read" => Ok(Self::Read),
            _ => Err(ScopeError),
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Admin => "admin",
            Self::Read => "read",
        })
    }
}

/// The name of a token: 1 to 64 ASCII letters, digits, `.`, `_` and `-`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct TokenName(String);

/// The longest name in octets.
const NAME_OCTETS_MAX: usize = 64;

/// The text is not a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name of a token has 1 to {NAME_OCTETS_MAX} letters, digits and the characters . _ -")]
pub struct TokenNameError;

impl FromStr for TokenName {
    type Err = TokenNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_name = (1..=NAME_OCTETS_MAX).contains(&text.len())
            && text.bytes().all(|octet| octet.is_ascii_alphanumeric() || b"._-".contains(&octet));
        if is_name { Ok(Self(text.to_owned())) } else { Err(TokenNameError) }
    }
}

impl fmt::Display for TokenName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for TokenName {
    type Error = TokenNameError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// A token that was given out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRecord {
    /// Its name. No two tokens have the same.
    pub name: TokenName,
    /// What its bearer may do.
    pub scope: Scope,
    /// When it was made.
    pub created_at: Timestamp,
    /// The first millisecond in which it is no longer valid; `None` if it is valid until it is revoked.
    pub expires_at: Option<Timestamp>,
    /// The SHA-256 of the token, which itself is not kept.
    pub hash: [u8; 32],
}

impl TokenRecord {
    /// An id for people and programs: the start of the hash, in hexadecimal. It does not help to guess the token.
    pub fn id(&self) -> String {
        format!("{:016x}", self.hash.first_chunk().map_or(0, |start| u64::from_be_bytes(*start)))
    }

    /// Whether the token is no longer valid.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|expires_at| expires_at <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_short_and_plain() {
        for good in ["ci", "Build-server_2.eu", &"a".repeat(64)] {
            assert_eq!(good.parse::<TokenName>().expect(good).to_string(), good);
        }
        for bad in ["", "a b", "ä", "a\n", "a/b", &"a".repeat(65)] {
            assert_eq!(bad.parse::<TokenName>(), Err(TokenNameError), "{bad}");
        }
    }

    #[test]
    fn a_token_is_valid_until_its_expiry() {
        let at = Timestamp::from_millis;
        let mut record = TokenRecord {
            name: "ci".parse().expect("name"),
            scope: Scope::Read,
            created_at: at(0),
            expires_at: Some(at(10)),
            hash: [0xab; 32],
        };
        assert!(!record.is_expired(at(9)));
        assert!(record.is_expired(at(10)));
        record.expires_at = None;
        assert!(!record.is_expired(Timestamp::MAX));
        assert_eq!(record.id(), "abababababababab");
    }
}
