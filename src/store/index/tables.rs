//! The tables of the index. [`keys`](super::keys) has the layout of their keys, [`rows`](super::rows) that of their values.

use redb::TableDefinition;

use super::keys::{DomainKey, DueKey, MailKey, SetKey, WebhookKey};

/// The format that this version writes and reads.
pub(super) const FORMAT: u32 = 9;

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
/// (webhook, sequence number of the Email) to [`EventRow`](super::rows::EventRow): the pending events.
pub(super) const EVENTS: TableDefinition<&WebhookKey, &[u8]> = TableDefinition::new("events");
/// (webhook, millisecond of the next attempt or 0 before the first one, sequence number): [`EVENTS`] in the order of time.
pub(super) const DUE: TableDefinition<&DueKey, ()> = TableDefinition::new("due-events");
/// (webhook, number in this store of the first of them) to `AttemptRecord`s, one after the other: the delivery log.
pub(super) const ATTEMPTS: TableDefinition<&WebhookKey, &[u8]> = TableDefinition::new("attempts");

/// (set, score, member): the ordered [sets](super::webhook_sets::Set) of webhooks and of their holders.
pub(super) const WEBHOOK_SETS: TableDefinition<&SetKey, ()> = TableDefinition::new("webhook-sets");
/// Holder, which is a registrant or an origin, to the sum of its webhooks' usage of the outbox.
pub(super) const HOLDER_USAGE: TableDefinition<&[u8; 16], u64> = TableDefinition::new("holder-usage");

/// The most keys in one row of [`EXPIRY`].
pub(super) const EXPIRY_ROW_KEYS: usize = 64;
