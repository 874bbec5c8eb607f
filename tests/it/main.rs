//! Tests of the whole program over real sockets.

mod cli;
mod config;
mod store;
mod support;
