//! Short names of mailboxes and domains: hashes under the store's secret, which nobody can choose to be alike.

use std::hash::Hasher;

use siphasher::sip128::{Hasher128, SipHasher13};

use crate::events::Topic;
use crate::model::{EmailId, EventId, Mailbox, WebhookId};

/// The secret of a store. A backup keeps it, so that ids of events stay as they are.
pub(crate) type HashKey = [u8; 16];

/// Hashes a mailbox.
pub(super) fn mailbox_hash(secret: &HashKey, mailbox: &Mailbox) -> [u8; 16] {
    let mut hasher = SipHasher13::new_with_key(secret);
    hasher.write(mailbox.as_str().as_bytes());
    hasher.finish128().as_bytes()
}

/// Hashes a domain.
pub(super) fn domain_hash(secret: &HashKey, domain: &str) -> [u8; 16] {
    let mut hasher = SipHasher13::new_with_key(secret);
    hasher.write(b"domain");
    hasher.write(domain.as_bytes());
    hasher.finish128().as_bytes()
}

/// Hashes the name of something of a kind. No name of one kind meets a name of another.
pub(super) fn named_hash(secret: &HashKey, kind: &str, name: &str) -> [u8; 16] {
    let mut hasher = SipHasher13::new_with_key(secret);
    hasher.write(kind.as_bytes());
    hasher.write(&[0]);
    hasher.write(name.as_bytes());
    hasher.finish128().as_bytes()
}

/// The topic of a mailbox.
pub(super) fn topic(secret: &HashKey, mailbox: &Mailbox) -> Topic {
    Topic::new(mailbox_hash(secret, mailbox))
}

/// The tag of positions in the events of a mailbox, or of all.
pub(super) fn tag(secret: &HashKey, mailbox: Option<&Mailbox>) -> u32 {
    let [a, b, c, d, ..] = named_hash(secret, "events", mailbox.map_or("", Mailbox::as_str));
    u32::from_be_bytes([a, b, c, d])
}

/// The id of the event of `webhook` about `email`. It is the same after a replay, and does not reveal the Email's id.
pub(super) fn event_id(secret: &HashKey, webhook: WebhookId, email: EmailId) -> EventId {
    let mut hasher = SipHasher13::new_with_key(secret);
    hasher.write(b"event");
    hasher.write(&webhook.octets());
    hasher.write(&email.octets());
    EventId::from_octets(uuid::Builder::from_custom_bytes(hasher.finish128().as_bytes()).into_uuid().into_bytes())
}
