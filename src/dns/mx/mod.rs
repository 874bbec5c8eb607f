//! Whether a domain's mail comes to us: the questions, the rule and its words.
//!
//! Registration and verification of domains both use this one rule. A missing or incomplete answer never makes a
//! domain point elsewhere.

use std::collections::BTreeSet;
use std::net::IpAddr;

use futures_util::future::{join, join_all};
use serde::{Deserialize, Serialize};

use super::{Addresses, Answer, Failure, Resolver};
use crate::model::DomainName;

/// The most hosts of equal best preference that are resolved. The mail of a domain with more goes elsewhere, unless
/// one is named as ours.
const HOSTS_MAX: usize = 16;

/// The most MX records that a report shows, and the most lines about their hosts.
const LINES_MAX: usize = 20;

/// The most hosts that a sentence names.
const HOSTS_NAMED: usize = 3;

/// Our own names and addresses in the DNS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ours {
    /// The names that an MX record may point to.
    pub hosts: Vec<DomainName>,
    /// Addresses that are ours, whatever the names resolve to.
    pub addresses: Vec<IpAddr>,
}

/// What a report says of the addresses of hosts.
///
/// An owner of a domain can name any host in an MX record. A resolver may know that host from an inner network, and its
/// addresses there are nobody else's business.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundDetail {
    /// Only whether they are ours.
    Ours,
    /// The addresses, as records. Only for the administrator.
    Addresses,
}

/// What the DNS clearly says about the mail of a domain, as users see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MxReport {
    /// Whether the domain's mail comes to us.
    pub ok: bool,
    /// What was found, and which record to create if the mail goes elsewhere.
    pub message: String,
    /// The domain.
    pub domain: DomainName,
    /// The records of which the domain needs at least one, as lines of a zone file.
    #[serde(default)]
    pub expected: Vec<String>,
    /// The first MX records, best preference first, and what is known of their hosts' addresses, as lines of a zone file.
    #[serde(default)]
    pub found: Vec<String>,
    /// What was found, in one sentence without a full stop.
    #[serde(skip)]
    pub sentence: String,
}

/// Asks where the mail of `domain` goes, with as few queries as the answer needs.
///
/// The mail comes to us if an MX record of best preference names a host of ours. It also comes to us if all hosts of
/// best preference have only addresses of ours. Without an MX record it never does, wherever the domain's own address
/// leads: RFC 5321 section 5.1 then routes mail there, but the owner of the domain has not agreed to that.
pub async fn check(
    dns: &dyn Resolver,
    ours: &Ours,
    domain: &DomainName,
    detail: FoundDetail,
) -> Result<MxReport, Failure> {
    let report = |ok, sentence, found| Ok(MxReport::new(ours, domain, ok, sentence, found));
    let records = match dns.mx(domain).await {
        Answer::Failed(why) => return Err(why),
        Answer::NoSuchName => {
            return report(false, format!("{domain} does not exist in the DNS (NXDOMAIN)"), Vec::new());
        }
        Answer::NoRecords => return report(false, format!("{domain} has no MX record"), Vec::new()),
        Answer::Records(records) => best_first(&records),
    };
    let in_zone = |(preference, host): &(u16, String)| format!("{domain}. IN MX {preference} {host}.");
    let mut found: Vec<String> = records.iter().take(LINES_MAX).map(in_zone).collect();
    let best = best_hosts(&records);
    if best.is_empty() {
        return report(false, format!("{domain} declares that it takes no mail (null MX)"), found);
    }
    if let Some(host) = ours.hosts.iter().find(|host| best.contains(host.as_str())) {
        return report(true, format!("The MX record of {domain} points at {host}"), found);
    }
    let our_names = listed(ours.hosts.iter().map(DomainName::as_str), " or ");
    let their_names = listed(best.iter().map(String::as_str), ", ");
    let elsewhere = format!("The MX record of {domain} points at {their_names}, not at {our_names}");
    if best.len() > HOSTS_MAX {
        return report(false, elsewhere, found);
    }
    let (are_ours, lines) = resolved(dns, ours, best, detail).await?;
    found.extend(lines.into_iter().take(LINES_MAX));
    let here = format!("The MX record of {domain} points at a host that has the address of {our_names}");
    report(are_ours, if are_ours { here } else { elsewhere }, found)
}

