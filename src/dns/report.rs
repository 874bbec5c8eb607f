//! The result of an MX check, in words and in records that can be pasted into a zone.

use serde::Serialize;

use super::mx::{Elsewhere, Failure, MxVerdict, Via};
use crate::model::DomainName;

/// The most hosts that a sentence names.
const HOSTS_NAMED: usize = 3;

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
    /// The records found, as lines of a zone file.
    pub found: Vec<String>,
}

impl MxReport {
    /// The report of a verdict; the [`Failure`] if the DNS gave no answer. `hosts` are the names that an MX record may
    /// point to.
    pub fn of(domain: &DomainName, hosts: &[DomainName], verdict: MxVerdict) -> Result<Self, Failure> {
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
        Ok(Self { ok, message, domain: domain.clone(), expected, found })
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

    fn report(verdict: MxVerdict) -> Result<MxReport, Failure> {
        MxReport::of(&name("a.example"), &[name("mx.example"), name("mx2.example")], verdict)
    }

    #[test]
    fn a_mismatch_says_what_was_found_and_the_record_to_create() {
        let to = Elsewhere::Hosts(["b", "c", "d", "e"].map(String::from).to_vec());
        let report = report(MxVerdict::PointsElsewhere { to, found: vec!["a.example. IN MX 5 b.".to_owned()] });
        let report = report.expect("an answer");
        assert!(!report.ok);
        assert_eq!(
            report.message,
            "The MX record of a.example points at b, c, d and 1 more, not at mx.example or mx2.example. \
             Replace the MX records of the domain with: a.example. IN MX 10 mx.example."
        );
        assert_eq!(report.expected, ["a.example. IN MX 10 mx.example.", "a.example. IN MX 10 mx2.example."]);
        assert_eq!(report.found, ["a.example. IN MX 5 b."]);
    }

    #[test]
    fn a_report_has_exactly_the_fields_of_the_interface() {
        let report = report(MxVerdict::PointsHere { via: Via::Host(name("mx.example")), found: Vec::new() });
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
