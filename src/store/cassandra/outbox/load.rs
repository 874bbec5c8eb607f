//! What the leader knows of pending events: what the table has, within the limits.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use tokio::time::{Instant, sleep};

use super::super::Shared;
use super::super::log::Fact;
use super::super::message::MessageId;
use super::super::registry::StoredWebhook;
use super::table::AT_ONCE;
use super::{Key, Known, key_of};
use crate::model::{EmailId, PendingEvent, Timestamp, WebhookId};
use crate::store::StoreError;
use crate::store::mail::Receiver;

/// How often the leader looks for what it has not asked for, and how often it reads the whole table.
const LOOK_EVERY: Duration = Duration::from_secs(1);
const READ_EVERY: Duration = Duration::from_mins(1);
/// By then the log has told of each message that was acknowledged, whatever the clocks say.
const TOLD_WITHIN: Duration = Duration::from_secs(25);

/// An event that is not known yet, and all Emails of its message, as far as they matter.
type New = (PendingEvent, Vec<EmailId>);

impl Shared {
    /// Follows the table as the leader, forever.
    pub(in super::super) async fn run_outbox(&self) {
        let mut read_at = Instant::now();
        loop {
            sleep(LOOK_EVERY).await;
            let reads_all = read_at.elapsed() >= READ_EVERY;
            if reads_all {
                read_at = Instant::now();
            }
            let looked = if self.leads() {
                self.look(reads_all).await
            } else {
                self.outbox.rest();
                // What was under way as the lead ended is recorded by then.
                if reads_all {
                    self.forget(&mut *self.outbox.known.lock().await);
                }
                Ok(())
            };
            if let Err(error) = looked {
                tracing::debug!(%error, "the events of webhooks could not be read; they are read again");
            }
        }
    }

    /// Admits what is new, and may make what is known agree with the whole table.
    async fn look(&self, reads_all: bool) -> Result<(), StoreError> {
        let mut known = self.outbox.known.lock().await;
        self.settle(&mut known).await?;
        if reads_all {
            let webhooks = self.read_webhooks(&mut known).await?;
            self.load(&mut known, &webhooks).await?;
            if !self.picture.mail().pending_webhooks().is_empty() {
                self.outbox.hint.notify_one();
            }
        }
        Ok(())
    }

    /// Forgets all events, as a node that does not lead.
    pub(super) fn forget(&self, known: &mut Known) {
        *known = Known::default();
        let mut mail = self.picture.mail_mut();
        for (webhook, _) in mail.pending_webhooks() {
            mail.forget_webhook(webhook);
        }
    }

    /// Admits what the log brought, or all that the table has after this node took the lead. A store that no daemon runs has
    /// to look at the whole table each time.
    pub(super) async fn settle(&self, known: &mut Known) -> Result<(), StoreError> {
        // Whoever gives up meanwhile leaves all to be read.
        let is_current = std::mem::take(&mut known.is_current) && self.is_running();
        let noted = self.outbox.noted().replace(Vec::new());
        if let Some(noted) = noted.filter(|_| is_current) {
            if noted.contains(&Fact::RegistryChanged) {
                self.read_webhooks(known).await?;
            }
            self.admit_noted(known, noted).await?;
        } else {
            self.catch_up().await?;
            let webhooks = self.read_webhooks(known).await?;
            self.load(known, &webhooks).await?;
        }
        known.is_current = true;
        Ok(())
    }

    /// Reads all webhooks. The events of those that are gone are so, too.
    async fn read_webhooks(&self, known: &mut Known) -> Result<Vec<StoredWebhook>, StoreError> {
        let webhooks = self.stored_webhooks().await?;
        let active = webhooks.iter().filter(|webhook| webhook.is_active());
        known.receivers = active.map(|webhook| (webhook.record.id, Receiver::of(&webhook.record))).collect();
        let exist: HashSet<WebhookId> = webhooks.iter().map(|webhook| webhook.record.id).collect();
        let mut mail = self.picture.mail_mut();
        for (webhook, _) in mail.pending_webhooks() {
            if !exist.contains(&webhook) {
                mail.forget_webhook(webhook);
            }
        }
        Ok(webhooks)
    }

