//! The tables of the index and the layout of their rows. Numbers in keys are big-endian, so that keys sort by them.

use std::hash::Hasher;
use std::time::Duration;

use redb::TableDefinition;
use serde::{Deserialize, Serialize};
use siphasher::sip128::{Hasher128, SipHasher13};

use super::IndexError;
use crate::model::{EmailId, EventId, Listed, Mailbox, Place, Timestamp, WebhookId, WebhookRecord};
use crate::store::journal::{Position, RecordPlace};

/// The format that this version writes and reads.
pub(super) const FORMAT: u32 = 8;

/// Single values: see the `META_…` keys.
pub(super) const META: TableDefinition<u8, &[u8]> = TableDefinition::new("meta");
pub(super) const META_FORMAT: u8 = 0;
/// The secret under which mailboxes are hashed.
pub(super) const META_HASH_KEY: u8 = 1;
/// [`State`]: rewritten by every group.
pub(super) const META_STATE: u8 = 2;
/// The retention that all expiries are within, in milliseconds.
pub(super) const META_RETENTION: u8 = 3;

/// (mailbox, sequence) to [`MailRow`]; (mailbox, 0) to [`HeadRow`].
pub(super) const MAIL: TableDefinition<&MailKey, &[u8]> = TableDefinition::new("mail");
/// Id to the key in [`MAIL`].
pub(super) const IDS: TableDefinition<&[u8; 16], &MailKey> = TableDefinition::new("ids");
/// (second from which they have expired, sequence of the first) to keys in [`MAIL`], one after the other. One row holds
/// what one group brought for one second.
pub(super) const EXPIRY: TableDefinition<(u64, u64), &[u8]> = TableDefinition::new("expiry");
/// (segment, offset) of a record to the number of Emails and events that share it, where there may be more than one, and
/// [`REFCOUNT_DELETED`]; and to the sequence number of its first recipient's Email, from which those of the others count on.
pub(super) const REFCOUNTS: TableDefinition<(u64, u32), (u32, u64)> = TableDefinition::new("shared");
/// Somebody deleted their Email of the record: with the last share its octets leave the disk, however that ends.
pub(super) const REFCOUNT_DELETED: u32 = 1 << 31;
/// Segment to the number of messages alive in it, the octets of their records, and the number of Emails that have one.
pub(super) const SEGMENTS: TableDefinition<u64, (u64, u64, u64)> = TableDefinition::new("segments");
/// (segment, offset) of a record whose content was deleted to (its length, its content's).
pub(super) const PUNCHES: TableDefinition<(u64, u32), (u32, u32)> = TableDefinition::new("punches");
/// (domain, 0) to the number of Emails in its mailboxes, those included that have expired and wait to be removed; (domain,
/// minute from which they have expired) to the number of those.
pub(super) const DOMAIN_COUNTS: TableDefinition<&DomainKey, u64> = TableDefinition::new("emails-of");
/// Name to record.
pub(super) const DOMAINS: TableDefinition<&str, &[u8]> = TableDefinition::new("domains");

/// Webhook to [`WebhookRow`](super::webhook_rows::WebhookRow).
pub(super) const WEBHOOKS: TableDefinition<&[u8; 16], &[u8]> = TableDefinition::new("webhooks");
/// (mailbox, webhook): which webhooks a mailbox has.
pub(super) const WEBHOOKS_OF: TableDefinition<&[u8; 32], ()> = TableDefinition::new("webhooks-of");
/// (webhook, sequence of the Email) to [`EventRow`]: the events of the outbox that nobody was told of yet. They are due at
/// once.
pub(super) const FRESH_EVENTS: TableDefinition<&WebhookKey, &[u8]> = TableDefinition::new("fresh-events");
/// The same for those that are tried again.
pub(super) const TRIED_EVENTS: TableDefinition<&WebhookKey, &[u8]> = TableDefinition::new("tried-events");
/// (webhook, millisecond in which it is due, sequence of the Email): those of [`TRIED_EVENTS`] in the order of time.
pub(super) const DUE: TableDefinition<&[u8; 32], ()> = TableDefinition::new("due");
/// (webhook, number in this store of the first of them) to `AttemptRecord`s, one after the other: the delivery log.
pub(super) const ATTEMPTS: TableDefinition<&WebhookKey, &[u8]> = TableDefinition::new("attempts");

