//! A lease: an address that one key holds for a time.
//!
//! Its mail lies in a mailbox of its own, whose name nobody can write as an address. So whoever asks for the address without
//! the key finds what an unknown address has.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

use super::{Client, Mailbox, Timestamp};

/// How long an address that was chosen rests after a lease of it: it takes no mail, and nobody else can lease it.
pub const LEASE_REST: Duration = Duration::from_hours(30 * 24);

/// The id of a lease, which is random. No two leases have the same, also not those of one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LeaseId([u8; 16]);

impl LeaseId {
    /// The id with these octets.
    pub const fn from_octets(octets: [u8; 16]) -> Self {
        Self(octets)
    }

    /// The octets of the id.
    pub const fn octets(self) -> [u8; 16] {
        self.0
    }

    /// Reads the form that [`LeaseId`] is shown in.
    pub(super) fn from_hex(text: &str) -> Option<Self> {
        let number = u128::from_str_radix(text, 16).ok().filter(|_| text.len() == 32)?;
        Some(Self(number.to_be_bytes()))
    }
}

/// Shows 32 hexadecimal digits.
impl fmt::Display for LeaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

/// A lease, living or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseRecord {
    /// Its id.
    pub id: LeaseId,
    /// The mailbox that the address has without a lease, without a `+tag`. It has one record at most.
    pub mailbox: Mailbox,
    /// The SHA-256 of the key, which itself is not kept.
    pub key: [u8; 32],
    /// The client whose shares it counts for; `None` if it has none.
    pub client: Option<Client>,
    /// When it began.
    pub created_at: Timestamp,
    /// The first millisecond in which it no longer lives, however often it is read.
    pub expires_at: Timestamp,
    /// How many seconds it lives after its mail was last read.
    pub idle: Option<u32>,
    /// When its mail was last read, or it began.
    pub read_at: Timestamp,
    /// How many messages it still takes; `None` for any number.
    pub messages_left: Option<u32>,
    /// How many seconds its mail is kept; 0 for as long as it lives.
    pub keep: u32,
    /// When it ended, once it is known that nothing but the rest is left of it.
    pub ended_at: Option<Timestamp>,
}

impl LeaseRecord {
    /// The mailbox of its mail.
    pub fn private_mailbox(&self) -> Mailbox {
        self.mailbox.private(self.id)
    }

    /// The first millisecond in which it does not live.
    pub fn ends_at(&self) -> Timestamp {
        let idle = self.idle.map(|idle| self.read_at.plus(Duration::from_secs(idle.into())));
        let by_time = idle.map_or(self.expires_at, |idle| idle.min(self.expires_at));
        self.ended_at.map_or(by_time, |ended_at| ended_at.min(by_time))
    }

    /// Whether its key opens its mailbox.
    pub fn is_living(&self, now: Timestamp) -> bool {
        self.ended_at.is_none() && now < self.ends_at()
    }

    /// The first millisecond in which anybody may lease the address.
    pub fn rests_until(&self) -> Timestamp {
        self.ends_at().plus(LEASE_REST)
    }

    /// When something must be done about it: its mail goes at its end, and the record after the rest.
    pub fn due_at(&self) -> Timestamp {
        if self.ended_at.is_some() { self.rests_until() } else { self.ends_at() }
    }

    /// The same lease, over at `now`. Nothing of it is left to be done until its rest is over.
    #[must_use]
    pub fn ended(self, now: Timestamp) -> Self {
        Self { ended_at: Some(now.min(self.ends_at())), ..self }
    }

    /// Whether this is the hash of its key. The time that this takes does not depend on how much of it is right.
    pub fn has_key(&self, hash: &[u8; 32]) -> bool {
        self.key.ct_eq(hash).into()
    }

    /// How long its mail is kept: as long as its holder said, or as long as it lives, but not longer than `most`.
    pub fn keep(&self, most: Duration) -> Duration {
        let life = || self.expires_at.since(self.created_at).min(most);
        if self.keep == 0 { life() } else { Duration::from_secs(self.keep.into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Address, Subaddressing};

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    fn lease() -> LeaseRecord {
        LeaseRecord {
            id: LeaseId::from_octets([0xab; 16]),
            mailbox: "ann@example.test".parse::<Address>().expect("address").mailbox(Subaddressing::Strip),
            key: [1; 32],
            client: None,
            created_at: at(0),
            expires_at: at(100),
            idle: None,
            read_at: at(0),
            messages_left: None,
            keep: 60,
            ended_at: None,
        }
    }

    #[test]
    fn a_lease_lives_until_its_end_and_then_rests() {
        let lease = lease();
        assert!(lease.is_living(at(99)));
        assert!(!lease.is_living(at(100)));
        assert_eq!(lease.rests_until(), at(100).plus(LEASE_REST));
        assert_eq!(lease.due_at(), at(100));
        let ended = LeaseRecord { ended_at: Some(at(40)), ..lease };
        assert!(!ended.is_living(at(39)), "what has ended does not come back when the clock is set back");
        assert_eq!((ended.ends_at(), ended.due_at()), (at(40), at(40).plus(LEASE_REST)));
    }

    #[test]
    fn a_lease_that_nobody_reads_ends_earlier() {
        let lease = LeaseRecord { idle: Some(10), read_at: at(50), ..lease() };
        assert_eq!(lease.ends_at(), at(60));
        let read = LeaseRecord { read_at: at(95), ..lease };
        assert_eq!(read.ends_at(), at(100));
    }

    #[test]
    fn no_address_has_the_name_of_a_private_mailbox() {
        let lease = lease();
        let private = lease.private_mailbox();
        assert_eq!((private.lease(), private.public()), (Some(lease.id), lease.mailbox.clone()));
        assert_eq!((private.to_string(), private.domain()), ("ann@example.test".to_owned(), "example.test"));
        assert_ne!(private, lease.mailbox);
        assert_eq!(lease.mailbox.lease(), None);
        assert!(private.as_str().parse::<Address>().is_err());
        let quoted = private.as_str().split_once('@').map(|(local, domain)| format!("\"{local}\"@{domain}"));
        assert!(quoted.expect("an at sign").parse::<Address>().is_err());
        let with_at_sign: Address = "\"a@b\"@example.test".parse().expect("address");
        let odd = with_at_sign.mailbox(Subaddressing::Strip);
        assert_eq!(odd.private(lease.id).public(), odd);
    }
}
