//! Tests of the whole program over real sockets.

mod config;
mod domains;
mod smtp;
mod store;
mod support;
