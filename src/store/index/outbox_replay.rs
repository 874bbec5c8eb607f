//! The replay of ended events: those in the delivery log whose Emails still exist and for which there is room.

use redb::ReadableTable;

use super::IndexError;
use super::apply::Apply;
use super::keys::{MailKey, sequence_of};
use super::rows::{EventRow, MailRow};
use crate::model::{EmailId, Timestamp, WebhookId, WebhookStatus};
use crate::store::change::ChangeResult;
use crate::store::{Replay, Replayed};

impl Apply<'_> {
    /// Makes ended events pending again. No event is dropped for them: a replayed event is old and would be the next to go.
    pub(super) fn replay(
        &mut self,
        webhook: WebhookId,
        which: &Replay,
        now: Timestamp,
    ) -> Result<ChangeResult, IndexError> {
        let mut result = Replayed::default();
        for (key, mail) in self.ended(webhook, which, now)? {
            if !self.has_room(webhook, u64::from(mail.place.content))? {
                result.no_room += 1;
                continue;
            }
            let event = EventRow {
                email: mail.id,
                attempts: 0,
                due_at: now,
                received_at: mail.received_at,
                expires_at: mail.expires_at,
                place: mail.place,
            };
            self.mark_refcounted(&key, &mail)?;
            result.replayed += usize::from(self.begin_event(webhook, sequence_of(&key), &event)?);
        }
        if result.replayed > 0
            && let Some(mut row) = self.outbox.row(webhook)?
        {
            row.record.status = WebhookStatus::Active;
            row.record.failing_since = None;
            self.outbox.webhooks.put(row);
        }
        Ok(ChangeResult::Replayed(result))
    }

    /// The existing Emails of the events that `which` selects and that are not pending.
    ///
    /// The oldest come first: they expire first, and their records are the first to leave the log.
    fn ended(
        &mut self,
        webhook: WebhookId,
        which: &Replay,
        now: Timestamp,
    ) -> Result<Vec<(MailKey, MailRow)>, IndexError> {
        let mut ended = Vec::new();
        for email in self.selected_emails(webhook, which, now)? {
            let Some(key) = self.ids.get(&email.octets())?.map(|key| *key.value()) else { continue };
            let Some(mail) = self.row(&key)? else { continue };
            if mail.expires_at > now && self.outbox.events.get(webhook, sequence_of(&key))?.is_none() {
                ended.push((key, mail));
            }
        }
        ended.sort_by_key(|(key, _)| sequence_of(key));
        Ok(ended)
    }

    /// The Emails of the events in the log that `which` selects, each once.
    fn selected_emails(
        &mut self,
        webhook: WebhookId,
        which: &Replay,
        now: Timestamp,
    ) -> Result<Vec<EmailId>, IndexError> {
        Ok(which.select(self.outbox.logs.shown(webhook, now)?.into_iter().rev()))
    }
}
