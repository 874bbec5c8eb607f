//! Relocation: a message to which only pending events refer is copied, and its events then refer to the copy.

use redb::ReadableTable;

use super::IndexError;
use super::apply::Apply;
use super::keys::{SetKey, WebhookKey, webhook_key};
use super::outbox_events::event_in;
use super::read::View;
use super::refcounts::RefCount;
use super::rows::EventRow;
use super::tables::{EVENTS, REFCOUNTS, WEBHOOK_SETS};
use super::webhook_sets::webhooks_of;
use crate::model::Recipient;
use crate::store::change::ChangeResult;
use crate::store::journal::RecordPlace;
use crate::store::names::HashKey;

/// The tables from which the events of a record are found, open for reading or for writing.
struct Tables<'a, W, E> {
    sets: &'a W,
    events: &'a E,
    hash_key: &'a HashKey,
}

impl<W, E> Tables<'_, W, E>
where
    W: ReadableTable<&'static SetKey, ()>,
    E: ReadableTable<&'static WebhookKey, &'static [u8]>,
{
    /// Finds the events that refer to the record at `place` of a message for `recipients`.
    ///
    /// `None` if anything else refers to the record, or nothing does.
    fn events(
        &self,
        recipients: &[Recipient],
        place: RecordPlace,
        refcount: Option<RefCount>,
    ) -> Result<Option<Vec<(WebhookKey, EventRow)>>, IndexError> {
        // A record with an event has a reference count.
        let Some(refcount) = refcount else { return Ok(None) };
        let mut events = Vec::new();
        for (recipient, sequence) in recipients.iter().zip(refcount.sequence..) {
            for webhook in webhooks_of(self.sets, self.hash_key, &recipient.mailbox)? {
                let key = webhook_key(webhook, sequence);
                let event = event_in(self.events, &key)?.filter(|event| event.place == place);
                events.extend(event.map(|event| (key, event)));
            }
        }
        Ok((events.len() == refcount.references as usize).then_some(events))
    }
}

impl View {
    /// Lists the offsets of a segment's records that have a reference count.
    pub(crate) fn refcounted_records(&self, segment: u64) -> Result<Vec<u32>, IndexError> {
        let table = self.transaction.open_table(REFCOUNTS)?;
        let rows = table.range((segment, 0)..=(segment, u32::MAX))?;
        rows.map(|row| Ok(row?.0.value().1)).collect()
    }

    /// Whether only events refer to the record at `place` of a message for `recipients`.
    pub(crate) fn is_for_events_alone(&self, recipients: &[Recipient], place: RecordPlace) -> Result<bool, IndexError> {
        let refcount = self.transaction.open_table(REFCOUNTS)?.get((place.segment, place.offset))?;
        let refcount = refcount.map(|row| RefCount::decode(row.value()));
        let tables = Tables {
            sets: &self.transaction.open_table(WEBHOOK_SETS)?,
            events: &self.transaction.open_table(EVENTS)?,
            hash_key: &self.hash_key,
        };
        Ok(tables.events(recipients, place, refcount)?.is_some())
    }
}

impl Apply<'_> {
    /// Makes the events of the record at `from` refer to its copy at `to`.
    ///
    /// If anything else refers to the record, or nothing does any more, the copy is removed instead.
    pub(super) fn relocate(
        &mut self,
        recipients: &[Recipient],
        from: RecordPlace,
        to: RecordPlace,
    ) -> Result<ChangeResult, IndexError> {
        let refcount = self.refcounts.get((from.segment, from.offset))?;
        let (sets, events) = (self.outbox.sets.table.get()?, self.outbox.events.table()?);
        let tables = Tables { sets, events, hash_key: &self.hash_key };
        let Some(events) = tables.events(recipients, from, refcount)? else {
            self.punch(to)?;
            return Ok(ChangeResult::Changed { number: 0, more: false });
        };
        for (key, event) in events {
            self.outbox.events.update(&key, &EventRow { place: to, ..event })?;
        }
        self.refcounts.relocate((from.segment, from.offset), (to.segment, to.offset))?;
        self.segment_usage.remove_message(from);
        self.segment_usage.add_message(to);
        // The old segment may stay for other messages.
        self.punch(from)?;
        self.counts.relocated += 1;
        Ok(ChangeResult::Changed { number: 1, more: false })
    }
}
