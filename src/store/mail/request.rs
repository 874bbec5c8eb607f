//! What is asked of a store, and what that comes to.

use crate::model::{AttemptRecord, Delivery, EmailId, Mailbox, Timestamp, Verdict, WebhookId};
use crate::store::Replayed;

/// What is asked of a store.
#[derive(Clone, Debug)]
pub(crate) enum Request {
    /// Store a message.
    Receive { delivery: Delivery, has_own_life: bool },
    /// Delete an Email, if it is readable at `now`.
    Delete { id: EmailId, now: Timestamp },
    /// Delete Emails of a mailbox, oldest first, none with a sequence number above `through`; at most `limit`.
    DeleteAll { mailbox: Mailbox, through: u64, now: Timestamp, limit: usize },
    /// Record what became of events.
    Record { attempts: Vec<Attempt> },
    /// End the oldest events of a webhook: all, or those whose Emails expired before `expired_by`.
    EndEvents { webhook: WebhookId, expired_by: Option<Timestamp> },
    /// Make ended events of these Emails pending again.
    Replay { webhook: WebhookId, emails: Vec<EmailId>, now: Timestamp },
}

/// An attempt, as far as the event needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    pub(super) webhook: WebhookId,
    /// `None` for a test.
    pub(super) sequence: Option<u64>,
    pub(super) number: u32,
    pub(super) verdict: Verdict,
}

impl Request {
    /// The request to record attempts.
    pub(crate) fn record(attempts: &[AttemptRecord]) -> Self {
        let attempt = |attempt: &AttemptRecord| Attempt {
            webhook: attempt.webhook,
            sequence: attempt.email.map(|_| attempt.sequence),
            number: attempt.number,
            verdict: attempt.verdict,
        };
        Self::Record { attempts: attempts.iter().map(attempt).collect() }
    }

    /// About how many octets of memory the request takes in the queue, without those of a message.
    pub(crate) fn weight_octets(&self) -> usize {
        let more = match self {
            Self::Receive { delivery, .. } => {
                let recipients = delivery.envelope.recipients.iter();
                recipients.map(|to| size_of_val(to) + 2 * to.mailbox.as_str().len()).sum()
            }
            Self::Record { attempts } => size_of_val(&attempts[..]),
            Self::Replay { emails, .. } => size_of_val(&emails[..]),
            Self::Delete { .. } | Self::DeleteAll { .. } | Self::EndEvents { .. } => 0,
        };
        size_of::<Self>() + more
    }
}

/// What a request comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The message is stored.
    Received,
    /// It is not: a mailbox among its recipients is full.
    MailboxFull,
    /// It is not: the store has as many Emails as it may.
    Full,
    /// So many readable Emails were deleted. If `more`, the same request may delete further ones.
    Removed { readable: u64, more: bool },
    /// The attempts whose events were pending, and that were not recorded before.
    Recorded { counted: Vec<bool> },
    /// So many events were ended.
    Ended(usize),
    /// The result of a replay.
    Replayed(Replayed),
}

impl Outcome {
    /// How many readable Emails were deleted, and whether the same request may delete further ones.
    pub(crate) fn removed(&self) -> (u64, bool) {
        match self {
            Self::Removed { readable, more } => (*readable, *more),
            _ => (0, false),
        }
    }
}
