//! Values that depend on each other: defaults that follow another value, and contradictions.

use std::collections::HashMap;
use std::net::SocketAddr;

use super::{Certificate, Config, Endpoint, Revision, SenderVerdicts, SmtpAuth, ValueOrigin};
use crate::model::DomainName;
use crate::value::{show_duration, show_size};

/// The largest page that revision 1 of the interface permits.
const PAGE_SIZE_MAX_OF_REVISION_ONE: usize = 100;

/// Sets the defaults that follow other values.
pub(super) fn derive(config: &mut Config, machine_name: &str) {
    let of_machine = || machine_name.parse::<DomainName>().ok();
    let hostname = config.domains.mx_hosts.first().cloned().or_else(of_machine);
    if let Some(name) = hostname.filter(|_| config.is_default("hostname")) {
        config.set_default("hostname", name.to_string());
        config.smtp.hostname = name;
    }
    if let (None, Certificate::File(file)) = (&config.tls.key, config.tls.certificate.clone()) {
        config.set_default("tls-key", file.display().to_string());
        config.tls.key = Some(file);
    }
    if config.dev && !config.http.is_local() {
        keep_sites_out(config);
    }
    // Strangers would have the name servers of somebody else asked for names of their choice.
    let is_behind_proxy = !config.http.trusted_proxies.is_empty();
    let is_for_strangers = !config.http.is_local() || is_behind_proxy;
    if is_for_strangers && config.domains.resolvers.is_empty() && config.is_default("sender-verdicts") {
        config.set_default("sender-verdicts", "off".to_owned());
        config.mail.sender_verdicts = SenderVerdicts::Off;
    }
    if config.is_default("page-size-default") {
        config.http.page_size_default = config.http.page_size_default.min(config.http.page_size_max);
        config.set_default("page-size-default", config.http.page_size_default.to_string());
    }
    if config.is_default("lease-for") {
        config.leases.life = config.leases.life.min(config.leases.life_max);
        config.set_default("lease-for", show_duration(config.leases.life));
    }
    if config.is_default("segment-size") {
        let least = config.mail.message_octets_max.saturating_mul(2);
        config.store.segment_octets = config.store.segment_octets.max(least);
    }
}

/// Lets no web site read all mail through the browser of somebody who reaches the service.
fn keep_sites_out(config: &mut Config) {
    if config.is_default("http-allowed-hosts") {
        config.http.allowed_hosts = vec!["localhost".to_owned()];
        config.set_default("http-allowed-hosts", "localhost".to_owned());
    }
    if config.is_default("http-allowed-origins") {
        config.http.allowed_origins = Some(Vec::new());
        config.set_default("http-allowed-origins", "none".to_owned());
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
    let (life, life_max) = (config.leases.life, config.leases.life_max);
    if life > life_max {
        let text = format!("{} is more than lease-max, which is {}", show_duration(life), show_duration(life_max));
        found.push(("lease-for", text));
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
    found
}

/// What is safe only among friends, where strangers can reach it.
fn among_friends(config: &Config) -> Vec<(&'static str, String)> {
    let smtp = [&config.smtp.listen[..], &config.smtp.smtps_listen].concat();
    let lmtp: Vec<SocketAddr> = config.smtp.lmtp_listen.iter().filter_map(Endpoint::tcp).collect();
    let mail = [&smtp[..], &lmtp].concat();
    let all = [&mail[..], &config.http.listen, &config.http.https_listen].concat();
    let wildcard = config.domains.fixed.iter().find(|pattern| pattern.is_wildcard());
    let risks = [
        ("dev", &all, config.dev.then(|| "everybody who reaches the service reads all mail".to_owned())),
        ("domain", &mail, wildcard.map(|pattern| format!("'{pattern}' takes mail for any domain"))),
        ("smtp-auth", &smtp, (config.smtp.auth != SmtpAuth::Off).then(|| "any credentials are accepted".to_owned())),
        ("fault", &mail, config.smtp.faults.first().map(|_| "faults are for tests of senders".to_owned())),
    ];
    // Of what `dev` presets it is enough to say once that `dev` is the risk.
    let given = risks.into_iter().filter(|(key, ..)| config.origin(key) != ValueOrigin::Dev);
    let exposed = given.filter_map(|(key, addresses, risk)| {
        Some((key, format!("{}, but {}", risk?, exposure(config, addresses.iter().copied())?)))
    });
    exposed.collect()
}

/// How strangers reach what listens on `addresses`, and what to do about it; `None` where they can't, or the
/// administrator says that they are friends.
pub fn exposure(config: &Config, mut addresses: impl Iterator<Item = SocketAddr>) -> Option<String> {
    let beyond = addresses.find(|address| !address.ip().to_canonical().is_loopback());
    match beyond {
        _ if config.smtp.trusted_network => None,
        Some(address) => Some(format!(
            "the service listens on {address}, which is not loopback; listen on loopback or set trusted-network"
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
    let without_key = match config.tls.certificate {
        Certificate::None => Some("a key without a certificate; set tls-cert to the certificate's file"),
        Certificate::SelfSigned => Some("tls-cert is self-signed and has its own key; set tls-key to none"),
        Certificate::File(_) => None,
    };
    if let Some(why) = without_key.filter(|_| config.tls.key.is_some()) {
        found.push(("tls-key", why.to_owned()));
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
