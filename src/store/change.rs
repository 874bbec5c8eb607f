//! Every write, as one value of one enum: what the journal holds and replay does again.
//!
//! Times and ids are inside; everything else (sequence numbers, counts, which rows are due) is decided from the index alone
//! when a change is applied, so applying the same changes in the same order decides the same again. A change for
//! something that is gone by then does nothing.

use serde::{Deserialize, Serialize};

use super::journal::RecordPlace;
use super::{OutboxLimits, Registration, Replay, Replayed, WebhookRegistration};
use crate::model::{
    AttemptRecord, Caps, DomainName, DomainRecord, EmailId, Envelope, Mailbox, Recipient, Timestamp, WebhookId,
    WebhookLimits, WebhookRecord,
};

/// A write. The order of the variants is part of the journal's format: new ones go to the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Change {
    /// A message was received; its octets are the record's content. The caps and the limits of the outbox are those of that
    /// moment, so that a replay under others decides the same.
    Received { envelope: Envelope, received_at: Timestamp, expires_at: Timestamp, caps: Caps, outbox: OutboxLimits },
    /// One Email is deleted if it is readable at `now`.
    Deleted { id: EmailId, now: Timestamp },
    /// At most `limit` Emails of a mailbox are deleted, oldest first, none with a sequence number above `through`: the highest
    /// one before group number `group`, which says the same to a store whose numbers are others.
    MailboxDeleted { mailbox: Mailbox, through: u64, group: u64, now: Timestamp, limit: u32 },
    /// Emails that have expired by `now` are removed, about `limit` of them.
    Expired { now: Timestamp, limit: u32 },
    /// A domain is registered unless it is or `limit` are.
    DomainRegistered { record: DomainRecord, limit: u32 },
    /// The record of a registered domain is replaced.
    DomainUpdated { record: DomainRecord },
    /// A domain is removed.
    DomainRemoved { name: DomainName },
    /// A webhook is registered unless the same one is or a limit is reached.
    WebhookRegistered { record: Box<WebhookRecord>, limits: WebhookLimits },
    /// A webhook is deleted with all that is its.
    WebhookDeleted { id: WebhookId },
    /// Those of `webhooks` are deleted that a sweep of `of` is still after.
    WebhooksSwept { webhooks: Vec<WebhookId>, of: Sweep },
    /// Attempts to tell webhooks of events were made.
    Attempted { attempts: Vec<AttemptRecord> },
    /// Ended events are due again, as many as the outbox had room for at that moment: at most those that the log shows.
    Replayed { webhook: WebhookId, which: Replay, now: Timestamp, outbox: OutboxLimits },
    /// An event that was waiting in the store that this one is restored from waits here as well: it had found room there.
    EventRestored { webhook: WebhookId, email: EmailId, attempts: u32, due_at: Timestamp },
    /// The oldest events of a webhook end: all of them where it is disabled, else those of Emails that expired before.
    EventsEnded { webhook: WebhookId, expired_by: Timestamp },
    /// A message that lived in another store lives here: those Emails of it that are `living`, under the sequence numbers
    /// that they had, which count from `sequence` on for its first recipient. Its octets are the record's content.
    Restored { envelope: Envelope, received_at: Timestamp, expires_at: Timestamp, sequence: u64, live: Vec<EmailId> },
    /// The message of the record at `from` is here as well, octet for octet, for the pending events that need it there.
    Relocated { from: RecordPlace, envelope: Envelope, received_at: Timestamp },
    /// Emails that expire after `latest` are removed, about `limit` of them: they came while the clock was ahead.
    OverlongRemoved { latest: Timestamp, limit: u32 },
}

/// Which webhooks a sweep is after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Sweep {
    /// Those of a domain.
    Domain(DomainName),
    /// Those for which no mail has come since.
    IdleSince(Timestamp),
    /// Those of strangers that were registered before and have never had a delivery.
    UnprovenSince(Timestamp),
    /// Those of an origin.
    Origin(String),
}

