//! The replay of ended events: those in the delivery log whose Emails still exist and for which there is room.

use std::time::Duration;

use super::super::Shared;
use super::super::log::Fact;
use super::super::registry::StoredWebhook;
use super::table;
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
        let leads = self.may_lead();
        let mut known = self.outbox.known.lock().await;
        self.settle(&mut known).await?;
        let Some(mut webhook) = self.stored_webhook(id).await? else { return Ok(Replayed::default()) };
        let mut log = self.log_of(id, RECORDS_SHOWN, now).await?;
        log.reverse();
        let last = log.iter().map(|attempt| attempt.at).fold(self.now(), Timestamp::max);
        let request = Request::Replay { webhook: id, emails: which.select(log), now };
        let (replayed, mut events) = self.decide_replay(&webhook, &request, now);
        // A node that takes the lead meanwhile reads all anew.
        if !leads || !self.may_lead() {
            self.forget(&mut known);
        }
        if events.is_empty() {
            return Ok(replayed);
        }
        // First: the leader ends events of a webhook that is disabled.
        self.enable_webhook(&mut webhook, now).await?;
        for event in &mut events {
            // Later than its row that was deleted, whose attempt is in the log.
            event.due_at = last.max(event.email.received_at).plus(Duration::from_millis(1));
        }
        table::all(events.iter().map(|event| self.write_event(event))).await?;
        self.append(Fact::EventsAdded(id), ADDED_SECONDS).await?;
        self.tell_change();
        Ok(replayed)
    }

    /// Finds the events that a request makes pending again.
    fn decide_replay(
        &self,
        webhook: &StoredWebhook,
        request: &Request,
        now: Timestamp,
    ) -> (Replayed, Vec<PendingEvent>) {
        let mail = self.picture.mail();
        let decided = mail.decide(&mut Pending::default(), request, webhook);
        let replayed = if let Outcome::Replayed(replayed) = decided.outcome { replayed } else { Replayed::default() };
        let emails = decided.facts.into_iter().flat_map(|fact| match fact {
            Change::EventsAdded { emails, .. } => emails,
            _ => Vec::new(),
        });
        let emails = emails.filter_map(|email| mail.find(email, now));
        (replayed, emails.map(|email| self.new_event(webhook.record.id, email, now)).collect())
    }
}
