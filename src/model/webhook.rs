//! Webhooks, their events, and attempts to send events.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Client, EmailId, Listed, Mailbox, Place, Timestamp};

/// The `id` of a webhook: a random UUID. Knowing it is enough to delete the webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WebhookId(Uuid);

/// The id of a webhook's event, which is the `webhook-id` of Standard Webhooks. Every attempt and replay has the id of
/// its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventId(Uuid);

/// The text is not a UUID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a UUID; an id looks like 0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b")]
pub struct WebhookIdError;

impl WebhookId {
    /// A new id.
    pub fn fresh() -> Self {
        Self(uuid::Builder::from_random_bytes(rand::random()).into_uuid())
    }
}

macro_rules! uuid_form {
    ($name:ident) => {
        impl $name {
            /// The 16 octets of the UUID.
            pub const fn octets(self) -> [u8; 16] {
                self.0.into_bytes()
            }

            /// The id from the 16 octets of a UUID of any version.
            pub const fn from_octets(octets: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(octets))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = WebhookIdError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                if text.len() != 36 {
                    return Err(WebhookIdError);
                }
                Uuid::try_parse(text).map(Self).map_err(|_| WebhookIdError)
            }
        }
    };
}

uuid_form!(WebhookId);
uuid_form!(EventId);

/// The secret that signs a webhook's events. No log line, no answer and no `Debug` output shows it.
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
    /// The Email that it is about.
    pub email: EmailId,
    /// Its position in the order of the webhook's events.
    pub sequence: u64,
    /// The number of attempts so far.
    pub attempts: u32,
    /// When the next attempt is due.
    pub due_at: Timestamp,
    /// When the message was received, which is the `timestamp` of the event.
    pub received_at: Timestamp,
    /// When the Email expires. The event may still be sent for a time of grace after that.
    pub expires_at: Timestamp,
    /// The size of the message as received.
    pub size_octets: u64,
    /// The place of the message, which is kept until the event ends.
    pub place: Place,
}

impl PendingEvent {
    /// Its Email as a listing would show it.
    pub const fn listed(&self) -> Listed {
        Listed {
            id: self.email,
            sequence: self.sequence,
            received_at: self.received_at,
            expires_at: self.expires_at,
            size_octets: self.size_octets,
            place: self.place,
        }
    }
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
    /// [`PendingEvent::sequence`]; 0 for a test.
    pub sequence: u64,
    /// The number of the attempt, from 1.
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

/// The limits of the number of webhooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookLimits {
    /// The most webhooks of one mailbox.
    pub per_recipient: u32,
    /// The most webhooks of one registrant. The administrator has no such limit.
    pub per_registrant: u32,
    /// The most webhooks in all.
    pub total: u32,
    /// At `total` webhooks, a new one evicts the oldest unproven webhook that was registered before this time.
    pub unproven_before: Timestamp,
}

impl WebhookLimits {
    /// No limits, for webhooks that were accepted before.
    pub const UNBOUNDED: Self = Self {
        per_recipient: u32::MAX,
        per_registrant: u32::MAX,
        total: u32::MAX,
        unproven_before: Timestamp::from_millis(i64::MIN),
    };
}
