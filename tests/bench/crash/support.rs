//! What the images need of what the tests share.

#![allow(dead_code, reason = "the tests use all of it")]

#[path = "../../it/support/mail.rs"]
pub mod mail;
#[path = "../../it/support/outbox.rs"]
pub mod outbox;
#[path = "../../it/support/recording_disk/mod.rs"]
pub mod recording_disk;
#[path = "../../it/support/until.rs"]
pub mod until;
