//! How long a command waits for mail, and from which moment on: `--timeout` and `--since`.

use std::str::FromStr;
use std::time::Duration;

use super::ids::{self, IdOrPart};
use crate::client::Client;
use crate::config::value::{self, ValueError};
use crate::error::Error;
use crate::model::{Address, EmailId, Timestamp};

/// The longest time to wait.
const TIMEOUT_MAX: Duration = Duration::from_hours(24);
/// How far back `--since` reaches: the longest retention.
const SINCE_MAX: Duration = Duration::from_hours(3650 * 24);

/// Flags of the commands that wait for mail.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Span {
    /// How long to wait, such as 90s or 5m, at most a day; 0s only looks
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = wait_time)]
    pub(super) timeout: Duration,

    /// Only mail after this: `now`, a duration ago such as 5m, a time such as 2026-01-31T12:00:00Z, or the id of a mail, or its end
    #[arg(long, value_name = "now|DURATION|TIME|ID")]
    since: Option<Since>,
}

impl Span {
    /// The moment of `--since`, as the service is asked for it. `None` if all mail counts.
    pub(super) async fn mark(&self, client: &Client, to: &Address, now: Timestamp) -> Result<Option<String>, Error> {
        match &self.since {
            None => Ok(None),
            Some(since) => since.mark(client, to, now).await,
        }
    }
}

/// How long to wait.
pub(super) fn wait_time(text: &str) -> Result<Duration, ValueError> {
    value::duration(Duration::ZERO..=TIMEOUT_MAX)(text)
}

/// After which moment mail counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Since {
    Now,
    Ago(Duration),
    Time(Timestamp),
    Email(IdOrPart<EmailId>),
}

impl Since {
    /// What the service is asked for: a time or the id of an Email. `None` if all mail counts.
    pub(super) async fn mark(&self, client: &Client, to: &Address, now: Timestamp) -> Result<Option<String>, Error> {
        Ok(match self {
            // The clock of the service may differ from that of this machine, so its newest mail is the mark.
            Self::Now => client.list(to, None, Some(1)).await?.emails.into_iter().next().map(|it| it.id),
            Self::Ago(ago) => Some(now.before(*ago).to_rfc3339()),
            Self::Time(at) => Some(at.to_rfc3339()),
            Self::Email(id) => {
                ids::emails(client, Some(to), std::slice::from_ref(id)).await?.first().map(ToString::to_string)
            }
        })
    }
}

impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let time = || Timestamp::from_text(text).map(Self::Time);
        let id = || text.parse().ok().map(Self::Email);
        let ago = || value::duration(Duration::ZERO..=SINCE_MAX)(text).ok().map(Self::Ago);
        let now = (text == "now").then_some(Self::Now);
        now.or_else(time).or_else(ago).or_else(id).ok_or_else(|| {
            "it is none of: now, a duration such as 5m, a time such as 2026-01-31T12:00:00Z, the id of a mail"
                .to_owned()
        })
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
        assert!(matches!("9e0f2a3b".parse(), Ok(Since::Email(IdOrPart::Part(_)))));
        for text in ["", "yesterday", "-5m", "5", "a@x.test"] {
            assert!(text.parse::<Since>().is_err(), "{text}");
        }
    }
}
