//! Webhooks: how what waits in the outbox is sent.
//!
//! Knows neither the HTTP interface nor SMTP. [`sign`], [`schedule`], [`ranges`], [`target`], [`pacing`] and [`attempt`],
//! which prepares a request, are pure; [`call`] alone sends anything, on connections that `dial` opens, so that no request
//! leaves for an address that [`Guard`] refuses: each is checked right before it is dialled, and again before a connection
//! to it is used again. [`delivery`] makes one attempt from the outbox to the receiver and back; `turns` says which is next,
//! and [`dispatcher`] has it made. [`Tester`]
//! sends sample events beside them.

mod address_pace;
mod ahead;
pub mod attempt;
mod bodies;
mod body;
pub mod call;
mod connection;
mod counters;
pub mod delivery;
mod dial;
pub mod dispatcher;
pub mod guard;
mod held;
mod intake;
mod kept;
mod metered;
mod octets;
pub mod outcome;
pub mod pacing;
pub mod ranges;
pub mod schedule;
pub mod sign;
mod steps;
pub mod target;
mod tester;
mod turns;

pub use attempt::{Event, EventEmail, Prepared, prepare};
pub use bodies::Bodies;
pub use call::{Busy, Caller, CallerError, CallerSettings};
pub use counters::Counters;
pub use delivery::Delivery;
pub use guard::{Guard, GuardSettings, Refused};
pub use kept::IDLE_CONNECTIONS_MAX;
pub use outcome::{ErrorClass, Outcome, Verdict};
pub use pacing::{End, Known, Lanes, PacingLimits, Place, Unnoted};
pub use schedule::Schedule;
pub use sign::{Signer, has_prefix_alone};
pub use target::{Endpoint, Target, UrlError};
pub use tester::{TestError, Tester};
