//! Writing facts without a writer thread: a new store that a restore fills.

use std::collections::HashSet;
use std::sync::Arc;

use super::open::{Opened, open};
use crate::model::{EmailId, Timestamp, WebhookId};
use crate::store::backup::{BackupItem, BackupRecord};
use crate::store::change::{Change, EventState};
use crate::store::disk::Disk;
use crate::store::journal::{Group, group_room};
use crate::store::names::HashKey;
use crate::store::{OpenError, StoreError, StoreOptions};

/// A group is written once it has this many octets, or this many facts.
const GROUP_OCTETS: u64 = 4 << 20;
const GROUP_FACTS: usize = 1024;
/// The highest sequence number that a backup may have. Those of a cluster come near it in the year 2040.
const SEQUENCE_MAX: u64 = (1 << 63) - (1 << 40);

/// A store that is being filled. Nobody else has it open.
#[derive(Debug)]
pub(in crate::store) struct Loader {
    opened: Opened,
    /// The most octets of a group before its last record.
    room: u64,
    group: Group,
    facts: Vec<Change>,
    next_sequence: u64,
    /// The sequence numbers so far.
    taken: HashSet<u64>,
}

impl Loader {
    /// Creates a store on an empty disk, with the secret of the store that it replaces.
    ///
    /// `options` must permit the largest message to come. The daemon applies its retention at its next start.
    pub(in crate::store) fn begin(
        disk: &Arc<dyn Disk>,
        options: &StoreOptions,
        secret: HashKey,
    ) -> Result<Self, OpenError> {
        let options = StoreOptions { retention: None, ..*options };
        let opened = open(disk, &options, secret)?;
        let (room, next_sequence) = (group_room(&options).min(GROUP_OCTETS), opened.mail.last_sequence() + 1);
        Ok(Self { opened, room, group: Group::default(), facts: Vec::new(), next_sequence, taken: HashSet::new() })
    }

    /// Sequence numbers go on behind `last`, if that is higher than those of the mail to come.
    pub(in crate::store) fn go_on_behind(&mut self, last: u64) {
        self.next_sequence = self.next_sequence.max(last + 1);
    }

    /// Adds a fact. It is applied with its group, at the latest by [`Loader::close`].
    fn push(&mut self, fact: Change, content: &[u8]) -> Result<(), StoreError> {
        if self.group.octets() > self.room || self.facts.len() == GROUP_FACTS {
            self.write()?;
        }
        if let Change::Received { envelope, first, .. } = &fact {
            self.next_sequence = self.next_sequence.max(first + envelope.recipients.len() as u64);
        }
        self.group.push(&fact, content)?;
        self.facts.push(fact);
        Ok(())
    }

    fn write(&mut self) -> Result<(), StoreError> {
        let mut group = std::mem::take(&mut self.group);
        let facts = std::mem::take(&mut self.facts);
        if facts.is_empty() {
            return Ok(());
        }
        let Opened { mail, registry, journal } = &mut self.opened;
        for (fact, place) in facts.iter().zip(journal.append(&mut group, self.next_sequence)?) {
            mail.apply(fact, place, &**registry);
        }
        Ok(())
    }

    /// Adds a record of a backup.
    pub(in crate::store) fn load(&mut self, BackupItem { record, content }: BackupItem) -> Result<(), StoreError> {
        match record {
            BackupRecord::Store { .. } | BackupRecord::End(_) => Ok(()),
            BackupRecord::Domain(record) => self.opened.registry.load_domain(&record),
            BackupRecord::Lease(record) => self.opened.registry.load_lease(&record),
            BackupRecord::Webhook(record) => self.opened.registry.load_webhook(*record),
            BackupRecord::Event { webhook, email, attempts, due_at } => self.event(webhook, email, attempts, due_at),
            BackupRecord::Mail { envelope, received_at, expires_at, sequence, live } => {
                let ids = || envelope.recipients.iter().map(|to| to.id);
                if !ids().any(|id| live.contains(&id)) {
                    return Ok(());
                }
                let first = self.take(sequence, envelope.recipients.len() as u64)?;
                // Domains came before. Later errors of the registry would undo what is not durable.
                self.opened.registry.flush()?;
                // The envelope stays whole for the message's trace, but a deleted Email does not come back.
                let emails: Vec<EmailId> = ids().filter(|id| !live.contains(id)).collect();
                let (has_own_life, events) = (envelope.has_own_life(), Vec::new());
                let received = Change::Received { envelope, received_at, expires_at, has_own_life, first, events };
                self.push(received, &content)?;
                if emails.is_empty() { Ok(()) } else { self.push(Change::Deleted { emails }, &[]) }
            }
        }
    }

    /// Takes sequence numbers for a message, from `wanted` on or, if a message has one of them, behind all: two nodes of a
    /// cluster may have given one number. Returns the first one.
    fn take(&mut self, wanted: u64, number: u64) -> Result<u64, StoreError> {
        let is_taken = (wanted..wanted.saturating_add(number)).any(|sequence| self.taken.contains(&sequence));
        let first = if is_taken { self.next_sequence } else { wanted };
        if wanted == 0 || first.saturating_add(number) > SEQUENCE_MAX {
            return Err(StoreError::Failed(format!(
                "the backup has a message with the wrong sequence number {wanted}"
            )));
        }
        self.taken.extend(first..first + number);
        Ok(first)
    }

    fn event(
        &mut self,
        webhook: WebhookId,
        email: EmailId,
        attempts: u32,
        due_at: Timestamp,
    ) -> Result<(), StoreError> {
        // Mail comes before events, so after the first one there is nothing of it left to write.
        if self.facts.iter().any(|fact| matches!(fact, Change::Received { .. })) {
            self.write()?;
        }
        let Some(found) = self.opened.mail.find(email, Timestamp::from_millis(i64::MIN)) else { return Ok(()) };
        self.push(Change::EventsAdded { webhook, emails: vec![email], due_at }, &[])?;
        if attempts > 0 {
            let state = EventState::Retry { attempts, due_at };
            self.push(Change::EventsChanged { events: vec![(webhook, found.sequence, state)] }, &[])?;
        }
        Ok(())
    }

    /// Makes everything durable, and closes the store.
    pub(in crate::store) fn close(mut self) -> Result<(), StoreError> {
        self.write()?;
        let Opened { mut mail, registry, journal } = self.opened;
        let files = journal.files().clone();
        journal.close();
        registry.close()?;
        // What came without a living Email must not stay on the disk.
        mail.take_dead()
            .into_iter()
            .try_for_each(|place| files.punch(place))
            .map_err(|error| StoreError::from_io(&error))
    }
}
