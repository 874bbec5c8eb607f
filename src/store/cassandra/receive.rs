//! The way of a message into the cluster.
//!
//! ```text
//! octets                  nobody sees them
//! rows that find it       one recipient: an id that nobody knows yet
//! row of the mailbox      one recipient: the commit point
//!
//! intent                  several recipients, or events: the commit point; a sweeper writes what is missing if this node dies
//! rows of all recipients, and events
//! ```
//!
//! A caller gets `Ok` when all rows are written, each by a quorum.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::{try_join, try_join_all, try_join4};
use tokio::sync::SemaphorePermit;
use tokio::time::{Instant, timeout};
use uuid::Uuid;

use super::message::{Message, MessageEvent, to_ttl};
use super::outbox::StoredWebhook;
use super::rows::{EmailRow, MailboxNames, end_of_slot, expiry_slot, signed};
use super::state::ClusterState;
use crate::events::Happening;
use crate::model::{Delivery, Mailbox, Timestamp};
use crate::store::StoreError;
use crate::store::options::is_young;

/// The longest time from the first write to the commit point. It is below that after which a sweeper takes over.
const COMMIT_WITHIN: Duration = Duration::from_secs(5);
/// The most recipients of messages that are written at once. The other messages wait for their admission, so that those that
/// are admitted are written in time.
pub(super) const RECIPIENTS_MAX: u32 = 32;
/// How long a message waits for its admission.
const ADMITTED_WITHIN: Duration = Duration::from_secs(30);
/// The most slots that a node remembers to have entered.
const KNOWN_SLOTS_MAX: usize = 10_000;

impl ClusterState {
    pub(super) async fn receive(self: &Arc<Self>, delivery: Delivery) -> Result<(), StoreError> {
        self.check_open()?;
        let limit = self.options.message_octets_max;
        if delivery.raw.len() as u64 > limit {
            return Err(StoreError::TooLarge { limit });
        }
        let Some(id) = Message::id_of(&delivery.envelope) else { return Ok(()) };
        let arrived = Instant::now();
        let admission = self.admit(delivery.envelope.recipients.len()).await?;
        self.check_open()?;
        self.refuse_full(&delivery).await?;
        let begun = Instant::now();
        let mut message = Message {
            envelope: delivery.envelope,
            received_at: delivery.received_at,
            begun_at: delivery.received_at.plus(begun - arrived),
            expires_at: delivery.expires_at,
            octets: delivery.raw.len() as u64,
            sequences: Box::default(),
            events: Vec::new(),
            written_at: delivery.received_at.millis().saturating_mul(1000),
        };
        let (ttl, written_at) = (message.ttl(), message.written_at);
        let ((), (), sequences, webhooks) = try_join4(
            self.write_raw(id, &message.envelope, &delivery.raw, self.ttl_of_raw(ttl), written_at),
            self.enter_slot(message.received_at, message.expires_at),
            self.number(id, &message),
            try_join_all(message.envelope.recipients.iter().map(|recipient| self.webhooks_of(&recipient.mailbox))),
        )
        .await?;
        message.sequences = sequences;
        message.events = self.events_for(&webhooks);
        let rows = message.rows(self);
        match &rows[..] {
            [row] if message.events.is_empty() => self.commit_one(row, &message, begun).await?,
            _ => self.commit_all(&rows, &message, begun).await?,
        }
        self.counters.committed(begun.elapsed());
        self.settle_events(&rows, &message, &webhooks.concat()).await;
        drop(admission);
        for row in &rows {
            self.publish(Happening::Received, row);
        }
        self.make_room(&rows, delivery.received_at).await;
        Ok(())
    }

