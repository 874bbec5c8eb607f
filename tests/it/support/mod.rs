//! What the tests share.

pub mod mail;
pub mod recording_disk;
