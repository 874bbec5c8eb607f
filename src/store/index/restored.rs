//! An event of another store, put into the outbox of this one.

use redb::ReadableTable;

use super::IndexError;
use super::apply::Apply;
use super::tables::{EventRow, sequence_of};
use crate::model::{EmailId, Timestamp, WebhookId, WebhookStatus};
use crate::store::change::Outcome;

impl Apply<'_> {
    /// Does nothing for a webhook or an Email that is not here, or an event that waits already.
    pub(super) fn restore_event(
        &mut self,
        webhook: WebhookId,
        email: EmailId,
        attempts: u32,
        due_at: Timestamp,
    ) -> Result<Outcome, IndexError> {
        let nothing = Ok(Outcome::Changed { number: 0, more: false });
        let Some(row) = self.outbox.row(webhook)? else { return nothing };
        let Some(key) = self.ids.get(&email.octets())?.map(|key| *key.value()) else { return nothing };
        let Some(mail) = self.row(&key)? else { return nothing };
        let sequence = sequence_of(&key);
        if row.record.status != WebhookStatus::Active || self.outbox.events.get(webhook, sequence)?.is_some() {
            return nothing;
        }
        let event = EventRow {
            email,
            attempts,
            due_at,
            received_at: mail.received_at,
            expires_at: mail.expires_at,
            place: mail.place,
        };
        self.mark_shared(&key, &mail)?;
        let number = usize::from(self.add_event(webhook, sequence, &event)?);
        Ok(Outcome::Changed { number, more: false })
    }
}
