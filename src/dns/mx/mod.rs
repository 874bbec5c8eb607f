//! Whether a domain's mail arrives here: a pure function of DNS answers.
//!
//! Registration and verification of domains both use this one rule. A missing or incomplete answer never makes a
//! domain point elsewhere.

use std::collections::BTreeSet;
use std::net::IpAddr;

use crate::model::DomainName;

/// The most hosts of equal best preference that are resolved. The mail of a domain with more goes elsewhere, unless
/// one is named as ours.
const HOSTS_MAX: usize = 16;

/// The most MX records that a result shows.
const RECORDS_MAX: usize = 20;

/// One MX record (RFC 1035 section 3.3.9).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MxRecord {
    /// The preference; a lower number is preferred.
    pub preference: u16,
    /// The host's name in any spelling: letter case, with or without trailing dot, in A-labels or U-labels.
    pub exchange: String,
}

/// Why there is no answer. A failure says nothing about the domain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// SERVFAIL, which is also the answer of a resolver about a zone that fails DNSSEC validation.
    #[error("the name server failed (SERVFAIL)")]
    ServerFailed,
    /// REFUSED.
    #[error("the name server refused to answer (REFUSED)")]
    Refused,
    /// The name of another response code.
    #[error("the name server answered with an error ({0})")]
    ErrorCode(String),
    /// The server did not answer in time.
    #[error("the name server did not answer in time")]
    TimedOut,
    /// There is no network, or no server at the address.
    #[error("the name server cannot be reached")]
    Unreachable,
    /// The answer is truncated over TCP, a referral, an endless chain of aliases, or no DNS message.
    #[error("the name server's answer is not usable")]
    Unusable,
    /// The answer's signatures are wrong.
    #[error("the answer fails DNSSEC validation")]
    Bogus,
    /// Neither the settings nor the system name a server.
    #[error("no name server is configured")]
    NoServer,
    /// The resolver has too many queries in progress.
    #[error("too many queries are in progress")]
    Busy,
}

/// The answer to a query for MX records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MxAnswer {
    /// At least one record, in no particular order.
    Records(Vec<MxRecord>),
    /// The name exists, but has no MX record (NODATA).
    NoRecords,
    /// The name does not exist (NXDOMAIN).
    NoSuchName,
    /// There was no answer.
    Failed(Failure),
}

/// The answers to the queries for the A and AAAA records of one name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Addresses {
    /// What was found.
    pub found: Vec<IpAddr>,
    /// Why `found` may be incomplete: one of the queries got no answer.
    pub missing: Option<Failure>,
}

/// Our own names and addresses in the DNS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ours {
    /// The names that an MX record may point to.
    pub hosts: Vec<DomainName>,
    /// Addresses that are ours, whatever the names resolve to.
    pub addresses: Vec<IpAddr>,
}

/// Every answer that a decision needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answers {
    /// The domain's MX records.
    pub mx: MxAnswer,
    /// The addresses of each of [`hosts_to_resolve`].
    pub hosts: Vec<(String, Addresses)>,
    /// The addresses of each of [`Ours::hosts`]. They are needed whenever `hosts` are.
    pub ours: Vec<Addresses>,
}

/// Where the mail of a domain goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MxVerdict {
    /// The mail comes to us.
    PointsHere {
        /// What makes it come to us.
        via: Via,
        /// What was found.
        found: Found,
    },
    /// The mail clearly goes elsewhere.
    PointsElsewhere {
        /// Where it goes.
        to: Elsewhere,
        /// What was found.
        found: Found,
    },
    /// The DNS did not say.
    NoAnswer(Failure),
}

/// What a check found in the DNS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The first MX records as lines of a zone file, best preference first.
    pub records: Vec<String>,
    /// The hosts whose addresses were looked up.
    pub hosts: Vec<FoundHost>,
}

/// A host of the best preference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundHost {
    /// Its name in canonical form.
    pub name: String,
    /// Its addresses.
    pub addresses: Vec<IpAddr>,
    /// Whether it has addresses, and only ours.
    pub is_ours: bool,
}

/// What makes a domain's mail come to us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Via {
    /// An MX record of best preference names this host of ours.
    Host(DomainName),
    /// The hosts of best preference have only addresses of ours.
    Addresses,
}

/// Where mail goes that does not come to us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Elsewhere {
    /// The mail goes to these hosts, in canonical form.
    Hosts(Vec<String>),
    /// The domain takes no mail (RFC 7505).
    NullMx,
    /// The domain does not exist.
    NoSuchDomain,
    /// There is no MX record.
    NoMx,
}

/// The names whose addresses [`classify`] needs; empty if the MX answer is enough.
pub fn hosts_to_resolve(mx: &MxAnswer, ours: &Ours) -> Vec<String> {
    match mx {
        MxAnswer::Records(records) => {
            let best = best_hosts(records);
            let is_decided = best.len() > HOSTS_MAX || named(&best, ours).is_some();
            if is_decided { Vec::new() } else { best.into_iter().collect() }
        }
        MxAnswer::NoRecords | MxAnswer::NoSuchName | MxAnswer::Failed(_) => Vec::new(),
    }
}

