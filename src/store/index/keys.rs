//! The layout of keys in the index. Numbers in keys are big-endian, so that keys sort by them.

use std::hash::Hasher;

use siphasher::sip128::{Hasher128, SipHasher13};

use super::rows::EventRow;
use crate::model::{EmailId, EventId, Mailbox, Timestamp, WebhookId, WebhookRecord};

/// A hashed mailbox and a sequence number.
///
/// The hash is 128 bits under a secret of this store, so nobody can choose two mailboxes that meet; it keeps keys short
/// without a table of short ids, and a mailbox's rows and its head side by side. A sequence number is never given twice, so
/// a key that outlives its row can't come to mean another Email.
pub(super) type MailKey = [u8; 24];

/// The secret of [`META_HASH_KEY`].
pub(crate) type HashKey = [u8; 16];

/// A key in [`WEIGHTS`].
pub(super) type HolderKey = [u8; 24];
/// A key in [`MEMBERS`].
pub(super) type MemberKey = [u8; 40];

/// A webhook and a number.
pub(super) type WebhookKey = [u8; 24];

/// A webhook, a time and a sequence number.
pub(super) type DueKey = [u8; 32];

/// [`domain_hash`] and a number.
pub(super) type DomainKey = [u8; 24];

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

pub(super) fn domain_key(domain: [u8; 16], number: u64) -> DomainKey {
    mail_key(domain, number)
}

pub(super) fn webhook_key(webhook: WebhookId, number: u64) -> WebhookKey {
    mail_key(webhook.octets(), number)
}

pub(super) fn webhook_in(key: &WebhookKey) -> WebhookId {
    WebhookId::from_octets(array(&key[..16]))
}

/// The key of an event in [`DUE`](super::tables::DUE).
pub(super) fn due_key(webhook: WebhookId, event: &EventRow, sequence: u64) -> DueKey {
    match event.attempts {
        0 => first_attempt_key(webhook, sequence),
        _ => retry_key(webhook, event.due_at, sequence),
    }
}

/// The key of an event without an attempt.
pub(super) fn first_attempt_key(webhook: WebhookId, sequence: u64) -> DueKey {
    due_key_at(webhook, 0, sequence)
}

/// The key of an event whose next attempt is a retry. Its time is never 0.
pub(super) fn retry_key(webhook: WebhookId, due_at: Timestamp, sequence: u64) -> DueKey {
    due_key_at(webhook, u64::try_from(due_at.millis()).unwrap_or(0).max(1), sequence)
}

fn due_key_at(webhook: WebhookId, millis: u64, sequence: u64) -> DueKey {
    let mut key = [0; 32];
    key[..16].copy_from_slice(&webhook.octets());
    key[16..24].copy_from_slice(&millis.to_be_bytes());
    key[24..].copy_from_slice(&sequence.to_be_bytes());
    key
}

/// The webhook, the time and the sequence number of a key in [`DUE`](super::tables::DUE). The time is `None` before the
/// first attempt.
pub(super) fn read_due_key(key: &DueKey) -> (WebhookId, Option<Timestamp>, u64) {
    let millis = u64::from_be_bytes(array(&key[16..24]));
    let due_at = (millis > 0).then(|| Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX)));
    (WebhookId::from_octets(array(&key[..16])), due_at, u64::from_be_bytes(array(&key[24..])))
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

pub(super) fn array<const N: usize>(octets: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(octets);
    out
}
