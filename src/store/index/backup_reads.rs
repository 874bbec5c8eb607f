//! What lives, as a backup asks: by record for mail, by cursor for what waits, all at once for what is small.

use std::ops::Bound;

use redb::ReadableTable;

use super::IndexError;
use super::keys::{HashKey, WebhookKey, sequence_of, webhook_in};
use super::read::View;
use super::rows::{decode_event, decode_mail, decode_webhook};
use super::tables::{EVENTS, IDS, MAIL, SEGMENTS, WEBHOOKS};
use crate::model::{EmailId, Envelope, Timestamp, WebhookId, WebhookRecord};
use crate::store::journal::{Position, RecordPlace};

/// The Emails that live in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LiveEmails {
    /// In the order of their sequence numbers.
    pub(crate) emails: Vec<EmailId>,
    /// The number of the first recipient's Email, be it there or not; those of the others count on from it.
    pub(crate) sequence: u64,
    /// The first millisecond in which they are no longer readable; one message has one.
    pub(crate) expires_at: Timestamp,
}

/// An event that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventToBackUp {
    pub(crate) webhook: WebhookId,
    /// Where to go on behind it.
    pub(crate) cursor: WebhookKey,
    pub(crate) email: EmailId,
    pub(crate) attempts: u32,
    pub(crate) due_at: Timestamp,
    /// Whether the Email is there; it may have been deleted or have expired before its event ended.
    pub(crate) has_email: bool,
}

impl View {
    /// The secret under which mailboxes and events have their names in this store.
    pub(crate) fn secret(&self) -> HashKey {
        self.hash_key
    }

    /// Up to where of the journal the view is complete.
    pub(crate) fn position(&self) -> Result<Position, IndexError> {
        Ok(self.state()?.position())
    }

    /// The Emails of the message at `place`, received with `envelope`, that are there; `None` if there are none.
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
            // The same message handed over twice has two records, and lives in the first.
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

    /// The segments in which something lives.
    pub(crate) fn live_segments(&self) -> Result<Vec<u64>, IndexError> {
        let mut alive = Vec::new();
        for row in self.transaction.open_table(SEGMENTS)?.iter()? {
            let (number, row) = row?;
            alive.extend((row.value().0 > 0).then_some(number.value()));
        }
        Ok(alive)
    }

    /// Whether an Email lives in a record at or behind `offset` of a segment. Reads every row of mail.
    pub(crate) fn has_live_mail_behind(&self, segment: u64, offset: u64) -> Result<bool, IndexError> {
        for row in self.transaction.open_table(MAIL)?.iter()? {
            let (key, row) = row?;
            // The head of a mailbox lives nowhere.
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

    /// Every webhook, with its secret.
    pub(crate) fn all_webhooks(&self) -> Result<Vec<WebhookRecord>, IndexError> {
        let table = self.transaction.open_table(WEBHOOKS)?;
        table.iter()?.map(|row| Ok(decode_webhook(row?.1.value())?.record)).collect()
    }

    /// The events behind `cursor`, at most `limit`.
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
