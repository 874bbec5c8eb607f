//! Tests that need other programs, such as browsers, databases, mail servers and compilers, and what belongs to them.

mod clients;
#[cfg(feature = "cassandra")]
mod cluster;
mod durability;
mod examples;
mod page;
#[cfg(feature = "cassandra")]
mod store_in_cluster;
#[cfg_attr(
    not(feature = "cassandra"),
    allow(unused_macros, unused_imports, reason = "without the cluster no store needs them")
)]
#[allow(dead_code, reason = "each of the test binaries uses a part of it")]
#[path = "../suites/mod.rs"]
mod suites;
#[allow(dead_code, reason = "each of the test binaries uses a part of it")]
#[path = "../support"]
mod support {
    pub mod answer;
    pub mod browser;
    pub mod certificates;
    pub mod clock;
    pub mod command;
    pub mod completions;
    pub mod dns_zone;
    pub mod document;
    pub mod exposition;
    pub mod files;
    pub mod http;
    pub mod in_process;
    #[cfg(feature = "cassandra")]
    pub mod keyspaces;
    pub mod mail;
    pub mod outbox;
    pub mod postfix;
    pub mod program;
    pub mod programs;
    pub mod reserved;
    pub mod ring;
    pub mod smtp_peer;
    pub mod terminal;
    pub mod test_disk;
    pub mod test_server;
    pub mod tour;
    pub mod traced_names;
    pub mod until;
    pub mod webhook_sink;
}
