//! DNS: whether the resolver answers, and whether our own names lead to this machine.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use futures_util::future::join_all;

use super::finding::Finding;
use crate::config::Config;
use crate::dns::{Addresses, DnsResolver, MxAnswer, Resolver};
use crate::model::DomainName;

/// Shorter than the daemon has, since somebody waits.
const ATTEMPT_WITHIN: Duration = Duration::from_secs(2);
/// A resolver should know by itself that it does not exist (RFC 6761 section 6.2). Any answer is as good.
const KNOWN_TO_ALL: &str = "doctor.test";

pub(super) fn resolver(config: &Config) -> DnsResolver {
    DnsResolver::new(config.domains.resolvers.clone(), ATTEMPT_WITHIN)
}

/// The resolver alone.
pub(super) async fn check(config: &Config, resolver: &dyn Resolver) -> Vec<Finding> {
    let Ok(name) = KNOWN_TO_ALL.parse::<DomainName>() else { return Vec::new() };
    let servers: Vec<String> = config.domains.resolvers.iter().map(ToString::to_string).collect();
    let shown = if servers.is_empty() { "the system's resolver".to_owned() } else { servers.join(", ") };
    vec![answers(&shown, &resolver.mx(&name).await, !config.domains.mx_hosts.is_empty())]
}

fn answers(shown: &str, answer: &MxAnswer, is_needed: bool) -> Finding {
    const CHECK: &str = "resolver";
    match answer {
        MxAnswer::Records(_) | MxAnswer::NoRecords | MxAnswer::NoSuchName => {
            Finding::ok(CHECK, format!("{shown} answers"))
        }
        MxAnswer::Failed(why) if is_needed => {
            let advice = "name another one with resolver: without it no domain can be registered or verified";
            Finding::failure(CHECK, format!("{shown}: {why}"), advice)
        }
        MxAnswer::Failed(why) => {
            let advice = "name another one with resolver: without it webhooks reach only addresses, not names";
            Finding::warning(CHECK, format!("{shown}: {why}"), advice)
        }
    }
}

/// The names that MX records may point to.
pub(super) async fn check_mx_hosts(config: &Config, resolver: &dyn Resolver) -> Vec<Finding> {
    let hosts = &config.domains.mx_hosts;
    if hosts.is_empty() {
        return vec![Finding::ok(
            "mx-host",
            "none is set, so only domains of the settings and pinned ones receive mail",
        )];
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

#[cfg(test)]
mod tests {
    use super::super::finding::Verdict;
    use super::*;
    use crate::dns::Failure;

    #[test]
    fn any_answer_shows_that_the_resolver_answers() {
        assert_eq!(answers("it", &MxAnswer::NoSuchName, true).verdict, Verdict::Ok);
        let silent = MxAnswer::Failed(Failure::TimedOut);
        assert_eq!(answers("it", &silent, true).verdict, Verdict::Failure);
        assert_eq!(answers("it", &silent, false).verdict, Verdict::Warning);
    }

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
    }

    #[test]
    fn addresses_of_this_machine_are_known() {
        assert!(is_of_this_machine("127.0.0.1".parse().expect("an address")));
        assert!(!is_of_this_machine("192.0.2.1".parse().expect("an address")));
    }
}
