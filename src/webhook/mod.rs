//! Webhooks: pending events are sent to receivers.
//!
//! One event goes this way:
//!
//! ```text
//! dispatcher  the one loop: scans the outbox, reads due events, starts attempts, records their outcomes
//!  -> queue   chooses the next webhook, and gives out a Claim, which is an event and its receiver
//!  -> attempt the event's message is read and parsed
//!     request the body and headers of the POST; sign makes the signatures
//!     send    asks the guard and the limits of the host, and makes one POST within limits of time and size
//!     outcome how it ended; schedule says when a failed event is retried
//!  -> record  (in dispatcher) the attempt goes into the log, and the event ends or gets its next time
//! ```
//!
//! [`send`] alone opens connections. So no request leaves for an address that [`Guard`] refuses: each address is checked
//! right before its request. `hosts` has the limits of receiving hosts, `target` is a webhook's URL, and `counters` count
//! attempts. [`Tester`] sends sample events, which do not go through the outbox.
//!
//! This room knows neither the HTTP interface nor SMTP.

mod attempt;
mod counters;
pub mod dispatcher;
pub mod guard;
mod hosts;
pub mod outcome;
mod queue;
pub mod request;
pub mod schedule;
pub mod send;
pub mod sign;
pub mod target;
mod tester;

pub use attempt::EventSender;
pub use counters::Counters;
pub use guard::{Guard, GuardSettings, Refused};
pub use hosts::Busy;
pub use outcome::{ErrorClass, Outcome};
pub use queue::SLOW_MAX;
pub use request::{Event, EventEmail, EventRequest};
pub use schedule::Schedule;
pub use send::{Caller, CallerError, CallerSettings};
pub use sign::{Signer, has_prefix_alone};
pub use target::{Origin, Target, UrlError};
pub use tester::{TestError, Tester};
