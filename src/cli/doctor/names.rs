//! What names lead to: the resolver, the host names of MX records, the domains, and the names of the certificate.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::{StreamExt, stream};
use serde_json::Value;

use super::super::output::time;
use super::Finding;
use crate::client::{Client, ClientError, text, texts};
use crate::config::Config;
use crate::dns::{Addresses, DnsResolver, MxAnswer, MxReport, Resolver};
use crate::model::{DomainName, Timestamp};

/// How long one query to DNS may take. It is shorter than the daemon has, since somebody waits.
const QUERY_WITHIN: Duration = Duration::from_secs(2);
/// How many domains are asked for; thousands would take too long for a person.
const DOMAINS_MAX: usize = 100;
/// How many domains are asked for at once.
const DOMAINS_AT_ONCE: usize = 8;
/// A resolver should know by itself that it does not exist (RFC 6761 section 6.2). Any answer is as good.
const KNOWN_TO_ALL: &str = "doctor.test";
/// Renewals of short-lived certificates come about then.
const SOON: Duration = Duration::from_hours(14 * 24);

/// Whether the resolver answers, and whether the names that MX records may point to lead to this machine.
pub(super) async fn resolver(config: &Config) -> Vec<Finding> {
    let resolver = DnsResolver::new(config.domains.resolvers.clone(), QUERY_WITHIN);
    let (answering, mx_hosts) = tokio::join!(answers(config, &resolver), mx_hosts(config, &resolver));
    answering.into_iter().chain(mx_hosts).collect()
}

async fn answers(config: &Config, resolver: &dyn Resolver) -> Option<Finding> {
    let name: DomainName = KNOWN_TO_ALL.parse().ok()?;
    let servers: Vec<String> = config.domains.resolvers.iter().map(ToString::to_string).collect();
    let shown = if servers.is_empty() { "the system's resolver".to_owned() } else { servers.join(", ") };
    let MxAnswer::Failed(why) = resolver.mx(&name).await else {
        return Some(Finding::ok("resolver", format!("{shown} answers")));
    };
    let found = format!("{shown}: {why}");
    Some(if config.domains.mx_hosts.is_empty() {
        let advice = "name another one with resolver: without it webhooks reach only addresses, not names";
        Finding::warning("resolver", found, advice)
    } else {
        let advice = "name another one with resolver: without it no domain can be registered or verified";
        Finding::failure("resolver", found, advice)
    })
}

async fn mx_hosts(config: &Config, resolver: &dyn Resolver) -> Vec<Finding> {
    let hosts = &config.domains.mx_hosts;
    if hosts.is_empty() {
        let found = "none is set, so only domains of the settings and pinned ones receive mail";
        return vec![Finding::ok("mx-host", found)];
    }
    let found = join_all(hosts.iter().map(|host| resolver.addresses(host.as_str()))).await;
    let is_here = |address: &IpAddr| config.domains.public_addresses.contains(address) || is_of_this_machine(*address);
    hosts.iter().zip(&found).map(|(host, found)| leads_here(host, found, is_here)).collect()
}

/// Whether an interface of this machine has the address: only then can a socket be bound to it. Nothing is sent.
fn is_of_this_machine(address: IpAddr) -> bool {
    UdpSocket::bind(SocketAddr::new(address, 0)).is_ok()
}

fn leads_here(host: &DomainName, addresses: &Addresses, is_here: impl Fn(&IpAddr) -> bool) -> Finding {
    const CHECK: &str = "mx-host";
    if addresses.found.is_empty() {
        if let Some(why) = &addresses.missing {
            return Finding::warning(CHECK, format!("{host}: {why}"), "try again when the resolver answers");
        }
        let advice = format!("create an A or AAAA record for {host} with the address of this machine");
        return Finding::failure(CHECK, format!("{host} has no address"), advice);
    }
    let elsewhere: Vec<String> =
        addresses.found.iter().filter(|address| !is_here(address)).map(ToString::to_string).collect();
    if elsewhere.is_empty() {
        return Finding::ok(CHECK, format!("{host} leads to this machine"));
    }
    let found = format!("{host} has {}, which this machine does not have", elsewhere.join(", "));
    let advice =
        "behind NAT or a proxy that can be right: name the address with public-address; else correct the record";
    Finding::warning(CHECK, found, advice)
}

/// Asks the daemon for the MX of each domain, as `tempmail domain check-dns` does.
pub(super) async fn domains(client: &Client, domains: &[Value]) -> Vec<Finding> {
    if domains.is_empty() {
        let advice =
            "`tempmail domain check-dns DOMAIN` says which record it needs, `tempmail domain add DOMAIN` adds it";
        return vec![Finding::warning("domain", "there is none, so no mail is received", advice)];
    }
    // Fixed in the settings, or pinned by the administrator: never verified.
    let (pinned, verified): (Vec<&Value>, Vec<&Value>) =
        domains.iter().partition(|domain| domain["fixed"] == true || domain["pinned"] == true);
    let name = |domain: &&Value| text(domain, "domain").to_owned();
    let mut findings = Vec::new();
    if !pinned.is_empty() {
        let names: Vec<String> = pinned.iter().take(3).map(name).collect();
        let more = pinned.len() - names.len();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let found = format!("no check of DNS is made for {}{more}", names.join(", "));
        findings.push(Finding::ok("domain", found));
    }
    let asked = stream::iter(verified.iter().take(DOMAINS_MAX).map(name)).map(|name| async move {
        let query = [("domain", Some(name.clone()))];
        points_here(&name, client.get("/api/domains/check-dns", &query).await)
    });
    // In their order, whichever answers first.
    findings.extend(asked.buffered(DOMAINS_AT_ONCE).collect::<Vec<_>>().await);
    if let Some(more) = verified.len().checked_sub(DOMAINS_MAX).filter(|more| *more > 0) {
        let advice = "`tempmail domain verify` asks for all";
        findings.push(Finding::warning("domain", format!("{more} more were not asked for"), advice));
    }
    findings
}

