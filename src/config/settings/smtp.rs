//! Settings of SMTP.

use std::time::Duration;

use super::{GB, MB, one, texts};
use crate::config::parse::{domain_name, listen_addresses};
use crate::config::setting::{Setting, Shape};
use crate::config::value::{self, show_duration, show_size};

/// In the order in which help and `config show` list them.
pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "smtp-listen",
        Shape::Several,
        "IP:PORT",
        "Address that SMTP listens on; port 0 lets the system choose",
        |c, v| listen_addresses(v).map(|all| c.smtp_listen = all),
        |c| texts(&c.smtp_listen),
    ),
    Setting::new(
        "hostname",
        Shape::One,
        "NAME",
        "Name that SMTP greets with and that Received fields carry",
        |c, v| one(v, domain_name).map(|name| c.hostname = name),
        |c| vec![c.hostname.to_string()],
    )
    .with_default("the first mx-host, else the machine's name, else localhost"),
    Setting::new(
        "max-smtp-connections",
        Shape::One,
        "N",
        "Most SMTP connections at once, 1 to 100000",
        |c, v| one(v, |t| value::number(t, 1..=100_000)).map(|n| c.smtp_connections_max = n),
        |c| vec![c.smtp_connections_max.to_string()],
    ),
    Setting::new(
        "smtp-idle-timeout",
        Shape::One,
        "DURATION",
        "How long an SMTP client may keep silent, 100ms to 1h",
        |c, v| {
            let bounds = Duration::from_millis(100)..=Duration::from_hours(1);
            one(v, |t| value::duration(t, bounds)).map(|time| c.smtp_idle_timeout = time)
        },
        |c| vec![show_duration(c.smtp_idle_timeout)],
    ),
    Setting::new(
        "smtp-body-budget",
        Shape::One,
        "SIZE",
        "Memory for all messages that are coming in over SMTP, 1MB to 1024GB, at least max-message-size",
        |c, v| one(v, |t| value::size(t, MB..=1024 * GB)).map(|octets| c.smtp_bodies_octets_max = octets),
        |c| vec![show_size(c.smtp_bodies_octets_max)],
    ),
];
