//! What the tests share.

pub mod faulty_disk;
pub mod mail;
pub mod recording_disk;
