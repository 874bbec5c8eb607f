//! Tests of the whole program over real sockets.

mod config;
mod domains;
mod store;
mod support;
