//! tempmail: disposable mail in one binary.

pub mod cli;
pub mod client;
pub mod clock;
pub mod config;
pub mod error;
pub mod logging;
pub mod model;
pub mod process;
pub mod store;
