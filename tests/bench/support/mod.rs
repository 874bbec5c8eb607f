//! What the benchmarks share, some of it with the tests.
#![allow(dead_code, unused_imports, reason = "the tests use all of it")]

#[path = "../../support/command.rs"]
pub(crate) mod command;
pub(crate) mod daemon;
pub(crate) mod figures;
#[path = "../../support/files.rs"]
pub(crate) mod files;
pub(crate) mod http;
#[path = "../../support/mail.rs"]
pub(crate) mod mail;
#[path = "../../support/outbox.rs"]
pub(crate) mod outbox;
#[path = "../../support/program.rs"]
pub(crate) mod program;
#[path = "../../support/programs.rs"]
pub(crate) mod programs;
#[path = "../../support/reserved.rs"]
pub(crate) mod reserved;
#[cfg(feature = "cassandra")]
#[path = "../../support/ring/mod.rs"]
pub(crate) mod ring;
pub(crate) mod smtp;
#[path = "../../support/terminal.rs"]
pub(crate) mod terminal;
#[path = "../../support/test_disk/mod.rs"]
pub(crate) mod test_disk;
#[path = "../../support/until.rs"]
pub(crate) mod until;

use std::error::Error;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;
