//! The domains: whether the MX of each points here.

use std::sync::Arc;

use futures_util::{StreamExt, stream};

use super::finding::Finding;
use super::subject::Subject;
use crate::client::Domain;
use crate::dns::check::MxCheck;
use crate::dns::mx::Ours;
use crate::dns::{FoundDetail, MxReport, MxVerdict, Resolver};
use crate::model::DomainName;

const CHECK: &str = "domain";
/// How many domains are asked for; thousands would take too long for a person.
const DOMAINS_MAX: usize = 100;
/// How many are asked for at once.
const AT_ONCE: usize = 8;

pub(super) async fn check(subject: &Subject, resolver: Arc<dyn Resolver>) -> Vec<Finding> {
    let Some(daemon) = &subject.daemon else { return fixed_only(subject) };
    let settings = &subject.config.domains;
    let ours = Ours { hosts: settings.mx_hosts.clone(), addresses: settings.public_addresses.clone() };
    let mx = MxCheck::new(resolver, ours);
    let (pinned, verified): (Vec<&Domain>, Vec<&Domain>) = daemon.domains.iter().partition(|domain| is_pinned(domain));
    let mut findings = Vec::new();
    if !pinned.is_empty() {
        findings.push(without_dns(pinned.iter().map(|domain| domain.domain.clone()).collect()));
    }
    let names: Vec<DomainName> = verified.iter().filter_map(|domain| domain.domain.parse().ok()).collect();
    let asked = stream::iter(names.iter().take(DOMAINS_MAX)).map(|name| async {
        // In its order, whichever answers first.
        verdict(name, mx.hosts(), mx.ask(name).await)
    });
    findings.extend(asked.buffered(AT_ONCE).collect::<Vec<_>>().await);
    if names.len() > DOMAINS_MAX {
        let found = format!("{} more were not checked", names.len() - DOMAINS_MAX);
        findings.push(Finding::warning(CHECK, found, "`tempmail domain verify` checks all"));
    }
    if findings.is_empty() {
        findings.push(Finding::warning(
            CHECK,
            "there is none, so no mail is accepted",
            "`tempmail domain add` registers one",
        ));
    }
    findings
}

/// Fixed in the settings, or pinned by the administrator: never verified.
fn is_pinned(domain: &Domain) -> bool {
    let is_set = |name: &str| domain.other.get(name).and_then(serde_json::Value::as_bool) == Some(true);
    is_set("fixed") || is_set("pinned")
}

fn fixed_only(subject: &Subject) -> Vec<Finding> {
    let fixed: Vec<String> = subject.config.domains.fixed.iter().map(ToString::to_string).collect();
    let mut findings: Vec<Finding> = (!fixed.is_empty()).then(|| without_dns(fixed)).into_iter().collect();
    findings.push(Finding::ok(CHECK, "registered ones are known only while the daemon runs"));
    findings
}

fn without_dns(names: Vec<String>) -> Finding {
    let shown = names.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(3);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    Finding::ok(CHECK, format!("{shown}{more} receive mail without a check of DNS"))
}

fn verdict(name: &DomainName, hosts: &[DomainName], verdict: MxVerdict) -> Finding {
    match MxReport::of(name, hosts, verdict, FoundDetail::Addresses) {
        Ok(report) if report.ok => Finding::ok(CHECK, report.message.trim_end_matches('.')),
        Ok(report) => {
            let (found, advice) = report.message.split_once(". ").unwrap_or((&report.message, "correct its MX record"));
            Finding::failure(CHECK, found, advice)
        }
        Err(why) => Finding::warning(CHECK, format!("{name}: {why}"), "nothing is known of it; try again later"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Verdict;
    use super::*;
    use crate::dns::Failure;
    use crate::dns::mx::{Elsewhere, Found, Via};

    #[test]
    fn an_mx_that_points_elsewhere_is_a_failure_with_the_record_to_create() {
        let (name, host): (DomainName, DomainName) =
            ("a.test".parse().expect("name"), "mx.test".parse().expect("name"));
        let of = |it| verdict(&name, std::slice::from_ref(&host), it);
        let here = MxVerdict::PointsHere { via: Via::Host(host.clone()), found: Found::default() };
        assert_eq!(of(here), Finding::ok(CHECK, "The MX record of a.test points at mx.test"));
        let elsewhere = of(MxVerdict::PointsElsewhere { to: Elsewhere::NoMx, found: Found::default() });
        assert_eq!(
            elsewhere,
            Finding::failure(CHECK, "a.test has no MX record", "Create the record: a.test. IN MX 10 mx.test.")
        );
        assert_eq!(of(MxVerdict::NoAnswer(Failure::TimedOut)).verdict, Verdict::Warning);
    }

    #[test]
    fn many_names_are_counted() {
        let names = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        assert_eq!(without_dns(names).found, "a, b, c and 1 more receive mail without a check of DNS");
    }
}
