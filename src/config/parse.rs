//! Texts to the values of settings: what clap calls for each of them.

use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;

use super::list::{list, unless_none, values};
use super::{Certificate, CompatApi, PublicConfig};
use crate::fault::{self, RULES_MAX};
use crate::model::{Address, DomainName, DomainPattern, RoleAddresses, Subaddressing};
use crate::value::{ValueError, duration, number, size};

/// The most waits of a schedule.
const WAITS_MAX: usize = 20;

/// The most connections at once.
pub(super) fn connections(text: &str) -> Result<usize, ValueError> {
    number(1..=100_000)(text)
}

/// A constant: a number from 1 on.
pub(super) fn count<T>(text: &str) -> Result<T, ValueError>
where
    T: FromStr + PartialOrd + Display + Clone + TryFrom<u32, Error: std::fmt::Debug>,
{
    let bound = |number| T::try_from(number).expect("a number of 32 bits");
    number(bound(1)..=bound(1_000_000))(text)
}

/// A constant: a size of at least 1 KB.
pub(super) fn octets(text: &str) -> Result<u64, ValueError> {
    size(1 << 10..=1 << 40)(text)
}

/// A constant: a time.
pub(super) fn time(text: &str) -> Result<Duration, ValueError> {
    duration(Duration::from_millis(1)..=Duration::from_hours(365 * 24))(text)
}

pub(super) fn subaddressing(text: &str) -> Result<Subaddressing, ValueError> {
    match text {
        "keep" => Ok(Subaddressing::Keep),
        "strip" => Ok(Subaddressing::Strip),
        _ => Err(ValueError::malformed(text, "keep or strip")),
    }
}

pub(super) fn compat_api(text: &str) -> Result<CompatApi, ValueError> {
    let accepted = "off or mailpit";
    if text == "mailhog" {
        let gone = "there is no interface of MailHog any more, and Mailpit's lists, searches and deletes the same mail";
        return Err(ValueError::invalid(text, &gone, accepted));
    }
    CompatApi::from_str(text, false).map_err(|_| ValueError::malformed(text, accepted))
}

pub(super) fn public(text: &str) -> Result<PublicConfig, ValueError> {
    const PARTS: [&str; 5] = ["read", "delete", "webhooks", "domains", "web"];
    let open = || values(unless_none(text));
    if let Some(other) = open().find(|part| !PARTS.contains(part)) {
        return Err(ValueError::malformed(other, "read, delete, webhooks, domains or web"));
    }
    let [read, delete, webhooks, domains, web] = PARTS.map(|part| open().any(|value| value == part));
    Ok(PublicConfig { read, delete, webhooks, domains, web })
}

pub(super) fn faults(text: &str) -> Result<Vec<fault::Rule>, ValueError> {
    let rules = list(str::parse)(text)?;
    match rules.get(RULES_MAX) {
        None => Ok(rules),
        Some(rule) => {
            let reason = format!("there are {} rules", rules.len());
            Err(ValueError::invalid(&rule.to_string(), &reason, "at most 100 rules"))
        }
    }
}

pub(super) fn file_mode(text: &str) -> Result<u32, ValueError> {
    let mode = u32::from_str_radix(text, 8).ok().filter(|mode| *mode <= 0o777 && !text.starts_with('+'));
    mode.ok_or_else(|| ValueError::malformed(text, "a mode in octal, such as 660"))
}

pub(super) fn path(text: &str) -> Result<PathBuf, ValueError> {
    if text.is_empty() || text.starts_with('~') || text.contains('\0') {
        return Err(ValueError::malformed(text, "a path ('~' is expanded by shells alone)"));
    }
    Ok(text.into())
}

pub(super) fn optional_file(text: &str) -> Result<Option<PathBuf>, ValueError> {
    if text == "none" { Ok(None) } else { path(text).map(Some) }
}