/// Where the mail of `domain` goes.
///
/// The mail comes to us if an MX record of best preference names a host of ours. It also comes to us if all hosts of
/// best preference have only addresses of ours. Without an MX record it never does, wherever the domain's own address
/// leads: RFC 5321 section 5.1 then routes mail there, but the owner of the domain has not agreed to that.
pub fn classify(domain: &DomainName, ours: &Ours, answers: &Answers) -> MxVerdict {
    let elsewhere = |to, found| MxVerdict::PointsElsewhere { to, found };
    let records = match &answers.mx {
        MxAnswer::Failed(why) => return MxVerdict::NoAnswer(why.clone()),
        MxAnswer::NoSuchName => return elsewhere(Elsewhere::NoSuchDomain, Found::default()),
        MxAnswer::NoRecords => return elsewhere(Elsewhere::NoMx, Found::default()),
        MxAnswer::Records(records) => records,
    };
    let mut found = Found { records: shown(domain, records), hosts: Vec::new() };
    let best = best_hosts(records);
    if best.is_empty() {
        return elsewhere(Elsewhere::NullMx, found);
    }
    if let Some(host) = named(&best, ours) {
        return MxVerdict::PointsHere { via: Via::Host(host), found };
    }
    let is_too_many = best.len() > HOSTS_MAX;
    let to = Elsewhere::Hosts(best.into_iter().collect());
    if is_too_many {
        return elsewhere(to, found);
    }
    found.hosts = hosts(ours, answers);
    match are_ours(&found.hosts, answers) {
        Ok(true) => MxVerdict::PointsHere { via: Via::Addresses, found },
        Ok(false) => elsewhere(to, found),
        Err(why) => MxVerdict::NoAnswer(why),
    }
}

/// The hosts of the best preference with the addresses that are known of them.
fn hosts(ours: &Ours, answers: &Answers) -> Vec<FoundHost> {
    let known: BTreeSet<IpAddr> = answers
        .ours
        .iter()
        .flat_map(|addresses| &addresses.found)
        .chain(&ours.addresses)
        .map(IpAddr::to_canonical)
        .collect();
    let host = |(name, Addresses { found, .. }): &(String, Addresses)| FoundHost {
        name: name.clone(),
        addresses: found.clone(),
        is_ours: !found.is_empty() && found.iter().all(|address| known.contains(&address.to_canonical())),
    };
    answers.hosts.iter().map(host).collect()
}

/// Whether the hosts that have addresses have only ours. Fails if a missing answer could change the result.
fn are_ours(hosts: &[FoundHost], answers: &Answers) -> Result<bool, Failure> {
    if let Some(why) = answers.hosts.iter().find_map(|(_, addresses)| addresses.missing.clone()) {
        return Err(why);
    }
    let mut with_addresses = hosts.iter().filter(|host| !host.addresses.is_empty()).peekable();
    let has_any = with_addresses.peek().is_some();
    if has_any && with_addresses.all(|host| host.is_ours) {
        return Ok(true);
    }
    match answers.ours.iter().find_map(|addresses| addresses.missing.clone()) {
        Some(why) if has_any => Err(why),
        _ => Ok(false),
    }
}

/// The hosts of the best preference, in canonical form and without duplicates; empty for a null MX. A `.` beside other
/// hosts, which RFC 7505 forbids, is ignored.
fn best_hosts(records: &[MxRecord]) -> BTreeSet<String> {
    let hosts: Vec<_> = records
        .iter()
        .map(|record| (record.preference, canonical(&record.exchange)))
        .filter(|(_, host)| !host.is_empty())
        .collect();
    let best = hosts.iter().map(|(preference, _)| *preference).min();
    hosts.into_iter().filter(|(preference, _)| Some(*preference) == best).map(|(_, host)| host).collect()
}

/// The first host of ours among `best`.
fn named(best: &BTreeSet<String>, ours: &Ours) -> Option<DomainName> {
    ours.hosts.iter().find(|host| best.contains(host.as_str())).cloned()
}

/// A name from the DNS in the form of [`DomainName`], if it is a valid one. The `.` of a null MX becomes empty.
fn canonical(host: &str) -> String {
    host.parse::<DomainName>()
        .map_or_else(|_| host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase(), |name| name.to_string())
}

/// The MX records as lines of a zone file, with the best preference first.
fn shown(domain: &DomainName, records: &[MxRecord]) -> Vec<String> {
    let mut sorted: Vec<_> = records.iter().map(|record| (record.preference, canonical(&record.exchange))).collect();
    sorted.sort();
    sorted.truncate(RECORDS_MAX);
    sorted.into_iter().map(|(preference, host)| format!("{domain}. IN MX {preference} {host}.")).collect()
}

#[cfg(test)]
mod tests;
