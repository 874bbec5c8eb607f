//! Settings of what one client of SMTP may have and take.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::{DAY, GB, KB, each, one, or_none, texts};
use crate::config::parse::network;
use crate::config::setting::{Setting, Shape};
use crate::config::value::{self, ValueError, show_duration, show_size};

const HOUR: Duration = Duration::from_hours(1);

/// In the order in which help lists them.
pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "max-smtp-connections-per-address",
        Shape::One,
        "N",
        "Most SMTP connections at once from one address, 1 to 100000, at most those of its network",
        |c, v| one(v, |t| value::number(t, 1..=100_000)).map(|n| c.smtp.bounds.connections_per_address_max = n),
        |c| vec![c.smtp.bounds.connections_per_address_max.to_string()],
    )
    .with_default("50, or max-smtp-connections-per-network where that is less"),
    Setting::new(
        "max-smtp-connections-per-network",
        Shape::One,
        "N",
        "Most SMTP connections at once from one /24 of IPv4 or /64 of IPv6, 1 to 100000",
        |c, v| one(v, |t| value::number(t, 1..=100_000)).map(|n| c.smtp.bounds.connections_per_network_max = n),
        |c| vec![c.smtp.bounds.connections_per_network_max.to_string()],
    )
    .with_default("200, or max-smtp-connections-per-address where that is more"),
    Setting::new(
        "smtp-connections-per-minute",
        Shape::One,
        "N",
        "Most new SMTP connections in a minute from one address of IPv4 or /64 of IPv6, 1 to 1000000",
        |c, v| one(v, |t| value::number(t, 1..=1_000_000)).map(|n| c.smtp.bounds.connections_per_minute_max = n),
        |c| vec![c.smtp.bounds.connections_per_minute_max.to_string()],
    ),
    Setting::new(
        "smtp-body-budget-per-address",
        Shape::One,
        "SIZE",
        "Most of smtp-body-budget for messages from one address, 64KB to 1024GB, at least max-message-size, at most that of its network",
        |c, v| one(v, |t| value::size(t, 64 * KB..=1024 * GB)).map(|n| c.smtp.bounds.bodies_octets_per_address_max = n),
        |c| vec![show_size(c.smtp.bounds.bodies_octets_per_address_max)],
    )
    .with_default("a quarter of smtp-body-budget, but no less than max-message-size and no more than that of its network"),
    Setting::new(
        "smtp-body-budget-per-network",
        Shape::One,
        "SIZE",
        "Most of smtp-body-budget for messages from one /24 of IPv4 or /64 of IPv6, 64KB to 1024GB, at least max-message-size",
        |c, v| one(v, |t| value::size(t, 64 * KB..=1024 * GB)).map(|n| c.smtp.bounds.bodies_octets_per_network_max = n),
        |c| vec![show_size(c.smtp.bounds.bodies_octets_per_network_max)],
    )
    .with_default("half of smtp-body-budget, or max-message-size or smtp-body-budget-per-address where that is more"),
    Setting::new(
        "limit-exempt",
        Shape::Several,
        "CIDR",
        "Network whose SMTP clients are exempt from the five limits above; 'none' for no network",
        |c, v| networks(v).map(|all| c.smtp.bounds.exempt = all),
        |c| or_none(texts(&c.smtp.bounds.exempt)),
    ),
    Setting::new(
        "smtp-errors-max",
        Shape::One,
        "N",
        "Errors (5yz replies) without a stored message between them that end an SMTP session, 1 to 1000",
        |c, v| one(v, |t| value::number(t, 1..=1000)).map(|n| c.smtp.bounds.errors_max = n),
        |c| vec![c.smtp.bounds.errors_max.to_string()],
    ),
    Setting::new(
        "smtp-idle-timeout",
        Shape::One,
        "DURATION",
        "How long an SMTP client may keep silent, 100ms to 1h",
        |c, v| duration(v, HOUR).map(|time| c.smtp.bounds.idle_timeout = time),
        |c| vec![show_duration(c.smtp.bounds.idle_timeout)],
    ),
    Setting::new(
        "smtp-reply-timeout",
        Shape::One,
        "DURATION",
        "How long an SMTP client may take to read the replies to what it has sent, 100ms to 1h",
        |c, v| duration(v, HOUR).map(|time| c.smtp.bounds.reply_timeout = time),
        |c| vec![show_duration(c.smtp.bounds.reply_timeout)],
    ),
    Setting::new(
        "smtp-command-timeout",
        Shape::One,
        "DURATION",
        "How long an SMTP client may take for a whole command line, 100ms to 1h",
        |c, v| duration(v, HOUR).map(|time| c.smtp.bounds.command_timeout = time),
        |c| vec![show_duration(c.smtp.bounds.command_timeout)],
    ),
    Setting::new(
        "smtp-message-timeout",
        Shape::One,
        "DURATION",
        "How long an SMTP transaction may take from MAIL on, unless its message keeps smtp-min-rate, 100ms to 1d",
        |c, v| duration(v, DAY).map(|time| c.smtp.bounds.message_timeout = time),
        |c| vec![show_duration(c.smtp.bounds.message_timeout)],
    ),
    Setting::new(
        "smtp-min-rate",
        Shape::One,
        "N",
        "Octets per second at which a message may take longer than smtp-message-timeout, 1 to 1000000",
        |c, v| one(v, |t| value::number(t, 1..=1_000_000)).map(|n| c.smtp.bounds.rate_min = n),
        |c| vec![c.smtp.bounds.rate_min.to_string()],
    ),
    Setting::new(
        "smtp-session-life",
        Shape::One,
        "DURATION",
        "How long an SMTP session may last; it ends between transactions, 100ms to 7d",
        |c, v| duration(v, DAY * 7).map(|time| c.smtp.bounds.session_life = time),
        |c| vec![show_duration(c.smtp.bounds.session_life)],
    ),
    Setting::new(
        "smtp-stress-timeout",
        Shape::One,
        "DURATION",
        "Timeout that replaces those above while more than 3/4 of max-smtp-connections are taken, and those for messages while more than 3/4 of smtp-body-budget is reserved, 100ms to 5m",
        |c, v| duration(v, Duration::from_mins(5)).map(|time| c.smtp.bounds.stress_timeout = time),
        |c| vec![show_duration(c.smtp.bounds.stress_timeout)],
    ),
];

fn duration(values: &[String], most: Duration) -> Result<Duration, ValueError> {
    let bounds: RangeInclusive<Duration> = Duration::from_millis(100)..=most;
    one(values, |text| value::duration(text, bounds))
}

/// Networks; `none` alone is the empty list.
fn networks(values: &[String]) -> Result<Vec<ipnet::IpNet>, ValueError> {
    if matches!(values, [none] if none == "none") { Ok(Vec::new()) } else { each(values, network) }
}
