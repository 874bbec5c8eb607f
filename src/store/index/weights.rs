//! Who holds how much of the outbox: octets by registrant and by origin, so that a full outbox is shared by these and not by
//! the number of their webhooks. Webhooks whose receiver has taken an event are weighed against each other, and so are the
//! others.

use redb::{ReadableTable, Table, WriteTransaction};

use super::IndexError;
use super::keys::{HashKey, HolderKey, MemberKey, holder_hash, holder_of, member_key, webhook_of_member, weight_key};
use super::tables::{MEMBERS, WEIGHTS, WEIGHTS_OF};
use super::webhook_rows::WebhookRow;
use crate::model::{WebhookId, WebhookRecord};

/// The unit of a proven webhook's weight. It is small enough that somebody holds as much whenever the outbox is full, unless
/// there are very many webhooks. It is large enough that a webhook whose receiver answers never weighs anything.
const PROVEN_UNIT: u64 = 16 << 10;
/// The unit of an unproven webhook's weight, which may hold little.
const UNPROVEN_UNIT: u64 = 1 << 10;

/// The tables of weights, open for writing.
pub(super) struct Weights<'t> {
    /// Holders with their weights, by holder.
    of: Table<'t, &'static [u8; 16], u64>,
    /// The same by weight.
    sorted: Table<'t, &'static HolderKey, ()>,
    /// The webhooks of each holder by weight.
    members: Table<'t, &'static MemberKey, ()>,
    hash_key: HashKey,
}

impl<'t> Weights<'t> {
    /// Opens the tables, making those that are missing.
    pub(super) fn open(transaction: &'t WriteTransaction, hash_key: HashKey) -> Result<Self, IndexError> {
        Ok(Self {
            of: transaction.open_table(WEIGHTS_OF)?,
            sorted: transaction.open_table(WEIGHTS)?,
            members: transaction.open_table(MEMBERS)?,
            hash_key,
        })
    }

    /// Records that a webhook weighs `new` and no longer `old`.
    pub(super) fn change(&mut self, webhook: &WebhookRecord, old: u64, new: u64) -> Result<(), IndexError> {
        if old == new {
            return Ok(());
        }
        for holder in holders(&self.hash_key, webhook) {
            if old > 0 {
                self.members.remove(&member_key(holder, old, webhook.id))?;
            }
            if new > 0 {
                self.members.insert(&member_key(holder, new, webhook.id), ())?;
            }
            let before = self.of.get(&holder)?.map_or(0, |weight| weight.value());
            let after = before.saturating_add(new).saturating_sub(old);
            self.sorted.remove(&weight_key(webhook.is_proven(), before, holder))?;
            if after > 0 {
                self.sorted.insert(&weight_key(webhook.is_proven(), after, holder), ())?;
                self.of.insert(&holder, after)?;
            } else {
                self.of.remove(&holder)?;
            }
        }
        Ok(())
    }

    /// The heaviest webhook of the heaviest holder among the proven or the unproven webhooks, if any is heavy.
    pub(super) fn heaviest(&self, is_proven: bool) -> Result<Option<WebhookId>, IndexError> {
        let (first, last) = (weight_key(is_proven, 0, [0; 16]), weight_key(is_proven, u64::MAX, [255; 16]));
        let heaviest = self.sorted.range::<&HolderKey>(&first..=&last)?.next_back().transpose()?;
        let Some(holder) = heaviest.map(|row| holder_of(row.0.value())) else { return Ok(None) };
        let (first, last) = (WebhookId::from_octets([0; 16]), WebhookId::from_octets([255; 16]));
        let (first, last) = (member_key(holder, 0, first), member_key(holder, u64::MAX, last));
        let member = self.members.range::<&MemberKey>(&first..=&last)?.next_back().transpose()?;
        Ok(member.map(|row| webhook_of_member(row.0.value())))
    }
}

/// What a webhook weighs by its pending events, in whole units: nothing while a proven receiver takes all that comes.
pub(super) fn weight(row: &WebhookRow) -> u64 {
    row.octets / if row.record.is_proven() { PROVEN_UNIT } else { UNPROVEN_UNIT }
}

/// Whose weight a webhook counts to: its origin, and its registrant unless that is the administrator. A holder of proven
/// webhooks is another one than that of the unproven ones.
pub(super) fn holders(hash_key: &HashKey, webhook: &WebhookRecord) -> impl Iterator<Item = [u8; 16]> {
    let is_proven = webhook.is_proven();
    let of = |proven, unproven| if is_proven { proven } else { unproven };
    let origin = holder_hash(hash_key, of("origin", "unproven origin"), &webhook.origin);
    let registrant = webhook.registrant.map(|registrant| registrant.to_string());
    let registrant =
        registrant.map(|registrant| holder_hash(hash_key, of("registrant", "unproven registrant"), &registrant));
    std::iter::once(origin).chain(registrant)
}
