//! Tests of the service in this process, over real sockets.

mod codes;
mod config;
mod domains;
mod guides;
mod http;
mod layout;
mod package;
mod peers;
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
    pub mod certificates;
    pub mod clock;
    pub mod command;
    pub mod counting_disk;
    pub mod dns_zone;
    pub mod document;
    pub mod exposition;
    pub mod faulty_disk;
    pub mod faulty_store;
    pub mod files;
    pub mod fixed_domains;
    pub mod http;
    pub mod keeper;
    pub mod mail;
    pub mod outbox;
    pub mod postfix;
    pub mod program;
    pub mod programs;
    pub mod quota_disk;
    pub mod recording_disk;
    pub mod smtp_peer;
    pub mod steady;
    pub mod terminal;
    pub mod test_server;
    pub mod until;
    pub mod webhook_sink;
}
mod tls;
mod webhook;
