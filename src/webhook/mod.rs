//! Webhooks: how what waits in the outbox is sent.
//!
//! Knows neither the HTTP interface nor SMTP. [`dispatcher`] is the one loop: `queue` says whose turn is it, and `attempt` is
//! one event's way from the outbox to the receiver and back. [`call`] alone sends anything, on connections that `dial` opens,
//! so that no request leaves for an address that [`Guard`] refuses: each is checked right before it is dialled, and again
//! before a connection to it is used again. `addresses` says how often each may be called. [`Tester`] sends sample events.

mod addresses;
mod attempt;
pub mod call;
mod connection;
mod counters;
mod dial;
pub mod dispatcher;
pub mod guard;
pub mod outcome;
mod places;
mod queue;
pub mod request;
mod rest;
pub mod schedule;
pub mod sign;
pub mod target;
mod tester;

pub use attempt::Delivery;
pub use call::{Busy, Caller, CallerError, CallerSettings};
pub use connection::IDLE_CONNECTIONS_MAX;
pub use counters::Counters;
pub use guard::{Guard, GuardSettings, Refused};
pub use outcome::{ErrorClass, Outcome, Verdict};
pub use places::SLOW_MAX;
pub use request::{Event, EventEmail, Prepared, prepare};
pub use schedule::Schedule;
pub use sign::{Signer, has_prefix_alone};
pub use target::{Origin, Target, UrlError};
pub use tester::{TestError, Tester};
