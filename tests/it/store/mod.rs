//! What every store must do, and what the embedded one does when the power is cut.

mod answers;
mod audit;
mod caps;
#[cfg(feature = "cassandra")]
mod cassandra;
mod checkpoints;
mod clock;
mod closing;
mod conformance;
mod crash;
mod damage;
mod deleting;
mod descriptors;
mod disabled;
mod due_events;
mod each_call;
pub mod embedded;
mod failed_sync;
mod faults;
mod full;
mod opening;
pub mod outbox;
mod outbox_bounds;
mod outbox_conformance;
mod outbox_ends;
mod outbox_shares;
mod panics;
mod readers;
mod relocation;
mod replays;
mod salvage;
mod space;
mod starting;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tempmail::store::disk::{Directory, Disk};

use crate::support::until::blocking;

/// How long a test waits for an expected event.
const PATIENCE: Duration = Duration::from_secs(20);

/// The directory of a closed store. A program that another test starts at this moment may still have its lock file open.
/// It is released soon.
fn locked(dir: &Path) -> Arc<dyn Disk> {
    locked_directory(dir)
}

fn locked_directory(dir: &Path) -> Arc<Directory> {
    Arc::new(blocking::until_some("the directory can be locked", || Directory::lock(dir).ok()))
}
