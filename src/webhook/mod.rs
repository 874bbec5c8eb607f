//! Webhooks: pending events are sent to receivers.
//!
//! This room knows neither the HTTP interface nor SMTP. [`dispatcher`] is its one loop. `queue` says whose turn it is, and
//! `attempt` is one event's way from the outbox to the receiver and back. [`call`] alone sends anything, on connections that
//! `dial` opens. So no request leaves for an address that [`Guard`] refuses: each is checked right before it is dialled, and
//! again before a connection to it is reused. `address_limits` says how often each is called. [`Tester`] sends sample events.

mod address_limits;
mod attempt;
pub mod call;
mod connection;
mod counters;
mod dial;
pub mod dispatcher;
pub mod guard;
pub mod outcome;
mod queue;
pub mod request;
pub mod schedule;
pub mod sign;
pub mod target;
mod tester;

pub use address_limits::Busy;
pub use attempt::Delivery;
pub use call::{Caller, CallerError, CallerSettings};
pub use connection::IDLE_CONNECTIONS_MAX;
pub use counters::Counters;
pub use guard::{Guard, GuardSettings, Refused};
pub use outcome::{ErrorClass, Outcome, Verdict};
pub use queue::SLOW_MAX;
pub use request::{Event, EventEmail, Prepared, prepare};
pub use schedule::Schedule;
pub use sign::{Signer, has_prefix_alone};
pub use target::{Origin, Target, UrlError};
pub use tester::{TestError, Tester};
