//! Mail from programs that others wrote.

mod application;
#[allow(clippy::module_inception, reason = "one table of clients")]
mod clients;
mod postfix;
mod senders;
