//! What every store must do, and what the embedded one does when the power is cut.

mod answers;
mod audit;
mod caps;
mod checkpoints;
mod clock;
mod closing;
mod crash;
mod damage;
mod deleting;
mod descriptors;
mod each_call;
mod embedded;
mod failed_sync;
mod faults;
mod full;
mod opening;
mod outbox_alone;
mod outbox_ends;
mod panics;
mod readers;
mod relocation;
mod salvage;
mod space;
mod starting;
mod writer;

use std::path::Path;
use std::sync::Arc;

use tempmail::store::disk::{Directory, Disk};

use crate::support::until::blocking;

/// The directory of a closed store. A program that another test starts at this moment may still have its lock file open.
/// It is released soon.
fn locked(dir: &Path) -> Arc<dyn Disk> {
    locked_directory(dir)
}

fn locked_directory(dir: &Path) -> Arc<Directory> {
    Arc::new(blocking::until_some("the directory can be locked", || Directory::lock(dir).ok()))
}
