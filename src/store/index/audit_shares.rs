//! Who holds what of the places and of the outbox, compared with the rows of webhooks.

use std::collections::BTreeMap;

use redb::{ReadableTable, ReadableTableMetadata};

use super::IndexError;
use super::keys::{member_key, registered_key, weight_key};
use super::read::View;
use super::rows::decode_webhook;
use super::tables::{BY_REGISTRANT, MEMBERS, UNPROVEN, WEBHOOKS, WEIGHTS, WEIGHTS_OF};
use super::webhook_places::by_registrant_key;
use super::weights::{holders, weight};
use crate::store::check::{Finding, FindingKind};

impl View {
    /// Hands over what is wrong; the octets that wait for webhooks that never had a delivery.
    pub(super) fn audit_shares(&self, found: &mut dyn FnMut(Finding)) -> Result<u64, IndexError> {
        let (by_registrant, unproven) =
            (self.transaction.open_table(BY_REGISTRANT)?, self.transaction.open_table(UNPROVEN)?);
        let members = self.transaction.open_table(MEMBERS)?;
        let (mut unproven_octets, mut counts) = (0, [0_u64; 3]);
        let mut weights = BTreeMap::<(bool, [u8; 16]), u64>::new();
        for row in self.transaction.open_table(WEBHOOKS)?.iter()? {
            let row = decode_webhook(row?.1.value())?;
            let (webhook, weight) = (&row.record, weight(&row));
            let mut is_right = true;
            if let Some(registrant) = webhook.registrant {
                counts[0] += 1;
                is_right &= by_registrant.get(&by_registrant_key(&self.hash_key, registrant, webhook.id))?.is_some();
            }
            if !webhook.is_proven() {
                unproven_octets += row.octets;
            }
            if webhook.is_evictable() {
                counts[1] += 1;
                is_right &= unproven.get(&registered_key(webhook))?.is_some();
            }
            for holder in holders(&self.hash_key, webhook).filter(|_| weight > 0) {
                counts[2] += 1;
                *weights.entry((webhook.is_proven(), holder)).or_default() += weight;
                is_right &= members.get(&member_key(holder, weight, webhook.id))?.is_some();
            }
            if !is_right {
                found(rows(format!("webhook {} is not counted where it should be", webhook.id)));
            }
        }
        let kept = [by_registrant.len()?, unproven.len()?, members.len()?];
        if kept != counts {
            found(rows(format!(
                "webhooks are counted {kept:?} times by whom they are and what they hold, not {counts:?}"
            )));
        }
        self.audit_weights(&weights, found)?;
        Ok(unproven_octets)
    }

    fn audit_weights(
        &self,
        weights: &BTreeMap<(bool, [u8; 16]), u64>,
        found: &mut dyn FnMut(Finding),
    ) -> Result<(), IndexError> {
        let (of, sorted) = (self.transaction.open_table(WEIGHTS_OF)?, self.transaction.open_table(WEIGHTS)?);
        let mut are_right = of.len()? == weights.len() as u64 && sorted.len()? == of.len()?;
        for ((is_proven, holder), weight) in weights {
            are_right &= of.get(holder)?.is_some_and(|kept| kept.value() == *weight);
            are_right &= sorted.get(&weight_key(*is_proven, *weight, *holder))?.is_some();
        }
        if !are_right {
            found(rows("who holds how much of the outbox is not what waits".to_owned()));
        }
        Ok(())
    }
}

fn rows(detail: String) -> Finding {
    Finding::index(FindingKind::Rows, detail)
}
