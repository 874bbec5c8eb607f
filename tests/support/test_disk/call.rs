//! The calls that a store makes to its disk.

use std::sync::Arc;

/// What is asked of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    List,
    Create,
    Open,
    Remove,
    Rename,
    SyncDir,
    FreeOctets,
    Size,
    SetLen,
    Grow,
    Allocate,
    Write,
    Read,
    Sync,
    Punch,
}

impl Kind {
    pub(super) fn is_length(self) -> bool {
        matches!(self, Self::SetLen | Self::Grow)
    }

    /// Whether it changes a file.
    pub(super) fn is_change(self) -> bool {
        self.is_length() || matches!(self, Self::Allocate | Self::Write | Self::Punch)
    }
}

/// One call.
#[derive(Clone, Debug)]
pub struct Call {
    pub kind: Kind,
    /// The name of the file; nothing for the whole directory.
    pub file: Arc<str>,
    pub offset: u64,
    /// The length of what is read or written, or the new length of the file.
    pub octets: u64,
}

impl Call {
    pub(super) fn of_directory(kind: Kind, file: &str) -> Self {
        Self { kind, file: file.into(), offset: 0, octets: 0 }
    }

    /// Whether it is of this kind, for a file whose name begins with `prefix`.
    pub fn is(&self, kind: Kind, prefix: &str) -> bool {
        self.kind == kind && self.file.starts_with(prefix)
    }

    /// Whether it changes nothing.
    pub fn is_look(&self) -> bool {
        matches!(self.kind, Kind::List | Kind::Open | Kind::Size | Kind::Read | Kind::FreeOctets)
    }

    /// Whether it reads the file `name` for somebody who reads mail. A rule is asked by the thread that makes the call.
    pub fn is_by_reader_of(&self, name: &str) -> bool {
        self.is(Kind::Read, name) && std::thread::current().name() != Some("store-writer")
    }
}
