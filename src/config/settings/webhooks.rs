//! Settings of webhooks and of their pending events.

use std::time::Duration;

use ipnet::IpNet;

use super::{DAY, List};
use crate::config::address::network;
use crate::config::list::list;
use crate::config::parse::{count, octets, schedule, time};
use crate::value::{duration, number};

/// What webhooks may use, and how their events are delivered.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Webhooks")]
pub struct WebhooksConfig {
    /// Network that webhooks may be sent to although it is not public, such as 10.0.0.0/8
    #[arg(long = "webhook-allow", value_name = "CIDR", value_delimiter = ',', value_parser = list(network))]
    pub allow: List<IpNet>,

    /// Delays between the attempts of an event, 10ms to 1d each, 1 to 20 of them; the last one repeats
    #[arg(
        long = "webhook-schedule",
        value_name = "DURATION",
        default_value = "5s,30s,2m,10m,30m,1h",
        value_delimiter = ',',
        value_parser = schedule
    )]
    pub schedule: List<Duration>,

    /// How long an attempt may take.
    #[arg(id = "webhook-timeout", long, hide = true, default_value = "15s", value_parser = time)]
    pub timeout: Duration,

    /// The most webhooks of one mailbox.
    #[arg(long = "max-webhooks-per-recipient", hide = true, default_value = "10", value_parser = number(0..=1_000_u32))]
    pub per_recipient_max: u32,

    /// The most webhooks that one client has registered.
    #[arg(long = "max-webhooks-per-client", hide = true, default_value = "100", value_parser = count::<u32>)]
    pub per_client_max: u32,

    /// The most registrations of webhooks in a minute by one client.
    #[arg(long = "webhook-registrations-per-minute", hide = true, default_value = "60", value_parser = count::<u32>)]
    pub registrations_per_minute: u32,

    /// The most pending events of one webhook.
    #[arg(long = "outbox-events", hide = true, default_value = "1000", value_parser = count::<u32>)]
    pub outbox_events_max: u32,

    /// The most octets of the messages that are pending for one webhook.
    #[arg(long = "outbox-size-per-webhook", hide = true, default_value = "64MB", value_parser = octets)]
    pub outbox_octets_per_webhook_max: u64,

    /// The most octets of the messages that are pending for all webhooks. A client has a sixteenth of them, its network a
    /// quarter, and webhooks without a delivery find no room in the last quarter.
    #[arg(long = "outbox-size", hide = true, default_value = "1GB", value_parser = octets)]
    pub outbox_octets_max: u64,

    /// The most calls in a minute to one host that has accepted an event lately.
    #[arg(long = "webhook-per-address-per-minute", hide = true, default_value = "6000", value_parser = count::<usize>)]
    pub per_address_per_minute: usize,

    /// The most webhooks in all.
    #[arg(long = "max-webhooks", hide = true, default_value = "10000", value_parser = number(0..=1_000_000_u32))]
    pub total_max: u32,

    /// How long after its Email has expired an event is still attempted.
    #[arg(long = "webhook-grace", hide = true, default_value = "1d", value_parser = duration(Duration::ZERO..=30 * DAY))]
    pub grace: Duration,

    /// How long a webhook is kept without any mail for it.
    #[arg(long = "webhook-idle", hide = true, default_value = "30d", value_parser = time)]
    pub idle: Duration,

    /// How long a webhook is kept whose receiver has never accepted an event.
    #[arg(long = "webhook-unproven-life", hide = true, default_value = "2d", value_parser = time)]
    pub unproven_life: Duration,
}
