//! Values that depend on each other: defaults that follow another value, and contradictions.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::time::Duration;

use super::error::Contradiction;
use super::value::show_size;
use super::{CassandraConfig, Config, Endpoint, Revision, SmtpAuth, StoreLocation};
use crate::model::DomainName;

/// How long a message may be in a cluster, where deletions are remembered for 10 days (`gc_grace_seconds` of its tables). The
/// rest is room for clocks that differ.
const LIFE_MAX_IN_CLUSTER: Duration = Duration::from_hours(9 * 24);
/// The largest page that revision 1 of the interface permits.
const PAGE_SIZE_MAX_OF_REVISION_ONE: usize = 100;

/// Sets the defaults that follow other values. `is_given` tells whether a key was set by anybody.
pub(super) fn derive(config: &mut Config, machine_name: &str, is_given: impl Fn(&str) -> bool) {
    if !is_given("hostname") {
        let of_machine = || machine_name.parse::<DomainName>().ok();
        if let Some(name) = config.domains.mx_hosts.first().cloned().or_else(of_machine) {
            config.smtp.hostname = name;
        }
    }
    if !is_given("segment-size") {
        config.store.segment_octets = config.store.segment_octets.max(2 * config.mail.message_octets_max);
    }
    if !is_given("page-size-default") {
        config.http.page_size_default = config.http.page_size_default.min(config.http.page_size_max);
    }
    if config.tls.key.is_none() {
        config.tls.key.clone_from(&config.tls.certificate);
    }
    config.smtp.listen_is_default = !is_given("smtp-listen");
    config.http.listen_is_default = !is_given("http-listen");
}

/// Every contradiction, each with the key that should be changed.
pub(super) fn contradictions(config: &Config) -> Vec<(&'static str, Contradiction)> {
    let mut found = Vec::new();
    let (default, max) = (config.http.page_size_default, config.http.page_size_max);
    if default > max {
        found.push(("page-size-default", Contradiction::PageSizes { default, max }));
    }
    if config.revision == Revision::One && max > PAGE_SIZE_MAX_OF_REVISION_ONE {
        found.push(("page-size-max", Contradiction::PageSizeOfRevisionOne { max }));
    }
    if config.store.segment_octets < config.mail.message_octets_max.saturating_mul(2) {
        let (segment, message) = (show_size(config.store.segment_octets), show_size(config.mail.message_octets_max));
        found.push(("segment-size", Contradiction::SegmentTooSmall { segment, message }));
    }
    if config.smtp.bodies_octets_max < config.mail.message_octets_max {
        let (budget, message) = (show_size(config.smtp.bodies_octets_max), show_size(config.mail.message_octets_max));
        found.push(("smtp-body-budget", Contradiction::BodyBudgetTooSmall { budget, message }));
    }
    let smtp: Vec<SocketAddr> = config.smtp.listen.iter().chain(&config.smtp.smtps_listen).copied().collect();
    found.extend(exposed(config, &smtp, &lmtp_addresses(config).collect::<Vec<_>>()));
    tls_contradictions(config, &mut found);
    cluster_contradictions(config, &mut found);
    let mut seen = HashSet::new();
    for (key, address) in tcp_addresses(config) {
        if address.port() != 0 && !seen.insert(address) {
            found.push((key, Contradiction::AddressTwice(address)));
        }
    }
    found
}

/// What must not be where strangers can reach it, through a listener or through a proxy in front of one, with the key that
/// should be changed: `smtp` are the addresses of SMTP, with TLS or without, `lmtp` those of LMTP.
pub fn exposed(config: &Config, smtp: &[SocketAddr], lmtp: &[SocketAddr]) -> Vec<(&'static str, Contradiction)> {
    let has_proxy = !config.smtp.proxy_from.is_empty();
    let mut found = Vec::new();
    let wildcard =
        config.domains.fixed.iter().find(|pattern| pattern.is_wildcard()).filter(|_| !config.domains.accept_any);
    if let Some(pattern) = wildcard.map(ToString::to_string) {
        match smtp.iter().chain(lmtp).find(|address| is_reachable(address)) {
            Some(&listen) => found.push(("domain", Contradiction::WildcardBeyondLoopback { pattern, listen })),
            None if has_proxy => found.push(("domain", Contradiction::WildcardBehindProxy { pattern })),
            None => {}
        }
    }
    if config.smtp.auth == SmtpAuth::AcceptAny {
        match smtp.iter().find(|address| is_reachable(address)) {
            Some(listen) => found.push(("smtp-auth", Contradiction::AuthBeyondLoopback(*listen))),
            None if has_proxy => found.push(("smtp-auth", Contradiction::AuthBehindProxy)),
            None => {}
        }
    }
    if !config.smtp.faults.is_empty() {
        found.extend(exposed_faults(config, smtp, lmtp).map(|contradiction| ("fault", contradiction)));
    }
    found
}

