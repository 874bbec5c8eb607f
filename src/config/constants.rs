//! Constants that nobody sets but tests: flags, variables and keys like the settings, but in no help, guide or list of them.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::setting::{Setting, Shape};
use super::settings::one;
use super::value::{self, show_duration};

const ANY_TIME: RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_hours(24);

/// What is the same in every installation.
#[derive(Clone, Debug)]
pub struct Constants {
    /// The fewest octets of a message in a second, after the message timeout.
    pub smtp_octets_per_second_min: u64,
    /// The age at which an SMTP session ends between two transactions.
    pub smtp_session_timeout: Duration,
    /// The timeout of SMTP clients while more than three quarters of the connections are taken.
    pub smtp_stress_timeout: Duration,
    /// How many errors end an SMTP session.
    pub smtp_errors_max: u32,
    /// How long a PROXY header may take; a proxy sends it at once.
    pub proxy_timeout: Duration,
    /// How long sessions and answers in progress may take once the service stops. The daemon has 10 s for all of its stop.
    pub drain_timeout: Duration,
    /// How long an idle HTTP connection is kept, and how long the head of a request may take.
    pub http_head_timeout: Duration,
    /// How long a request's body may take.
    pub http_body_timeout: Duration,
    /// How long a peer may read nothing of an answer.
    pub http_write_timeout: Duration,
    /// How long connecting to a webhook's receiver may take: DNS, TCP and TLS.
    pub webhook_connect_timeout: Duration,
    /// Whether the address of a receiver is on probation until its first 2xx.
    pub webhook_probation: bool,
    /// How long one question to a name server may take. It is asked once more.
    pub dns_timeout: Duration,
}

impl Default for Constants {
    fn default() -> Self {
        Self {
            smtp_octets_per_second_min: 500,
            smtp_session_timeout: Duration::from_hours(1),
            smtp_stress_timeout: Duration::from_secs(10),
            smtp_errors_max: 20,
            proxy_timeout: Duration::from_secs(5),
            drain_timeout: Duration::from_secs(8),
            http_head_timeout: Duration::from_secs(10),
            http_body_timeout: Duration::from_secs(10),
            http_write_timeout: Duration::from_secs(30),
            webhook_connect_timeout: Duration::from_secs(5),
            webhook_probation: true,
            dns_timeout: Duration::from_secs(3),
        }
    }
}

/// One entry of the table: the key, how it is read, and how it is shown.
macro_rules! constant {
    ($key:literal, $field:ident, $read:expr, $show:expr) => {
        Setting::new(
            $key,
            Shape::One,
            "VALUE",
            "",
            |c, v| one(v, $read).map(|value| c.constants.$field = value),
            |c| vec![$show(c.constants.$field)],
        )
    };
    ($key:literal, $field:ident) => {
        constant!($key, $field, |t| value::duration(t, ANY_TIME), show_duration)
    };
}

/// Every constant.
pub(super) const CONSTANTS: &[Setting] = &[
    constant!(
        "smtp-octets-per-second-min",
        smtp_octets_per_second_min,
        |t| value::number(t, 1..=1_000_000),
        |n: u64| n.to_string()
    ),
    constant!("smtp-session-timeout", smtp_session_timeout),
    constant!("smtp-stress-timeout", smtp_stress_timeout),
    constant!("smtp-errors-max", smtp_errors_max, |t| value::number(t, 1..=1_000_000), |n: u32| n.to_string()),
    constant!("proxy-timeout", proxy_timeout),
    constant!("drain-timeout", drain_timeout),
    constant!("http-head-timeout", http_head_timeout),
    constant!("http-body-timeout", http_body_timeout),
    constant!("http-write-timeout", http_write_timeout),
    constant!("webhook-connect-timeout", webhook_connect_timeout),
    constant!("webhook-probation", webhook_probation, value::switch, |on: bool| on.to_string()),
    constant!("dns-timeout", dns_timeout),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Revision, SETTINGS};

    #[test]
    fn no_setting_has_the_key_of_a_constant_and_each_takes_what_it_shows() {
        let config = Config::of_revision(Revision::Two, "/data".into());
        for constant in CONSTANTS {
            assert!(SETTINGS.iter().all(|setting| setting.key != constant.key), "{}", constant.key);
            let mut other = config.clone();
            constant.set(&mut other, &constant.show(&config)).expect(constant.key);
            assert_eq!(constant.show(&other), constant.show(&config), "{}", constant.key);
        }
    }
}
