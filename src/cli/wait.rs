//! `tempmail wait`: blocks until a mail is there, and prints it.

use std::pin::pin;
use std::str::FromStr;
use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::Context;
use super::domain_hint::hint_unless_served;
use super::output::Spinner;
use super::read;
use crate::client::{Client, EmailDetail, Transport, WaitQuery};
use crate::config::value::{self, ValueError};
use crate::error::{Error, Exit};
use crate::model::{Address, EmailId, Timestamp};

/// The longest time to wait.
const TIMEOUT_MAX: Duration = Duration::from_hours(24);
/// How far back `--since` reaches: the longest retention.
const SINCE_MAX: Duration = Duration::from_hours(3650 * 24);
/// How long it may take to learn whether the service receives mail for the address.
const HINT_WITHIN: Duration = Duration::from_secs(2);

/// Wait for a mail and print it
///
/// Prints the oldest mail that passes, as `read` does. Mail that is in the inbox already counts, unless --since says
/// otherwise. Ends with exit code 124 if there is no such mail in time. A restart of the service meanwhile does no harm.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail wait hello@example.test
  tempmail wait hello@example.test --timeout 2m --subject 'your code'
  tempmail wait hello@example.test --since now --json | jq -r .bodyText
  tempmail wait hello@example.test --since 0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b")]
pub(super) struct Wait {
    /// The address
    #[arg(value_name = "ADDR")]
    address: Address,

    /// How long to wait, such as 90s or 5m, at most a day; 0s only looks
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = wait_time)]
    timeout: Duration,

    /// Only mail after this: `now`, a duration ago such as 5m, a time such as 2026-01-31T12:00:00Z, or the id of a mail
    #[arg(long, value_name = "now|DURATION|TIME|ID")]
    since: Option<Since>,

    /// Only mail whose sender contains this, in any case
    #[arg(long, value_name = "TEXT")]
    from: Option<String>,

    /// Only mail whose subject contains this, in any case
    #[arg(long, value_name = "TEXT")]
    subject: Option<String>,

    /// Only mail that has this
    #[arg(long, value_name = "WHAT", value_parser = ["attachment"])]
    has: Option<String>,
}

fn wait_time(text: &str) -> Result<Duration, ValueError> {
    value::duration(text, Duration::ZERO..=TIMEOUT_MAX)
}

/// After which moment mail counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Since {
    Now,
    Ago(Duration),
    Time(Timestamp),
    Email(EmailId),
}

impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let time = || Timestamp::from_text(text).map(Self::Time);
        let id = || text.parse().ok().map(Self::Email);
        let ago = || value::duration(text, Duration::ZERO..=SINCE_MAX).ok().map(Self::Ago);
        let now = (text == "now").then_some(Self::Now);
        now.or_else(time).or_else(id).or_else(ago).ok_or_else(|| {
            "it is none of: now, a duration such as 5m, a time such as 2026-01-31T12:00:00Z, the id of a mail"
                .to_owned()
        })
    }
}

impl Wait {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let deadline = Instant::now() + self.timeout;
        let client = cx.client().await?;
        if matches!(client.transport(), Transport::InProcess(_)) {
            return Err(Error::new(Exit::Unavailable, "no daemon runs that could receive mail")
                .hint("start `tempmail serve` in another terminal, or ask another service with --server"));
        }
        let wanted = self.wanted(cx, client).await?;
        let detail = self.detail(cx, client, &wanted, deadline).await?.ok_or_else(|| self.timed_out())?;
        cx.print(read::shown(cx, &detail))?;
        Ok(Exit::Ok)
    }

    async fn wanted(&self, cx: &Context, client: &Client) -> Result<WaitQuery, Error> {
        let since = match &self.since {
            None => None,
            // The clock of the service may differ from that of this machine, so its newest mail is the mark.
            Some(Since::Now) => {
                client.list(&self.address, None, Some(1)).await?.emails.into_iter().next().map(|it| it.id)
            }
            Some(Since::Ago(ago)) => Some(cx.now().before(*ago).to_rfc3339()),
            Some(Since::Time(at)) => Some(at.to_rfc3339()),
            Some(Since::Email(id)) => Some(id.to_string()),
        };
        let Self { address, from, subject, has, .. } = self;
        Ok(WaitQuery { to: address.clone(), since, from: from.clone(), subject: subject.clone(), has: has.clone() })
    }

    /// The mail; `None` if there is none by `deadline`. A service that can't be reached at first is an error.
    async fn detail(
        &self,
        cx: &Context,
        client: &Client,
        wanted: &WaitQuery,
        deadline: Instant,
    ) -> Result<Option<EmailDetail>, Error> {
        if let Some(detail) = client.waited(wanted).await? {
            return Ok(Some(detail));
        }
        let _spinner = Spinner::new(format!("waiting for mail to {}", self.address), cx.shows_progress());
        let mut mail = pin!(client.wait(wanted, deadline, |error| cx.hint(&format!("{error}; trying again"))));
        // No more than a hint, for which mail is not to wait.
        let hint = timeout(HINT_WITHIN, hint_unless_served(cx, client, &self.address));
        tokio::select! {
            biased;
            detail = &mut mail => return Ok(detail?),
            _ = hint => {}
        }
        Ok(mail.await?)
    }

    fn timed_out(&self) -> Error {
        let within = value::show_duration(self.timeout);
        Error::new(Exit::TimedOut, format!("no such mail for {} within {within}", self.address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_is_a_moment_in_any_form() {
        let id = "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b";
        for (text, since) in [
            ("now", Since::Now),
            ("90s", Since::Ago(Duration::from_secs(90))),
            ("2023-11-14T22:13:20Z", Since::Time(Timestamp::from_millis(1_700_000_000_000))),
            ("2023-11-14 22:13:20", Since::Time(Timestamp::from_millis(1_700_000_000_000))),
            (id, Since::Email(id.parse().expect("an id"))),
        ] {
            assert_eq!(text.parse(), Ok(since), "{text}");
        }
        for text in ["", "yesterday", "-5m", "5", "a@x.test"] {
            assert!(text.parse::<Since>().is_err(), "{text}");
        }
    }
}