/// (registrant, webhook): which webhooks somebody has registered.
pub(super) const BY_REGISTRANT: TableDefinition<&[u8; 32], ()> = TableDefinition::new("webhooks-by-registrant");
/// (millisecond of registration, webhook): those of strangers that never had a delivery.
pub(super) const UNPROVEN: TableDefinition<&WebhookKey, ()> = TableDefinition::new("unproven-webhooks");
/// Holder, which is a registrant or an origin, to the sum of its webhooks' weights.
pub(super) const WEIGHTS_OF: TableDefinition<&[u8; 16], u64> = TableDefinition::new("weights-of");
/// (1 where the holder's webhooks are proven and else 0, weight in seven octets, holder).
pub(super) const WEIGHTS: TableDefinition<&HolderKey, ()> = TableDefinition::new("weights");
/// (holder, weight of the webhook, webhook).
pub(super) const MEMBERS: TableDefinition<&MemberKey, ()> = TableDefinition::new("weights-of-webhooks");

/// A key in [`WEIGHTS`].
pub(super) type HolderKey = [u8; 24];
/// A key in [`MEMBERS`].
pub(super) type MemberKey = [u8; 40];

/// A webhook and a number.
pub(super) type WebhookKey = [u8; 24];

/// [`domain_hash`] and a number.
pub(super) type DomainKey = [u8; 24];

/// The most keys in one row of [`EXPIRY`].
pub(super) const EXPIRY_ROW_KEYS: usize = 64;

/// A hashed mailbox and a sequence number.
///
/// The hash is 128 bits under a secret of this store, so nobody can choose two mailboxes that meet; it keeps keys short
/// without a table of short ids, and a mailbox's rows and its head side by side. A sequence number is never given twice, so
/// a key that outlives its row can't come to mean another Email.
pub(super) type MailKey = [u8; 24];

/// The secret of [`META_HASH_KEY`].
pub(crate) type HashKey = [u8; 16];

/// The first part of the keys of a mailbox.
pub(super) fn mailbox_hash(secret: &HashKey, mailbox: &Mailbox) -> [u8; 16] {
    let mut hasher = SipHasher13::new_with_key(secret);
    hasher.write(mailbox.as_str().as_bytes());
    hasher.finish128().as_bytes()
}

/// A domain as [`HeadRow`] and [`DOMAIN_COUNTS`] name it.
pub(super) fn domain_hash(secret: &HashKey, domain: &str) -> [u8; 16] {
    let mut hasher = SipHasher13::new_with_key(secret);
    hasher.write(b"domain");
    hasher.write(domain.as_bytes());
    hasher.finish128().as_bytes()
}

/// Whose webhooks are counted together: a registrant or an origin.
pub(super) fn holder_hash(secret: &HashKey, kind: &str, name: &str) -> [u8; 16] {
    let mut hasher = SipHasher13::new_with_key(secret);
    hasher.write(kind.as_bytes());
    hasher.write(&[0]);
    hasher.write(name.as_bytes());
    hasher.finish128().as_bytes()
}

pub(super) fn mail_key(hash: [u8; 16], sequence: u64) -> MailKey {
    let mut key = [0; 24];
    key[..16].copy_from_slice(&hash);
    key[16..].copy_from_slice(&sequence.to_be_bytes());
    key
}

pub(super) fn head_key(key: &MailKey) -> MailKey {
    let mut head = *key;
    head[16..].fill(0);
    head
}

pub(super) fn sequence_of(key: &MailKey) -> u64 {
    u64::from_be_bytes(array(&key[16..]))
}

/// The second at whose start everything that expires at `at` has expired.
pub(super) fn expiry_second(at: Timestamp) -> u64 {
    u64::try_from(at.millis()).unwrap_or(0).div_ceil(1000)
}

/// What is known of an Email without its octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MailRow {
    pub(super) id: EmailId,
    pub(super) received_at: Timestamp,
    pub(super) expires_at: Timestamp,
    pub(super) place: RecordPlace,
    /// Other Emails have the same record.
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

    /// `None` if the octets are no row; the index wrote none such.
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

