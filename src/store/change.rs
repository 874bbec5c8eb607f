//! Facts: what the journal stores, and all that a replay needs.
//!
//! A fact is decided before it is appended, so applying it has no rules: the same facts in the same order always have the
//! same result, and a fact about something that no longer exists does nothing.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::{EmailId, Envelope, Listed, Place, Timestamp, WebhookId};

/// A fact. The order of the variants is part of the journal's format, so a new one goes to the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Change {
    /// A message was received. Its octets are the record's content.
    Received {
        envelope: Envelope,
        received_at: Timestamp,
        /// The first millisecond in which its Emails are no longer readable.
        expires_at: Timestamp,
        /// Whether `expires_at` alone ends the Emails. Otherwise [`Ending::Shortened`] does, too.
        has_own_life: bool,
        /// The sequence number of the first recipient's Email. Those of the others follow.
        first: u64,
        /// The events that begin: recipients by their place in the envelope, with webhooks.
        events: Vec<(u16, WebhookId)>,
    },
    /// Emails were deleted, or made way for others.
    Deleted { emails: Vec<EmailId> },
    /// Ended events of Emails are pending again.
    EventsAdded { webhook: WebhookId, emails: Vec<EmailId>, due_at: Timestamp },
    /// What became of pending events, each by its webhook and the sequence number of its Email.
    EventsChanged { events: Vec<(WebhookId, u64, EventState)> },
}

/// What ended Emails up to the sequence number `through` without a fact in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Ending {
    /// Those that had expired by a time were removed. They must not come back when the clock is set back.
    Swept { by: Timestamp, through: u64 },
    /// None lives longer than `retention`, unless it has a life of its own.
    Shortened { retention: Duration, through: u64 },
}

impl Ending {
    /// Whether an ending that came right before this one ended nothing else.
    pub(crate) fn includes(&self, before: &Self) -> bool {
        match (self, before) {
            (Self::Swept { by, .. }, Self::Swept { by: before, .. }) => by >= before,
            (Self::Shortened { retention, .. }, Self::Shortened { retention: before, .. }) => retention <= before,
            _ => false,
        }
    }
}

/// What becomes of a pending event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum EventState {
    /// It is no longer pending.
    Ended,
    /// It had `attempts` attempts, and the next one is due at `due_at`.
    Retry { attempts: u32, due_at: Timestamp },
}

/// The place of a record in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct RecordPlace {
    /// The number of its segment.
    pub(crate) segment: u32,
    /// Where it begins in the segment's file.
    pub(crate) offset: u32,
    /// Octets of the whole record.
    pub(crate) length: u32,
    /// Octets of its content, which is at its end.
    pub(crate) content: u32,
}

impl RecordPlace {
    /// The place as other rooms carry it.
    pub(crate) fn opaque(self) -> Place {
        let mut octets = [0; 16];
        for (part, number) in octets.chunks_mut(4).zip([self.segment, self.offset, self.length, self.content]) {
            part.copy_from_slice(&number.to_le_bytes());
        }
        Place(octets)
    }

    /// The place of a listed Email.
    pub(crate) fn of(listed: &Listed) -> Self {
        let number = |at: usize| u32::from_le_bytes(std::array::from_fn(|n| listed.place.0[at + n]));
        Self { segment: number(0), offset: number(4), length: number(8), content: number(12) }
    }
}

impl Change {
    /// The envelope and the time of the message in the record's content, if there is one.
    pub(crate) fn into_message(self) -> Option<(Envelope, Timestamp)> {
        match self {
            Self::Received { envelope, received_at, .. } => Some((envelope, received_at)),
            _ => None,
        }
    }

    /// Whether the fact frees space. Such a fact must find room on a disk that is nearly full.
    pub(crate) fn frees_space(&self) -> bool {
        match self {
            Self::Deleted { .. } => true,
            Self::EventsChanged { events } => events.iter().all(|(_, _, state)| *state == EventState::Ended),
            Self::Received { .. } | Self::EventsAdded { .. } => false,
        }
    }
}
