//! How much of the outbox each registrant and each origin uses, so that a full outbox is divided among these and not by the
//! number of their webhooks.
//!
//! Webhooks with a delivery are compared with each other, and so are those without one.

use redb::ReadableTable;

use super::IndexError;
use super::keys::{HolderId, SetKey};
use super::webhook_rows::WebhookRow;
use super::webhook_sets::{Set, WebhookSets, members};
use crate::model::{WebhookId, WebhookRecord};
use crate::store::names::HashKey;
use crate::store::outbox_rules;

impl WebhookSets<'_> {
    /// Replaces the usage of a webhook in the sums of its holders.
    pub(super) fn change_usage(&mut self, webhook: &WebhookRecord, old: u64, new: u64) -> Result<(), IndexError> {
        if old == new {
            return Ok(());
        }
        for holder in holders(&self.hash_key, webhook) {
            let id = webhook.id.octets();
            self.move_member(Set::Holder(holder), id, old, new)?;
            let before = self.holder_usage.get()?.get(&holder.0)?.map_or(0, |usage| usage.value());
            let after = before.saturating_add(new).saturating_sub(old);
            self.move_member(Set::Holders { are_proven: webhook.is_proven() }, holder.0, before, after)?;
            match after {
                0 => self.holder_usage.get_mut()?.remove(&holder.0)?,
                _ => self.holder_usage.get_mut()?.insert(&holder.0, after)?,
            };
        }
        Ok(())
    }

    /// Changes the score of a member. With a score of 0 it is not in the set.
    fn move_member(&mut self, set: Set<'_>, member: [u8; 16], old: u64, new: u64) -> Result<(), IndexError> {
        if old > 0 {
            self.table.get_mut()?.remove(&set.key(&self.hash_key, old, member))?;
        }
        if new > 0 {
            self.table.get_mut()?.insert(&set.key(&self.hash_key, new, member), ())?;
        }
        Ok(())
    }

    /// Finds the webhook with the largest usage of the holder with the largest usage, among the proven or the unproven ones.
    pub(super) fn largest(&self, are_proven: bool) -> Result<Option<WebhookId>, IndexError> {
        let last = |set| members(self.table.get()?, &self.hash_key, set)?.next_back().transpose();
        let Some((_, holder)) = last(Set::Holders { are_proven })? else { return Ok(None) };
        Ok(last(Set::Holder(HolderId(holder)))?.map(|(_, webhook)| WebhookId::from_octets(webhook)))
    }
}

/// The usage of a webhook by its pending events, in whole units.
pub(super) fn usage(row: &WebhookRow) -> u64 {
    outbox_rules::usage(row.record.is_proven(), row.octets)
}

/// Whose usage a webhook adds to.
pub(super) fn holders(hash_key: &HashKey, webhook: &WebhookRecord) -> impl Iterator<Item = HolderId> + use<> {
    outbox_rules::holders(hash_key, webhook).map(HolderId)
}

/// The keys of the sets that hold the usage of a webhook by holder.
pub(super) fn usage_keys(hash_key: &HashKey, row: &WebhookRow) -> Vec<(HolderId, SetKey)> {
    let key = |holder| Set::Holder(holder).key(hash_key, usage(row), row.record.id.octets());
    let holders = holders(hash_key, &row.record).filter(|_| usage(row) > 0);
    holders.map(|holder| (holder, key(holder))).collect()
}
