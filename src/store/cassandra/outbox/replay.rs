//! The replay of ended events: those in the delivery log whose Emails still exist and for which there is room.

use super::super::Shared;
use super::super::log::Fact;
use super::record::Only;
use super::{Known, receiver_of};
use crate::model::{PendingEvent, Timestamp, WebhookId};
use crate::store::change::Change;
use crate::store::mail::{Outcome, Pending, Request};
use crate::store::outbox_rules::RECORDS_SHOWN;
use crate::store::{Replay, Replayed, StoreError};

/// How long the log says that there are events again, in seconds.
const ADDED_SECONDS: i32 = 600;

impl Shared {
    /// Makes ended events pending again, at any node.
    pub(super) async fn replay(&self, id: WebhookId, which: &Replay, now: Timestamp) -> Result<Replayed, StoreError> {
        self.check_open()?;
        let mut known = self.outbox.known.lock().await;
        let leads = self.may_lead();
        if leads {
            self.settle(&mut known).await?;
        } else {
            self.catch_up().await?;
            self.count_room(&mut known).await?;
        }
        let Some(mut webhook) = self.stored_webhook(id).await? else { return Ok(Replayed::default()) };
        let mut log = self.log_of(id, RECORDS_SHOWN, now).await?;
        log.reverse();
        let last = log.iter().map(|attempt| attempt.at).fold(self.now(), Timestamp::max);
        let request = Request::Replay { webhook: id, emails: which.select(log), now };
        let (replayed, events) = self.decide_replay(id, &request, &Only(receiver_of(&webhook.record)), now);
        if !leads {
            self.forget(&mut known);
        }
        if events.is_empty() {
            return Ok(replayed);
        }
        // First: the leader ends events of a webhook that is disabled.
        self.enable_webhook(&mut webhook, now).await?;
        let writes = events.iter().map(|event| {
            // Later than the end of the event, whose attempt is in the log.
            let written = last.max(event.email.received_at).millis().saturating_add(1).saturating_mul(1000);
            self.write_event(event, written, self.event_ttl(&event.email))
        });
        super::table::all(writes).await?;
        self.append(Fact::EventsAdded(id), ADDED_SECONDS).await?;
        self.change_version().await;
        Ok(replayed)
    }

    /// Finds the events that a request makes pending again.
    fn decide_replay(
        &self,
        webhook: WebhookId,
        request: &Request,
        only: &Only,
        now: Timestamp,
    ) -> (Replayed, Vec<PendingEvent>) {
        let mail = self.picture.mail();
        let decided = mail.decide(&mut Pending::default(), request, only);
        let replayed = if let Outcome::Replayed(replayed) = decided.outcome { replayed } else { Replayed::default() };
        let emails = decided.facts.into_iter().flat_map(|fact| match fact {
            Change::EventsAdded { emails, .. } => emails,
            _ => Vec::new(),
        });
        let emails = emails.filter_map(|email| mail.find(email, now));
        (replayed, emails.map(|email| self.new_event(webhook, email, now)).collect())
    }

    /// Takes all events of the table into memory, for a moment, to know what room there is. Only the leader has them there.
    async fn count_room(&self, known: &mut Known) -> Result<(), StoreError> {
        self.forget(known);
        let webhooks = self.stored_webhooks().await?;
        known.receivers = webhooks.iter().map(|webhook| (webhook.record.id, receiver_of(&webhook.record))).collect();
        for event in self.all_events().await? {
            if let Some(receiver) = known.receivers.get(&event.webhook) {
                // As if it had an attempt: the leader alone drops events.
                let event = PendingEvent { attempts: event.attempts.max(1), ..event };
                self.picture.mail_mut().admit_event(receiver, &event, &[event.email.id]);
            }
        }
        Ok(())
    }
}
