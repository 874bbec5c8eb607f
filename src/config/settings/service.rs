//! Settings of the service as a whole.

use std::time::Duration;

use clap::ValueEnum;

use super::{DAY, GB, KB, MB, SECOND};
use crate::config::StoreLocation;
use crate::config::parse::{roles, subaddressing, time};
use crate::model::{RoleAddresses, Subaddressing};
use crate::value::{duration, number, size};

/// One of the two revisions of the interface: a preset of defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, ValueEnum)]
pub enum Revision {
    /// No webhooks; 10 MB messages; the MX is verified daily.
    #[value(name = "1")]
    One,
    /// Webhooks; 300 KB messages; the MX is verified every 12 hours.
    #[default]
    #[value(name = "2")]
    Two,
}

impl Revision {
    /// 1 or 2.
    pub const fn number(self) -> u8 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }
}

/// Whether senders of mail are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SenderVerdicts {
    /// They are not.
    Off,
    /// They are, when a mail is read by itself for the first time.
    OnRead,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object per line.
    Json,
}

/// What holds for every mail, however it is received and read.
#[derive(clap::Args, Clone, Debug)]
pub struct MailConfig {
    /// How long a message is kept, 1s to 365d; then it is deleted
    #[arg(long, value_name = "DURATION", default_value = "2h", value_parser = duration(SECOND..=365 * DAY))]
    pub retention: Duration,

    /// Largest message, 1KB to 50MB; KB is 1,024 octets
    #[arg(long = "max-message-size", value_name = "SIZE", default_value = "300KB", value_parser = size(KB..=50 * MB))]
    pub message_octets_max: u64,

    /// Maximum messages in one mailbox, 0 to 1000000; the oldest makes way if it is a minute old; 0: no cap
    #[arg(
        long = "max-messages-per-mailbox",
        value_name = "N",
        default_value = "0",
        value_parser = number(0..=1_000_000_u32)
    )]
    pub emails_per_mailbox_max: u32,

    /// Maximum messages in all, 1 to 100000000, each of 200 octets of memory; beyond it none is accepted, as on a full disk
    #[arg(
        long = "max-emails",
        value_name = "N",
        default_value = "1000000",
        value_parser = number(1..=100_000_000_u64)
    )]
    pub emails_max: u64,

    /// Whether user+tag@ is an address of its own (keep) or arrives at user@ (strip)
    #[arg(long, value_name = "keep|strip", default_value = "keep", value_parser = subaddressing)]
    pub subaddressing: Subaddressing,

    /// Whether DNS is asked who really sent a mail when it is read (SPF, DKIM, DMARC, ARC)
    #[arg(long, value_name = "off|on-read", default_value = "on-read")]
    pub sender_verdicts: SenderVerdicts,

    // The names of RFC 2142 that concern control of the domain, and those that certificate authorities write to.
    /// Local part whose mail only the administrator may read, on domains that can have certificates; 'none' for none
    #[arg(
        long,
        value_name = "LOCAL-PART",
        value_delimiter = ',',
        value_parser = roles,
        default_value = "abuse,admin,administrator,hostmaster,noc,postmaster,root,security,ssl-admin,ssladmin,\
            ssladministrator,sslwebmaster,webmaster"
    )]
    pub role_addresses: RoleAddresses,
}

/// How mail is kept.
#[derive(clap::Args, Clone, Debug)]
pub struct StoreConfig {
    /// Where mail is kept: see [`StoreLocation`].
    #[arg(
        long = "store",
        value_name = "embedded|URL",
        default_value = "embedded",
        help = "Where mail is kept: in data-dir (embedded), or in a cluster, cassandra://HOST,…/KEYSPACE[?dc=NAME\
            &replication=N&user=NAME&password-file=FILE&ca=FILE|system]"
    )]
    pub location: StoreLocation,

    /// Size of a segment of the journal in octets, at least twice the largest message.
    #[arg(long = "segment-size", hide = true, default_value = "64MB", value_parser = size(MB..=GB))]
    pub segment_octets: u64,

    /// How long one request to the cluster may take.
    #[arg(long = "cassandra-timeout", hide = true, default_value = "2s", value_parser = time)]
    pub cluster_timeout: Duration,
}
