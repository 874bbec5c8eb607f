//! What the benchmarks and the tests share of what this one needs.
#![allow(dead_code, unused_imports, reason = "the others use all of it, and the ring's own tests are left out")]

#[path = "../../support/command.rs"]
pub(crate) mod command;
#[path = "../support/daemon.rs"]
pub(crate) mod daemon;
#[path = "../support/figures.rs"]
pub(crate) mod figures;
#[path = "../support/http.rs"]
pub(crate) mod http;
#[path = "../../support/program.rs"]
pub(crate) mod program;
#[path = "../../support/programs.rs"]
pub(crate) mod programs;
#[path = "../../support/ring/mod.rs"]
pub(crate) mod ring;
#[path = "../support/smtp.rs"]
pub(crate) mod smtp;
#[path = "../../support/terminal.rs"]
pub(crate) mod terminal;
#[path = "../../support/until.rs"]
pub(crate) mod until;
#[path = "../wait/waiter.rs"]
pub(crate) mod waiter;

use std::error::Error;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;
