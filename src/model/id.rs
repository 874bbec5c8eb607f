//! Identifiers.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Timestamp;

/// The `id` of an Email.
///
/// Anybody with an id can read and delete the Email, so each id has 74 new random bits. A generator that counts up
/// within a millisecond would let one id reveal others.
pub type EmailId = Id<7>;

/// The `id` of a webhook, which is random. Knowing it is enough to delete the webhook.
pub type WebhookId = Id<4>;

/// The id of a webhook's event, which is the `webhook-id` of Standard Webhooks. Every attempt and replay has the id of
/// its event.
pub type EventId = Id<8>;

/// An id of one kind: a UUID (RFC 9562). Those that the service makes have the version of their kind; others are read all
/// the same, and name nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Id<const VERSION: u8>(Uuid);

impl<const VERSION: u8> Id<VERSION> {
    /// The 16 octets of the UUID.
    pub const fn octets(self) -> [u8; 16] {
        self.0.into_bytes()
    }

    /// The id from the 16 octets of a UUID of any version.
    pub const fn from_octets(octets: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(octets))
    }
}

impl EmailId {
    /// The id of an Email received at `at`, with random octets.
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
}

impl<const VERSION: u8> fmt::Display for Id<VERSION> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

/// The text is not a UUID. An id of the kind has this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a UUID; an id looks like 0190b6a5-7c3e-{0}d2f-8a4b-1c5d9e0f2a3b")]
pub struct IdError(u8);

impl<const VERSION: u8> FromStr for Id<VERSION> {
    type Err = IdError;

    /// Only the hyphenated form of the interface is accepted, in either case.
    fn from_str(text: &str) -> Result<Self, IdError> {
        let uuid = Uuid::try_parse(text).ok().filter(|_| text.len() == 36);
        uuid.map(Self).ok_or(IdError(VERSION))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_says_when_its_email_was_received() {
        let at = Timestamp::from_millis(1_700_000_000_123);
        assert_eq!(EmailId::from_parts(at, [0xff; 10]).received_at(), Some(at));
        assert_eq!(EmailId::from_octets([0x44; 16]).received_at(), None);
    }

    #[test]
    fn an_id_is_read_in_the_form_it_is_written() {
        let id = EmailId::from_parts(Timestamp::from_millis(1), [0xab; 10]);
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(id.to_string().to_uppercase().parse(), Ok(id));
        for bad in ["", "x", "0190b6a57c3e7d2f8a4b1c5d9e0f2a3b", "{0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b}"] {
            assert_eq!(bad.parse::<EmailId>(), Err(IdError(7)), "{bad}");
        }
    }
}
