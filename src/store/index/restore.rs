//! Restoring messages and events of a backup.

use redb::ReadableTable;

use super::IndexError;
use super::apply::Apply;
use super::keys::{mail_key, sequence_of};
use super::refcounts::RefCount;
use super::rows::{EventRow, MailRow};
use crate::model::{EmailId, Envelope, Recipient, Timestamp, WebhookId, WebhookStatus};
use crate::store::change::ChangeResult;
use crate::store::journal::RecordPlace;
use crate::store::names::{domain_hash, mailbox_hash};

impl Apply<'_> {
    /// Stores the `live` Emails of a message under their old sequence numbers, which begin with `sequence`.
    ///
    /// It creates no events. A message that is known changes nothing.
    pub(super) fn restore(
        &mut self,
        envelope: &Envelope,
        (received_at, expires_at): (Timestamp, Timestamp),
        sequence: u64,
        live: &[EmailId],
        place: RecordPlace,
    ) -> Result<ChangeResult, IndexError> {
        let recipients = &envelope.recipients;
        let live_count = recipients.iter().filter(|recipient| live.contains(&recipient.id)).count();
        if live_count == 0 || self.is_known(envelope)? {
            self.punch(place)?;
            return Ok(ChangeResult::Received { has_events: false, has_dropped: false });
        }
        let sequence = self.free_numbers(recipients, sequence, live)?;
        let is_refcounted = recipients.len() > 1;
        if is_refcounted {
            let references = u32::try_from(live_count).unwrap_or(u32::MAX);
            // A missing Email was deleted.
            let refcount = RefCount { references, was_deleted: live_count < recipients.len(), sequence };
            self.refcounts.begin((place.segment, place.offset), refcount)?;
        }
        self.count_message(place);
        for (recipient, sequence) in recipients.iter().zip(sequence..) {
            self.state.next_sequence = self.state.next_sequence.max(sequence.saturating_add(1));
            if !live.contains(&recipient.id) {
                continue;
            }
            let key = mail_key(mailbox_hash(&self.hash_key, &recipient.mailbox), sequence);
            let row = MailRow { id: recipient.id, received_at, expires_at, place, is_refcounted };
            self.insert_mail(&key, &row, domain_hash(&self.hash_key, recipient.mailbox.domain()))?;
        }
        Ok(ChangeResult::Received { has_events: false, has_dropped: false })
    }

    /// The first of the numbers for a message's Emails: `sequence`, or the next one with which none of them is taken.
    ///
    /// Two nodes of a cluster may have given one number, each before it saw the other's. Their order says nothing.
    fn free_numbers(&self, recipients: &[Recipient], sequence: u64, live: &[EmailId]) -> Result<u64, IndexError> {
        let mut first = sequence.max(1);
        'numbers: loop {
            for (recipient, sequence) in recipients.iter().zip(first..).filter(|(of, _)| live.contains(&of.id)) {
                if self.row(&mail_key(mailbox_hash(&self.hash_key, &recipient.mailbox), sequence))?.is_some() {
                    first = first.saturating_add(1);
                    continue 'numbers;
                }
            }
            return Ok(first);
        }
    }

    /// Adds a pending event. Does nothing if its webhook or its Email is missing, or the event is pending already.
    pub(super) fn restore_event(
        &mut self,
        webhook: WebhookId,
        email: EmailId,
        attempts: u32,
        due_at: Timestamp,
    ) -> Result<ChangeResult, IndexError> {
        let nothing = Ok(ChangeResult::Changed { number: 0, more: false });
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
        self.mark_refcounted(&key, &mail)?;
        let number = usize::from(self.add_event(webhook, sequence, &event)?);
        Ok(ChangeResult::Changed { number, more: false })
    }
}
