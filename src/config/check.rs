//! Values that depend on each other: defaults that follow another value, and contradictions.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::time::Duration;

use super::load::Given;
use super::value::{self, show_duration, show_size};
use super::{Certificate, Config, Endpoint, Revision, SmtpAuth, StoreLocation, ValueOrigin};
use crate::model::DomainName;

/// How long a message may be in a cluster, where deletions are remembered for 10 days (`gc_grace_seconds` of its tables). The
/// rest is room for clocks that differ.
const LIFE_MAX_IN_CLUSTER: Duration = Duration::from_hours(9 * 24);
/// The largest page that revision 1 of the interface permits.
const PAGE_SIZE_MAX_OF_REVISION_ONE: usize = 100;

/// Sets the defaults that follow other values. All values are good.
pub(super) fn derive(given: &mut BTreeMap<&'static str, Given>, machine_name: &str) {
    let text = |key: &str| given.get(key).and_then(|given| given.values.first().cloned()).unwrap_or_default();
    let number = |key| value::number(&text(key), 0..=usize::MAX).unwrap_or_default();
    let size = |key| value::size(&text(key), 0..=u64::MAX).unwrap_or_default();
    let of_machine = machine_name.parse::<DomainName>().is_ok().then(|| machine_name.to_owned());
    let hostname = Some(text("mx-host")).filter(|name| !name.is_empty()).or(of_machine);
    let key = Some(text("tls-cert")).filter(|file| file != "self-signed");
    let page = number("page-size-default").min(number("page-size-max")).to_string();
    let segment = show_size(size("segment-size").max(size("max-message-size").saturating_mul(2)));
    for (key, text) in
        [("hostname", hostname), ("tls-key", key), ("page-size-default", Some(page)), ("segment-size", Some(segment))]
    {
        let default = given.get_mut(key).filter(|given| matches!(given.origin, ValueOrigin::Default(_)));
        if let (Some(default), Some(text)) = (default, text) {
            default.values = vec![text];
        }
    }
}

/// Every contradiction, each with the key that should be changed.
pub(super) fn contradictions(config: &Config) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let (default, max) = (config.http.page_size_default, config.http.page_size_max);
    if default > max {
        found.push(("page-size-default", format!("{default} is more than page-size-max, which is {max}")));
    }
    if config.revision == Revision::One && max > PAGE_SIZE_MAX_OF_REVISION_ONE {
        found.push(("page-size-max", format!("{max} is more than 100, the most that revision 1 has; use revision 2")));
    }
    let (message, message_text) = (config.mail.message_octets_max, show_size(config.mail.message_octets_max));
    let (segment, budget) = (config.store.segment_octets, config.smtp.bodies_octets_max);
    if segment < message.saturating_mul(2) {
        let text = format!("{} is less than twice max-message-size, which is {message_text}", show_size(segment));
        found.push(("segment-size", text));
    }
    if budget < message {
        let text = format!("{} is less than max-message-size, which is {message_text}", show_size(budget));
        found.push(("smtp-body-budget", text));
    }
    found.extend(among_friends(config));
    found.extend(of_tls(config));
    found.extend(of_listeners(config));
    let life_max = LIFE_MAX_IN_CLUSTER.saturating_sub(config.webhooks.grace);
    if config.store.location != StoreLocation::Embedded && config.mail.retention > life_max {
        let text =
            "a store in a cluster remembers deletions for 10 days, and events of webhooks outlive their mail by a day";
        found.push(("retention", format!("{text}; accepted is at most {}", show_duration(life_max))));
    }
    found
}

/// What is safe only among friends, where strangers can reach it.
fn among_friends(config: &Config) -> Vec<(&'static str, String)> {
    let smtp = || config.smtp.listen.iter().chain(&config.smtp.smtps_listen).copied();
    let all = || smtp().chain(config.smtp.lmtp_listen.iter().filter_map(Endpoint::tcp));
    let mut found = Vec::new();
    if let Some(pattern) = config.domains.fixed.iter().find(|pattern| pattern.is_wildcard()) {
        let exposed = exposure(config, all());
        found.extend(exposed.map(|why| ("domain", format!("'{pattern}' takes mail for any domain, but {why}"))));
    }
    if config.smtp.auth == SmtpAuth::AcceptAny {
        let exposed = exposure(config, smtp());
        found.extend(exposed.map(|why| ("smtp-auth", format!("any credentials are accepted, but {why}"))));
    }
    if !config.smtp.faults.is_empty() {
        found.extend(
            exposure(config, all()).map(|why| ("fault", format!("faults are for tests of senders, but {why}"))),
        );
    }
    found
}

/// How strangers reach what listens on `addresses` of SMTP and LMTP, and what to do about it; `None` where they can't, or the
/// administrator says that they are friends.
pub fn exposure(config: &Config, mut addresses: impl Iterator<Item = SocketAddr>) -> Option<String> {
    let beyond = addresses.find(|address| !address.ip().to_canonical().is_loopback());
    match beyond {
        _ if config.smtp.trusted_network => None,
        Some(address) => Some(format!(
            "mail is received on {address}, which is not loopback; listen on loopback or set trusted-network"
        )),
        None if config.smtp.proxy_from.is_empty() => None,
        None => Some(
            "with proxy-from clients from anywhere may come through a proxy; unset proxy-from or set trusted-network"
                .to_owned(),
        ),
    }
}

fn of_tls(config: &Config) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    if config.tls.key.is_some() && !matches!(config.tls.certificate, Certificate::File(_)) {
        found.push(("tls-key", "a key without a certificate; set tls-cert to the certificate's file".to_owned()));
    }
    for (key, listen) in [("smtps-listen", &config.smtp.smtps_listen), ("https-listen", &config.http.https_listen)] {
        if !listen.is_empty() && config.tls.certificate == Certificate::None {
            let text = "TLS needs a certificate; set tls-cert and tls-key, or tls-cert to self-signed for development";
            found.push((key, text.to_owned()));
        }
    }
    found
}

/// Addresses that can be bound once and are to be bound twice.
fn of_listeners(config: &Config) -> Vec<(&'static str, String)> {
    let lmtp: Vec<SocketAddr> = config.smtp.lmtp_listen.iter().filter_map(Endpoint::tcp).collect();
    let lists = [
        ("smtp-listen", &config.smtp.listen),
        ("smtps-listen", &config.smtp.smtps_listen),
        ("https-listen", &config.http.https_listen),
        ("metrics-listen", &config.http.metrics_listen),
        ("http-listen", &config.http.listen),
        ("lmtp-listen", &lmtp),
    ];
    let (mut first, mut found) = (HashMap::new(), Vec::new());
    for (key, address) in lists.into_iter().flat_map(|(key, list)| list.iter().map(move |address| (key, *address))) {
        if address.port() != 0
            && let Some(other) = first.insert(address, key)
        {
            found.push((key, format!("{address} is taken twice, as {other} has it")));
        }
    }
    found
}
