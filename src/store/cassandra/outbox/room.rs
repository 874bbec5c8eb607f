//! Room in the outbox: which events are dropped when it is full.
//!
//! The events of a message are written with it. Then the node makes room for them, by what it knows of the others. An event
//! that finds none is dropped itself. So a message never fails because of its events.

use std::collections::{BTreeMap, HashSet};

use futures_util::{StreamExt, TryStreamExt, stream};

use super::super::message::Message;
use super::super::rows::EmailRow;
use super::super::state::ClusterState;
use super::event::EventRow;
use super::usage::EventKey;
use super::webhook::StoredWebhook;
use crate::model::{EmailId, Timestamp, WebhookId};
use crate::store::StoreError;

/// The most events that are ended at once.
const AT_ONCE: usize = 32;
/// The most events that one message drops, beside one for each event that it has.
const DROPS_MAX: usize = 256;

impl ClusterState {
    /// Makes room for the events of a message that is stored. A failure is not that of the message.
    pub(in super::super) async fn settle_events(
        &self,
        rows: &[EmailRow],
        message: &Message,
        webhooks: &[StoredWebhook],
    ) {
        for webhook in webhooks {
            if let Err(error) = self.write_last_mail(webhook.record.id, message.received_at).await {
                tracing::warn!(%error, "the time of a webhook's last mail was not written; the next mail tries again");
            }
        }
        if message.events.is_empty() {
            return;
        }
        self.ring_outbox();
        if let Err(error) = self.make_room_for(rows, message, webhooks).await {
            tracing::warn!(%error, "old events of a full outbox were not dropped; the next mail tries again");
        }
    }

    async fn make_room_for(
        &self,
        rows: &[EmailRow],
        message: &Message,
        webhooks: &[StoredWebhook],
    ) -> Result<(), StoreError> {
        if self.outbox.usages.begin_count() {
            self.count_events().await.inspect_err(|_| self.outbox.usages.abort_count())?;
        }
        let new = || {
            message.events.iter().filter_map(|event| {
                let webhook = webhooks.iter().find(|webhook| webhook.record.id == event.webhook)?;
                Some((webhook, rows.get(event.recipient as usize)?))
            })
        };
        let usages = &self.outbox.usages;
        for (webhook, row) in new() {
            let id = webhook.record.id;
            if usages.is_due(id) {
                usages.count(&webhook.record, &self.events_of(id).await?);
            }
            usages.remove(id, (row.sequence, row.id));
        }
        let (mut drops_left, mut dropped) = (DROPS_MAX, Vec::new());
        for (webhook, row) in new() {
            drops_left += 1;
            let (id, key) = (webhook.record.id, (row.sequence, row.id));
            let event = (key, row.octets.cast_unsigned());
            let drops = usages.make_room(self.options.outbox, &webhook.record, event, drops_left);
            let drops = drops.unwrap_or_else(|| vec![key]);
            drops_left = drops_left.saturating_sub(drops.len());
            dropped.extend(drops.into_iter().map(|event| (id, event)));
        }
        self.drop_events(dropped, message.received_at).await
    }

    /// Counts the events of all webhooks.
    pub(super) async fn count_events(&self) -> Result<(), StoreError> {
        let mut known = HashSet::new();
        for (id, events) in self.pending().await? {
            let Some(webhook) = self.stored_webhook(id).await? else { continue };
            self.outbox.usages.count(&webhook.record, &events);
            known.insert(id);
        }
        self.outbox.usages.retain(|webhook| known.contains(webhook));
        Ok(())
    }

    async fn drop_events(&self, events: Vec<(WebhookId, EventKey)>, now: Timestamp) -> Result<(), StoreError> {
        if events.is_empty() {
            return Ok(());
        }
        let drops = stream::iter(events).map(async |(webhook, event)| {
            Ok::<_, StoreError>(self.drop_event(webhook, event, now).await?.then_some(webhook))
        });
        let mut drops = drops.buffer_unordered(AT_ONCE);
        let mut counts: BTreeMap<WebhookId, u64> = BTreeMap::new();
        while let Some(dropped) = drops.try_next().await? {
            if let Some(webhook) = dropped {
                *counts.entry(webhook).or_default() += 1;
            }
        }
        self.counters.events_dropped(&counts);
        for (webhook, dropped) in counts {
            self.count_dropped(webhook, dropped).await?;
        }
        Ok(())
    }

    /// Drops an event. `false` if it is not pending.
    async fn drop_event(
        &self,
        webhook: WebhookId,
        (sequence, email): EventKey,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let email = EmailId::from_octets(email.into_bytes());
        let Some(event) = self.find_event(webhook, sequence.cast_unsigned(), email).await? else { return Ok(false) };
        let revision = event.written_at.saturating_add(1);
        self.write_log(&event.to_dropped(self, webhook).record(now), revision).await?;
        self.delete_event(webhook, &event, revision).await?;
        // It may have been counted meanwhile.
        self.outbox.usages.remove(webhook, (sequence, event.email));
        Ok(true)
    }

    /// Ends events without an attempt, and counts them as dropped.
    pub(super) async fn end_without_delivery(
        &self,
        webhook: WebhookId,
        events: Vec<EventRow>,
    ) -> Result<usize, StoreError> {
        let number = events.len();
        let ends = stream::iter(events).map(async |event| {
            self.delete_event(webhook, &event, event.written_at).await?;
            self.outbox.usages.remove(webhook, (event.sequence, event.email));
            Ok::<_, StoreError>(())
        });
        ends.buffer_unordered(AT_ONCE).try_collect::<()>().await?;
        self.count_dropped(webhook, number as u64).await?;
        Ok(number)
    }

    /// Adds to the count of a webhook's dropped events.
    async fn count_dropped(&self, webhook: WebhookId, dropped: u64) -> Result<(), StoreError> {
        if dropped == 0 {
            return Ok(());
        }
        let _counting = self.outbox.counting.lock().await;
        match self.stored_webhook(webhook).await? {
            Some(webhook) => self.write_dropped(&webhook, dropped).await,
            None => Ok(()),
        }
    }
}
