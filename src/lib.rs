//! tempmail: disposable mail in one binary.

pub mod cli;
pub mod client;
pub mod clock;
pub mod config;
pub mod daemon;
pub mod dns;
pub mod domains;
pub mod error;
pub mod expiry;
pub mod http;
pub mod logging;
pub mod mime;
pub mod model;
pub mod process;
pub mod smtp;
pub mod store;
pub mod webhook;
