//! Ordered sets of webhooks: those of a mailbox, those of a registrant, those that may be evicted, and those that fill the
//! outbox.
//!
//! All sets are in one table under keys of (set, score, member). So a set is one range of keys, in the order of its scores.

use std::ops::RangeInclusive;

use redb::{ReadableTable, WriteTransaction};

use super::IndexError;
use super::keys::{HolderId, SetKey, read_set_key, set_key};
use super::lazy_table::LazyTable;
use super::tables::{HOLDER_USAGE, WEBHOOK_SETS};
use crate::model::{Client, Mailbox, Timestamp, WebhookId, WebhookRecord};
use crate::store::names::{HashKey, named_hash};

/// One of the sets.
#[derive(Clone, Copy, Debug)]
pub(super) enum Set<'a> {
    /// The webhooks of a mailbox. Their scores are 0.
    Mailbox(&'a Mailbox),
    /// The webhooks of a registrant. Their scores are 0.
    Registrant(Client),
    /// The webhooks that may be evicted, by the time of their registration.
    Evictable,
    /// The webhooks of a holder that fill the outbox, by their usage.
    Holder(HolderId),
    /// The holders of proven or of unproven webhooks, by the usage of all these webhooks.
    Holders { are_proven: bool },
}

impl Set<'_> {
    /// The key of a member.
    pub(super) fn key(self, hash_key: &HashKey, score: u64, member: [u8; 16]) -> SetKey {
        let set = match self {
            Self::Mailbox(mailbox) => named_hash(hash_key, "webhooks of mailbox", mailbox.as_str()),
            Self::Registrant(registrant) => named_hash(hash_key, "webhooks of registrant", &registrant.to_string()),
            Self::Evictable => named_hash(hash_key, "evictable webhooks", ""),
            Self::Holder(HolderId(holder)) => holder,
            Self::Holders { are_proven: true } => named_hash(hash_key, "proven holders", ""),
            Self::Holders { are_proven: false } => named_hash(hash_key, "unproven holders", ""),
        };
        set_key(set, score, member)
    }

    fn keys(self, hash_key: &HashKey) -> RangeInclusive<SetKey> {
        let first = self.key(hash_key, 0, [0; 16]);
        let mut last = first;
        last[16..].fill(u8::MAX);
        first..=last
    }
}

/// Reads the scores and the members of a set, in order.
pub(super) fn members<'t, T: ReadableTable<&'static SetKey, ()>>(
    table: &'t T,
    hash_key: &HashKey,
    set: Set<'_>,
) -> Result<impl DoubleEndedIterator<Item = Result<(u64, [u8; 16]), IndexError>> + use<'t, T>, IndexError> {
    let keys = set.keys(hash_key);
    Ok(table.range::<&SetKey>(keys.start()..=keys.end())?.map(|row| Ok(read_set_key(row?.0.value()))))
}

/// Reads the webhooks of a mailbox.
pub(super) fn webhooks_of(
    table: &impl ReadableTable<&'static SetKey, ()>,
    hash_key: &HashKey,
    mailbox: &Mailbox,
) -> Result<Vec<WebhookId>, IndexError> {
    members(table, hash_key, Set::Mailbox(mailbox))?.map(|row| Ok(WebhookId::from_octets(row?.1))).collect()
}

/// The keys of the sets that a webhook is in whether or not it has events.
pub(super) fn registration_keys(hash_key: &HashKey, webhook: &WebhookRecord) -> Vec<SetKey> {
    let id = webhook.id.octets();
    let mut keys = vec![Set::Mailbox(&webhook.mailbox).key(hash_key, 0, id)];
    keys.extend(webhook.registrant.map(|registrant| Set::Registrant(registrant).key(hash_key, 0, id)));
    keys.extend(webhook.is_evictable().then(|| evictable_key(hash_key, webhook)));
    keys
}

fn evictable_key(hash_key: &HashKey, webhook: &WebhookRecord) -> SetKey {
    let registered_at = u64::try_from(webhook.created_at.millis()).unwrap_or(0);
    Set::Evictable.key(hash_key, registered_at, webhook.id.octets())
}

/// The sets, open for writing.
pub(super) struct WebhookSets<'t> {
    pub(super) table: LazyTable<'t, &'static SetKey, ()>,
    pub(super) holder_usage: LazyTable<'t, &'static [u8; 16], u64>,
    pub(super) hash_key: HashKey,
}

impl<'t> WebhookSets<'t> {
    /// The tables, which are opened when they are used.
    pub(super) fn new(transaction: &'t WriteTransaction, hash_key: HashKey) -> Self {
        Self {
            table: LazyTable::new(transaction, WEBHOOK_SETS),
            holder_usage: LazyTable::new(transaction, HOLDER_USAGE),
            hash_key,
        }
    }

    /// Adds a webhook that is new and so has no events.
    pub(super) fn add(&mut self, webhook: &WebhookRecord) -> Result<(), IndexError> {
        for key in registration_keys(&self.hash_key, webhook) {
            self.table.get_mut()?.insert(&key, ())?;
        }
        Ok(())
    }

    /// Removes a webhook whose events have ended.
    pub(super) fn remove(&mut self, webhook: &WebhookRecord) -> Result<(), IndexError> {
        for key in registration_keys(&self.hash_key, webhook) {
            self.table.get_mut()?.remove(&key)?;
        }
        Ok(())
    }

    /// Removes a webhook from those that may be evicted.
    pub(super) fn remove_evictable(&mut self, webhook: &WebhookRecord) -> Result<(), IndexError> {
        self.table.get_mut()?.remove(&evictable_key(&self.hash_key, webhook))?;
        Ok(())
    }

    /// Reads the webhooks of a mailbox.
    pub(super) fn of_mailbox(&self, mailbox: &Mailbox) -> Result<Vec<WebhookId>, IndexError> {
        webhooks_of(self.table.get()?, &self.hash_key, mailbox)
    }

    /// Whether a registrant has at least `limit` webhooks.
    pub(super) fn has_at_least(&self, registrant: Client, limit: u32) -> Result<bool, IndexError> {
        let webhooks = members(self.table.get()?, &self.hash_key, Set::Registrant(registrant))?;
        Ok(webhooks.take(limit as usize).count() >= limit as usize)
    }

    /// Finds the evictable webhook that was registered first, if that was before `before`.
    pub(super) fn first_evictable(&self, before: Timestamp) -> Result<Option<WebhookId>, IndexError> {
        let first = members(self.table.get()?, &self.hash_key, Set::Evictable)?.next().transpose()?;
        let before = u64::try_from(before.millis()).unwrap_or(0);
        Ok(first.filter(|(registered_at, _)| *registered_at < before).map(|(_, id)| WebhookId::from_octets(id)))
    }
}
