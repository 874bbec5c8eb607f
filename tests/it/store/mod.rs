//! What every store must do, and what the embedded one does when the power is cut.

mod conformance;
mod crash;
mod due_events;
pub mod embedded;
mod faults;
pub mod outbox;
mod outbox_bounds;
