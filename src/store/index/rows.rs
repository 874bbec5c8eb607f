//! The layout of rows in the index.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::IndexError;
use super::keys::{MailKey, array, sequence_of};
use super::webhook_rows::WebhookRow;
use crate::model::{DomainRecord, EmailId, Listed, Place, Timestamp};
use crate::store::journal::{Position, RecordPlace};

/// An Email without its octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MailRow {
    pub(super) id: EmailId,
    pub(super) received_at: Timestamp,
    pub(super) expires_at: Timestamp,
    pub(super) place: RecordPlace,
    /// Whether the record has a reference count, since others may refer to it.
    pub(super) is_refcounted: bool,
}

impl MailRow {
    pub(super) const OCTETS: usize = 53;

    pub(super) fn encode(&self) -> [u8; Self::OCTETS] {
        let mut out = [0; Self::OCTETS];
        out[..16].copy_from_slice(&self.id.octets());
        out[16..24].copy_from_slice(&self.received_at.millis().to_le_bytes());
        out[24..32].copy_from_slice(&self.expires_at.millis().to_le_bytes());
        out[32..40].copy_from_slice(&self.place.segment.to_le_bytes());
        out[40..44].copy_from_slice(&self.place.offset.to_le_bytes());
        out[44..48].copy_from_slice(&self.place.length.to_le_bytes());
        out[48..52].copy_from_slice(&self.place.content.to_le_bytes());
        out[52] = u8::from(self.is_refcounted);
        out
    }

    /// Decodes a row. `None` if its length is wrong.
    pub(super) fn decode(octets: &[u8]) -> Option<Self> {
        if octets.len() != Self::OCTETS {
            return None;
        }
        Some(Self {
            id: EmailId::from_octets(array(&octets[..16])),
            received_at: Timestamp::from_millis(i64::from_le_bytes(array(&octets[16..24]))),
            expires_at: Timestamp::from_millis(i64::from_le_bytes(array(&octets[24..32]))),
            place: RecordPlace {
                segment: u64::from_le_bytes(array(&octets[32..40])),
                offset: u32::from_le_bytes(array(&octets[40..44])),
                length: u32::from_le_bytes(array(&octets[44..48])),
                content: u32::from_le_bytes(array(&octets[48..52])),
            },
            is_refcounted: octets[52] != 0,
        })
    }

    pub(super) fn listed(&self, key: &MailKey) -> Listed {
        Listed {
            id: self.id,
            sequence: sequence_of(key),
            received_at: self.received_at,
            expires_at: self.expires_at,
            size_octets: u64::from(self.place.content),
            place: opaque_place(self.place),
        }
    }
}

/// Encodes a place for callers of the store, which cannot read it.
pub(super) fn opaque_place(place: RecordPlace) -> Place {
    let mut octets = [0; 16];
    octets[..8].copy_from_slice(&place.segment.to_le_bytes());
    octets[8..12].copy_from_slice(&place.offset.to_le_bytes());
    octets[12..].copy_from_slice(&place.length.to_le_bytes());
    Place(octets)
}

/// Decodes the place of a listed Email's record.
pub(crate) fn record_place(listed: &Listed) -> RecordPlace {
    let Place(octets) = listed.place;
    RecordPlace {
        segment: u64::from_le_bytes(array(&octets[..8])),
        offset: u32::from_le_bytes(array(&octets[8..12])),
        length: u32::from_le_bytes(array(&octets[12..])),
        content: u32::try_from(listed.size_octets).unwrap_or(u32::MAX),
    }
}

/// The head of a mailbox, from which its total can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeadRow {
    /// Emails of the mailbox, including expired ones that are not removed yet.
    pub(super) emails: u64,
    /// The latest expiry that an Email of the mailbox ever had.
    pub(super) latest_expiry: Timestamp,
    /// The longest time by which an Email expires before an older one: a few milliseconds for messages that arrive together.
    /// Apart from that, the expired rows are the oldest ones.
    pub(super) disorder: Duration,
    /// The hash of the mailbox's domain.
    pub(super) domain: [u8; 16],
    /// Octets of the messages of these Emails.
    pub(super) octets: u64,
}

impl HeadRow {
    const OCTETS: usize = 48;

    /// The head of an empty mailbox.
    pub(super) const fn empty(domain: [u8; 16]) -> Self {
        let latest_expiry = Timestamp::from_millis(0);
        Self { emails: 0, latest_expiry, disorder: Duration::ZERO, domain, octets: 0 }
    }

