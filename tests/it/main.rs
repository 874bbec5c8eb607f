//! Tests of the whole program over real sockets.

mod cli;
#[cfg(feature = "cassandra")]
mod cluster;
mod codes;
mod config;
mod daemon;
mod domains;
mod guides;
mod http;
mod layout;
mod package;
mod peers;
mod smtp;
mod store;
mod support;
mod tls;
mod web;
mod webhook;
