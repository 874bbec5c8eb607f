//! What the tests share.

pub mod binary;
pub mod browser;
pub mod certificates;
pub mod clock;
pub mod counting_disk;
pub mod dns_zone;
pub mod document;
pub mod exposition;
pub mod faulty_disk;
pub mod faulty_store;
pub mod fixed_domains;
pub mod http;
pub mod mail;
pub mod outbox;
pub mod postfix;
pub mod programs;
pub mod quota_disk;
pub mod recording_disk;
pub mod ring;
pub mod smtp_peer;
pub mod steady;
pub mod terminal;
pub mod test_server;
pub mod traced_names;
pub mod until;
pub mod webhook_sink;
