//! Webhooks: pending events are sent to receivers.
//!
//! One event goes this way:
//!
//! ```text
//! dispatcher  the one loop: scans the outbox, reads due events, starts attempts, records their outcomes
//!  -> queue   chooses the next webhook, and gives out a Claim, which is an event and its receiver
//!  -> attempt the event's message is read and parsed
//!     request the body and headers of the POST; sign makes the signatures
//!     call    one POST within limits of time and size, on a reused `connection` or a new one from dial
//!     outcome what the response means; schedule says when a failed event is retried
//!  -> record  (in dispatcher) the attempt goes into the log, and the event ends or gets its next time
//! ```
//!
//! [`call`] alone sends requests, and `dial` alone opens connections. So no request leaves for an address that [`Guard`]
//! refuses: each address is checked right before it is dialled, and again before a connection to it is reused.
//! `address_limits` holds the rate limits of addresses, `target` is a webhook's URL, and `counters` count attempts. [`Tester`] sends sample events, which do not go through the outbox.
//!
//! This room knows neither the HTTP interface nor SMTP.

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
pub use attempt::EventSender;
pub use call::{Caller, CallerError, CallerSettings};
pub use connection::IDLE_CONNECTIONS_MAX;
pub use counters::Counters;
pub use guard::{Guard, GuardSettings, Refused};
pub use outcome::{Disposition, ErrorClass, Outcome};
pub use queue::SLOW_MAX;
pub use request::{Event, EventEmail, EventRequest};
pub use schedule::Schedule;
pub use sign::{Signer, has_prefix_alone};
pub use target::{Origin, Target, UrlError};
pub use tester::{TestError, Tester};