/// Why there must be no rules for faults: strangers could meet them. `smtp` and `lmtp` are the addresses of [`exposed`].
pub fn exposed_faults(config: &Config, smtp: &[SocketAddr], lmtp: &[SocketAddr]) -> Option<Contradiction> {
    if config.smtp.faults_anywhere {
        return None;
    }
    let mut reachable = smtp.iter().chain(lmtp).filter(|address| is_reachable(address));
    let has_proxy = !config.smtp.proxy_from.is_empty();
    let beyond = reachable.next().map(|listen| Contradiction::FaultBeyondLoopback(*listen));
    beyond.or_else(|| has_proxy.then_some(Contradiction::FaultBehindProxy))
}

fn is_reachable(address: &SocketAddr) -> bool {
    !address.ip().to_canonical().is_loopback()
}

fn tls_contradictions(config: &Config, found: &mut Vec<(&'static str, Contradiction)>) {
    if config.tls.self_signed && config.tls.certificate.is_some() {
        found.push(("tls-self-signed", Contradiction::TwoCertificates));
    }
    if config.tls.key.is_some() && config.tls.certificate.is_none() {
        found.push(("tls-key", Contradiction::KeyWithoutCertificate));
    }
    for (key, listen) in [("smtps-listen", &config.smtp.smtps_listen), ("https-listen", &config.http.https_listen)] {
        if !listen.is_empty() && !config.tls.is_set() {
            found.push((key, Contradiction::TlsWithoutCertificate));
        }
    }
}

fn cluster_contradictions(config: &Config, found: &mut Vec<(&'static str, Contradiction)>) {
    let (of, usual) = (&config.cassandra, CassandraConfig::default());
    if config.store.location == StoreLocation::Embedded {
        let set = [
            ("cassandra-data-center", of.data_center.is_some()),
            ("cassandra-user", of.user.is_some()),
            ("cassandra-password-file", of.password_file.is_some()),
            ("cassandra-tls", of.tls),
            ("cassandra-ca", of.ca.is_some()),
            ("cassandra-timeout", of.timeout != usual.timeout),
            ("peer-listen", of.peer_listen.is_some()),
            ("peer-address", of.peer_address.is_some()),
        ];
        found.extend(set.iter().filter(|(_, is_set)| *is_set).map(|(key, _)| (*key, Contradiction::NoCluster)));
        return;
    }
    match (&of.user, &of.password_file) {
        (Some(_), None) => found.push(("cassandra-user", Contradiction::UserWithoutPassword)),
        (None, Some(_)) => found.push(("cassandra-password-file", Contradiction::PasswordWithoutUser)),
        _ => {}
    }
    if of.ca.is_some() && !of.tls {
        found.push(("cassandra-ca", Contradiction::CaWithoutTls));
    }
    if of.peer_address.is_none() && of.peer_listen.is_some_and(|address| address.ip().is_unspecified()) {
        found.push(("peer-listen", Contradiction::PeerAddressMissing));
    }
    if of.peer_address.is_some() && of.peer_listen.is_none() {
        found.push(("peer-address", Contradiction::PeerListenMissing));
    }
    if config.mail.caps.emails_per_domain > 0 {
        found.push(("max-messages-per-domain", Contradiction::DomainCapInCluster));
    }
    let sum = config.mail.retention.saturating_add(config.webhooks.grace);
    if sum > LIFE_MAX_IN_CLUSTER {
        let key = if config.webhooks.grace > config.mail.retention { "webhook-grace" } else { "retention" };
        found.push((key, Contradiction::LifeBeyondCluster { max: LIFE_MAX_IN_CLUSTER, sum }));
    }
}

/// Every TCP address that is listened on, with the key that names it.
fn tcp_addresses(config: &Config) -> impl Iterator<Item = (&'static str, SocketAddr)> {
    let lists = [
        ("smtp-listen", &config.smtp.listen),
        ("smtps-listen", &config.smtp.smtps_listen),
        ("https-listen", &config.http.https_listen),
        ("metrics-listen", &config.http.metrics_listen),
        ("http-listen", &config.http.listen),
    ];
    let of_peers = config.cassandra.peer_listen.iter().map(|address| ("peer-listen", *address));
    let of_lmtp = lmtp_addresses(config).map(|address| ("lmtp-listen", address));
    let all = lists.into_iter().flat_map(|(key, list)| list.iter().map(move |address| (key, *address)));
    all.chain(of_lmtp).chain(of_peers)
}

fn lmtp_addresses(config: &Config) -> impl Iterator<Item = SocketAddr> {
    config.smtp.lmtp_listen.iter().filter_map(Endpoint::tcp)
}