    /// Records the expiry of the mailbox's next Email.
    pub(super) fn record(&mut self, expires_at: Timestamp) {
        self.disorder = self.disorder.max(self.latest_expiry.since(expires_at));
        self.latest_expiry = self.latest_expiry.max(expires_at);
    }

    /// Whether every Email after one with this expiry is readable at `now`.
    pub(super) fn ends_expired(&self, expires_at: Timestamp, now: Timestamp) -> bool {
        expires_at > now.plus(self.disorder)
    }

    pub(super) fn encode(&self) -> [u8; Self::OCTETS] {
        let mut out = [0; Self::OCTETS];
        out[..8].copy_from_slice(&self.emails.to_le_bytes());
        out[8..16].copy_from_slice(&self.latest_expiry.millis().to_le_bytes());
        out[16..24].copy_from_slice(&u64::try_from(self.disorder.as_millis()).unwrap_or(u64::MAX).to_le_bytes());
        out[24..40].copy_from_slice(&self.domain);
        out[40..].copy_from_slice(&self.octets.to_le_bytes());
        out
    }

    pub(super) fn decode(octets: &[u8]) -> Option<Self> {
        if octets.len() != Self::OCTETS {
            return None;
        }
        Some(Self {
            emails: u64::from_le_bytes(array(&octets[..8])),
            latest_expiry: Timestamp::from_millis(i64::from_le_bytes(array(&octets[8..16]))),
            disorder: Duration::from_millis(u64::from_le_bytes(array(&octets[16..24]))),
            domain: array(&octets[24..40]),
            octets: u64::from_le_bytes(array(&octets[40..])),
        })
    }
}

/// A pending event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct EventRow {
    pub(super) email: EmailId,
    pub(super) attempts: u32,
    pub(super) due_at: Timestamp,
    pub(super) received_at: Timestamp,
    pub(super) expires_at: Timestamp,
    pub(super) place: RecordPlace,
}

/// The counts and positions that every group rewrites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct IndexState {
    segment: u64,
    offset: u32,
    group: u64,
    /// The sequence number of the next Email.
    pub(super) next_sequence: u64,
    pub(super) emails: u64,
    pub(super) mailboxes: u64,
    pub(super) live_octets: u64,
    pub(super) webhooks: u64,
    /// Octets of the messages of all pending events.
    pub(super) outbox_octets: u64,
    /// The part of these octets that belongs to webhooks without a delivery.
    pub(super) unproven_octets: u64,
    /// The number of the next record of a delivery log.
    pub(super) next_attempt: u64,
}

impl IndexState {
    pub(super) const NEW: Self = Self {
        segment: Position::START.segment,
        offset: Position::START.offset,
        group: Position::START.group,
        next_sequence: 1,
        emails: 0,
        mailboxes: 0,
        live_octets: 0,
        webhooks: 0,
        outbox_octets: 0,
        unproven_octets: 0,
        next_attempt: 1,
    };

    /// The journal position up to which the index is complete.
    pub(super) fn position(&self) -> Position {
        Position { segment: self.segment, offset: self.offset, group: self.group }
    }

    pub(super) fn encode(&self) -> Result<Vec<u8>, IndexError> {
        postcard::to_stdvec(self).map_err(|_| IndexError::Corrupt("the state cannot be encoded"))
    }

    pub(super) fn set_position(&mut self, position: Position) {
        (self.segment, self.offset, self.group) = (position.segment, position.offset, position.group);
    }
}

pub(super) fn decode_mail(row: &[u8]) -> Result<MailRow, IndexError> {
    MailRow::decode(row).ok_or(IndexError::Corrupt("a row of mail has a wrong length"))
}

pub(super) fn decode_head(row: &[u8]) -> Result<HeadRow, IndexError> {
    HeadRow::decode(row).ok_or(IndexError::Corrupt("a mailbox's head has a wrong length"))
}

pub(super) fn decode_event(row: &[u8]) -> Result<EventRow, IndexError> {
    postcard::from_bytes(row).map_err(|_| IndexError::Corrupt("an event cannot be decoded"))
}

pub(super) fn decode_webhook(row: &[u8]) -> Result<WebhookRow, IndexError> {
    postcard::from_bytes(row).map_err(|_| IndexError::Corrupt("a webhook cannot be decoded"))
}

pub(super) fn decode_domain(row: &[u8]) -> Result<DomainRecord, IndexError> {
    postcard::from_bytes(row).map_err(|_| IndexError::Corrupt("a domain cannot be decoded"))
}
