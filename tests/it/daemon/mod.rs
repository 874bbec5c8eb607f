//! The daemon as a whole: in this process, and as the binary.

mod abuse;
mod activation;
mod answers;
mod authority;
mod caps;
mod clock;
mod domains;
mod faults;
mod full;
mod hangup;
mod hostile;
mod hostile_http;
mod hostile_mail;
mod http_socket;
mod https;
mod kill;
mod listeners;
mod logs;
mod memory;
mod metrics;
mod order;
mod panics;
#[cfg(feature = "cassandra")]
mod peers;
mod refusals;
mod remote;
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
