//! Every write, as one enum: the journal stores these values, and a replay applies them again.
//!
//! A change contains its times and ids. Everything else, such as sequence numbers and counts, is decided from the index when
//! the change is applied. So the same changes in the same order always have the same result. A change about something that
//! no longer exists does nothing.

use serde::{Deserialize, Serialize};

use super::journal::RecordPlace;
use super::{OutboxLimits, Registration, Replay, Replayed, WebhookLimits, WebhookRegistration};
use crate::model::{
    AttemptRecord, DomainName, DomainRecord, EmailId, Envelope, Mailbox, Recipient, Timestamp, WebhookId, WebhookRecord,
};

/// A write. The order of the variants is part of the journal's format, so a new one goes to the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Change {
    /// A message was received. Its octets are the record's content. `cap` is the most readable Emails of a mailbox, and 0
    /// means no cap. It and the outbox limits are inside, so that a replay under other settings has the same result.
    Received { envelope: Envelope, received_at: Timestamp, expires_at: Timestamp, cap: u32, outbox: OutboxLimits },
    /// One Email is deleted if it is readable at `now`.
    Deleted { id: EmailId, now: Timestamp },
    /// At most `limit` Emails of a mailbox are deleted, oldest first, none with a sequence number above `through`. That was
    /// the highest number before group `group`, by which a salvage finds the right number for its new store.
    MailboxDeleted { mailbox: Mailbox, through: u64, group: u64, now: Timestamp, limit: u32 },
    /// Emails that have expired by `now` are removed, about `limit` of them.
    Expired { now: Timestamp, limit: u32 },
    /// A domain is registered, unless it is registered already or `limit` domains are.
    DomainRegistered { record: DomainRecord, limit: u32 },
    /// The record of a registered domain is replaced.
    DomainUpdated { record: DomainRecord },
    /// A domain is removed.
    DomainRemoved { name: DomainName },
    /// A webhook is registered, unless an equal one is registered or a limit is reached.
    WebhookRegistered { record: Box<WebhookRecord>, limits: WebhookLimits },
    /// A webhook is deleted with its events and its delivery log.
    WebhookDeleted { id: WebhookId },
    /// Those of `webhooks` that still match `filter` are deleted.
    WebhooksSwept { webhooks: Vec<WebhookId>, filter: SweepFilter },
    /// Attempts to deliver events were made.
    Attempted { attempts: Vec<AttemptRecord> },
    /// Ended events that the delivery log shows are due again, as far as the outbox has room for them.
    Replayed { webhook: WebhookId, which: Replay, now: Timestamp, outbox: OutboxLimits },
    /// An event of a backup is pending here, too. It needs no room: it fitted into the outbox of the other store.
    EventRestored { webhook: WebhookId, email: EmailId, attempts: u32, due_at: Timestamp },
    /// The oldest events of a webhook end: all if it is disabled, otherwise those whose Emails expired before `expired_by`.
    EventsEnded { webhook: WebhookId, expired_by: Timestamp },
    /// A message of a backup is stored with its `live` Emails. They keep the sequence numbers that they had: `sequence` is
    /// that of the first recipient, and the others follow. The octets are the record's content.
    Restored { envelope: Envelope, received_at: Timestamp, expires_at: Timestamp, sequence: u64, live: Vec<EmailId> },
    /// The message at `from` is copied here for the pending events that refer to it.
    Relocated { from: RecordPlace, envelope: Envelope, received_at: Timestamp },
}

/// Which webhooks a sweep deletes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SweepFilter {
    /// The webhooks of a domain.
    Domain(DomainName),
    /// The webhooks without mail since this time.
    IdleSince(Timestamp),
    /// The evictable webhooks that were registered before this time.
    UnprovenSince(Timestamp),
    /// The webhooks of an origin.
    Origin(String),
}

impl SweepFilter {
    /// Whether the sweep deletes this webhook.
    pub(crate) fn matches(&self, webhook: &WebhookRecord) -> bool {
        match self {
            Self::Domain(domain) => webhook.mailbox.domain() == domain.as_str(),
            Self::IdleSince(since) => webhook.last_mail_at < *since,
            Self::UnprovenSince(since) => webhook.is_evictable() && webhook.created_at < *since,
            Self::Origin(origin) => webhook.origin == *origin,
        }
    }
}

/// The result of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ChangeResult {
    /// The message is stored. It may have created events, and may have dropped others.
    Received { has_events: bool, has_dropped: bool },
    /// The message is not stored: a mailbox or a domain among its recipients is full.
    MailboxFull,
    /// Emails were removed. If `more`, the same change may remove further ones.
    Removed { readable: u64, all: u64, more: bool },
    /// The result of a domain's registration.
    Registered(Registration),
    /// Whether the domain was registered.
    Domain(bool),
    /// The result of a webhook's registration.
    Webhook(WebhookRegistration),
    /// The attempts are recorded. They may have disabled webhooks, of which `more` events may have to be ended.
    Recorded { has_disabled: bool, more: bool },
    /// The result of a replay of events.
    Replayed(Replayed),
    /// How many webhooks or events were changed. If `more`, the same change may change further ones.
    Changed { number: usize, more: bool },
}

impl Change {
    /// The envelope and the time of the message in the record's content, if there is one.
    pub(crate) fn into_message(self) -> Option<(Envelope, Timestamp)> {
        match self {
            Self::Received { envelope, received_at, .. }
            | Self::Restored { envelope, received_at, .. }
            | Self::Relocated { envelope, received_at, .. } => Some((envelope, received_at)),
            _ => None,
        }
    }

    /// The recipients of the message in the record's content, if there is one.
    pub(crate) fn recipients(&self) -> Option<&[Recipient]> {
        match self {
            Self::Received { envelope, .. } | Self::Restored { envelope, .. } | Self::Relocated { envelope, .. } => {
                Some(&envelope.recipients)
            }
            _ => None,
        }
    }

    /// About how many octets of memory the change takes in the queue, without those of a message.
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

    /// Whether the change frees space. Such a change must work on a disk that is nearly full.
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
        )
    }

    /// Whether the change with this result may have ended webhooks, or events without a delivery.
    pub(crate) fn outdates_outbox(&self, result: &ChangeResult) -> bool {
        match self {
            Self::Received { .. } => {
                !matches!(result, ChangeResult::Received { has_dropped: false, .. } | ChangeResult::MailboxFull)
            }
            Self::Attempted { .. } => !matches!(result, ChangeResult::Recorded { has_disabled: false, .. }),
            // A registration may evict another webhook.
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
            | Self::Relocated { .. } => false,
        }
    }
}
