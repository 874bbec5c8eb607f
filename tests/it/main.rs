//! Tests of the whole program over real sockets.

mod cli;
mod config;
mod domains;
mod http;
mod smtp;
mod store;
mod support;
mod webhook;
