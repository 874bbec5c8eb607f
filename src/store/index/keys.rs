//! The layout of keys in the index. Numbers in keys are big-endian, so that keys sort by them.

use super::rows::EventRow;
use crate::model::{Timestamp, WebhookId};

/// A hashed mailbox and a sequence number.
///
/// The hash has 128 bits under the store's secret, so nobody can choose two mailboxes with one hash. It keeps keys short, and
/// the rows of a mailbox together. A sequence number is never used again, so a leftover key never means another Email.
pub(super) type MailKey = [u8; 24];

/// A set, a score and a member.
pub(super) type SetKey = [u8; 40];

/// A registrant or an origin whose usage of the outbox is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HolderId(pub(super) [u8; 16]);

/// A webhook and a number.
pub(super) type WebhookKey = [u8; 24];

/// A webhook, a time and a sequence number.
pub(super) type DueKey = [u8; 32];

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

/// The first second at whose start an Email with the expiry `at` has expired.
pub(super) fn expiry_second(at: Timestamp) -> u64 {
    u64::try_from(at.millis()).unwrap_or(0).div_ceil(1000)
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

pub(super) fn set_key(set: [u8; 16], score: u64, member: [u8; 16]) -> SetKey {
    let mut key = [0; 40];
    key[..16].copy_from_slice(&set);
    key[16..24].copy_from_slice(&score.to_be_bytes());
    key[24..].copy_from_slice(&member);
    key
}

/// The score and the member of a key.
pub(super) fn read_set_key(key: &SetKey) -> (u64, [u8; 16]) {
    (u64::from_be_bytes(array(&key[16..24])), array(&key[24..]))
}

pub(super) fn array<const N: usize>(octets: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(octets);
    out
}
