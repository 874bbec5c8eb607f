//! Tests of the binary as a process: no type of the library is named here.

mod cli;
mod service;
#[allow(dead_code, reason = "each of the test binaries uses a part of it")]
#[path = "../support"]
mod support {
    pub mod answer;
    pub mod certificates;
    pub mod clock;
    pub mod command;
    pub mod dns_zone;
    pub mod document;
    pub mod exposition;
    pub mod faulty_disk;
    pub mod files;
    pub mod http;
    #[cfg(feature = "cassandra")]
    pub mod keyspaces;
    pub mod mail;
    pub mod outbox;
    pub mod program;
    pub mod programs;
    pub mod recording_disk;
    pub mod ring;
    pub mod smtp_peer;
    pub mod steady;
    pub mod terminal;
    pub mod test_server;
    pub mod until;
    pub mod webhook_sink;
}
