//! Reading the live data of a store, which may be in use.

use std::sync::RwLockReadGuard;

use super::{BackupCounts, BackupItem, BackupRecord};
use crate::model::{PendingEvent, Timestamp};
use crate::store::StoreError;
use crate::store::change::RecordPlace;
use crate::store::embedded::EmbeddedRegistry;
use crate::store::journal::{Files, JournalMessage};
use crate::store::mail::{LiveMessage, Mail};

/// How many messages or events are looked up in one hold of the rows' lock.
const AT_ONCE: usize = 500;

/// What to do about a live message that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    /// Stop with an error.
    Stops,
    /// Continue without the message.
    IsLeftOut,
}

/// A store that is read, and the receiver of its records.
pub(crate) struct BackupSource<'a> {
    /// The rows, for one short look.
    pub(crate) mail: &'a dyn Fn() -> RwLockReadGuard<'a, Mail>,
    pub(crate) registry: &'a EmbeddedRegistry,
    pub(crate) files: &'a Files,
    pub(crate) damage: Damage,
    /// What has expired by then is left out: its octets may be gone.
    pub(crate) now: Timestamp,
    pub(crate) emit: &'a mut dyn FnMut(BackupItem) -> Result<(), StoreError>,
}

impl BackupSource<'_> {
    /// Emits all live data and the end record.
    pub(crate) fn run(mut self) -> Result<BackupCounts, StoreError> {
        let mut counts = BackupCounts::default();
        let last = (self.mail)().last_sequence();
        let (domains, webhooks) = (self.registry.domains(), self.registry.every_webhook());
        self.put(&mut counts, BackupRecord::Store { secret: self.registry.secret() }.into())?;
        for domain in domains {
            self.put(&mut counts, BackupRecord::Domain(domain).into())?;
        }
        self.leases(&mut counts)?;
        self.messages(last, &mut counts)?;
        for webhook in webhooks {
            self.put(&mut counts, BackupRecord::Webhook(Box::new(webhook)).into())?;
        }
        self.events(&mut counts)?;
        (self.emit)(BackupRecord::End(counts).into())?;
        Ok(counts)
    }

    fn put(&mut self, counts: &mut BackupCounts, item: BackupItem) -> Result<(), StoreError> {
        counts.count(&item);
        (self.emit)(item)
    }

    fn leases(&mut self, counts: &mut BackupCounts) -> Result<(), StoreError> {
        for first in (0..self.registry.lease_places()).step_by(AT_ONCE) {
            for lease in self.registry.leases_at(first..first + AT_ONCE) {
                self.put(counts, BackupRecord::Lease(Box::new(lease)).into())?;
            }
        }
        Ok(())
    }

    /// Emits the messages up to the sequence number `last`.
    fn messages(&mut self, last: u64, counts: &mut BackupCounts) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let messages: Vec<LiveMessage> = (self.mail)().live(after).take(AT_ONCE).collect();
            let Some(end) = messages.last() else { return Ok(()) };
            after = Some(end.position());
            for message in messages {
                if message.emails[0].0 <= last && message.expires_at > self.now {
                    self.message(message, counts)?;
                }
            }
        }
    }

    fn message(&mut self, message: LiveMessage, counts: &mut BackupCounts) -> Result<(), StoreError> {
        let LiveMessage { place, expires_at, emails } = message;
        let (sequence, first) = emails[0];
        let content = self.files.read(place).map_err(|error| StoreError::from_io(&error))?;
        let content = content.filter(|content| content.has(first));
        let Some(JournalMessage { envelope, received_at, raw: content }) = content else {
            let is_there = |id| (self.mail)().find(id, Timestamp::from_millis(i64::MIN)).is_some();
            return if emails.iter().any(|(_, id)| is_there(*id)) { self.damaged(place) } else { Ok(()) };
        };
        // The sequence numbers of a message follow each other in the order of its recipients.
        let before = envelope.recipients.iter().take_while(|to| to.id != first).count() as u64;
        let live = emails.into_iter().map(|(_, id)| id).collect();
        let record = BackupRecord::Mail { envelope, received_at, expires_at, sequence: sequence - before, live };
        self.put(counts, BackupItem { record, content })
    }

    fn damaged(&self, place: RecordPlace) -> Result<(), StoreError> {
        match self.damage {
            Damage::Stops => {
                Err(StoreError::Damaged { segment: u64::from(place.segment), offset: u64::from(place.offset) })
            }
            Damage::IsLeftOut => Ok(()),
        }
    }

    /// Emits the pending events whose Emails still exist.
    fn events(&mut self, counts: &mut BackupCounts) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let events: Vec<PendingEvent> = (self.mail)().events_after(after).take(AT_ONCE).collect();
            let Some(last) = events.last() else { return Ok(()) };
            after = Some((last.webhook, last.email.sequence));
            for event in events {
                let email = event.email.id;
                if (self.mail)().find(email, self.now).is_none() {
                    continue;
                }
                let (webhook, attempts, due_at) = (event.webhook, event.attempts, event.due_at);
                self.put(counts, BackupRecord::Event { webhook, email, attempts, due_at }.into())?;
            }
        }
    }
}
