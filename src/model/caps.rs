//! The caps on the Emails of a mailbox and of a domain.

use serde::{Deserialize, Serialize};

/// The most Emails of a mailbox and of a domain. Without any there is no bound but the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caps {
    /// Readable Emails of one mailbox; 0: no cap.
    pub emails_per_mailbox: u32,
    /// Emails of all mailboxes of one domain, those included that have expired within the last minute; 0: no cap.
    pub emails_per_domain: u32,
    /// What happens when there are as many.
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
    /// It is refused for now.
    #[default]
    Reject,
    /// It replaces the oldest Email of the mailbox.
    DropOldest,
}
