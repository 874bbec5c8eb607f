//! The audit of the sets of webhooks: whether they hold what the rows of webhooks say, and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use redb::ReadableTable;

use super::IndexError;
use super::outbox_usage::{usage, usage_keys};
use super::read::View;
use super::rows::decode_webhook;
use super::tables::{HOLDER_USAGE, WEBHOOK_SETS, WEBHOOKS};
use super::webhook_sets::{Set, registration_keys};
use crate::store::check::{Finding, FindingKind};

impl View {
    /// Reports what is wrong. Returns the octets of the pending events of webhooks without a delivery.
    pub(super) fn audit_sets(&self, found: &mut dyn FnMut(Finding)) -> Result<u64, IndexError> {
        let mut unproven_octets = 0;
        let mut keys = BTreeSet::new();
        let mut sums = BTreeMap::<([u8; 16], bool), u64>::new();
        for row in self.transaction.open_table(WEBHOOKS)?.iter()? {
            let row = decode_webhook(row?.1.value())?;
            let is_proven = row.record.is_proven();
            unproven_octets += if is_proven { 0 } else { row.octets };
            keys.extend(registration_keys(&self.hash_key, &row.record));
            for (holder, key) in usage_keys(&self.hash_key, &row) {
                keys.insert(key);
                *sums.entry((holder.0, is_proven)).or_default() += usage(&row);
            }
        }
        keys.extend(sums.iter().map(|((holder, are_proven), sum)| {
            Set::Holders { are_proven: *are_proven }.key(&self.hash_key, *sum, *holder)
        }));
        let sums: BTreeMap<_, _> = sums.into_iter().map(|((holder, _), sum)| (holder, sum)).collect();
        let mut stored_sums = BTreeMap::new();
        for row in self.transaction.open_table(HOLDER_USAGE)?.iter()? {
            let (holder, sum) = row?;
            stored_sums.insert(*holder.value(), sum.value());
        }
        let mut unexpected: u64 = 0;
        for row in self.transaction.open_table(WEBHOOK_SETS)?.iter()? {
            unexpected += u64::from(!keys.remove(row?.0.value()));
        }
        if unexpected > 0 || !keys.is_empty() {
            let missing = keys.len();
            let detail = format!("the sets of webhooks have {unexpected} wrong members and lack {missing}");
            found(Finding::index(FindingKind::Rows, detail));
        }
        if stored_sums != sums {
            let detail = "the usage of the outbox by registrant and origin is not that of their webhooks";
            found(Finding::index(FindingKind::Rows, detail));
        }
        Ok(unproven_octets)
    }
}
