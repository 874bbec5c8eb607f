//! Webhooks, the events that they are told, and the attempts to tell them (interface document, section 6).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Client, EmailId, Mailbox, Place, Timestamp};

/// The `id` of a webhook: a random UUID. Knowing it is enough to delete the webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WebhookId(Uuid);

/// The identifier of an event at a webhook: the `webhook-id` of Standard Webhooks, the same in every attempt and replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventId(Uuid);

/// The text is no UUID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a UUID; an id looks like 0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b")]
pub struct WebhookIdError;

impl WebhookId {
    /// A fresh id.
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

            /// From the 16 octets of a UUID of any version.
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

/// What payloads are signed with. It is shown nowhere: not in a log, not in an answer, not by `Debug`.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Secret(String);

impl Secret {
    /// `None` for the empty text, which is no secret.
    pub fn new(text: String) -> Option<Self> {
        (!text.is_empty()).then_some(Self(text))
    }

    /// The secret itself, as it was given.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Whether a webhook is told of mail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WebhookStatus {
    /// It is.
    Active,
    /// It is not, for this reason.
    Disabled(String),
}

/// What is kept of a webhook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookRecord {
    /// Its id.
    pub id: WebhookId,
    /// The address to monitor, as shown.
    pub recipient: String,
    /// The mailbox that the address means.
    pub mailbox: Mailbox,
    /// Where events are sent.
    pub url: String,
    /// Scheme, host and port of the URL.
    pub origin: String,
    /// Who registered it; `None` for the administrator.
    pub registrant: Option<Client>,
    /// What payloads are signed with, if they are.
    pub secret: Option<Secret>,
    /// Whether it is told of mail.
    pub status: WebhookStatus,
    /// When it was registered.
    pub created_at: Timestamp,
    /// When mail last came for it; at first when it was registered.
    pub last_mail_at: Timestamp,
    /// When an attempt last succeeded.
    pub last_delivery_at: Option<Timestamp>,
    /// Attempts that failed since the last that succeeded.
    pub failures: u32,
    /// When the first of them was made, or later: of the time between two of them 48 hours count at most.
    pub failing_since: Option<Timestamp>,
    /// Events that were dropped: because too much waited, because the webhook was disabled, or because nobody sent them.
    pub dropped: u64,
}

impl WebhookRecord {
    /// Whether a receiver has taken an event of it. Until then it may hold few events only.
    pub fn is_proven(&self) -> bool {
        self.last_delivery_at.is_some()
    }

    /// Whether it may have to make way for others: a stranger registered it, and no receiver has taken an event of it.
    pub fn is_evictable(&self) -> bool {
        self.registrant.is_some() && !self.is_proven()
    }
}

/// An event that a webhook has not been told yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingEvent {
    /// The same in every attempt.
    pub id: EventId,
    /// Whom to tell.
    pub webhook: WebhookId,
    /// The Email that it is about.
    pub email: EmailId,
    /// Its place in the order of the webhook's events.
    pub sequence: u64,
    /// Attempts made so far.
    pub attempts: u32,
    /// When the next one is due.
    pub due_at: Timestamp,
    /// When the message was received: the `timestamp` of the event.
    pub received_at: Timestamp,
    /// When the Email expires; the event may outlive it by a grace.
    pub expires_at: Timestamp,
    /// Length of the octets as received.
    pub size_octets: u64,
    /// Where its octets are; they are kept until the event ends.
    pub place: Place,
}

/// What an attempt came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// The receiver has it: the event ends.
    Delivered,
    /// It failed, and is made again at this time.
    Retry(Timestamp),
    /// It failed, and no other follows: the event ends.
    GivenUp,
}

/// One line of the delivery log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptRecord {
    /// Whom it was made to.
    pub webhook: WebhookId,
    /// The event.
    pub event: EventId,
    /// The Email; `None` for a test.
    pub email: Option<EmailId>,
    /// [`PendingEvent::sequence`]; 0 for a test.
    pub sequence: u64,
    /// 1 for the first attempt of an event.
    pub number: u32,
    /// When it began.
    pub at: Timestamp,
    /// How long it took, in milliseconds.
    pub duration_millis: u64,
    /// The status of the answer, if there was one.
    pub status: Option<u16>,
    /// What failed, as a stable word; `None` after a success.
    pub error: Option<String>,
    /// The beginning of the answer's body.
    pub response: String,
    /// What it came to.
    pub verdict: Verdict,
    /// The webhook is disabled from here on, for this reason. It may be as well because nothing but failures came before.
    pub disables: Option<String>,
    /// The receiver asked that the webhook is sent nothing before then.
    pub rests_until: Option<Timestamp>,
}

impl AttemptRecord {
    /// [`AttemptRecord::error`] of an event whose time was over before its turn came.
    pub const TOO_LATE: &str = "too_late";
    /// Of an event whose message is not on the disk as it was written.
    pub const DAMAGED: &str = "damaged";
    /// Of an event for a role address, whose webhook was registered by somebody else than the administrator.
    pub const ROLE_ADDRESS: &str = "role_address";
    /// Of an event that made room for another, or found none.
    pub const OUTBOX_FULL: &str = "outbox_full";

    /// Whether the receiver was called: else the line says nothing of it.
    pub fn was_made(&self) -> bool {
        !matches!(self.error.as_deref(), Some(Self::TOO_LATE | Self::DAMAGED | Self::ROLE_ADDRESS | Self::OUTBOX_FULL))
    }
}

/// How many webhooks and events there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookLimits {
    /// Webhooks of one mailbox.
    pub per_recipient: u32,
    /// Webhooks of one registrant; the administrator's have no such bound.
    pub per_registrant: u32,
    /// Webhooks in all.
    pub total: u32,
    /// Where there are as many in all, the oldest makes way that was registered before and has never had a delivery.
    pub unproven_before: Timestamp,
}

impl WebhookLimits {
    /// Room for whatever has found some elsewhere.
    pub const UNBOUNDED: Self = Self {
        per_recipient: u32::MAX,
        per_registrant: u32::MAX,
        total: u32::MAX,
        unproven_before: Timestamp::from_millis(i64::MIN),
    };
}
