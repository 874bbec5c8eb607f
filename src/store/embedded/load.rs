//! Filling a store with known changes, many to an fdatasync: what a restore does in place of a writer.

use std::sync::Arc;

use super::open::{self, Opened};
use crate::store::change::Change;
use crate::store::disk::Disk;
use crate::store::journal::{Group, group_room};
use crate::store::{OpenError, StoreError, StoreOptions};

/// A group is written once it has this many octets, or this many changes.
const GROUP_OCTETS: u64 = 4 << 20;
const GROUP_CHANGES: usize = 1024;

/// A new store that is being filled. Nobody else knows of it.
#[derive(Debug)]
pub(crate) struct Loader {
    opened: Opened,
    /// How many octets a group may have before its last record.
    room: u64,
    group: Group,
    changes: Vec<Change>,
}

impl Loader {
    /// Makes a store on an empty disk, under the secret of the one that it stands in for. `options` must be for the largest
    /// message to come.
    pub(crate) fn begin(disk: &Arc<dyn Disk>, options: &StoreOptions, secret: [u8; 16]) -> Result<Self, OpenError> {
        // How long mail is kept is for the daemon to say, at its next start.
        let options = StoreOptions { retention: None, ..*options };
        let opened = open::create(disk, &options, secret)?;
        Ok(Self { opened, room: group_room(&options).min(GROUP_OCTETS), group: Group::new(), changes: Vec::new() })
    }

    /// Adds a change; it is made at the latest by [`Loader::finish`].
    pub(crate) fn push(&mut self, change: Change, content: &[u8]) -> Result<(), StoreError> {
        if self.group.octets() as u64 > self.room || self.changes.len() == GROUP_CHANGES {
            self.flush()?;
        }
        self.group.push(&change, content)?;
        self.changes.push(change);
        Ok(())
    }

    /// The highest sequence number given so far, 0 before the first.
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
        let applied = self.opened.index.apply(changes.iter().zip(places), end);
        applied.map(|_| ()).map_err(|error| error.to_store_error())
    }

    /// Makes everything durable.
    pub(crate) fn finish(mut self) -> Result<(), StoreError> {
        self.flush()?;
        // Messages may come in another order than their numbers', as a salvage does older changes again.
        self.opened.index.measure_mailboxes().map_err(|error| error.to_store_error())?;
        let checkpoint = self.opened.index.checkpoint().map_err(|error| error.to_store_error())?;
        // Whoever deleted their Email of a message before the backup left nothing of it here, unless others have it.
        let in_use = self.opened.journal.in_use();
        let punched = self.opened.journal.segments().punch(&checkpoint.deleted, in_use);
        self.opened.journal.sync(in_use).map_err(|error| StoreError::from_io(&error))?;
        self.opened.index.punched(&punched).map_err(|error| error.to_store_error())?;
        self.opened.index.checkpoint().map(|_| ()).map_err(|error| error.to_store_error())
    }
}
