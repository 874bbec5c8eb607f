//! What every store must do, and what the embedded one does when the power is cut.

mod answers;
mod caps;
mod conformance;
mod crash;
mod damage;
mod disabled;
mod due_events;
mod each_call;
pub mod embedded;
mod faults;
mod full;
pub mod outbox;
mod outbox_bounds;
mod outbox_ends;
mod space;
mod writer;
