//! The replay of ended events: those in the delivery log whose Emails still exist and for which there is room.

use std::collections::HashMap;

use futures_util::future::try_join_all;
use uuid::Uuid;

use super::super::mailbox::WrittenRow;
use super::super::message::to_ttl;
use super::super::state::ClusterState;
use super::event::EventRow;
use crate::model::{EmailId, Timestamp, WebhookId, WebhookStatus};
use crate::store::outbox_rules::RECORDS_SHOWN;
use crate::store::{Replay, Replayed, StoreError};

impl ClusterState {
    /// Makes ended events pending again. A write of an event is later than its end, which its log tells.
    pub(super) async fn replay(&self, id: WebhookId, which: &Replay, now: Timestamp) -> Result<Replayed, StoreError> {
        self.check_open()?;
        let mut result = Replayed::default();
        let Some(mut webhook) = self.stored_webhook(id).await? else { return Ok(result) };
        let log = self.read_log(id, RECORDS_SHOWN, now).await?;
        let mut revisions: HashMap<EmailId, i64> = HashMap::new();
        for (record, revision) in &log {
            if let Some(email) = record.email {
                let known = revisions.entry(email).or_insert(*revision);
                *known = (*known).max(*revision);
            }
        }
        let pending = self.events_of(id).await?;
        let (limits, usages) = (self.options.outbox, &self.outbox.usages);
        if usages.begin_count() {
            self.count_events().await.inspect_err(|_| usages.abort_count())?;
        }
        usages.count(&webhook.record, &pending);
        let mut again = Vec::new();
        for row in self.existing(which.select(log.into_iter().map(|(record, _)| record).rev()), now).await? {
            let email = row.email();
            if pending.iter().any(|event| event.email == email.id) {
                continue;
            }
            let event = ((email.sequence, email.id), email.octets.cast_unsigned());
            if usages.make_room(limits, &webhook.record, event, 0).is_none() {
                result.no_room += 1;
                continue;
            }
            let known = revisions.get(&EmailId::from_octets(email.id.into_bytes())).copied().unwrap_or(0);
            let life = (email.expires_at.saturating_sub(now.millis()) / 1000).saturating_add(60);
            let ttl = self.ttl_of_raw(to_ttl(life));
            let event = EventRow::of(&email, ttl, known.max(row.written_at).saturating_add(1));
            again.push(EventRow { due_at: now.millis(), ..event });
        }
        if again.is_empty() {
            return Ok(result);
        }
        // A sweep ends events of a webhook that is disabled.
        webhook.record.status = WebhookStatus::Active;
        webhook.record.failing_since = None;
        self.write_webhook_state(&mut webhook).await?;
        try_join_all(again.iter().map(|event| self.write_event(id, event))).await?;
        result.replayed = again.len();
        self.ring_outbox();
        Ok(result)
    }

    /// The Emails of these that exist, the oldest first: they expire first, and their records are the first to leave the log.
    async fn existing(&self, emails: Vec<EmailId>, now: Timestamp) -> Result<Vec<WrittenRow>, StoreError> {
        let mut rows = Vec::new();
        for email in emails {
            let id = Uuid::from_bytes(email.octets());
            let row = self.cluster.first::<WrittenRow>(&self.statements.by_id_written, (id,)).await?;
            rows.extend(row.filter(|row| self.is_readable(&row.email(), now)));
        }
        rows.sort_by_key(|row| row.email().sequence);
        Ok(rows)
    }
}
