//! Settings of the limits of one SMTP client: an IPv4 address or an IPv6 /64.

use std::time::Duration;

use super::{each, one, or_none, texts};
use crate::config::parse::network;
use crate::config::setting::{Setting, Shape};
use crate::config::value::{self, ValueError, show_duration};

const TIMEOUT_MIN: Duration = Duration::from_millis(100);
const TIMEOUT_MAX: Duration = Duration::from_hours(1);

/// In the order in which help lists them.
pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "max-smtp-connections-per-client",
        Shape::One,
        "N",
        "Maximum SMTP connections at once of one client (IPv4 address or IPv6 /64), 1 to 100000",
        |c, v| one(v, |t| value::number(t, 1..=100_000)).map(|n| c.smtp.connections_per_client_max = n),
        |c| vec![c.smtp.connections_per_client_max.to_string()],
    ),
    Setting::new(
        "smtp-connections-per-minute",
        Shape::One,
        "N",
        "Maximum new SMTP connections of one client in a minute, 1 to 1000000",
        |c, v| one(v, |t| value::number(t, 1..=1_000_000)).map(|n| c.smtp.connections_per_minute_max = n),
        |c| vec![c.smtp.connections_per_minute_max.to_string()],
    ),
    Setting::new(
        "limit-exempt",
        Shape::Several,
        "CIDR",
        "Network whose clients have no limit on their connections and their part of smtp-body-budget; 'none' for no network",
        |c, v| networks(v).map(|all| c.smtp.exempt = all),
        |c| or_none(texts(&c.smtp.exempt)),
    ),
    Setting::new(
        "smtp-timeout",
        Shape::One,
        "DURATION",
        "How long an SMTP client may be silent, take for one command line, or take to read the replies, 100ms to 1h",
        |c, v| one(v, |t| value::duration(t, TIMEOUT_MIN..=TIMEOUT_MAX)).map(|time| c.smtp.timeout = time),
        |c| vec![show_duration(c.smtp.timeout)],
    ),
];

/// Networks; `none` alone is the empty list.
fn networks(values: &[String]) -> Result<Vec<ipnet::IpNet>, ValueError> {
    if matches!(values, [none] if none == "none") { Ok(Vec::new()) } else { each(values, network) }
}
