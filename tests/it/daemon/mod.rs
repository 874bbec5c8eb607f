//! The daemon as a whole: in this process, and as the binary.

mod clock;
mod domains;
mod hostile;
mod kill;
mod order;
mod refusals;
mod retention;
mod revision;
mod scaling;
mod senders;
mod stopping;
mod tour;
mod transports;
