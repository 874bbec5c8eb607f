//! The daemon as a whole: in this process, and as the binary.

mod clock;
mod domains;
mod full;
mod hostile;
mod kill;
mod refusals;
mod retention;
mod revision;
mod scaling;
mod senders;
mod stopping;
mod tour;
mod transports;
mod writer;
