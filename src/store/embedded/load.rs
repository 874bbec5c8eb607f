//! Filling a new store: a restore applies many changes with one fdatasync, without a writer thread.

use std::sync::Arc;

use super::open::{self, Opened};
use crate::store::change::Change;
use crate::store::disk::Disk;
use crate::store::journal::{Group, group_room};
use crate::store::{OpenError, StoreError, StoreOptions};

/// A group is written once it has this many octets, or this many changes.
const GROUP_OCTETS: u64 = 4 << 20;
const GROUP_CHANGES: usize = 1024;

/// A new store that is being filled. Nobody else has it open.
#[derive(Debug)]
pub(crate) struct Loader {
    opened: Opened,
    /// The most octets of a group before its last record.
    room: u64,
    group: Group,
    changes: Vec<Change>,
}

impl Loader {
    /// Creates a store on an empty disk, with the secret of the store that it replaces.
    ///
    /// `options` must permit the largest message to come.
    pub(crate) fn begin(disk: &Arc<dyn Disk>, options: &StoreOptions, secret: [u8; 16]) -> Result<Self, OpenError> {
        // The daemon applies its retention at its next start.
        let options = StoreOptions { retention: None, ..*options };
        let opened = open::create(disk, &options, secret)?;
        Ok(Self { opened, room: group_room(&options).min(GROUP_OCTETS), group: Group::new(), changes: Vec::new() })
    }

    /// Adds a change. It is applied with its group, at the latest by [`Loader::finish`].
    pub(crate) fn push(&mut self, change: Change, content: &[u8]) -> Result<(), StoreError> {
        if self.group.octets() as u64 > self.room || self.changes.len() == GROUP_CHANGES {
            self.flush()?;
        }
        self.group.push(&change, content)?;
        self.changes.push(change);
        Ok(())
    }

    /// Applies the changes so far and returns the highest sequence number, 0 before the first.
    pub(crate) fn last_sequence(&mut self) -> Result<u64, StoreError> {
        self.flush()?;
        let read = self.opened.index.view().and_then(|view| view.last_sequence());
        read.map(|(last, _)| last).map_err(|error| error.to_store_error())
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        let mut group = std::mem::replace(&mut self.group, Group::new());
        let changes = std::mem::take(&mut self.changes);
        if changes.is_empty() {
            return Ok(());
        }
        let (_, places) = self.opened.journal.append(&mut group)?;
        let end = self.opened.journal.position();
        let applied = self.opened.index.apply(changes.iter().zip(places), end, false);
        applied.map(|_| ()).map_err(|error| error.to_store_error())
    }

    /// Makes everything durable.
    pub(crate) fn finish(mut self) -> Result<(), StoreError> {
        self.flush()?;
        // Messages may have come out of order, so what is known of each mailbox's expiries is computed again.
        self.opened.index.measure_mailboxes().map_err(|error| error.to_store_error())?;
        let checkpoint = self.opened.index.checkpoint().map_err(|error| error.to_store_error())?;
        // A message that came without a live Email must not stay on the disk.
        let in_use = self.opened.journal.in_use();
        let punched = self.opened.journal.segments().punch(&checkpoint.deleted, in_use);
        self.opened.journal.sync(in_use).map_err(|error| StoreError::from_io(&error))?;
        self.opened.index.punched(&punched).map_err(|error| error.to_store_error())?;
        self.opened.index.checkpoint().map(|_| ()).map_err(|error| error.to_store_error())
    }
}
