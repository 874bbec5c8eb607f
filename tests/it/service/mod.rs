//! The whole service in this process.

mod caps;
mod domains;
mod faults;
mod hostile;
mod metrics;
mod panics;
mod retention;
mod revision;
mod scaling;
mod supervised;
mod webhooks;
mod writer;
