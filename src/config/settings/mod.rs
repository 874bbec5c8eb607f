//! The table of settings: one entry makes the flag, the variable, the key of the file and the row in the configuration
//! guide.
//!
//! Each subject has a file, which also holds the struct that its settings fill and their defaults.

mod cassandra;
mod domains;
mod faults;
mod http;
mod policy;
mod public;
mod service;
mod smtp;
mod smtp_client;
mod store;
mod tls;
mod webhook;

use std::fmt::Display;
use std::net::SocketAddr;
use std::time::Duration;

use super::setting::Setting;
use super::value::ValueError;

const SECOND: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_hours(24);
const KB: u64 = 1 << 10;
const MB: u64 = 1 << 20;
const GB: u64 = 1 << 30;

pub use cassandra::CassandraConfig;
pub use domains::DomainsConfig;
pub use http::HttpConfig;
pub use public::PublicConfig;
pub use service::MailConfig;
pub use smtp::SmtpConfig;
pub use store::StoreConfig;
pub use tls::TlsConfig;
pub use webhook::WebhooksConfig;

/// The settings of one subject.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// What the settings are about.
    pub title: &'static str,
    /// The settings, in the order in which help lists them.
    pub settings: &'static [Setting],
}

/// Every setting by its subject, in the order in which help lists them.
pub const SUBJECTS: [Subject; 12] = [
    Subject { title: "Service", settings: service::SETTINGS },
    Subject { title: "SMTP", settings: smtp::SETTINGS },
    Subject { title: "Limits of an SMTP client", settings: smtp_client::SETTINGS },
    Subject { title: "Mail that is refused", settings: policy::SETTINGS },
    Subject { title: "Faults on purpose", settings: faults::SETTINGS },
    Subject { title: "TLS for SMTP", settings: tls::SETTINGS },
    Subject { title: "HTTP", settings: http::SETTINGS },
    Subject { title: "What the public may do", settings: public::SETTINGS },
    Subject { title: "Domains", settings: domains::SETTINGS },
    Subject { title: "Webhooks", settings: webhook::SETTINGS },
    Subject { title: "Storage", settings: store::SETTINGS },
    Subject { title: "Cluster of Cassandra", settings: cassandra::SETTINGS },
];

/// Every setting, in the order in which help lists them.
pub const SETTINGS: &[Setting] = &joined::<{ count() }>();

const fn count() -> usize {
    let (mut settings, mut subject) = (0, 0);
    while subject < SUBJECTS.len() {
        settings += SUBJECTS[subject].settings.len();
        subject += 1;
    }
    settings
}

/// One list of all subjects' settings: a constant, so that there is nothing to set up.
const fn joined<const N: usize>() -> [Setting; N] {
    let mut all = [SUBJECTS[0].settings[0]; N];
    let (mut subject, mut entry) = (0, 0);
    let mut next = 0;
    while subject < SUBJECTS.len() {
        while entry < SUBJECTS[subject].settings.len() {
            all[next] = SUBJECTS[subject].settings[entry];
            next += 1;
            entry += 1;
        }
        subject += 1;
        entry = 0;
    }
    all
}

fn both_loopbacks(port: u16) -> Vec<SocketAddr> {
    vec![SocketAddr::from(([127, 0, 0, 1], port)), SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 1], port))]
}

/// The one value that a setting takes.
pub(super) fn one<T>(values: &[String], parse: impl FnOnce(&str) -> Result<T, ValueError>) -> Result<T, ValueError> {
    match values {
        [value] => parse(value),
        [] => Err(ValueError::Missing { accepted: "one value" }),
        more => Err(ValueError::Several { count: more.len() }),
    }
}

/// Any number of values, each kept once.
fn each<T: PartialEq>(values: &[String], parse: impl Fn(&str) -> Result<T, ValueError>) -> Result<Vec<T>, ValueError> {
    let mut all = Vec::new();
    for value in values {
        let parsed = parse(value)?;
        if !all.contains(&parsed) {
            all.push(parsed);
        }
    }
    Ok(all)
}

fn texts<T: Display>(values: &[T]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}

/// An empty list that differs from no list is written `none`.
fn or_none(values: Vec<String>) -> Vec<String> {
    if values.is_empty() { vec!["none".to_owned()] } else { values }
}
