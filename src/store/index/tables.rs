//! The tables of the index. [`keys`](super::keys) has the layout of keys, and [`rows`](super::rows) that of values.

use redb::TableDefinition;

use super::keys::{DueKey, MailKey, SetKey, WebhookKey};

/// The format that this version reads and writes.
pub(super) const FORMAT: u32 = 12;

/// Single values: see the `META_…` keys.
pub(super) const META: TableDefinition<u8, &[u8]> = TableDefinition::new("meta");
pub(super) const META_FORMAT: u8 = 0;
/// The store's secret, under which names are hashed.
pub(super) const META_HASH_KEY: u8 = 1;
/// [`IndexState`](super::rows::IndexState): every group rewrites it.
pub(super) const META_STATE: u8 = 2;
/// The retention that all expiries are within, in milliseconds.
pub(super) const META_RETENTION: u8 = 3;

/// (mailbox, sequence number) to [`MailRow`](super::rows::MailRow), and (mailbox, 0) to [`HeadRow`](super::rows::HeadRow).
pub(super) const MAIL: TableDefinition<&MailKey, &[u8]> = TableDefinition::new("mail");
/// Id to the key in [`MAIL`].
pub(super) const IDS: TableDefinition<&[u8; 16], &MailKey> = TableDefinition::new("ids");
/// (second from which they have expired, sequence number of the first) to keys in [`MAIL`], one after the other. A row has
/// the Emails of one group that expire in the same second.
pub(super) const EXPIRY: TableDefinition<(u64, u64), &[u8]> = TableDefinition::new("expiry");
/// (segment, offset) of a record that more than one Email or event may refer to, to their number with [`REFCOUNT_DELETED`],
/// and to the sequence number of its first recipient's Email. Those of the other recipients follow.
pub(super) const REFCOUNTS: TableDefinition<(u64, u32), (u32, u64)> = TableDefinition::new("refcounts");
/// A flag: somebody deleted an Email of the record, so its octets leave the disk with the last reference.
pub(super) const REFCOUNT_DELETED: u32 = 1 << 31;
/// Segment to [`SegmentUsage`](super::segment_usage::SegmentUsage): live messages, octets of their records, and Emails.
pub(super) const SEGMENTS: TableDefinition<u64, (u64, u64, u64)> = TableDefinition::new("segments");
/// (segment, offset) of a record whose content is to be punched out, to (its length, the length of its content).
pub(super) const PUNCHES: TableDefinition<(u64, u32), (u32, u32)> = TableDefinition::new("punches");
/// Name of a domain to its record.
pub(super) const DOMAINS: TableDefinition<&str, &[u8]> = TableDefinition::new("domains");

/// Webhook to [`WebhookRow`](super::webhook_rows::WebhookRow).
pub(super) const WEBHOOKS: TableDefinition<&[u8; 16], &[u8]> = TableDefinition::new("webhooks");
/// (webhook, sequence number of the Email) to [`EventRow`](super::rows::EventRow): the pending events.
pub(super) const EVENTS: TableDefinition<&WebhookKey, &[u8]> = TableDefinition::new("events");
/// (webhook, millisecond of the next attempt or 0 before the first one, sequence number): [`EVENTS`] in the order of time.
pub(super) const DUE: TableDefinition<&DueKey, ()> = TableDefinition::new("due-events");
/// (webhook, number of the first one) to `AttemptRecord`s, one after the other: the delivery log.
pub(super) const ATTEMPTS: TableDefinition<&WebhookKey, &[u8]> = TableDefinition::new("delivery-log");

/// (set, score, member): the ordered [sets](super::webhook_sets::Set) of webhooks and of their holders.
pub(super) const WEBHOOK_SETS: TableDefinition<&SetKey, ()> = TableDefinition::new("webhook-sets");
/// Holder, which is a registrant or an origin, to the sum of its webhooks' usage of the outbox.
pub(super) const HOLDER_USAGE: TableDefinition<&[u8; 16], u64> = TableDefinition::new("holder-usage");

/// The most keys in one row of [`EXPIRY`].
pub(super) const EXPIRY_ROW_KEYS: usize = 64;