/// A place as it is given out.
pub(super) fn opaque_place(place: RecordPlace) -> Place {
    let mut octets = [0; 16];
    octets[..8].copy_from_slice(&place.segment.to_le_bytes());
    octets[8..12].copy_from_slice(&place.offset.to_le_bytes());
    octets[12..].copy_from_slice(&place.length.to_le_bytes());
    Place(octets)
}

/// Where the record of a listed Email is.
pub(crate) fn record_place(listed: &Listed) -> RecordPlace {
    let Place(octets) = listed.place;
    RecordPlace {
        segment: u64::from_le_bytes(array(&octets[..8])),
        offset: u32::from_le_bytes(array(&octets[8..12])),
        length: u32::from_le_bytes(array(&octets[12..])),
        content: u32::try_from(listed.size_octets).unwrap_or(u32::MAX),
    }
}

/// What a mailbox as a whole needs, so that its total costs one read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeadRow {
    /// Rows of the mailbox, those included that have expired and wait to be removed.
    pub(super) emails: u64,
    /// The latest expiry that was ever given in it.
    pub(super) latest_expiry: Timestamp,
    /// By how much at most an Email expires before an older one. Messages that come in at the same time differ by a few
    /// milliseconds; so the expired rows are the oldest ones but for that much.
    pub(super) disorder: Duration,
    /// The mailbox's domain: [`domain_hash`].
    pub(super) domain: [u8; 16],
}

impl HeadRow {
    const OCTETS: usize = 40;

    /// The head of a mailbox in which there is nothing.
    pub(super) const fn empty(domain: [u8; 16]) -> Self {
        Self { emails: 0, latest_expiry: Timestamp::from_millis(0), disorder: Duration::ZERO, domain }
    }

    /// Takes note of when the next Email of the mailbox expires.
    pub(super) fn record_expiry(&mut self, expires_at: Timestamp) {
        self.disorder = self.disorder.max(self.latest_expiry.since(expires_at));
        self.latest_expiry = self.latest_expiry.max(expires_at);
    }

    /// Whether no Email after one that expires at `expires_at` can have expired at `now`.
    pub(super) fn ends_expired(&self, expires_at: Timestamp, now: Timestamp) -> bool {
        expires_at > now.plus(self.disorder)
    }

    pub(super) fn encode(&self) -> [u8; Self::OCTETS] {
        let mut out = [0; Self::OCTETS];
        out[..8].copy_from_slice(&self.emails.to_le_bytes());
        out[8..16].copy_from_slice(&self.latest_expiry.millis().to_le_bytes());
        out[16..24].copy_from_slice(&u64::try_from(self.disorder.as_millis()).unwrap_or(u64::MAX).to_le_bytes());
        out[24..].copy_from_slice(&self.domain);
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
            domain: array(&octets[24..]),
        })
    }
}

pub(super) fn domain_key(domain: [u8; 16], number: u64) -> DomainKey {
    mail_key(domain, number)
}

pub(super) fn webhook_key(webhook: WebhookId, number: u64) -> WebhookKey {
    mail_key(webhook.octets(), number)
}

pub(super) fn webhook_in(key: &WebhookKey) -> WebhookId {
    WebhookId::from_octets(array(&key[..16]))
}

pub(super) fn due_key(webhook: WebhookId, due_at: Timestamp, sequence: u64) -> [u8; 32] {
    let mut key = [0; 32];
    key[..16].copy_from_slice(&webhook.octets());
    key[16..24].copy_from_slice(&u64::try_from(due_at.millis()).unwrap_or(0).to_be_bytes());
    key[24..].copy_from_slice(&sequence.to_be_bytes());
    key
}

/// The webhook, time and sequence of a key in [`DUE`].
pub(super) fn read_due_key(key: &[u8; 32]) -> (WebhookId, Timestamp, u64) {
    let millis = u64::from_be_bytes(array(&key[16..24]));
    (
        WebhookId::from_octets(array(&key[..16])),
        Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX)),
        u64::from_be_bytes(array(&key[24..])),
    )
}

pub(super) fn weight_key(is_proven: bool, weight: u64, holder: [u8; 16]) -> HolderKey {
    let mut key = numbered_key(weight, holder);
    key[0] = u8::from(is_proven);
    key
}