    async fn admit_noted(&self, known: &mut Known, noted: Vec<Fact>) -> Result<(), StoreError> {
        let (mut new, mut changed) = (Vec::<New>::new(), HashSet::new());
        for fact in noted {
            match fact {
                // It is told late. Its events may have begun by their rows, and may have ended.
                Fact::Received(received) | Fact::ReceivedByLeases(received) if !self.is_young(received.at) => {
                    changed.extend(received.events.iter().map(|(_, webhook)| *webhook));
                }
                Fact::Received(received) | Fact::ReceivedByLeases(received) => {
                    let emails: Vec<EmailId> = received.emails.iter().map(|(id, ..)| *id).collect();
                    new.extend(self.begun_by(&received).into_iter().map(|event| (event, emails.clone())));
                }
                Fact::EventsAdded(webhook) => {
                    changed.insert(webhook);
                }
                Fact::Deleted(_) | Fact::RegistryChanged => {}
            }
        }
        self.admit(known, new).await?;
        for webhook in changed {
            if let Some(webhook) = self.stored_webhook(webhook).await? {
                self.load(known, &[webhook]).await?;
            }
        }
        Ok(())
    }

    /// Makes what is known of the events of webhooks agree with the table.
    async fn load(&self, known: &mut Known, webhooks: &[StoredWebhook]) -> Result<(), StoreError> {
        let (events, left) = self.read_events(webhooks).await?;
        let mut new: HashMap<Key, PendingEvent> = events.into_iter().map(|event| (key_of(&event), event)).collect();
        for event in webhooks.iter().flat_map(|webhook| self.events_of(webhook.record.id)) {
            // What another leader has changed is new.
            if new.get(&key_of(&event)) == Some(&event) {
                new.remove(&key_of(&event));
            } else {
                self.take_out(&event);
            }
        }
        if self.may_lead() {
            self.delete_events(&left).await?;
        }
        let new = self.only_shown(new.into_values()).await?;
        self.admit(known, new).await
    }

    /// Those events whose messages are shown. Nobody sends the others, which a node left that died, and they end by themselves.
    async fn only_shown(&self, events: impl Iterator<Item = PendingEvent>) -> Result<Vec<New>, StoreError> {
        let looks = events.map(|event| async move {
            let email = &event.email;
            // The log has told of it only when it was shown.
            if self.picture.mail().find(email.id, Timestamp::from_millis(i64::MIN)).is_some() {
                let emails = vec![email.id];
                return Ok(Some((event, emails)));
            }
            if self.is_running() && self.is_young(email.received_at) {
                // The log brings it, and must not bring it after its end. If it does not, the next look finds it.
                return Ok(None);
            }
            let head = self.head_of(MessageId::of_place(email.place)).await?;
            let shown = head.filter(|(_, is_shown)| *is_shown);
            Ok::<_, StoreError>(shown.map(|(it, _)| (event, it.recipients.iter().map(|to| to.id).collect())))
        });
        let looked = stream::iter(looks.collect::<Vec<_>>()).buffer_unordered(AT_ONCE);
        Ok(looked.try_collect::<Vec<_>>().await?.into_iter().flatten().collect())
    }

    /// Whether the log may still have to tell of a message that was received at a time.
    fn is_young(&self, at: Timestamp) -> bool {
        let now = self.now();
        now.since(at).max(at.since(now)) < TOLD_WITHIN
    }

    /// Begins events in the order of their Emails, as far as there is room. Those of webhooks that get none end silently.
    ///
    /// A node that does not lead takes them all, to know what room there is.
    async fn admit(&self, known: &mut Known, mut new: Vec<New>) -> Result<(), StoreError> {
        let webhooks: HashSet<WebhookId> = new.iter().map(|(event, _)| event.webhook).collect();
        for id in webhooks.into_iter().filter(|id| !known.receivers.contains_key(id)).collect::<Vec<_>>() {
            // It may have been registered or enabled a moment ago.
            if let Some(webhook) = self.stored_webhook(id).await?.filter(StoredWebhook::is_active) {
                known.receivers.insert(id, Receiver::of(&webhook.record));
            }
        }
        // What had an attempt has its room.
        new.sort_by_key(|(event, _)| (event.attempts == 0, event.email.sequence));
        let (mut dropped, mut unwanted) = (Vec::new(), Vec::new());
        let leads = self.may_lead();
        for (mut event, emails) in new {
            let mut mail = self.picture.mail_mut();
            if mail.place_of_event(event.webhook, event.email.sequence).is_some() {
                continue;
            }
            let Some(receiver) = known.receivers.get(&event.webhook) else {
                unwanted.push(event);
                continue;
            };
            if !leads {
                event.attempts = event.attempts.max(1);
            }
            let at = event.email.received_at;
            let ended = mail.admit_event(receiver, &event, &emails).unwrap_or_else(|| vec![event]);
            dropped.extend(ended.into_iter().map(|event| (event, at)));
        }
        if !leads {
            return Ok(());
        }
        self.delete_events(&unwanted).await?;
        self.drop_events(dropped).await
    }
}