impl MxReport {
    fn new(ours: &Ours, domain: &DomainName, ok: bool, sentence: String, found: Vec<String>) -> Self {
        let expected: Vec<String> = ours.hosts.iter().map(|host| format!("{domain}. IN MX 10 {host}.")).collect();
        let record = expected.first().map_or("", String::as_str);
        let message = match (ok, found.is_empty()) {
            (true, _) => format!("{sentence}."),
            (false, true) => format!("{sentence}. Create the record: {record}"),
            (false, false) => format!("{sentence}. Replace the MX records of the domain with: {record}"),
        };
        Self { ok, message, domain: domain.clone(), expected, found, sentence }
    }
}

/// Looks up the addresses of `names` and of our own hosts. Says whether those of `names` that have addresses have only
/// ours, and what is known of each as lines of a zone file. Fails if a missing answer could change the result.
async fn resolved(
    dns: &dyn Resolver,
    ours: &Ours,
    names: BTreeSet<String>,
    detail: FoundDetail,
) -> Result<(bool, Vec<String>), Failure> {
    let theirs = join_all(names.iter().map(|name| dns.addresses(name)));
    let own = join_all(ours.hosts.iter().map(|host| dns.addresses(host.as_str())));
    let (theirs, own) = join(theirs, own).await;
    let missing = |of: &[Addresses]| of.iter().find_map(|addresses| addresses.missing.clone());
    if let Some(why) = missing(&theirs) {
        return Err(why);
    }
    let known: BTreeSet<IpAddr> =
        own.iter().flat_map(|host| &host.found).chain(&ours.addresses).map(IpAddr::to_canonical).collect();
    let is_ours = |of: &Addresses| of.found.iter().all(|address| known.contains(&address.to_canonical()));
    let mut with_addresses = theirs.iter().filter(|host| !host.found.is_empty()).peekable();
    let has_addresses = with_addresses.peek().is_some();
    let are_ours = has_addresses && with_addresses.all(is_ours);
    if let Some(why) = missing(&own).filter(|_| has_addresses && !are_ours) {
        return Err(why);
    }
    let lines = |(name, host): (&String, &Addresses)| match detail {
        FoundDetail::Ours if is_ours(host) && !host.found.is_empty() => vec![format!("; {name} is at our address")],
        FoundDetail::Ours => vec![format!("; {name} is not at our address")],
        FoundDetail::Addresses => {
            let kind = |address: &IpAddr| if address.is_ipv4() { "A" } else { "AAAA" };
            host.found.iter().map(|address| format!("{name}. IN {} {address}", kind(address))).collect()
        }
    };
    Ok((are_ours, names.iter().zip(&theirs).flat_map(lines).collect()))
}

/// The records by rising preference, with hosts in the form of [`DomainName`] where they are valid names. The `.` of a
/// null MX becomes empty.
fn best_first(records: &[(u16, String)]) -> Vec<(u16, String)> {
    let canonical = |host: &str| match host.parse::<DomainName>() {
        Ok(name) => name.into(),
        Err(_) => host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase(),
    };
    let mut sorted: Vec<_> = records.iter().map(|(preference, host)| (*preference, canonical(host))).collect();
    sorted.sort();
    sorted
}

/// The hosts of the best preference, without duplicates; empty for a null MX. A `.` beside other hosts, which RFC 7505
/// forbids, is ignored.
fn best_hosts(sorted: &[(u16, String)]) -> BTreeSet<String> {
    let mut hosts = sorted.iter().filter(|(_, host)| !host.is_empty()).peekable();
    let best = hosts.peek().map(|(preference, _)| *preference);
    hosts.take_while(|(preference, _)| Some(*preference) == best).map(|(_, host)| host.clone()).collect()
}

fn listed<'a>(hosts: impl ExactSizeIterator<Item = &'a str>, separator: &str) -> String {
    let more = hosts.len().saturating_sub(HOSTS_NAMED);
    let first = hosts.take(HOSTS_NAMED).collect::<Vec<_>>().join(separator);
    if more == 0 { first } else { format!("{first} and {more} more") }
}

#[cfg(test)]
mod tests;
