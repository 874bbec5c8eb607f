//! What the benchmarks share.
#![allow(dead_code, reason = "each benchmark uses a part")]

pub(crate) mod daemon;
pub(crate) mod figures;
pub(crate) mod http;
pub(crate) mod programs;
pub(crate) mod smtp;

use std::error::Error;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;
