//! What the tests share.

pub mod dns_zone;
pub mod domain_store;
pub mod mail;
pub mod recording_disk;
pub mod smtp_peer;
