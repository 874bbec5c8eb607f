//! Tests of the service in this process, over real sockets, and of the binary as a process. In one binary, those that wait
//! leave the processors to others.

mod cli;
mod codes;
mod config;
mod domains;
mod exits;
mod guides;
mod http;
mod layout;
mod leases;
mod package;
#[path = "../program/mod.rs"]
mod program;
mod screens;
mod service;
mod smtp;
mod store;
#[allow(dead_code, reason = "each of the test binaries uses a part of it")]
#[path = "../suites/mod.rs"]
mod suites;
#[allow(dead_code, reason = "each of the test binaries uses a part of it")]
#[path = "../support"]
mod support {
    pub mod answer;
    pub mod caller;
    pub mod certificates;
    pub mod clock;
    pub mod command;
    pub mod completions;
    pub mod dns_zone;
    pub mod document;
    pub mod exposition;
    pub mod files;
    pub mod front;
    pub mod http;
    pub mod in_process;
    pub mod log;
    pub mod mail;
    pub mod outbox;
    pub mod program;
    pub mod reserved;
    pub mod smtp_peer;
    pub mod steady;
    pub mod terminal;
    pub mod test_disk;
    pub mod test_server;
    pub mod tour;
    pub mod transcript;
    pub mod until;
    pub mod webhook_sink;
}
mod tls;
mod webhook;
