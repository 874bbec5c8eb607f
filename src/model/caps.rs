//! The caps on the Emails of a mailbox and of a domain.

use serde::{Deserialize, Serialize};

/// The most Emails of a mailbox and of a domain. Without a cap only the disk limits them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caps {
    /// The most readable Emails of one mailbox; 0 means no cap.
    pub emails_per_mailbox: u32,
    /// The most Emails of all mailboxes of one domain; 0 means no cap. Emails that expired within the last minute
    /// count.
    pub emails_per_domain: u32,
    /// What happens to further mail at the cap of a mailbox.
    pub when_full: WhenFull,
}

impl Caps {
    /// Whether there is any cap.
    pub const fn are_set(&self) -> bool {
        self.emails_per_mailbox > 0 || self.emails_per_domain > 0
    }
}

/// What happens to a message for a full mailbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum WhenFull {
    /// The message is refused with a temporary error.
    #[default]
    Reject,
    /// The message replaces the oldest Email of the mailbox.
    DropOldest,
}
