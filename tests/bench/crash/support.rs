//! What the images need of what the tests share.

#![allow(dead_code, reason = "the tests use all of it")]

#[path = "../../support/mail.rs"]
pub mod mail;
#[path = "../../support/outbox.rs"]
pub mod outbox;
#[path = "../../support/test_disk/mod.rs"]
pub mod test_disk;
#[path = "../../support/until.rs"]
pub mod until;
