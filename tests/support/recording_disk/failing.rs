//! Syncs that fail: what they cover stays readable and is not on the disk.

use super::{RecordingDisk, World};

/// A sync that fails.
#[derive(Debug)]
pub(super) struct Failing {
    /// Of files with a name that begins like this.
    prefix: String,
    /// How many of them work before.
    after: usize,
    /// Whether the process is killed before it can do anything about it.
    kills: bool,
}

impl World {
    /// Whether this sync of a file fails, and kills the process.
    pub(super) fn next_failure(&mut self, name: &str) -> Option<bool> {
        let failing = self.failing.front_mut().filter(|failing| name.starts_with(&failing.prefix))?;
        if failing.after > 0 {
            failing.after -= 1;
            return None;
        }
        self.failing.pop_front().map(|failing| failing.kills)
    }
}

impl RecordingDisk {
    /// The next sync of a file whose name begins with `prefix` fails. Its data can still be read, but no later
    /// sync makes it durable. Only data that is written again becomes durable.
    pub fn fail_next_sync_of(&self, prefix: &str) {
        self.fail_sync_of(prefix, 0);
    }

    /// Makes the sync after the next `after` ones fail. Failures that were set before come first.
    pub fn fail_sync_of(&self, prefix: &str, after: usize) {
        self.world().failing.push_back(Failing { prefix: prefix.into(), after, kills: false });
    }

    /// Makes a sync fail as [`Self::fail_sync_of`] does, and kills the process there.
    pub fn die_at_failed_sync_of(&self, prefix: &str, after: usize) {
        self.world().failing.push_back(Failing { prefix: prefix.into(), after, kills: true });
    }

    /// Whether all syncs that were to fail did.
    pub fn have_syncs_failed(&self) -> bool {
        self.world().failing.is_empty()
    }

    /// Ends all failures of syncs. Returns whether each set failure has happened.
    pub fn let_syncs_work(&self) -> bool {
        std::mem::take(&mut self.world().failing).is_empty()
    }
}
