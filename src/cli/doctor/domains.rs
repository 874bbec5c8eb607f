//! The domains: whether the MX of each points here.

use futures_util::{StreamExt, stream};
use serde_json::Value;

use super::finding::Finding;
use super::subject::Running;
use crate::client::ClientError;
use crate::dns::MxReport;
use crate::model::DomainName;

const CHECK: &str = "domain";
/// How many domains are asked for; thousands would take too long for a person.
const DOMAINS_MAX: usize = 100;
/// How many are asked for at once.
const AT_ONCE: usize = 8;

/// Asks the daemon for each, as `tempmail domain check-dns` does.
pub(super) async fn check(daemon: Option<&Running>) -> Vec<Finding> {
    let Some(daemon) = daemon else { return Vec::new() };
    let (pinned, verified): (Vec<&Value>, Vec<&Value>) = daemon.domains.iter().partition(|domain| is_pinned(domain));
    let mut findings = Vec::new();
    if !pinned.is_empty() {
        findings.push(without_dns(
            pinned.iter().filter_map(|domain| domain["domain"].as_str()).map(str::to_owned).collect(),
        ));
    }
    let names: Vec<DomainName> = verified.iter().filter_map(|domain| domain["domain"].as_str()?.parse().ok()).collect();
    let asked = stream::iter(names.iter().take(DOMAINS_MAX)).map(|name| async {
        // In its order, whichever answers first.
        let query = [("domain", Some(name.to_string()))];
        verdict(name, daemon.client.get("/api/domains/check-dns", &query).await)
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
fn is_pinned(domain: &Value) -> bool {
    domain["fixed"] == true || domain["pinned"] == true
}

fn without_dns(names: Vec<String>) -> Finding {
    let shown = names.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(3);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    Finding::ok(CHECK, format!("{shown}{more} receive mail without a check of DNS"))
}

fn verdict(name: &DomainName, answer: Result<MxReport, ClientError>) -> Finding {
    match answer {
        Ok(check) if check.ok => Finding::ok(CHECK, check.message.trim_end_matches('.')),
        Ok(check) => {
            let (found, advice) = check.message.split_once(". ").unwrap_or((&check.message, "correct its MX record"));
            Finding::failure(CHECK, found, advice)
        }
        Err(why) => Finding::warning(CHECK, format!("{name}: {why}"), "nothing is known of it; try again later"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Verdict;
    use super::*;

    #[test]
    fn an_mx_that_points_elsewhere_is_a_failure_with_the_record_to_create() {
        let name: DomainName = "a.test".parse().expect("name");
        let of = |ok, message: &str| {
            let report = serde_json::json!({ "ok": ok, "message": message, "domain": name });
            verdict(&name, Ok(serde_json::from_value(report).expect("a report")))
        };
        let here = of(true, "The MX record of a.test points at mx.test.");
        assert_eq!(here, Finding::ok(CHECK, "The MX record of a.test points at mx.test"));
        let elsewhere = of(false, "a.test has no MX record. Create the record: a.test. IN MX 10 mx.test.");
        assert_eq!(
            elsewhere,
            Finding::failure(CHECK, "a.test has no MX record", "Create the record: a.test. IN MX 10 mx.test.")
        );
        let unknown = verdict(&name, Err(ClientError::TimedOut { server: "it".to_owned() }));
        assert_eq!(unknown.verdict, Verdict::Warning);
    }

    #[test]
    fn many_names_are_counted() {
        let names = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        assert_eq!(without_dns(names).found, "a, b, c and 1 more receive mail without a check of DNS");
    }
}
