//! The rooms that take mail in and keep it: all that a message needs up to its 250, and what the rooms for readers share with
//! these.
//!
//! The library `tempmail` shows them under the same names. The page at the top of `src/lib.rs` is the architecture of all
//! crates.

pub mod admission;
pub mod clock;
pub mod config;
pub mod connections;
pub mod dns;
pub mod domains;
pub mod events;
pub mod expiry;
pub mod fault;
pub mod leases;
pub mod logging;
pub mod metrics;
pub mod model;
pub mod panics;
pub mod process;
pub mod random;
pub mod smtp;
pub mod store;
pub mod tls;
pub mod tokens;
pub mod value;
