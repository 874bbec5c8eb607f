//! The events of webhooks.
//!
//! ```text
//! table    the rows of events                     load     what the leader knows of them, and the limits
//! record   what ends and changes events           replay   ended events that are pending again
//! ```
//!
//! A message writes its events before it is shown. One node, the leader, sends them. It holds those that are pending in memory,
//! as an embedded store does, and the limits are what this memory admits. The log brings new events; the whole table is read
//! when a node takes the lead, and each minute.

mod load;
mod record;
mod replay;
mod table;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures_util::future::try_join;
use tokio::sync::{Mutex as AsyncMutex, Notify, oneshot};

use super::log::Fact;
use super::message::{MessageId, ReadMessage};
use super::registry::StoredWebhook;
use super::{CassandraStore, Shared};
use crate::model::{AttemptRecord, PendingEvent, StoredEmail, Timestamp, WebhookId};
use crate::store::change::EventState;
use crate::store::mail::{Due, Receiver};
use crate::store::{DueEvents, DueQuery, Outbox, Replay, Replayed, StoreError};

/// An event: its webhook, and the sequence of its Email.
type Key = (WebhookId, u64);

/// The outbox of a node.
#[derive(Debug, Default)]
pub(super) struct OutboxState {
    /// Rings when there may be new events.
    pub(super) hint: Arc<Notify>,
    /// Held while events are read or changed.
    known: AsyncMutex<Known>,
    /// Attempts that are to be recorded by whoever holds `known` next, with those who wait for that.
    brought: Mutex<Vec<Brought>>,
    /// Facts about events and webhooks that are not looked at yet. A node that does not lead keeps none.
    noted: Mutex<Option<Vec<Fact>>>,
}

/// Attempts to record, and who is told of the result.
type Brought = (Vec<AttemptRecord>, oneshot::Sender<Result<(), StoreError>>);

/// What the leader knows, beside the events themselves in the picture.
#[derive(Debug, Default)]
struct Known {
    /// Whether it is all that the table and the facts say.
    is_current: bool,
    /// The active webhooks.
    receivers: HashMap<WebhookId, Receiver>,
}

impl OutboxState {
    /// Takes a fact of any node that may be about events or webhooks, before the picture has it.
    pub(super) fn note(&self, fact: &Fact) {
        let matters = match fact {
            Fact::Received(received) | Fact::ReceivedByLeases(received) => !received.events.is_empty(),
            Fact::EventsAdded(_) | Fact::RegistryChanged => true,
            Fact::Deleted(_) => false,
        };
        if matters && let Some(noted) = &mut *self.noted() {
            noted.push(fact.clone());
            self.hint.notify_one();
        }
    }

    /// This node takes the lead now. It did not have it a moment ago, so others may have changed any event.
    pub(super) fn take_over(&self) {
        self.rest();
        self.hint.notify_one();
    }

    /// Keeps no facts until all is read again.
    fn rest(&self) {
        self.noted().take();
    }

    fn brought(&self) -> MutexGuard<'_, Vec<Brought>> {
        self.brought.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn noted(&self) -> MutexGuard<'_, Option<Vec<Fact>>> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key_of(event: &PendingEvent) -> Key {
    (event.webhook, event.email.sequence)
}

#[async_trait]
impl Outbox for CassandraStore {
    async fn pending_webhooks(&self) -> Result<Vec<(WebhookId, Option<Timestamp>)>, StoreError> {
        let shared = &self.shared;
        shared.check_open()?;
        if !shared.may_lead() {
            return Ok(Vec::new());
        }
        let mut known = shared.outbox.known.lock().await;
        shared.settle(&mut known).await?;
        let mut pending = shared.picture.mail().pending_webhooks();
        pending.retain(|(webhook, _)| known.receivers.contains_key(webhook));
        Ok(pending)
    }

    async fn due_events(&self, webhook: WebhookId, query: DueQuery) -> Result<Option<DueEvents>, StoreError> {
        let shared = &self.shared;
        shared.check_open()?;
        if !shared.may_lead() {
            return Ok(None);
        }
        shared.settle(&mut *shared.outbox.known.lock().await).await?;
        let stored = shared.stored_webhook(webhook).await?;
        let Some(StoredWebhook { record, health, .. }) = stored.filter(StoredWebhook::is_active) else {
            return Ok(None);
        };
        let Due { events, next_due_at } = shared.picture.mail().due_events(webhook, &query);
        let backs_off_until = health.backs_off_until(query.due_by);
        Ok(Some(DueEvents { webhook: record, events, next_due_at, backs_off_until }))
    }

    async fn load_event(&self, event: &PendingEvent) -> Result<Option<StoredEmail>, StoreError> {
        let shared = &self.shared;
        shared.check_open()?;
        if !shared.may_lead() {
            return Ok(None);
        }
        shared.settle_alone().await?;
        let (webhook, listed) = (shared.stored_webhook(event.webhook), &event.email);
        let message = shared.read_message(MessageId::of_place(listed.place), listed.size_octets);
        let (webhook, message) = try_join(webhook, message).await?;
        // Asked last, so that a node that was suspended while it read the message sends nothing.
        let is_known = shared.picture.mail().place_of_event(event.webhook, listed.sequence).is_some();
        if !is_known || !webhook.is_some_and(|webhook| webhook.is_active()) || !shared.may_lead() {
            return Ok(None);
        }
        if let ReadMessage::Whole(envelope, raw) = message {
            return Ok(Some(StoredEmail { listed: listed.clone(), envelope, raw }));
        }
        tracing::error!(webhook = %event.webhook, email = %listed.id, "the message of an event is missing");
        Err(StoreError::Damaged { segment: 0, offset: 0 })
    }

    async fn record_attempts(&self, attempts: Vec<AttemptRecord>) -> Result<(), StoreError> {
        self.shared.record_attempts(attempts).await
    }

    async fn end_events(&self, expired_by: Timestamp) -> Result<usize, StoreError> {
        self.shared.end_events(expired_by).await
    }

    async fn replay(&self, webhook: WebhookId, which: Replay, now: Timestamp) -> Result<Replayed, StoreError> {
        self.shared.replay(webhook, &which, now).await
    }

    fn outbox_hint(&self) -> Arc<Notify> {
        Arc::clone(&self.shared.outbox.hint)
    }
}

impl Shared {
    /// The pending events of a webhook that this node knows, in the order of their Emails.
    fn events_of(&self, webhook: WebhookId) -> Vec<PendingEvent> {
        let mail = self.picture.mail();
        mail.events_after(Some((webhook, 0))).take_while(|event| event.webhook == webhook).collect()
    }

    /// Ends an event in memory.
    fn take_out(&self, event: &PendingEvent) {
        self.picture.mail_mut().change_event(event.webhook, event.email.sequence, EventState::Ended, 0);
    }

    /// All pending events, in the order of webhooks and Emails.
    pub(super) async fn pending_events(&self) -> Result<Vec<PendingEvent>, StoreError> {
        self.settle_alone().await?;
        let webhooks = self.stored_webhooks().await?;
        Ok(self.read_events(&webhooks).await?.0)
    }

    /// Lets the limits drop what they drop, in a store that no daemon runs. There nobody else does it.
    pub(super) async fn settle_alone(&self) -> Result<(), StoreError> {
        if self.is_running() { Ok(()) } else { self.settle(&mut *self.outbox.known.lock().await).await }
    }
}
