//! Settings of private inboxes, and of which addresses take mail.

use std::time::Duration;

use clap::ValueEnum;

use super::{DAY, SECOND};
use crate::value::{duration, number};

/// The shortest life of a lease.
const LIFE_MIN: Duration = Duration::from_mins(1);
/// The longest time that mail of a lease may be kept. Addresses rest as long, so its mail is gone before the next lease.
const KEEP_MAX: Duration = Duration::from_hours(30 * 24);

/// Which addresses take mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Accept {
    /// Any address of an active domain.
    Any,
    /// Addresses that somebody has leased, and role addresses.
    Leased,
    /// These, and those that somebody has opened in the last day or that have a webhook.
    Opened,
}

/// What private inboxes are set to.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Private inboxes")]
pub struct LeasesConfig {
    /// Addresses that take mail: any, those with a private inbox (leased), or those and what was opened in the last day (opened); role addresses always
    #[arg(long, value_name = "any|leased|opened", default_value = "any")]
    pub accept: Accept,

    /// How long a private inbox lives if nothing is said, 1m to 365d
    #[arg(long = "lease-for", value_name = "DURATION", default_value = "1d", value_parser = duration(LIFE_MIN..=365 * DAY))]
    pub life: Duration,

    /// Longest life of a private inbox from now on, 1m to 365d
    #[arg(long = "lease-max", value_name = "DURATION", default_value = "30d", value_parser = duration(LIFE_MIN..=365 * DAY))]
    pub life_max: Duration,

    /// Longest time that a message in a private inbox is kept, 1s to 30d
    #[arg(
        long = "lease-retention-max",
        value_name = "DURATION",
        default_value = "7d",
        value_parser = duration(SECOND..=KEEP_MAX)
    )]
    pub keep_max: Duration,

    /// Maximum private inboxes, 0 to 100000000, each of 200 octets of memory; chosen addresses count for 30 days after their end
    #[arg(long = "leases-max", value_name = "N", default_value = "1000000", value_parser = number(0..=100_000_000_u64))]
    pub all_max: u64,
}
