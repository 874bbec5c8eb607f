//! Webhooks, their events, and attempts to send events.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Client, EmailId, EventId, Listed, Mailbox, Timestamp, WebhookId};

/// A text that proves or signs something: of a webhook, a token, a key, a password. No log line, no answer and no `Debug`
/// output shows it.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Secret(String);

impl Secret {
    /// A secret from its text; `None` if the text is empty.
    pub fn new(text: String) -> Option<Self> {
        (!text.is_empty()).then_some(Self(text))
    }

    /// The secret as it was given.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Whether a webhook gets events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WebhookStatus {
    /// The webhook gets an event for each new mail.
    Active,
    /// The webhook gets no events, for this reason.
    Disabled(String),
}

/// A webhook as the store keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookRecord {
    /// Its id.
    pub id: WebhookId,
    /// The address whose mail becomes events, in the form for people.
    pub recipient: String,
    /// The mailbox of the address.
    pub mailbox: Mailbox,
    /// Where events are sent.
    pub url: String,
    /// Scheme, host and port of the URL.
    pub origin: String,
    /// The client that registered the webhook; `None` for the administrator.
    pub registrant: Option<Client>,
    /// The secret that signs the events. Without it they are not signed.
    pub secret: Option<Secret>,
    /// Whether it gets events.
    pub status: WebhookStatus,
    /// When it was registered.
    pub created_at: Timestamp,
    /// When mail last arrived for its address. Before the first mail, this is the time of registration.
    pub last_mail_at: Timestamp,
    /// When the receiver last took an event.
    pub last_delivery_at: Option<Timestamp>,
    /// Failed attempts since the last delivery.
    pub failures: u32,
    /// When these failures began. It is later if there were gaps, since a gap between two failures counts as 48 hours
    /// at most.
    pub failing_since: Option<Timestamp>,
    /// The number of events that were dropped because the outbox was full, the webhook was disabled, or revision 1
    /// ran.
    pub dropped: u64,
}

impl WebhookRecord {
    /// Whether the receiver has ever taken an event. Until then the webhook can have only few pending events.
    pub fn is_proven(&self) -> bool {
        self.last_delivery_at.is_some()
    }

    /// Whether the webhook may be evicted for others, because it is unproven and not the administrator's.
    pub fn is_evictable(&self) -> bool {
        self.registrant.is_some() && !self.is_proven()
    }
}

/// A pending event, which is neither delivered nor given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingEvent {
    /// Its id, which every attempt has.
    pub id: EventId,
    /// The webhook to whose receiver it is sent.
    pub webhook: WebhookId,
    /// The Email that it is about, as in a list. Its sequence is the event's in the order of the webhook's events, and its
    /// message is kept until the event ends.
    pub email: Listed,
    /// The number of attempts so far.
    pub attempts: u32,
    /// When the next attempt is due.
    pub due_at: Timestamp,
}

/// The consequence of an attempt for its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// The receiver took the event, and the event ends.
    Delivered,
    /// The attempt failed. The next one is due at this time.
    Retry(Timestamp),
    /// The event ends without a delivery.
    GivenUp,
}

/// One line of the delivery log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptRecord {
    /// The webhook.
    pub webhook: WebhookId,
    /// The event.
    pub event: EventId,
    /// The Email; `None` for a test.
    pub email: Option<EmailId>,
    /// The sequence of the event; 0 for a test.
    pub sequence: u64,
    /// The number of the attempt, from 1; 0 where an event ended without one.
    pub number: u32,
    /// When the attempt began.
    pub at: Timestamp,
    /// How long the attempt took.
    pub duration_millis: u64,
    /// The status of the response, if there was one.
    pub status: Option<u16>,
    /// The error as a stable word; `None` after a success.
    pub error: Option<String>,
    /// The start of the response's body. Without a response, the error as text.
    pub response: String,
    /// The consequence for the event.
    pub verdict: Verdict,
    /// Why this attempt disables the webhook, if it does. After days of failures, the store can also disable it.
    pub disables: Option<String>,
    /// The end of the back-off that the receiver asked for.
    pub backs_off_until: Option<Timestamp>,
}

impl AttemptRecord {
    /// The error of an event whose time had ended before this attempt.
    pub const TOO_LATE: &str = "too_late";
    /// The error of an event whose message on the disk is damaged.
    pub const DAMAGED: &str = "damaged";
    /// The error of an event for a role address, if the webhook is not the administrator's.
    pub const ROLE_ADDRESS: &str = "role_address";
    /// The error of an event that was dropped because the outbox was full.
    pub const OUTBOX_FULL: &str = "outbox_full";

    /// Whether an attempt was made. Without one, the record says nothing about the receiver.
    pub fn was_made(&self) -> bool {
        !matches!(self.error.as_deref(), Some(Self::TOO_LATE | Self::DAMAGED | Self::ROLE_ADDRESS | Self::OUTBOX_FULL))
    }
}
