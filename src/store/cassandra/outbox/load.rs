//! What the leader knows of pending events: what the table has, within the limits.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use tokio::time::{Instant, sleep};

use super::super::Shared;
use super::super::log::Fact;
use super::super::message::MessageId;
use super::super::registry::StoredWebhook;
use super::table::{AT_ONCE, Stored};
use super::{Known, key_of, receiver_of};
use crate::model::{EmailId, PendingEvent, Timestamp, WebhookId};
use crate::store::StoreError;
use crate::store::change::EventState;

/// How often the leader looks for what it has not asked for, and how often it reads the whole table.
const LOOK_EVERY: Duration = Duration::from_secs(1);
const READ_EVERY: Duration = Duration::from_mins(1);
/// An event whose message is not shown for so long was left by a node that died.
const SHOWN_WITHIN: Duration = Duration::from_mins(1);

/// An event that is not known yet.
struct New {
    stored: Stored,
    /// All Emails of its message, as far as that matters.
    emails: Vec<EmailId>,
}

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
            let looked = if !self.leads() {
                self.outbox.rest();
                // What was under way as the lead ended is recorded by then.
                if reads_all {
                    self.forget(&mut *self.outbox.known.lock().await);
                }
                Ok(())
            } else if reads_all {
                self.read_again().await
            } else {
                self.settle(&mut *self.outbox.known.lock().await).await
            };
            if let Err(error) = looked {
                tracing::debug!(%error, "the events of webhooks could not be read; they are read again");
            }
        }
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
        let outbox = &self.outbox;
        // Whoever gives up meanwhile leaves all to be read.
        let settled = known.settled.take();
        let term = outbox.term.load(Ordering::Acquire);
        let is_current = outbox.keeps.swap(true, Ordering::AcqRel) && settled == Some(term) && self.is_running();
        let noted = outbox.take_noted();
        if is_current {
            if outbox.has_changed.load(Ordering::Acquire) {
                self.read_webhooks(known).await?;
            }
            self.admit_noted(known, noted).await?;
        } else {
            if settled.is_none() && known.written.is_empty() {
                // A replay that was cut off may have left events.
                self.forget(known);
            }
            self.catch_up().await?;
            let webhooks = self.read_webhooks(known).await?;
            self.load(known, &webhooks).await?;
        }
        known.settled = Some(term);
        Ok(())
    }

    /// Makes what is known agree with the table, a few webhooks at a time, since others wait for it.
    async fn read_again(&self) -> Result<(), StoreError> {
        let webhooks = {
            let mut known = self.outbox.known.lock().await;
            self.settle(&mut known).await?;
            known.turn(self.boot());
            self.read_webhooks(&mut known).await?
        };
        for webhooks in webhooks.chunks(AT_ONCE) {
            let mut known = self.outbox.known.lock().await;
            if !self.leads() {
                return Ok(());
            }
            self.load(&mut known, webhooks).await?;
        }
        if !self.picture.mail().pending_webhooks().is_empty() {
            self.outbox.hint.notify_one();
        }
        Ok(())
    }

    /// Reads all webhooks. The events of those that are gone are so, too.
    async fn read_webhooks(&self, known: &mut Known) -> Result<Vec<StoredWebhook>, StoreError> {
        self.outbox.has_changed.store(false, Ordering::Release);
        let webhooks = self.stored_webhooks().await.inspect_err(|_| self.outbox.reload())?;
        let active = webhooks.iter().filter(|webhook| webhook.is_active());
        known.receivers = active.map(|webhook| (webhook.record.id, receiver_of(&webhook.record))).collect();
        let exist: HashSet<WebhookId> = webhooks.iter().map(|webhook| webhook.record.id).collect();
        let mut mail = self.picture.mail_mut();
        for (webhook, _) in mail.pending_webhooks() {
            if !exist.contains(&webhook) {
                mail.forget_webhook(webhook);
            }
        }
        known.written.retain(|(webhook, _), _| exist.contains(webhook));
        Ok(webhooks)
    }

    async fn admit_noted(&self, known: &mut Known, noted: Vec<Fact>) -> Result<(), StoreError> {
        let (mut new, mut changed) = (Vec::new(), HashSet::new());
        for fact in noted {
            match fact {
                Fact::Received(received) => {
                    let emails: Vec<EmailId> = received.emails.iter().map(|(id, ..)| *id).collect();
                    let begun = self.begun_by(&received).into_iter();
                    new.extend(begun.map(|stored| New { stored, emails: emails.clone() }));
                }
                Fact::EventsAdded(webhook) => {
                    changed.insert(webhook);
                }
                Fact::Deleted(_) => {}
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
        let reads = webhooks.iter().map(|webhook| async move {
            let id = webhook.record.id;
            // What is known must be read as well, though the clock that `low` comes from was wrong.
            let low = self.events_of(id).iter().map(|event| event.due_at.millis()).fold(webhook.low, i64::min);
            Ok::<_, StoreError>((id, self.rows_of(id, low).await?))
        });
        let read: Vec<_> = stream::iter(reads.collect::<Vec<_>>()).buffer_unordered(AT_ONCE).try_collect().await?;
        let (mut new, mut past) = (Vec::new(), Vec::new());
        for (webhook, rows) in read {
            self.agree(known, webhook, rows, &mut new, &mut past);
        }
        self.end_rows(&past).await?;
        let new = self.only_shown(known, new).await?;
        self.admit(known, new).await
    }

    /// Compares the rows of a webhook's events with what is known. Finds new events, and rows that an end or a change left.
    fn agree(
        &self,
        known: &mut Known,
        webhook: WebhookId,
        rows: Vec<Stored>,
        new: &mut Vec<Stored>,
        past: &mut Vec<Stored>,
    ) {
        let are_there: HashSet<u64> = rows.iter().map(|row| row.event.email.sequence).collect();
        for event in self.events_of(webhook) {
            if !are_there.contains(&event.email.sequence) {
                self.take_out(known, &event);
            }
        }
        for row in rows {
            let key = key_of(&row.event);
            match (known.written.get(&key), known.ended_at(&key)) {
                (Some(written), _) if *written < row.written => {
                    let PendingEvent { attempts, due_at, .. } = row.event;
                    let state = EventState::Retry { attempts, due_at };
                    self.picture.mail_mut().change_event(key.0, key.1, state, 0);
                    known.written.insert(key, row.written);
                }
                (Some(written), _) if *written > row.written => past.push(row),
                (Some(_), _) => {}
                (None, Some(ended)) if ended >= row.written => past.push(row),
                (None, _) => new.push(row),
            }
        }
    }

    /// Those events whose messages are shown. The others wait, but not for long.
    async fn only_shown(&self, known: &mut Known, events: Vec<Stored>) -> Result<Vec<New>, StoreError> {
        let looks = events.into_iter().map(|stored| async move {
            let Stored { event, .. } = &stored;
            // The log has told of it only when it was shown.
            if self.picture.mail().find(event.email.id, Timestamp::from_millis(i64::MIN)).is_some() {
                let emails = vec![event.email.id];
                return Ok((stored, Some(emails)));
            }
            let head = self.head_of(MessageId::of_place(event.email.place)).await?;
            let shown = head.filter(|(_, is_shown)| *is_shown);
            Ok::<_, StoreError>((stored, shown.map(|(it, _)| it.recipients.iter().map(|to| to.id).collect())))
        });
        let looked: Vec<_> = stream::iter(looks.collect::<Vec<_>>()).buffer_unordered(AT_ONCE).try_collect().await?;
        let (now, mut new, mut left) = (self.boot(), Vec::new(), Vec::new());
        for (stored, emails) in looked {
            match emails {
                Some(emails) => new.push(New { stored, emails }),
                None if now.saturating_sub(*known.unshown.entry(key_of(&stored.event)).or_insert(now))
                    >= SHOWN_WITHIN =>
                {
                    left.push(stored);
                }
                None => {}
            }
        }
        self.end_rows(&left).await?;
        Ok(new)
    }

    /// Begins events in the order of their Emails, as far as there is room. Those of webhooks that get none end silently.
    async fn admit(&self, known: &mut Known, mut new: Vec<New>) -> Result<(), StoreError> {
        let webhooks: HashSet<WebhookId> = new.iter().map(|new| new.stored.event.webhook).collect();
        for id in webhooks.into_iter().filter(|id| !known.receivers.contains_key(id)).collect::<Vec<_>>() {
            // It may have been registered or enabled a moment ago.
            if let Some(webhook) = self.stored_webhook(id).await?.filter(StoredWebhook::is_active) {
                known.receivers.insert(id, receiver_of(&webhook.record));
            }
        }
        // What had an attempt has its room.
        new.sort_by_key(|New { stored: Stored { event, written }, .. }| {
            (event.attempts == 0, event.email.sequence, Reverse(*written))
        });
        let (mut dropped, mut unwanted) = (Vec::new(), Vec::new());
        for New { stored, emails } in new {
            let (key, at) = (key_of(&stored.event), stored.event.email.received_at);
            if known.written.contains_key(&key) || known.ended_at(&key) >= Some(stored.written) {
                continue;
            }
            let Some(receiver) = known.receivers.get(&key.0).copied() else {
                unwanted.push(stored);
                continue;
            };
            known.written.insert(key, stored.written);
            let admitted = self.picture.mail_mut().admit_event(&receiver, &stored.event, &emails);
            for event in admitted.unwrap_or_else(|| vec![stored.event]) {
                let written = known.end(key_of(&event));
                dropped.push((Stored { event, written }, at));
            }
        }
        self.end_rows(&unwanted).await?;
        self.drop_events(dropped).await
    }
}
