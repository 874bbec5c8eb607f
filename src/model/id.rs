//! The identifier of an Email.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Timestamp;

/// The `id` of an Email: a UUID version 7 (RFC 9562).
///
/// Anybody with an id can read and delete the Email, so each id has 74 new random bits. A generator that counts up
/// within a millisecond would let one id reveal others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EmailId(Uuid);

impl EmailId {
    /// A new id for an Email received at `at`.
    pub fn fresh(at: Timestamp) -> Self {
        Self::from_parts(at, rand::random())
    }

    /// The id from a time and random octets.
    pub fn from_parts(at: Timestamp, random: [u8; 10]) -> Self {
        let millis = u64::try_from(at.millis()).unwrap_or(0);
        Self(uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid())
    }

    /// When the Email was received; `None` if the id is no UUID of version 7.
    pub fn received_at(self) -> Option<Timestamp> {
        let mut millis = [0; 8];
        millis[2..].copy_from_slice(&self.octets()[..6]);
        let millis = i64::from_be_bytes(millis);
        (self.0.get_version_num() == 7).then_some(Timestamp::from_millis(millis))
    }

    /// The 16 octets of the UUID.
    pub const fn octets(self) -> [u8; 16] {
        self.0.into_bytes()
    }

    /// The id from the 16 octets of a UUID of any version.
    pub const fn from_octets(octets: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(octets))
    }
}

impl fmt::Display for EmailId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

/// The text is not a UUID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a UUID; an id looks like 0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b")]
pub struct EmailIdError;

impl FromStr for EmailId {
    type Err = EmailIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // Only the hyphenated form of the interface is accepted, in either case.
        if text.len() != 36 {
            return Err(EmailIdError);
        }
        Uuid::try_parse(text).map(Self).map_err(|_| EmailIdError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_one_millisecond_share_no_random_bits() {
        let at = Timestamp::from_millis(1_700_000_000_000);
        let ids: std::collections::HashSet<_> = (0..1000).map(|_| EmailId::fresh(at)).collect();
        assert_eq!(ids.len(), 1000);
        let tails: std::collections::HashSet<[u8; 7]> =
            ids.iter().map(|id| id.octets()[9..].try_into().expect("seven octets")).collect();
        assert_eq!(tails.len(), 1000);
    }

    #[test]
    fn an_id_says_when_its_email_was_received() {
        let at = Timestamp::from_millis(1_700_000_000_123);
        assert_eq!(EmailId::fresh(at).received_at(), Some(at));
        assert_eq!(EmailId::from_octets([0x44; 16]).received_at(), None);
    }

    #[test]
    fn an_id_is_read_in_the_form_it_is_written() {
        let id = EmailId::fresh(Timestamp::from_millis(1));
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(id.to_string().to_uppercase().parse(), Ok(id));
        for bad in ["", "x", "0190b6a57c3e7d2f8a4b1c5d9e0f2a3b", "{0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b}"] {
            assert_eq!(bad.parse::<EmailId>(), Err(EmailIdError), "{bad}");
        }
    }
}
