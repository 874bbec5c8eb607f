//! What the benchmarks share.
#![allow(dead_code, reason = "each benchmark uses a part")]

#[path = "../../support/command.rs"]
pub(crate) mod command;
pub(crate) mod daemon;
pub(crate) mod figures;
pub(crate) mod http;
#[path = "../../support/program.rs"]
pub(crate) mod program;
pub(crate) mod programs;
pub(crate) mod smtp;
#[path = "../../support/terminal.rs"]
pub(crate) mod terminal;
#[path = "../../support/until.rs"]
pub(crate) mod until;

use std::error::Error;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;
