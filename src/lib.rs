//! tempmail: disposable mail in one binary.

pub mod clock;
pub mod config;
pub mod domains;
pub mod http;
pub mod mime;
pub mod model;
pub mod store;
