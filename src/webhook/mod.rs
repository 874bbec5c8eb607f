//! Webhooks: pending events are sent to receivers.
//!
//! One event goes this way:
//!
//! ```text
//! dispatcher  the one loop: scans the outbox, and runs a lane for each webhook that has due events
//!  -> lane    attempts at the events of one webhook, the oldest first, at most four at once; pauses after failures
//!  -> attempt takes a place (`places`), asks for the way, reads and parses the message, and sends
//!     request the body and headers of the POST; sign makes the signatures
//!     send    asks the guard and the limits of the host; post makes one POST within limits of time and size
//!     outcome how it ended
//!  -> record  the attempt goes into the log, and the event ends or gets its next time, which schedule says
//! ```
//!
//! `post` alone opens connections, to addresses from [`send`]. So no request leaves for an address that [`Guard`] refuses:
//! each address is checked a moment before its request. `hosts` has the limits of receiving hosts, `target` is a webhook's
//! URL, `refused` says why something may not be called, and `counters` count attempts. `tester` sends sample events, which do
//! not go through the outbox.
//!
//! This room knows neither the HTTP interface nor SMTP.

mod attempt;
mod counters;
pub mod dispatcher;
pub mod guard;
mod hosts;
mod lane;
pub mod outcome;
mod places;
mod post;
mod record;
mod refused;
pub mod request;
pub mod schedule;
pub mod send;
pub mod sign;
pub mod target;
mod tester;

pub use attempt::EventSender;
pub use counters::Counters;
pub use guard::{Guard, GuardSettings};
pub use hosts::{Busy, Hosts};
pub use outcome::{ErrorClass, Outcome};
pub use refused::Refused;
pub use request::{Event, EventEmail, EventRequest};
pub use schedule::Schedule;
pub use send::Caller;
pub use sign::has_prefix_alone;
pub use target::{Target, UrlError};
pub use tester::TestError;
