//! What the benchmarks share.

pub(crate) mod daemon;
pub(crate) mod http;

use std::error::Error;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;
