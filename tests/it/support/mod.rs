//! What the tests share.

pub mod clock;
pub mod dns_zone;
pub mod domain_store;
pub mod fixed_domains;
pub mod mail;
pub mod memory_store;
pub mod recording_disk;
pub mod smtp_peer;
pub mod webhook_sink;