fn points_here(name: &str, answer: Result<MxReport, ClientError>) -> Finding {
    match answer {
        Ok(check) if check.ok => Finding::ok("domain", check.message.trim_end_matches('.')),
        Ok(check) => {
            let (found, advice) = check.message.split_once(". ").unwrap_or((&check.message, "correct its MX record"));
            Finding::failure("domain", found, advice)
        }
        Err(why) => Finding::warning("domain", format!("{name}: {why}"), "nothing is known of it; try again later"),
    }
}

/// The certificate in use, as the daemon tells it.
pub(super) fn certificate(tls: &Value, config: &Config, now: Timestamp) -> Finding {
    const CHECK: &str = "certificate";
    if tls.is_null() {
        if config.smtp.listen.iter().all(|address| address.ip().is_loopback()) {
            return Finding::ok(CHECK, "there is none, and SMTP listens on loopback only");
        }
        let found = "there is none, so mail arrives in the clear";
        return Finding::warning(CHECK, found, "set tls-cert and tls-key to offer STARTTLS");
    }
    if let Some(fault) = tls["fault"].as_str() {
        let found = format!("its files cannot be used, so the old one is in use: {fault}");
        return Finding::failure(CHECK, found, "mend the files; they are read again when they change and at SIGHUP");
    }
    let names: Vec<&str> = texts(&tls["names"]).collect();
    let is_self_signed = tls["isSelfSigned"] == true;
    let Some(not_after) = Timestamp::from_text(text(tls, "notAfter")) else {
        return Finding::warning(CHECK, "the daemon does not tell its end", "see the row on version");
    };
    let (shown, end) = (names.join(", "), not_after.to_rfc3339());
    if not_after < now {
        let ago = time::duration(now.since(not_after));
        return Finding::failure(CHECK, format!("that of {shown} expired {ago} ago, at {end}"), "renew it");
    }
    let left = not_after.since(now);
    if left < SOON {
        let found = format!("that of {shown} expires in {}, at {end}", time::duration(left));
        return Finding::warning(CHECK, found, "renew it, and see that its renewal works");
    }
    let mut hosts = config.domains.mx_hosts.iter();
    if let Some(host) = hosts.find(|host| !names.iter().any(|name| covers(name, host.as_str()))) {
        let found = format!("it names {shown}, and not {host}, which MX records point to");
        return Finding::warning(CHECK, found, "get one for that name: senders that verify it will not send");
    }
    let kind = if is_self_signed { "self-signed, for development, " } else { "" };
    Finding::ok(CHECK, format!("that of {shown} is {kind}valid until {end}"))
}

/// Whether a name of a certificate covers a host (RFC 6125 section 6.4): a `*` stands for one whole label.
fn covers(name: &str, host: &str) -> bool {
    let name = name.to_ascii_lowercase();
    match name.strip_prefix("*.") {
        Some(parent) => host.split_once('.').is_some_and(|(_, of)| of == parent),
        None => name == host,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Verdict;
    use super::*;
    use crate::config::Revision;
    use crate::dns::Failure;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    #[test]
    fn an_address_elsewhere_is_doubted_and_none_is_a_failure() {
        let host: DomainName = "mx.example.test".parse().expect("a name");
        let of = |found: &[&str], missing| {
            let found = found.iter().map(|text| text.parse().expect("an address")).collect();
            let here: IpAddr = "192.0.2.1".parse().expect("an address");
            leads_here(&host, &Addresses { found, missing }, |address| *address == here).verdict
        };
        assert_eq!(of(&["192.0.2.1"], None), Verdict::Ok);
        assert_eq!(of(&["192.0.2.1", "192.0.2.2"], None), Verdict::Warning);
        assert_eq!(of(&[], None), Verdict::Failure);
        assert_eq!(of(&[], Some(Failure::ServerFailed)), Verdict::Warning);
        assert!(is_of_this_machine("127.0.0.1".parse().expect("an address")));
        assert!(!is_of_this_machine("192.0.2.1".parse().expect("an address")));
    }

    #[test]
    fn a_certificate_that_ends_or_lacks_our_name_is_said() {
        let of = |names: &[&str], not_after: Timestamp, host: &str| {
            let mut config = Config::of_revision(Revision::Two, "/nonexistent".into());
            config.domains.mx_hosts = vec![host.parse().expect("a name")];
            let tls = json!({ "names": names, "notAfter": not_after.to_interface(), "isSelfSigned": false });
            certificate(&tls, &config, NOW).verdict
        };
        assert_eq!(of(&["a.test"], NOW.before(Duration::from_secs(1)), "a.test"), Verdict::Failure);
        assert_eq!(of(&["a.test"], NOW, "a.test"), Verdict::Warning);
        assert_eq!(of(&["a.test"], NOW.plus(SOON), "a.test"), Verdict::Ok);
        assert_eq!(of(&["*.A.test"], NOW.plus(SOON), "mx.a.test"), Verdict::Ok);
        for (name, host) in [("*.a.test", "a.test"), ("*.a.test", "x.mx.a.test"), ("a.test", "mx.a.test")] {
            assert_eq!(of(&[name], NOW.plus(SOON), host), Verdict::Warning, "{name} {host}");
        }
    }
}
