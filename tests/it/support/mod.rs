//! What the tests share.

pub mod clock;
pub mod dns_zone;
pub mod faulty_store;
pub mod fixed_domains;
pub mod mail;
pub mod recording_disk;
pub mod smtp_peer;
