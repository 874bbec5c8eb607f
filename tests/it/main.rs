//! Tests of the whole program over real sockets.

mod config;
mod store;
mod support;
