//! tempmail: disposable mail in one binary.

pub mod clock;
pub mod config;
pub mod model;
pub mod smtp;
pub mod store;