impl Sweep {
    /// Whether it is after this one.
    pub(crate) fn is_after(&self, webhook: &WebhookRecord) -> bool {
        match self {
            Self::Domain(domain) => webhook.mailbox.domain() == domain.as_str(),
            Self::IdleSince(since) => webhook.last_mail_at < *since,
            Self::UnprovenSince(since) => webhook.is_evictable() && webhook.created_at < *since,
            Self::Origin(origin) => webhook.origin == *origin,
        }
    }
}

/// What a change did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The message is kept, and webhooks are to be told or not; events were dropped to make room or not.
    Received { has_events: bool, has_dropped: bool },
    /// The message is not kept: a mailbox or a domain among its recipients is full.
    MailboxFull,
    /// Emails were removed; `more` may be left to remove by the same change again.
    Removed { readable: u64, all: u64, more: bool },
    /// What became of a registration.
    Registered(Registration),
    /// Whether the domain was there to be changed.
    Domain(bool),
    /// What became of a webhook's registration.
    Webhook(WebhookRegistration),
    /// Attempts are noted, as far as their events were there; webhooks were disabled by it or not, and `more` may be left to
    /// end of what waited for these.
    Recorded { has_disabled: bool, more: bool },
    /// Which ended events are due again.
    Replayed(Replayed),
    /// How many webhooks or events there were to be changed; `more` may be left to change by the same change again.
    Changed { number: usize, more: bool },
}

impl Change {
    /// The message that is its record's content, if it has one: with what envelope, and when it was received.
    pub(crate) fn into_message(self) -> Option<(Envelope, Timestamp)> {
        match self {
            Self::Received { envelope, received_at, .. }
            | Self::Restored { envelope, received_at, .. }
            | Self::Relocated { envelope, received_at, .. } => Some((envelope, received_at)),
            _ => None,
        }
    }

    /// For whom it has a message.
    pub(crate) fn recipients(&self) -> Option<&[Recipient]> {
        match self {
            Self::Received { envelope, .. } | Self::Restored { envelope, .. } | Self::Relocated { envelope, .. } => {
                Some(&envelope.recipients)
            }
            _ => None,
        }
    }

    /// About how much memory it takes while it waits, beside the octets of a message.
    pub(crate) fn weight_octets(&self) -> usize {
        match self {
            Self::Received { envelope, .. } => {
                let of_recipients: usize =
                    envelope.recipients.iter().map(|to| size_of_val(to) + 2 * to.mailbox.as_str().len()).sum();
                size_of::<Self>() + of_recipients
            }
            Self::Attempted { attempts } => {
                size_of::<Self>() + attempts.iter().map(|it| size_of_val(it) + it.response.len()).sum::<usize>()
            }
            _ => size_of::<Self>(),
        }
    }

    /// Whether the change makes room, so that it must work on a disk that is nearly full.
    pub(crate) fn frees_space(&self) -> bool {
        matches!(
            self,
            Self::Deleted { .. }
                | Self::MailboxDeleted { .. }
                | Self::Expired { .. }
                | Self::DomainRemoved { .. }
                | Self::WebhookDeleted { .. }
                | Self::WebhooksSwept { .. }
                | Self::Attempted { .. }
                | Self::EventsEnded { .. }
                | Self::OverlongRemoved { .. }
        )
    }

    /// Whether the change, which came to `outcome`, may have ended webhooks, or events that nobody has told.
    pub(crate) fn outdates_outbox(&self, outcome: &Outcome) -> bool {
        match self {
            Self::Received { .. } => {
                !matches!(outcome, Outcome::Received { has_dropped: false, .. } | Outcome::MailboxFull)
            }
            Self::Attempted { .. } => !matches!(outcome, Outcome::Recorded { has_disabled: false, .. }),
            // One that is registered may have taken the place of another.
            Self::WebhookRegistered { .. }
            | Self::WebhookDeleted { .. }
            | Self::WebhooksSwept { .. }
            | Self::EventsEnded { .. } => true,
            Self::Deleted { .. }
            | Self::MailboxDeleted { .. }
            | Self::Expired { .. }
            | Self::DomainRegistered { .. }
            | Self::DomainUpdated { .. }
            | Self::DomainRemoved { .. }
            | Self::Replayed { .. }
            | Self::EventRestored { .. }
            | Self::Restored { .. }
            | Self::Relocated { .. }
            | Self::OverlongRemoved { .. } => false,
        }
    }
}
