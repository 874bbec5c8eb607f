//! The reads of a backup: mail by record, events by cursor, webhooks all at once.

use std::ops::Bound;

use redb::ReadableTable;

use super::IndexError;
use super::keys::{WebhookKey, sequence_of, webhook_in};
use super::read::View;
use super::rows::{decode_event, decode_mail, decode_webhook};
use super::tables::{EVENTS, IDS, MAIL, SEGMENTS, WEBHOOKS};
use crate::model::{EmailId, Envelope, Timestamp, WebhookId, WebhookRecord};
use crate::store::journal::{Position, RecordPlace};
use crate::store::names::HashKey;

/// The live Emails of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LiveEmails {
    /// In the order of their sequence numbers.
    pub(crate) emails: Vec<EmailId>,
    /// The sequence number of the first recipient's Email, which may be gone. Those of the others follow.
    pub(crate) sequence: u64,
    /// The first millisecond in which they are no longer readable.
    pub(crate) expires_at: Timestamp,
}

/// A pending event for a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventToBackUp {
    pub(crate) webhook: WebhookId,
    /// The cursor of the next read.
    pub(crate) cursor: WebhookKey,
    pub(crate) email: EmailId,
    pub(crate) attempts: u32,
    pub(crate) due_at: Timestamp,
    /// Whether the Email still exists.
    pub(crate) has_email: bool,
}

impl View {
    /// The store's secret, under which names are hashed.
    pub(crate) fn secret(&self) -> HashKey {
        self.hash_key
    }

    /// The journal position up to which the view is complete.
    pub(crate) fn position(&self) -> Result<Position, IndexError> {
        Ok(self.state()?.position())
    }

    /// Finds the live Emails of the message at `place` with this envelope. `None` if there are none.
    pub(crate) fn live_emails(
        &self,
        envelope: &Envelope,
        place: RecordPlace,
    ) -> Result<Option<LiveEmails>, IndexError> {
        let (ids, mail) = (self.transaction.open_table(IDS)?, self.transaction.open_table(MAIL)?);
        let mut live: Option<LiveEmails> = None;
        for (recipient, nth) in envelope.recipients.iter().zip(0..) {
            let Some(key) = ids.get(&recipient.id.octets())? else { continue };
            let row = mail.get(key.value())?.ok_or(IndexError::Corrupt("an id has no row of mail"))?;
            let row = decode_mail(row.value())?;
            // A message that was received twice has two records. Its Emails refer to the first.
            if (row.place.segment, row.place.offset) != (place.segment, place.offset) {
                continue;
            }
            let live = live.get_or_insert_with(|| LiveEmails {
                emails: Vec::new(),
                sequence: sequence_of(key.value()).saturating_sub(nth),
                expires_at: row.expires_at,
            });
            live.emails.push(row.id);
        }
        Ok(live)
    }

    /// Lists the segments with live messages.
    pub(crate) fn live_segments(&self) -> Result<Vec<u64>, IndexError> {
        let mut alive = Vec::new();
        for row in self.transaction.open_table(SEGMENTS)?.iter()? {
            let (number, row) = row?;
            alive.extend((row.value().0 > 0).then_some(number.value()));
        }
        Ok(alive)
    }

    /// Whether a segment has a live Email in a record at `offset` or later. Reads every row of mail.
    pub(crate) fn has_live_mail_behind(&self, segment: u64, offset: u64) -> Result<bool, IndexError> {
        for row in self.transaction.open_table(MAIL)?.iter()? {
            let (key, row) = row?;
            // The head of a mailbox has no record.
            if sequence_of(key.value()) == 0 {
                continue;
            }
            let row = decode_mail(row.value())?;
            if row.place.segment == segment && u64::from(row.place.offset) >= offset {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads every webhook, with its secret.
    pub(crate) fn all_webhooks(&self) -> Result<Vec<WebhookRecord>, IndexError> {
        let table = self.transaction.open_table(WEBHOOKS)?;
        table.iter()?.map(|row| Ok(decode_webhook(row?.1.value())?.record)).collect()
    }

    /// Reads at most `limit` events after `cursor`.
    pub(crate) fn events_after(
        &self,
        cursor: Option<WebhookKey>,
        limit: usize,
    ) -> Result<Vec<EventToBackUp>, IndexError> {
        let first = cursor.map_or(Bound::Unbounded, Bound::Excluded);
        let ids = self.transaction.open_table(IDS)?;
        let mut events = Vec::new();
        let rows = self.transaction.open_table(EVENTS)?.range::<&WebhookKey>((first.as_ref(), Bound::Unbounded))?;
        for row in rows.take(limit) {
            let (key, row) = row?;
            let event = decode_event(row.value())?;
            events.push(EventToBackUp {
                webhook: webhook_in(key.value()),
                cursor: *key.value(),
                email: event.email,
                attempts: event.attempts,
                due_at: event.due_at,
                has_email: ids.get(&event.email.octets())?.is_some(),
            });
        }
        Ok(events)
    }
}
