//! tempmail: disposable mail in one binary.

pub mod cli;
pub mod client;
pub mod clock;
pub mod config;
pub mod error;
pub mod model;
pub mod store;
