//! Settings of webhooks and of their pending events.

use std::time::Duration;

use ipnet::IpNet;

use super::{DAY, GB, MB, SECOND, each, one, texts};
use crate::config::parse::{network, schedule};
use crate::config::setting::{Setting, Shape};
use crate::config::value::{self, show_duration, show_size};

/// What webhooks may use, and how their events are delivered.
#[derive(Clone, Debug)]
pub struct WebhooksConfig {
    /// Networks that webhooks may be sent to although they are not public.
    pub allow: Vec<IpNet>,
    /// Ports that no webhook is sent to, beside those of mail.
    pub refused_ports: Vec<u16>,
    /// The delays between the attempts of an event, at least one; the last one repeats.
    pub schedule: Vec<Duration>,
    /// How long an attempt may take.
    pub timeout: Duration,
    /// How long after its Email has expired an event is still attempted.
    pub grace: Duration,
    /// How long a webhook is kept without any mail for it.
    pub idle: Duration,
    /// The most webhooks of one mailbox.
    pub per_recipient_max: u32,
    /// The most webhooks that one client has registered.
    pub per_client_max: u32,
    /// The most registrations of webhooks in a minute by one client.
    pub registrations_per_minute: u32,
    /// How long a webhook is kept whose receiver has never accepted an event.
    pub unproven_life: Duration,
    /// The most webhooks in all.
    pub total_max: u32,
    /// The most pending events of one webhook.
    pub outbox_events_max: u32,
    /// The most octets of the messages that are pending for one webhook.
    pub outbox_octets_per_webhook_max: u64,
    /// The most octets of the messages that are pending for all webhooks.
    pub outbox_octets_max: u64,
    /// The most attempts at once, without the slow ones.
    pub in_flight_max: usize,
    /// The most attempts that begin within a minute at one address and port that has accepted an event.
    pub per_address_per_minute: usize,
}

impl Default for WebhooksConfig {
    fn default() -> Self {
        Self {
            allow: Vec::new(),
            refused_ports: Vec::new(),
            schedule: [5, 30, 120, 600, 1_800, 3_600].map(Duration::from_secs).to_vec(),
            timeout: Duration::from_secs(15),
            grace: DAY,
            idle: 30 * DAY,
            per_recipient_max: 10,
            per_client_max: 100,
            registrations_per_minute: 60,
            unproven_life: 2 * DAY,
            total_max: 10_000,
            outbox_events_max: 1_000,
            outbox_octets_per_webhook_max: 64 * MB,
            outbox_octets_max: GB,
            in_flight_max: 128,
            per_address_per_minute: 6_000,
        }
    }
}

