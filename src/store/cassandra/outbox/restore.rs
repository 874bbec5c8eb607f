//! Events of a backup.

use uuid::Uuid;

use super::super::mailbox::WrittenRow;
use super::super::message::to_ttl;
use super::super::state::ClusterState;
use super::event::EventRow;
use crate::model::{EmailId, Timestamp, WebhookId};
use crate::store::StoreError;

impl ClusterState {
    /// Adds a pending event without regard to limits. `false` if its webhook or its Email is missing, the webhook is disabled, or
    /// the event is pending.
    ///
    /// The message must be written as one that others need as well. Otherwise a deletion of the Email takes it from the event.
    pub(in super::super) async fn insert_event(
        &self,
        webhook: WebhookId,
        email: EmailId,
        attempts: u32,
        due_at: Timestamp,
    ) -> Result<bool, StoreError> {
        let id = Uuid::from_bytes(email.octets());
        let Some(row) = self.cluster.first::<WrittenRow>(&self.statements.by_id_written, (id,)).await? else {
            return Ok(false);
        };
        let (email_row, at) = (row.email(), row.written_at);
        let is_active = self.stored_webhook(webhook).await?.is_some_and(|webhook| webhook.is_active());
        if !is_active || self.find_event(webhook, email_row.sequence.cast_unsigned(), email).await?.is_some() {
            return Ok(false);
        }
        let life = (email_row.expires_at.saturating_sub(email_row.received_at) / 1000).saturating_add(60);
        let event = EventRow::of(&email_row, self.ttl_of_raw(to_ttl(life)), at);
        let attempts = attempts.cast_signed();
        self.write_event(webhook, &EventRow { attempts, due_at: due_at.millis(), ..event }).await?;
        Ok(true)
    }
}
