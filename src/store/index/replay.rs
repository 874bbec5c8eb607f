//! Ended events that are sent again, part of applying a group: which the log knows, and whose Emails are there.

use redb::ReadableTable;

use super::IndexError;
use super::apply::Apply;
use super::tables::{EventRow, sequence_of};
use crate::model::{EmailId, Timestamp, Verdict, WebhookId, WebhookStatus};
use crate::store::Replay;
use crate::store::change::Outcome;

impl Apply<'_> {
    pub(super) fn replay(&mut self, webhook: WebhookId, which: &Replay, now: Timestamp) -> Result<Outcome, IndexError> {
        let mut replayed = 0;
        for email in self.ended_emails(webhook, which)? {
            let Some(key) = self.ids.get(&email.octets())?.map(|key| *key.value()) else { continue };
            let Some(mail) = self.row(&key)? else { continue };
            let sequence = sequence_of(&key);
            if mail.expires_at <= now || self.outbox.events.get(webhook, sequence)?.is_some() {
                continue;
            }
            let event = EventRow {
                email,
                attempts: 0,
                due_at: now,
                received_at: mail.received_at,
                expires_at: mail.expires_at,
                place: mail.place,
            };
            self.mark_shared(&key, &mail)?;
            replayed += usize::from(self.add_event(webhook, sequence, &event)?);
        }
        if replayed > 0
            && let Some(mut row) = self.outbox.row(webhook)?
        {
            row.record.status = WebhookStatus::Active;
            row.record.failing_since = None;
            self.outbox.webhooks.put(row);
        }
        Ok(Outcome::Changed { number: replayed, more: false })
    }

    /// The Emails of the events in the log that `which` means, each once, the oldest first.
    fn ended_emails(&mut self, webhook: WebhookId, which: &Replay) -> Result<Vec<EmailId>, IndexError> {
        let mut emails: Vec<(EmailId, bool)> = Vec::new();
        for attempt in self.outbox.logs.lines(webhook)? {
            let Some(email) = attempt.email else { continue };
            let is_meant = match which {
                Replay::Event(event) => attempt.event == *event,
                // Also one that was to be tried again, if it does not wait any more: it ended with its webhook.
                Replay::Failed => attempt.verdict != Verdict::Delivered,
                Replay::Since(since) => attempt.at >= *since,
            };
            match emails.iter_mut().find(|(known, _)| *known == email) {
                // The last attempt says whether an event failed.
                Some((_, was_meant)) if *which == Replay::Failed => *was_meant = is_meant,
                Some((_, was_meant)) => *was_meant |= is_meant,
                None => emails.push((email, is_meant)),
            }
        }
        Ok(emails.into_iter().filter_map(|(email, is_meant)| is_meant.then_some(email)).collect())
    }
}
