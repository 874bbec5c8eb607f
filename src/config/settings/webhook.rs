//! Settings of webhooks and of what waits for them.

use std::time::Duration;

use super::{DAY, GB, MB, SECOND, each, one, texts};
use crate::config::parse::{network, schedule};
use crate::config::setting::{Setting, Shape};
use crate::config::value::{self, show_duration, show_size};

/// In the order in which help lists them.
pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "webhook-allow",
        Shape::Several,
        "CIDR",
        "Network that webhooks may be sent to although it is not public, such as 10.0.0.0/8",
        |c, v| each(v, network).map(|all| c.webhook_allow = all),
        |c| texts(&c.webhook_allow),
    ),
    Setting::new(
        "webhook-refused-ports",
        Shape::Several,
        "PORT",
        "Port that no webhook is sent to, 1 to 65535; 25, 465 and 587 never are",
        |c, v| each(v, |t| value::number(t, 1..=u16::MAX)).map(|all| c.webhook_refused_ports = all),
        |c| texts(&c.webhook_refused_ports),
    ),
    Setting::new(
        "webhook-schedule",
        Shape::Several,
        "DURATION",
        "Waits between the attempts of an event, 10ms to 1d each, 1 to 20 of them; the last one repeats",
        |c, v| schedule(v).map(|waits| c.webhook_schedule = waits),
        |c| c.webhook_schedule.iter().copied().map(show_duration).collect(),
    ),
    Setting::new(
        "webhook-timeout",
        Shape::One,
        "DURATION",
        "How long an attempt may take, 100ms to 2m",
        |c, v| {
            let bounds = Duration::from_millis(100)..=Duration::from_mins(2);
            one(v, |t| value::duration(t, bounds)).map(|time| c.webhook_timeout = time)
        },
        |c| vec![show_duration(c.webhook_timeout)],
    ),
    Setting::new(
        "webhook-grace",
        Shape::One,
        "DURATION",
        "How long after its message has expired an event is still attempted, 0s to 30d",
        |c, v| one(v, |t| value::duration(t, Duration::ZERO..=30 * DAY)).map(|time| c.webhook_grace = time),
        |c| vec![show_duration(c.webhook_grace)],
    ),
    Setting::new(
        "webhook-idle",
        Shape::One,
        "DURATION",
        "How long a webhook is kept without any mail for it, 1s to 365d",
        |c, v| one(v, |t| value::duration(t, SECOND..=365 * DAY)).map(|time| c.webhook_idle = time),
        |c| vec![show_duration(c.webhook_idle)],
    ),
    Setting::new(
        "max-webhooks-per-recipient",
        Shape::One,
        "N",
        "Most webhooks of one address, 0 to 1000",
        |c, v| one(v, |t| value::number(t, 0..=1_000)).map(|n| c.webhooks_per_recipient_max = n),
        |c| vec![c.webhooks_per_recipient_max.to_string()],
    ),
    Setting::new(
        "max-webhooks-per-client",
        Shape::One,
        "N",
        "Most webhooks that one client has registered, an address of IPv4 or a /64 of IPv6, 1 to 1000000",
        |c, v| one(v, |t| value::number(t, 1..=1_000_000)).map(|n| c.webhooks_per_client_max = n),
        |c| vec![c.webhooks_per_client_max.to_string()],
    ),
    Setting::new(
        "webhook-registrations-per-minute",
        Shape::One,
        "N",
        "Most registrations of webhooks in a minute by one client, 1 to 1000000",
        |c, v| one(v, |t| value::number(t, 1..=1_000_000)).map(|n| c.webhook_registrations_per_minute = n),
        |c| vec![c.webhook_registrations_per_minute.to_string()],
    ),
    Setting::new(
        "webhook-unproven-life",
        Shape::One,
        "DURATION",
        "How long a webhook is kept whose receiver has never taken an event, 1s to 365d",
        |c, v| one(v, |t| value::duration(t, SECOND..=365 * DAY)).map(|time| c.webhook_unproven_life = time),
        |c| vec![show_duration(c.webhook_unproven_life)],
    ),
    Setting::new(
        "max-webhooks",
        Shape::One,
        "N",
        "Most webhooks in all, 0 to 1000000",
        |c, v| one(v, |t| value::number(t, 0..=1_000_000)).map(|n| c.webhooks_max = n),
        |c| vec![c.webhooks_max.to_string()],
    ),
    Setting::new(
        "outbox-events",
        Shape::One,
        "N",
        "Most events that wait for one webhook, 1 to 100000; beyond, the oldest is dropped",
        |c, v| one(v, |t| value::number(t, 1..=100_000)).map(|n| c.outbox_events_max = n),
        |c| vec![c.outbox_events_max.to_string()],
    ),
    Setting::new(
        "outbox-size-per-webhook",
        Shape::One,
        "SIZE",
        "Most octets of the messages that wait for one webhook, 1MB to 10GB",
        |c, v| one(v, |t| value::size(t, MB..=10 * GB)).map(|octets| c.outbox_octets_per_webhook_max = octets),
        |c| vec![show_size(c.outbox_octets_per_webhook_max)],
    ),
    Setting::new(
        "outbox-size",
        Shape::One,
        "SIZE",
        "Most octets of the messages that wait for all webhooks, 1MB to 1024GB",
        |c, v| one(v, |t| value::size(t, MB..=1024 * GB)).map(|octets| c.outbox_octets_max = octets),
        |c| vec![show_size(c.outbox_octets_max)],
    ),
    Setting::new(
        "webhook-in-flight",
        Shape::One,
        "N",
        "Most attempts under way at once, 1 to 10000; those that take longer than 250ms have 1024 places of their own",
        |c, v| one(v, |t| value::number(t, 1..=10_000)).map(|n| c.webhook_in_flight_max = n),
        |c| vec![c.webhook_in_flight_max.to_string()],
    ),
    Setting::new(
        "webhook-per-address-per-minute",
        Shape::One,
        "N",
        "Most attempts per minute at one address and port that has taken an event, whatever names lead there, 1 to 1000000",
        |c, v| one(v, |t| value::number(t, 1..=1_000_000)).map(|n| c.webhook_per_address_per_minute = n),
        |c| vec![c.webhook_per_address_per_minute.to_string()],
    ),
];