    /// Waits until a message with so many recipients may be written.
    pub(super) async fn admit(&self, recipients: usize) -> Result<SemaphorePermit<'_>, StoreError> {
        let recipients = u32::try_from(recipients).unwrap_or(u32::MAX).min(RECIPIENTS_MAX);
        match timeout(ADMITTED_WITHIN, self.receiving.acquire_many(recipients)).await {
            Ok(Ok(admission)) => Ok(admission),
            Ok(Err(_)) => Err(StoreError::Stopping),
            Err(_) => Err(StoreError::Failed(format!(
                "more mail comes than the cluster takes; it waited {ADMITTED_WITHIN:?}"
            ))),
        }
    }

    async fn commit_one(&self, row: &EmailRow, message: &Message, begun: Instant) -> Result<(), StoreError> {
        self.write_finders(row, message).await?;
        check_time(begun)?;
        self.write_email(row, message).await.map_err(|error| unknown(&error))
    }

    async fn commit_all(
        self: &Arc<Self>,
        rows: &[EmailRow],
        message: &Message,
        begun: Instant,
    ) -> Result<(), StoreError> {
        check_time(begun)?;
        self.write_intent(message).await.map_err(|error| unknown(&error))?;
        // The sweeper stores what this node cannot finish in time.
        check_time(begun).map_err(|error| unknown(&error))?;
        self.write_rows(rows, message).await.map_err(|error| unknown(&error))?;
        let (state, message) = (Arc::clone(self), message.clone());
        self.tasks.spawn(async move {
            // The sweeper removes an intent that is left.
            if let Err(error) = state.delete_intent(&message).await {
                tracing::debug!(%error, "an intent was not removed");
            }
        });
        Ok(())
    }

    /// Writes all rows of a message. Each may be there already.
    pub(super) async fn write_rows(&self, rows: &[EmailRow], message: &Message) -> Result<(), StoreError> {
        let writes = rows.iter().map(async |row| {
            self.write_finders(row, message).await?;
            self.write_email(row, message).await
        });
        try_join(try_join_all(writes), self.write_events(rows, message)).await.map(drop)
    }

    /// The events of a message: one for each active webhook of a recipient's mailbox.
    fn events_for(&self, webhooks: &[Vec<StoredWebhook>]) -> Vec<MessageEvent> {
        let of_recipients = (0..).zip(webhooks).flat_map(|(recipient, webhooks)| {
            let active = webhooks.iter().filter(|webhook| webhook.is_active());
            active.map(move |webhook| MessageEvent { recipient, webhook: webhook.record.id })
        });
        of_recipients.filter(|_| self.options.outbox.events_per_webhook > 0).collect()
    }

    /// The numbers of a message's Emails: in a row, and above the newest of each mailbox.
    async fn number(&self, id: Uuid, message: &Message) -> Result<Box<[u64]>, StoreError> {
        if let Some(sequences) = self.sequences.of_message(id) {
            return Ok(sequences);
        }
        let since = signed(self.least_sequence(message.received_at));
        let newest = message.envelope.recipients.iter().map(async |recipient| {
            let names = MailboxNames::new(&self.secret, &recipient.mailbox);
            let row = self.cluster.first::<(i64,)>(&self.statements.email_newest, (&names.mailbox[..], since)).await?;
            Ok::<_, StoreError>(row.map_or(0, |(sequence,)| sequence.cast_unsigned()))
        });
        let newest = try_join_all(newest).await?;
        let count = message.envelope.recipients.len() as u64;
        let first = self.sequences.next(message.received_at, newest.into_iter().max().unwrap_or(0), count);
        let sequences: Box<[u64]> = (first..first.saturating_add(count)).collect();
        self.sequences.remember(id, sequences.clone());
        Ok(sequences)
    }

    /// Enters the slot of an expiry in the list of slots, once for each node.
    pub(super) async fn enter_slot(&self, now: Timestamp, expires_at: Timestamp) -> Result<(), StoreError> {
        let slot = expiry_slot(expires_at.millis());
        if self.slots().contains(&slot) {
            return Ok(());
        }
        let life = end_of_slot(slot).saturating_sub(now.millis()) / 1000;
        self.cluster.run(&self.statements.slot_insert, (slot, to_ttl(life.saturating_add(120)))).await?;
        let mut slots = self.slots();
        if slots.len() >= KNOWN_SLOTS_MAX {
            slots.clear();
        }
        slots.insert(slot);
        Ok(())
    }

    fn slots(&self) -> std::sync::MutexGuard<'_, std::collections::HashSet<i64>> {
        self.known_slots.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Messages may be sent to webhooks for some time after they have expired.
    pub(super) fn ttl_of_raw(&self, ttl: i32) -> i32 {
        to_ttl(i64::from(ttl).saturating_add_unsigned(self.grace.as_secs()))
    }

    /// Refuses a message for a mailbox at its cap whose oldest Email is too young to make way.
    async fn refuse_full(&self, delivery: &Delivery) -> Result<(), StoreError> {
        let cap = self.options.emails_per_mailbox_max as usize;
        if cap == 0 {
            return Ok(());
        }
        let is_full = async |mailbox: &Mailbox| {
            let names = MailboxNames::new(&self.secret, mailbox);
            let newest = self.readable(&names.mailbox, cap, delivery.received_at).await?;
            Ok::<_, StoreError>(
                newest
                    .get(cap - 1)
                    .is_some_and(|row| is_young(Timestamp::from_millis(row.received_at), delivery.received_at)),
            )
        };
        let full = try_join_all(delivery.envelope.recipients.iter().map(|recipient| is_full(&recipient.mailbox)));
        if full.await?.contains(&true) { Err(StoreError::MailboxFull) } else { Ok(()) }
    }

    /// Deletes the oldest Emails of mailboxes beyond their cap, except young ones: of messages that come at once, each may
    /// have found room. The message is safe, so a failure is not its own.
    async fn make_room(&self, rows: &[EmailRow], now: Timestamp) {
        let cap = self.options.emails_per_mailbox_max as usize;
        if cap == 0 || self.is_closed.load(Ordering::Acquire) {
            return;
        }
        for row in rows {
            let beyond = async {
                let beyond = self.written(&row.mailbox, u64::MAX, now).await?.into_iter().skip(cap);
                for row in beyond.filter(|row| !is_young(Timestamp::from_millis(row.received_at), now)) {
                    self.delete_row(&row).await?;
                    self.counters.evicted();
                }
                Ok::<_, StoreError>(())
            };
            if let Err(error) = beyond.await {
                tracing::warn!(%error, "the oldest mail of a full mailbox was not deleted; the next mail tries again");
            }
        }
    }
}

/// Refuses to go on with a message that took too long: a sweeper may have seen the beginning of it.
fn check_time(begun: Instant) -> Result<(), StoreError> {
    if begun.elapsed() < COMMIT_WITHIN { Ok(()) } else { Err(StoreError::Failed("the cluster is too slow".into())) }
}

/// The error of a write at or after the commit point.
fn unknown(error: &StoreError) -> StoreError {
    tracing::warn!(%error, "the cluster did not say whether a message was stored");
    StoreError::Unconfirmed
}
