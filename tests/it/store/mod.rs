//! What every store must do, and what the embedded one does when the power is cut.

mod answers;
mod audit;
mod caps;
mod closing;
mod conformance;
mod crash;
mod damage;
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
mod outbox_ends;
mod panics;
mod readers;
mod space;
mod starting;
mod writer;
