//! Questions about the newest Emails of all mailboxes, and their answers.

use std::fmt;
use std::str::FromStr;

use crate::model::{DomainName, Listed};

/// Which of the newest Emails of all mailboxes to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewestQuery {
    /// Whether to list only the newest Email of each mailbox.
    pub by_mailbox: bool,
    /// Only those of mailboxes of this domain.
    pub domain: Option<DomainName>,
    /// Where an earlier page ended; `None` for the newest.
    pub after: Option<NewestCursor>,
    /// The most to return.
    pub limit: usize,
}

/// A position in the order of all Emails. It stays valid while Emails arrive and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewestCursor {
    /// The second of a row of expiry.
    pub(crate) second: u64,
    /// The first sequence number of that row.
    pub(crate) first_sequence: u64,
    /// How many of its keys were not examined.
    pub(crate) keys_left: usize,
}

impl NewestCursor {
    /// Before the newest Email.
    pub(crate) const START: Self = Self { second: u64::MAX, first_sequence: u64::MAX, keys_left: usize::MAX };
}

impl fmt::Display for NewestCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.second, self.first_sequence, self.keys_left)
    }
}

impl FromStr for NewestCursor {
    type Err = NewestCursorError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numbers = text.split_once('-').and_then(|(second, rest)| Some((second, rest.split_once('-')?)));
        let (second, (first_sequence, keys_left)) = numbers.ok_or(NewestCursorError)?;
        // The standard library would read a number behind a plus.
        if text.contains('+') {
            return Err(NewestCursorError);
        }
        Ok(Self {
            second: second.parse().map_err(|_| NewestCursorError)?,
            first_sequence: first_sequence.parse().map_err(|_| NewestCursorError)?,
            keys_left: keys_left.parse().map_err(|_| NewestCursorError)?,
        })
    }
}

/// The text is not a position of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a position; take the value of 'next' of an earlier answer")]
pub struct NewestCursorError;

/// An Email among the newest, and what is known of its mailbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewestEmail {
    /// The Email.
    pub listed: Listed,
    /// Emails of its mailbox, including expired ones that are not removed yet.
    pub mailbox_emails: u64,
    /// Octets of their messages.
    pub mailbox_octets: u64,
    /// Whether all recipients of its message are leases.
    pub is_of_leases: bool,
}

/// A page of the newest Emails of all mailboxes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewestPage {
    /// Newest first. A page may have fewer than were asked for, even none, although more follow.
    pub emails: Vec<NewestEmail>,
    /// How many Emails or mailboxes there are, including expired ones; `None` for those of one domain.
    pub total: Option<u64>,
    /// Where to continue; `None` at the end.
    pub next: Option<NewestCursor>,
}
