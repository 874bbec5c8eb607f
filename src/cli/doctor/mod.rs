//! `tempmail doctor`: checks of the service and of the machine below it. It changes nothing.
//!
//! ```text
//! subject     the settings and the daemon that are examined       finding    a line of the result
//! daemon, listeners, storage, dns, domains, certificate   a group of checks each: what is asked, and a pure function
//!                                                         that judges
//! ```

mod certificate;
mod daemon;
mod dns;
mod domains;
mod finding;
mod listeners;
mod storage;
mod subject;

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::Context;
use super::output::{self, Format, visible};
use crate::client::{self, Client, Destination};
use crate::error::{Error, Exit};
use finding::{Finding, Verdict};
use subject::Subject;

/// How long a check may take.
const CHECK_WITHIN: Duration = Duration::from_secs(10);
/// The column of the terminal where the text of a finding begins, behind verdict and check.
const TEXT_COLUMN: usize = 22;
/// How long the check of all domains may take.
const DOMAINS_WITHIN: Duration = Duration::from_secs(40);

/// Check the service, its settings and this machine
///
/// One line per check: ok, warning or failure, and what to do. Changes nothing, needs no root, and every check ends in time.
/// Exit code 8 if there is a failure, 6 if no service runs: `tempmail serve` says what keeps it from starting.
/// In a pipe a line has four fields: verdict, check, what was found, what to do.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail doctor
  sudo -u tempmail tempmail doctor --config /etc/tempmail/config.toml
  tempmail doctor --json | jq '.findings[] | select(.verdict != \"ok\")'")]
pub(super) struct Doctor {}

impl Doctor {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let Destination::Local(sources) = cx.destination()? else {
            return Err(Error::usage("doctor checks the service on this machine; --server names one elsewhere")
                .hint("run it there, or use `tempmail status --server URL`"));
        };
        let client = Client::new(client::daemon(&sources)?);
        let (subject, mut findings) = Subject::find(&sources, client).await;
        if let Some(subject) = subject {
            findings.extend(examine(Arc::new(subject), cx).await);
        }
        cx.print(shown(cx, &findings))?;
        let has_failed = findings.iter().any(|finding| finding.verdict == Verdict::Failure);
        Ok(if has_failed { Exit::CheckFailed } else { Exit::Ok })
    }
}

/// All checks at once; the findings in a fixed order.
async fn examine(subject: Arc<Subject>, cx: &Context) -> Vec<Finding> {
    let (config, daemon) = (&subject.config, subject.daemon.as_ref());
    let resolver = dns::resolver(config);
    let on_thread = Arc::clone(&subject);
    // A check that panics has found nothing, and the panic is said.
    let storage = async { spawn_blocking(move || storage::check(&on_thread)).await.unwrap_or_default() };
    let (listeners, storage, answering, mx_hosts, domains) = tokio::join!(
        within(CHECK_WITHIN, "listener", listeners::check(daemon)),
        within(CHECK_WITHIN, "disk", storage),
        within(CHECK_WITHIN, "resolver", dns::check(config, &resolver)),
        within(CHECK_WITHIN, "mx-host", dns::check_mx_hosts(config, &resolver)),
        within(DOMAINS_WITHIN, "domain", domains::check(daemon)),
    );
    let certificate = certificate::check(&subject, cx.now());
    [daemon::check(daemon), listeners, storage, answering, mx_hosts, domains, certificate].concat()
}

/// The findings of a check, or that it has none in time.
async fn within(limit: Duration, check: &'static str, findings: impl Future<Output = Vec<Finding>>) -> Vec<Finding> {
    timeout(limit, findings).await.unwrap_or_else(|_| {
        let found = format!("there is no result after {} s", limit.as_secs());
        vec![Finding::failure(check, found, "what it asks for hangs; look at that part of the machine")]
    })
}

fn shown(cx: &Context, findings: &[Finding]) -> String {
    let is_ok = findings.iter().all(|finding| finding.verdict != Verdict::Failure);
    match cx.style.of_list() {
        Format::Json => output::json(&json!({ "ok": is_ok, "findings": findings })),
        Format::Ndjson => findings.iter().map(output::json_line).collect(),
        Format::Tsv => findings.iter().map(in_tsv).collect(),
        Format::Id => findings.iter().map(|finding| [finding.check, "\n"].concat()).collect(),
        Format::Table => findings.iter().map(|finding| for_people(cx, finding)).collect(),
    }
}

fn in_tsv(finding: &Finding) -> String {
    let advice = finding.advice.as_deref().unwrap_or_default();
    let fields = [&finding.verdict.to_string(), finding.check, &finding.found, advice];
    fields.map(visible::field).join("\t") + "\n"
}

fn for_people(cx: &Context, finding: &Finding) -> String {
    let sgr = match finding.verdict {
        Verdict::Ok => "32",
        Verdict::Warning => "33",
        Verdict::Failure => "31",
    };
    let verdict = cx.style.paint(sgr, &format!("{:7}", finding.verdict));
    let mut text = visible::line(&finding.found).into_owned();
    if let Some(advice) = &finding.advice {
        // Writing to a String does not fail.
        let _ = write!(text, "; {}", visible::line(advice));
    }
    let text = output::hanging(&text, cx.style.width, TEXT_COLUMN);
    format!("{verdict}  {:11}  {text}\n", finding.check)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_check_that_hangs_is_a_failure_in_time() {
        let findings = within(Duration::from_millis(10), "resolver", std::future::pending()).await;
        assert_eq!((findings.len(), findings[0].verdict), (1, Verdict::Failure));
        assert!(findings[0].found.starts_with("there is no result after"), "{findings:?}");
    }
}
