//! The daemon as a whole: in this process, and as the binary.

mod abuse;
mod activation;
mod caps;
mod clock;
mod domains;
mod full;
mod hostile;
mod hostile_mail;
mod kill;
mod listeners;
mod logs;
mod memory;
mod metrics;
mod order;
mod panics;
mod refusals;
mod retention;
mod revision;
mod scaling;
mod senders;
mod stopping;
mod supervised;
mod tour;
mod transports;
mod webhooks;
mod writer;
