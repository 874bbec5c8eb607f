//! The cap on the Emails of a mailbox.

use serde::{Deserialize, Serialize};

/// The most Emails of a mailbox. Without a cap only the disk limits them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct Caps {
    /// The most readable Emails of one mailbox; 0 means no cap.
    pub emails_per_mailbox: u32,
    /// What happens to further mail at the cap.
    pub when_full: WhenFull,
}

/// What the journal has. The second number was a cap of the domain in earlier builds.
type Stored = (u32, u32, WhenFull);

impl From<Stored> for Caps {
    fn from((emails_per_mailbox, _, when_full): Stored) -> Self {
        Self { emails_per_mailbox, when_full }
    }
}

impl From<Caps> for Stored {
    fn from(Caps { emails_per_mailbox, when_full }: Caps) -> Self {
        (emails_per_mailbox, 0, when_full)
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