fn numbered_key(number: u64, octets: [u8; 16]) -> [u8; 24] {
    let mut key = [0; 24];
    key[..8].copy_from_slice(&number.to_be_bytes());
    key[8..].copy_from_slice(&octets);
    key
}

/// The holder of a key in [`WEIGHTS`].
pub(super) fn holder_of(key: &HolderKey) -> [u8; 16] {
    array(&key[8..])
}

pub(super) fn member_key(holder: [u8; 16], weight: u64, webhook: WebhookId) -> MemberKey {
    let mut key = [0; 40];
    key[..16].copy_from_slice(&holder);
    key[16..24].copy_from_slice(&weight.to_be_bytes());
    key[24..].copy_from_slice(&webhook.octets());
    key
}

/// The webhook of a key in [`MEMBERS`].
pub(super) fn webhook_of_member(key: &MemberKey) -> WebhookId {
    WebhookId::from_octets(array(&key[24..]))
}

/// The key of a webhook in [`UNPROVEN`].
pub(super) fn registered_key(webhook: &WebhookRecord) -> WebhookKey {
    let at = u64::try_from(webhook.created_at.millis()).unwrap_or(0);
    numbered_key(at, webhook.id.octets())
}

/// The time and the webhook of a key in [`UNPROVEN`].
pub(super) fn webhook_of_registered_key(key: &WebhookKey) -> (Timestamp, WebhookId) {
    let millis = u64::from_be_bytes(array(&key[..8]));
    (Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX)), WebhookId::from_octets(holder_of(key)))
}

pub(super) fn mailbox_webhook_key(mailbox: [u8; 16], webhook: WebhookId) -> [u8; 32] {
    let mut key = [0; 32];
    key[..16].copy_from_slice(&mailbox);
    key[16..].copy_from_slice(&webhook.octets());
    key
}

/// The webhook of a key in [`WEBHOOKS_OF`].
pub(super) fn webhook_of(key: &[u8; 32]) -> WebhookId {
    WebhookId::from_octets(array(&key[16..]))
}

/// The id of the event that tells `webhook` of `email`: always the same, so that a replay has it again; and made under
/// the store's secret, so that it says nothing about the Email's id.
pub(super) fn event_id(secret: &HashKey, webhook: WebhookId, email: EmailId) -> EventId {
    let mut hasher = SipHasher13::new_with_key(secret);
    hasher.write(b"event");
    hasher.write(&webhook.octets());
    hasher.write(&email.octets());
    EventId::from_octets(uuid::Builder::from_custom_bytes(hasher.finish128().as_bytes()).into_uuid().into_bytes())
}

/// An event that is waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct EventRow {
    pub(super) email: EmailId,
    pub(super) attempts: u32,
    pub(super) due_at: Timestamp,
    pub(super) received_at: Timestamp,
    pub(super) expires_at: Timestamp,
    pub(super) place: RecordPlace,
}

impl EventRow {
    /// Nobody was told of it yet.
    pub(super) fn is_fresh(&self) -> bool {
        self.attempts == 0
    }
}

/// What every group rewrites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    segment: u64,
    offset: u32,
    group: u64,
    /// The sequence number that the next Email gets.
    pub(super) next_sequence: u64,
    pub(super) emails: u64,
    pub(super) mailboxes: u64,
    pub(super) live_octets: u64,
    pub(super) webhooks: u64,
    /// Octets of the messages of all events in the outbox.
    pub(super) outbox_octets: u64,
    /// Of these, those of webhooks that never had a delivery.
    pub(super) unproven_octets: u64,
    /// The number that the next line of a delivery log gets.
    pub(super) next_attempt: u64,
}

impl State {
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

    /// Up to where of the journal the index is complete.
    pub(super) fn position(&self) -> Position {
        Position { segment: self.segment, offset: self.offset, group: self.group }
    }

    pub(super) fn encode(&self) -> Result<Vec<u8>, IndexError> {
        postcard::to_stdvec(self).map_err(|_| IndexError::Corrupt("the state can't be written"))
    }

    pub(super) fn set_position(&mut self, position: Position) {
        (self.segment, self.offset, self.group) = (position.segment, position.offset, position.group);
    }
}

fn array<const N: usize>(octets: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(octets);
    out
}