/// In the order in which help lists them.
pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "webhook-allow",
        Shape::Several,
        "CIDR",
        "Network that webhooks may be sent to although it is not public, such as 10.0.0.0/8",
        |c, v| each(v, network).map(|all| c.webhooks.allow = all),
        |c| texts(&c.webhooks.allow),
    ),
    Setting::new(
        "webhook-refused-ports",
        Shape::Several,
        "PORT",
        "Port that no webhook is sent to, 1 to 65535; 25, 465 and 587 never are",
        |c, v| each(v, |t| value::number(t, 1..=u16::MAX)).map(|all| c.webhooks.refused_ports = all),
        |c| texts(&c.webhooks.refused_ports),
    ),
    Setting::new(
        "webhook-schedule",
        Shape::Several,
        "DURATION",
        "Delays between the attempts of an event, 10ms to 1d each, 1 to 20 of them; the last one repeats",
        |c, v| schedule(v).map(|waits| c.webhooks.schedule = waits),
        |c| c.webhooks.schedule.iter().copied().map(show_duration).collect(),
    ),
    Setting::new(
        "webhook-timeout",
        Shape::One,
        "DURATION",
        "How long an attempt may take, 100ms to 2m",
        |c, v| {
            let bounds = Duration::from_millis(100)..=Duration::from_mins(2);
            one(v, |t| value::duration(t, bounds)).map(|time| c.webhooks.timeout = time)
        },
        |c| vec![show_duration(c.webhooks.timeout)],
    ),
    Setting::new(
        "webhook-grace",
        Shape::One,
        "DURATION",
        "How long after its message has expired an event is still attempted, 0s to 30d",
        |c, v| one(v, |t| value::duration(t, Duration::ZERO..=30 * DAY)).map(|time| c.webhooks.grace = time),
        |c| vec![show_duration(c.webhooks.grace)],
    ),
    Setting::new(
        "webhook-idle",
        Shape::One,
        "DURATION",
        "How long a webhook is kept without any mail for it, 1s to 365d",
        |c, v| one(v, |t| value::duration(t, SECOND..=365 * DAY)).map(|time| c.webhooks.idle = time),
        |c| vec![show_duration(c.webhooks.idle)],
    ),
    Setting::new(
        "max-webhooks-per-recipient",
        Shape::One,
        "N",
        "Maximum webhooks of one address, 0 to 1000",
        |c, v| one(v, |t| value::number(t, 0..=1_000)).map(|n| c.webhooks.per_recipient_max = n),
        |c| vec![c.webhooks.per_recipient_max.to_string()],
    ),
    Setting::new(
        "max-webhooks-per-client",
        Shape::One,
        "N",
        "Maximum webhooks that one client has registered, an address of IPv4 or a /64 of IPv6, 1 to 1000000",
        |c, v| one(v, |t| value::number(t, 1..=1_000_000)).map(|n| c.webhooks.per_client_max = n),
        |c| vec![c.webhooks.per_client_max.to_string()],
    ),
    Setting::new(
        "webhook-registrations-per-minute",
        Shape::One,
        "N",
        "Maximum registrations of webhooks in a minute by one client, 1 to 1000000",
        |c, v| one(v, |t| value::number(t, 1..=1_000_000)).map(|n| c.webhooks.registrations_per_minute = n),
        |c| vec![c.webhooks.registrations_per_minute.to_string()],
    ),
    Setting::new(
        "webhook-unproven-life",
        Shape::One,
        "DURATION",
        "How long a webhook is kept whose receiver has never accepted an event, 1s to 365d",
        |c, v| one(v, |t| value::duration(t, SECOND..=365 * DAY)).map(|time| c.webhooks.unproven_life = time),
        |c| vec![show_duration(c.webhooks.unproven_life)],
    ),
    Setting::new(
        "max-webhooks",
        Shape::One,
        "N",
        "Maximum webhooks in all, 0 to 1000000",
        |c, v| one(v, |t| value::number(t, 0..=1_000_000)).map(|n| c.webhooks.total_max = n),
        |c| vec![c.webhooks.total_max.to_string()],
    ),
    Setting::new(
        "outbox-events",
        Shape::One,
        "N",
        "Maximum pending events of one webhook, 1 to 100000; beyond, the oldest is dropped",
        |c, v| one(v, |t| value::number(t, 1..=100_000)).map(|n| c.webhooks.outbox_events_max = n),
        |c| vec![c.webhooks.outbox_events_max.to_string()],
    ),
    Setting::new(
        "outbox-size-per-webhook",
        Shape::One,
        "SIZE",
        "Maximum octets of the messages that are pending for one webhook, 1MB to 10GB",
        |c, v| one(v, |t| value::size(t, MB..=10 * GB)).map(|octets| c.webhooks.outbox_octets_per_webhook_max = octets),
        |c| vec![show_size(c.webhooks.outbox_octets_per_webhook_max)],
    ),
    Setting::new(
        "outbox-size",
        Shape::One,
        "SIZE",
        "Maximum octets of the messages that are pending for all webhooks, 1MB to 1024GB",
        |c, v| one(v, |t| value::size(t, MB..=1024 * GB)).map(|octets| c.webhooks.outbox_octets_max = octets),
        |c| vec![show_size(c.webhooks.outbox_octets_max)],
    ),
    Setting::new(
        "webhook-in-flight",
        Shape::One,
        "N",
        "Maximum attempts at once, 1 to 10000; those that take longer than 250ms count against a limit of 1024 instead",
        |c, v| one(v, |t| value::number(t, 1..=10_000)).map(|n| c.webhooks.in_flight_max = n),
        |c| vec![c.webhooks.in_flight_max.to_string()],
    ),
    Setting::new(
        "webhook-per-address-per-minute",
        Shape::One,
        "N",
        "Maximum attempts per minute at one address and port that has accepted an event, under all host names, 1 to 1000000",
        |c, v| one(v, |t| value::number(t, 1..=1_000_000)).map(|n| c.webhooks.per_address_per_minute = n),
        |c| vec![c.webhooks.per_address_per_minute.to_string()],
    ),
];
