//! Tests of the binary as a process: no type of the library is named here.

mod cli;
mod service;
#[allow(dead_code, reason = "each of the test binaries uses a part of it")]
#[path = "../support"]
mod support {
    pub mod answer;
    pub mod caller;
    pub mod certificates;
    pub mod command;
    pub mod completions;
    pub mod dns_zone;
    pub mod document;
    pub mod files;
    pub mod front;
    pub mod http;
    pub mod program;
    pub mod smtp_peer;
    pub mod terminal;
    pub mod tour;
    pub mod until;
    pub mod webhook_sink;
}