pub(super) fn certificate(text: &str) -> Result<Certificate, ValueError> {
    match text {
        "none" => Ok(Certificate::None),
        "self-signed" => Ok(Certificate::SelfSigned),
        _ => path(text).map(Certificate::File),
    }
}

pub(super) fn domain_name(text: &str) -> Result<DomainName, ValueError> {
    text.parse().map_err(|reason| ValueError::invalid(text, &reason, "a domain name such as mail.example.com"))
}

pub(super) fn domain_pattern(text: &str) -> Result<DomainPattern, ValueError> {
    text.parse().map_err(|reason| ValueError::invalid(text, &reason, "a domain name, '*.' and a domain name, or '*'"))
}

/// The domains of senders to refuse: not all of them at once.
pub(super) fn refused_sender(text: &str) -> Result<DomainPattern, ValueError> {
    let accepted = "a domain name, or '*.' and a domain name";
    match text.parse() {
        Ok(DomainPattern::Any) => Err(ValueError::malformed(text, accepted)),
        Ok(pattern) => Ok(pattern),
        Err(reason) => Err(ValueError::invalid(text, &reason, accepted)),
    }
}

pub(super) fn schedule(text: &str) -> Result<Vec<Duration>, ValueError> {
    let accepted = "a list of 1 to 20 durations, such as 5s,30s,2m";
    match values(text).count() {
        0 => Err(ValueError::missing(accepted)),
        1..=WAITS_MAX => values(text).map(duration(Duration::from_millis(10)..=Duration::from_hours(24))).collect(),
        _ => Err(ValueError::malformed(&values(text).collect::<Vec<_>>().join(","), accepted)),
    }
}

pub(super) fn roles(text: &str) -> Result<RoleAddresses, ValueError> {
    for value in values(unless_none(text)) {
        if format!("{value}@localhost").parse::<Address>().is_err() || value.starts_with('"') {
            return Err(ValueError::malformed(value, "a local part without quotes, such as postmaster"));
        }
    }
    Ok(RoleAddresses::new(values(unless_none(text))))
}

pub(super) fn rate_limit(text: &str) -> Result<Option<u32>, ValueError> {
    match text {
        "off" => Ok(None),
        _ if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) => {
            Err(ValueError::malformed(text, "a number of requests per minute, or off"))
        }
        _ => number(1..=10_000_000)(text).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::list::joined;

    fn text(values: &[&str]) -> String {
        joined(&values.iter().map(|&value| value.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn role_addresses_are_local_parts() {
        assert_eq!(roles(&text(&["none"])), Ok(RoleAddresses::new([])));
        assert_eq!(roles(&text(&[])), Ok(RoleAddresses::new([])));
        assert_eq!(roles(&text(&["Admin", "root"])), Ok(RoleAddresses::new(["admin", "root"])));
        for bad in ["", "a b", "admin@example.com", "\"a\""] {
            assert!(roles(&text(&[bad])).is_err(), "{bad}");
        }
    }

    #[test]
    fn policies_are_read_as_they_are_shown() {
        for text in ["spam.example", "*.spam.example"] {
            assert_eq!(refused_sender(text).map(|pattern| pattern.to_string()).as_deref(), Ok(text));
        }
        for bad in ["", "*", "*.", "a@spam.example", "spam*.example", "192.0.2.1"] {
            assert!(refused_sender(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_schedule_has_1_to_20_waits_within_bounds() {
        let seconds = |values: &[u64]| Ok(values.iter().copied().map(Duration::from_secs).collect::<Vec<_>>());
        assert_eq!(schedule(&text(&["5s", "5s", "1s"])), seconds(&[5, 5, 1]));
        assert_eq!(schedule(&text(&["1d"; 20])), seconds(&[86_400; 20]));
        assert!(schedule(&text(&["1s"; 21])).is_err());
        for bad in [&[][..], &["9ms"], &["1s", "1d1ms"], &["5"], &["1s", ""]] {
            assert!(schedule(&text(bad)).is_err(), "{bad:?}");
        }
    }
}
