//! What readers ask about webhooks: who they are, what waits for them, what was tried.

use super::read::View;
use super::tables::{
    ATTEMPTS, DUE, EVENTS, LaneKey, WEBHOOKS, WEBHOOKS_OF, WebhookRow, due_key, event_id, lane_key, mailbox_hash,
    opaque_place, read_due_key, webhook_of, webhook_of_key,
};
use super::{IndexError, decode_attempt, decode_event};
use crate::model::{AttemptRecord, Mailbox, PendingEvent, Timestamp, WebhookId, WebhookRecord};

impl View {
    pub(crate) fn webhooks(&self, mailbox: &Mailbox) -> Result<Vec<WebhookRecord>, IndexError> {
        let mailbox = mailbox_hash(&self.hash_key, mailbox);
        let (first, last) = (WebhookId::from_octets([0; 16]), WebhookId::from_octets([255; 16]));
        let (first, last) = (webhook_of_key(mailbox, first), webhook_of_key(mailbox, last));
        let mut found = Vec::new();
        for row in self.transaction.open_table(WEBHOOKS_OF)?.range::<&[u8; 32]>(&first..=&last)? {
            found.extend(self.webhook(webhook_of(row?.0.value()))?);
        }
        found.sort_by_key(|record| (record.created_at, record.id));
        Ok(found)
    }

    pub(crate) fn webhook(&self, id: WebhookId) -> Result<Option<WebhookRecord>, IndexError> {
        match self.transaction.open_table(WEBHOOKS)?.get(&id.octets())? {
            None => Ok(None),
            Some(row) => {
                let row: WebhookRow =
                    postcard::from_bytes(row.value()).map_err(|_| IndexError::Corrupt("a webhook does not read"))?;
                Ok(Some(row.record))
            }
        }
    }

    /// Reads one row for each webhook that has events, however many it has.
    pub(crate) fn lanes(&self) -> Result<Vec<(WebhookId, Timestamp)>, IndexError> {
        let table = self.transaction.open_table(DUE)?;
        let mut lanes = Vec::new();
        let mut from = [0; 32];
        while let Some(row) = table.range::<&[u8; 32]>(&from..)?.next() {
            let (webhook, due_at, _) = read_due_key(row?.0.value());
            lanes.push((webhook, due_at));
            from = due_key(webhook, Timestamp::MAX, u64::MAX);
        }
        Ok(lanes)
    }

    pub(crate) fn pending_events(&self, webhook: WebhookId, limit: usize) -> Result<Vec<PendingEvent>, IndexError> {
        let events = self.transaction.open_table(EVENTS)?;
        let (first, last) =
            (due_key(webhook, Timestamp::from_millis(0), 0), due_key(webhook, Timestamp::MAX, u64::MAX));
        let mut pending = Vec::new();
        for row in self.transaction.open_table(DUE)?.range::<&[u8; 32]>(&first..=&last)?.take(limit) {
            let (_, due_at, sequence) = read_due_key(row?.0.value());
            let row = events.get(&lane_key(webhook, sequence))?.ok_or(IndexError::Corrupt("a due event is missing"))?;
            let event = decode_event(row.value())?;
            pending.push(PendingEvent {
                id: event_id(&self.hash_key, webhook, event.email),
                webhook,
                email: event.email,
                sequence,
                attempts: event.attempts,
                due_at,
                received_at: event.received_at,
                expires_at: event.expires_at,
                size_octets: u64::from(event.place.content),
                place: opaque_place(event.place),
            });
        }
        Ok(pending)
    }

    pub(crate) fn is_pending(&self, webhook: WebhookId, sequence: u64) -> Result<bool, IndexError> {
        Ok(self.transaction.open_table(EVENTS)?.get(&lane_key(webhook, sequence))?.is_some())
    }

    pub(crate) fn attempts(&self, webhook: WebhookId, limit: usize) -> Result<Vec<AttemptRecord>, IndexError> {
        let (first, last) = (lane_key(webhook, 0), lane_key(webhook, u64::MAX));
        let table = self.transaction.open_table(ATTEMPTS)?;
        let lines = table.range::<&LaneKey>(&first..=&last)?.rev().take(limit);
        lines.map(|row| decode_attempt(row?.1.value())).collect()
    }
}
