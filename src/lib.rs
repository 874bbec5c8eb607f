//! tempmail: disposable mail in one binary.

pub mod clock;
pub mod config;
pub mod dns;
pub mod domains;
pub mod model;
pub mod store;
