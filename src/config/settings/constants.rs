//! What is the same in every installation, and what tests set all the same.

use std::time::Duration;

use crate::config::parse::{count, time};

/// Constants with a hidden flag each.
#[derive(clap::Args, Clone, Debug)]
pub struct Constants {
    /// The fewest octets of a message in a second, after the message timeout.
    #[arg(long, hide = true, default_value = "500", value_parser = count::<u64>)]
    pub smtp_octets_per_second_min: u64,

    /// The age at which an SMTP session ends between two transactions.
    #[arg(long, hide = true, default_value = "1h", value_parser = time)]
    pub smtp_session_timeout: Duration,

    /// The timeout of SMTP clients while more than three quarters of the connections are taken.
    #[arg(long, hide = true, default_value = "10s", value_parser = time)]
    pub smtp_stress_timeout: Duration,

    /// How many errors end an SMTP session.
    #[arg(long, hide = true, default_value = "20", value_parser = count::<u32>)]
    pub smtp_errors_max: u32,

    /// How long a PROXY header may take; a proxy sends it at once.
    #[arg(long, hide = true, default_value = "5s", value_parser = time)]
    pub proxy_timeout: Duration,

    /// How long sessions and answers in progress may take once the service stops. The daemon has 10 s for all of its stop.
    #[arg(long, hide = true, default_value = "8s", value_parser = time)]
    pub drain_timeout: Duration,

    /// How long an idle HTTP connection is kept, and how long the head of a request may take.
    #[arg(long, hide = true, default_value = "10s", value_parser = time)]
    pub http_head_timeout: Duration,

    /// How long a request's body may take.
    #[arg(long, hide = true, default_value = "10s", value_parser = time)]
    pub http_body_timeout: Duration,

    /// How long a peer may read nothing of an answer.
    #[arg(long, hide = true, default_value = "30s", value_parser = time)]
    pub http_write_timeout: Duration,

    /// How long connecting to a webhook's receiver may take: DNS, TCP and TLS.
    #[arg(long, hide = true, default_value = "5s", value_parser = time)]
    pub webhook_connect_timeout: Duration,

    /// Whether hosts within `webhook-allow` have the limits of all others, too. Tests have no others.
    #[arg(long, hide = true, default_value = "false", action = clap::ArgAction::Set)]
    pub webhook_limits_allowed: bool,

    /// How long one question to a name server may take. It is asked once more.
    #[arg(long, hide = true, default_value = "3s", value_parser = time)]
    pub dns_timeout: Duration,
}
