//! Hints about mail that arrived or was removed, for those who wait for it.
//!
//! ```text
//! mod            what happened to an Email, and which mailbox it is about
//! hub            passes events from a store to its subscriptions
//! subscription   the events of one mailbox, or of all
//! position       where a subscriber is, as a text that survives a restart
//! ```
//!
//! An event is a hint and never the truth: a subscriber looks at the store after it has subscribed, and again when it
//! missed events. So nothing falls between its subscription and its first look. A store publishes after its readers can
//! see the change. Publishing never waits for a subscriber: each has a buffer of its own, and one whose buffer is full
//! learns that it missed events.

mod hub;
mod position;
mod subscription;

use crate::model::Listed;

pub use hub::Hub;
pub use position::{Position, PositionError};
pub use subscription::{Hint, Subscription};

/// What a subscription is about: a mailbox, as a store names it, or all mailboxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Topic([u8; 16]);

impl Topic {
    /// All mailboxes.
    pub const ALL: Self = Self([0; 16]);

    /// The mailbox that a store names by these octets. They must be hard to choose, such as a keyed hash.
    pub const fn new(octets: [u8; 16]) -> Self {
        Self(octets)
    }

    /// The octets that name it.
    pub const fn octets(self) -> [u8; 16] {
        self.0
    }
}

/// What happened to an Email.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// It arrived and is readable.
    Received,
    /// It was deleted, or made way for a newer Email.
    Deleted,
    /// It was removed after its expiry.
    Expired,
}

/// An event about one Email.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// What happened.
    pub happening: Happening,
    /// The Email. After its removal a store may still have its octets for a short time.
    pub email: Listed,
}
