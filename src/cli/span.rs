//! Times on the command line: how long a command waits for mail, and from which moment on.

use std::str::FromStr;
use std::time::Duration;

use super::ids::{Id, Of};
use crate::client::Client;
use crate::error::Error;
use crate::model::{Address, Timestamp};
use crate::value::{self, ValueError};

/// The longest time to wait.
const TIMEOUT_MAX: Duration = Duration::from_hours(24);
/// How far from now a moment may be that is written as a distance: no mail is kept and no token is valid for longer.
const DISTANCE_MAX: Duration = Duration::from_hours(3650 * 24);

/// Flags of the commands that wait for mail.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Span {
    /// How long to wait, such as 90s or 5m, at most a day; a bare number is seconds, and 0 only looks
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
    let is_seconds = !text.is_empty() && text.bytes().all(|octet| octet.is_ascii_digit());
    let with_unit = if is_seconds { &format!("{text}s") } else { text };
    value::duration(Duration::ZERO..=TIMEOUT_MAX)(with_unit)
}

/// A moment: a time, or how far from now it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    At(Timestamp),
    Away(Duration),
}

impl Moment {
    /// The time, at `now`. A distance goes back.
    pub(super) fn at(self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(at) => at,
            Self::Away(distance) => now.before(distance),
        }
    }

    /// The time, at `now`. A distance goes ahead.
    pub(super) fn ahead(self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(at) => at,
            Self::Away(distance) => now.plus(distance),
        }
    }
}

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let now = (text == "now").then_some(Self::Away(Duration::ZERO));
        let away = || value::duration(Duration::ZERO..=DISTANCE_MAX)(text).ok().map(Self::Away);
        let at = || Timestamp::from_text(text).or_else(|| Timestamp::from_text(&format!("{text} 00:00:00")));
        now.or_else(away).or_else(|| at().map(Self::At)).ok_or_else(|| {
            "a moment is `now`, a time such as 2026-01-31T12:00:00Z, '2026-01-31 12:00:00' or 2026-01-31 (UTC), or how far it is from now: 2h, at most 3650d"
                .to_owned()
        })
    }
}

/// After which moment mail counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Since {
    Now,
    Moment(Moment),
    Email(Id),
}

impl Since {
    /// What the service is asked for: a time or the id of an Email. `None` if all mail counts.
    pub(super) async fn mark(&self, client: &Client, to: &Address, now: Timestamp) -> Result<Option<String>, Error> {
        Ok(match self {
            // The clock of the service may differ from that of this machine, so its newest mail is the mark.
            Self::Now => client.newest_id(to).await?.map(|id| id.to_string()),
            Self::Moment(moment) => Some(moment.at(now).to_rfc3339()),
            Self::Email(id) => Some(Of::Mail(Some(to)).one(client, id).await?.to_string()),
        })
    }
}

impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let now = (text == "now").then_some(Self::Now);
        let moment = || text.parse().ok().map(Self::Moment);
        let id = || text.parse().ok().map(Self::Email);
        now.or_else(moment).or_else(id).ok_or_else(|| {
            "it is none of: now, a duration such as 5m, a time such as 2026-01-31T12:00:00Z, the id of a mail"
                .to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

    #[test]
    fn a_moment_is_a_time_or_a_distance() {
        for (text, millis) in [
            ("2023-11-14 22:13:20", 1_700_000_000_000),
            ("2023-11-14T23:13:20+01:00", 1_700_000_000_000),
            ("1h30m", 1_699_994_600_000),
            ("0s", 1_700_000_000_000),
            ("now", 1_700_000_000_000),
            ("2023-11-14", 1_699_920_000_000),
        ] {
            let moment: Moment = text.parse().expect(text);
            assert_eq!(moment.at(NOW).millis(), millis, "{text}");
            let is_time = matches!(moment, Moment::At(_));
            let ahead = if is_time { millis } else { 2 * NOW.millis() - millis };
            assert_eq!(moment.ahead(NOW).millis(), ahead, "{text}");
        }
        for bad in ["", "2", "yesterday", "3651d", "2023-11", "-1h"] {
            assert!(bad.parse::<Moment>().is_err(), "{bad}");
        }
    }

    #[test]
    fn since_is_a_moment_in_any_form() {
        let id = "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b";
        for (text, since) in [
            ("now", Since::Now),
            ("90s", Since::Moment(Moment::Away(Duration::from_secs(90)))),
            ("2023-11-14T22:13:20Z", Since::Moment(Moment::At(NOW))),
            ("2023-11-14 22:13:20", Since::Moment(Moment::At(NOW))),
            ("2023-11-14", Since::Moment(Moment::At(Timestamp::from_millis(1_699_920_000_000)))),
            (id, Since::Email(id.parse().expect("an id"))),
        ] {
            assert_eq!(text.parse(), Ok(since), "{text}");
        }
        assert!(matches!("9e0f2a3b".parse(), Ok(Since::Email(Id::Part(_)))));
        for text in ["", "yesterday", "-5m", "5", "a@x.test"] {
            assert!(text.parse::<Since>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_bare_number_is_seconds_to_wait() {
        for (text, seconds) in [("10", 10), ("0", 0), ("0s", 0), ("2m", 120)] {
            assert_eq!(wait_time(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        assert!(wait_time("").is_err() && wait_time("2d").is_err() && wait_time("86401").is_err());
    }
}
