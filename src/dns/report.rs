//! The result of an MX check, in words and in records that can be pasted into a zone.

use std::net::IpAddr;

use serde::Serialize;

use super::mx::{Elsewhere, Failure, Found, FoundHost, MxVerdict, Via};
use crate::model::DomainName;

/// The most hosts that a sentence names.
const HOSTS_NAMED: usize = 3;

/// The most lines that show addresses of hosts.
const ADDRESS_LINES_MAX: usize = 20;

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

/// The result of an MX check, as users see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MxReport {
    /// Whether the domain's mail comes to us.
    pub ok: bool,
    /// What was found, and which record to create if the mail goes elsewhere.
    pub message: String,
    /// The domain.
    pub domain: DomainName,
    /// The records of which the domain needs at least one, as lines of a zone file.
    pub expected: Vec<String>,
    /// The MX records found, and what is known of their hosts' addresses, as lines of a zone file.
    pub found: Vec<String>,
}

impl MxReport {
    /// The report of a verdict; the [`Failure`] if the DNS gave no answer. `hosts` are the names that an MX record may
    /// point to.
    pub fn of(
        domain: &DomainName,
        hosts: &[DomainName],
        verdict: MxVerdict,
        detail: FoundDetail,
    ) -> Result<Self, Failure> {
        let sentence = sentence(domain, hosts, &verdict);
        let expected: Vec<String> = hosts.iter().map(|host| format!("{domain}. IN MX 10 {host}.")).collect();
        let (ok, message, found) = match verdict {
            MxVerdict::NoAnswer(why) => return Err(why),
            MxVerdict::PointsHere { found, .. } => (true, format!("{sentence}."), found),
            MxVerdict::PointsElsewhere { to, found } => {
                let todo = match to {
                    Elsewhere::Hosts(_) | Elsewhere::NullMx => "Replace the MX records of the domain with",
                    Elsewhere::NoSuchDomain | Elsewhere::NoMx => "Create the record",
                };
                let record = expected.first().map_or("", String::as_str);
                (false, format!("{sentence}. {todo}: {record}"), found)
            }
        };
        Ok(Self { ok, message, domain: domain.clone(), expected, found: lines(found, detail) })
    }
}

/// What was found, as lines of a zone file.
fn lines(found: Found, detail: FoundDetail) -> Vec<String> {
    let Found { mut records, hosts } = found;
    let of_host = |FoundHost { name, addresses, is_ours }| -> Vec<String> {
        match detail {
            FoundDetail::Ours if is_ours => vec![format!("; {name} is at our address")],
            FoundDetail::Ours => vec![format!("; {name} is not at our address")],
            FoundDetail::Addresses => addresses.into_iter().map(|address| record(&name, address)).collect(),
        }
    };
    records.extend(hosts.into_iter().flat_map(of_host).take(ADDRESS_LINES_MAX));
    records
}

fn record(host: &str, address: IpAddr) -> String {
    match address {
        IpAddr::V4(v4) => format!("{host}. IN A {v4}"),
        IpAddr::V6(v6) => format!("{host}. IN AAAA {v6}"),
    }
}

/// The result of a check, in one sentence without a full stop.
pub fn sentence(domain: &DomainName, hosts: &[DomainName], verdict: &MxVerdict) -> String {
    let ours = listed(hosts.iter().map(DomainName::as_str), " or ");
    match verdict {
        MxVerdict::PointsHere { via: Via::Host(host), .. } => format!("The MX record of {domain} points at {host}"),
        MxVerdict::PointsHere { via: Via::Addresses, .. } => {
            format!("The MX record of {domain} points at a host that has the address of {ours}")
        }
        MxVerdict::PointsElsewhere { to: Elsewhere::Hosts(theirs), .. } => {
            format!(
                "The MX record of {domain} points at {}, not at {ours}",
                listed(theirs.iter().map(String::as_str), ", ")
            )
        }
        MxVerdict::PointsElsewhere { to: Elsewhere::NullMx, .. } => {
            format!("{domain} declares that it takes no mail (null MX)")
        }
        MxVerdict::PointsElsewhere { to: Elsewhere::NoSuchDomain, .. } => {
            format!("{domain} does not exist in the DNS (NXDOMAIN)")
        }
        MxVerdict::PointsElsewhere { to: Elsewhere::NoMx, .. } => format!("{domain} has no MX record"),
        MxVerdict::NoAnswer(why) => format!("No answer: {why}"),
    }
}

fn listed<'a>(hosts: impl ExactSizeIterator<Item = &'a str>, separator: &str) -> String {
    let more = hosts.len().saturating_sub(HOSTS_NAMED);
    let first = hosts.take(HOSTS_NAMED).collect::<Vec<_>>().join(separator);
    if more == 0 { first } else { format!("{first} and {more} more") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> DomainName {
        text.parse().expect(text)
    }

    fn found() -> Found {
        let host = |name: &str, addresses: &[&str], is_ours| FoundHost {
            name: name.to_owned(),
            addresses: addresses.iter().map(|text| text.parse().expect(text)).collect(),
            is_ours,
        };
        Found {
            records: vec!["a.example. IN MX 5 b.".to_owned()],
            hosts: vec![host("b", &["10.1.2.3", "fd00::1"], false), host("c", &["192.0.2.25"], true)],
        }
    }

    fn report(verdict: MxVerdict) -> Result<MxReport, Failure> {
        MxReport::of(&name("a.example"), &[name("mx.example"), name("mx2.example")], verdict, FoundDetail::Ours)
    }

    #[test]
    fn a_mismatch_says_what_was_found_and_the_record_to_create() {
        let to = Elsewhere::Hosts(["b", "c", "d", "e"].map(String::from).to_vec());
        let report = report(MxVerdict::PointsElsewhere { to, found: found() });
        let report = report.expect("an answer");
        assert!(!report.ok);
        assert_eq!(
            report.message,
            "The MX record of a.example points at b, c, d and 1 more, not at mx.example or mx2.example. \
             Replace the MX records of the domain with: a.example. IN MX 10 mx.example."
        );
        assert_eq!(report.expected, ["a.example. IN MX 10 mx.example.", "a.example. IN MX 10 mx2.example."]);
        assert_eq!(report.found, ["a.example. IN MX 5 b.", "; b is not at our address", "; c is at our address"]);
    }

    #[test]
    fn only_the_administrator_sees_addresses() {
        assert_eq!(
            lines(found(), FoundDetail::Addresses),
            ["a.example. IN MX 5 b.", "b. IN A 10.1.2.3", "b. IN AAAA fd00::1", "c. IN A 192.0.2.25"]
        );
        assert!(!format!("{:?}", lines(found(), FoundDetail::Ours)).contains("10.1.2.3"));
    }

    #[test]
    fn a_report_has_exactly_the_fields_of_the_interface() {
        let report = report(MxVerdict::PointsHere { via: Via::Host(name("mx.example")), found: Found::default() });
        let json = serde_json::to_value(report.expect("an answer")).expect("JSON");
        assert_eq!(
            json,
            serde_json::json!({
                "ok": true,
                "message": "The MX record of a.example points at mx.example.",
                "domain": "a.example",
                "expected": ["a.example. IN MX 10 mx.example.", "a.example. IN MX 10 mx2.example."],
                "found": [],
            })
        );
    }

    #[test]
    fn no_answer_is_no_report() {
        assert_eq!(report(MxVerdict::NoAnswer(Failure::Refused)), Err(Failure::Refused));
    }
}
