//! `tempmail webhook replay`

use std::time::Duration;

use super::super::Context;
use super::super::output::{self, Cell, Format};
use super::explained;
use crate::client;
use crate::config::value;
use crate::error::{Error, Exit};
use crate::model::{EventId, Timestamp, WebhookId};

/// The longest time that `--since` can go back: mail lives no longer.
const SINCE_MAX: Duration = Duration::from_hours(365 * 24);

/// Send events to a webhook again, under their own webhook-id
///
/// Only events that are among the last 100 attempts, and whose mail is still there, can be sent again: with the usual
/// settings those that were tried to their end have outlived it. A disabled webhook becomes active if there are any. Prints
/// how many there are. For the administrator.
#[derive(clap::Args, Debug)]
#[command(
    override_usage = "tempmail webhook replay [OPTIONS] <ID> <EVENT...|--failed|--since <TIME>>",
    group(clap::ArgGroup::new("what").required(true).args(["event", "failed", "since"])),
    after_help = "\
Examples:
  tempmail webhook replay 0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b 5f0c0f7e-93a1-8c55-b0a4-2f6f8f3f9d11
  tempmail webhook replay 0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b --failed
  tempmail webhook replay 0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b --since 2h
  tempmail webhook replay 0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b --since 2026-01-31T12:00:00Z"
)]
pub(super) struct Replay {
    /// The id of the webhook
    #[arg(value_name = "ID")]
    id: WebhookId,

    /// The id of an event, as `webhook deliveries` shows it; several may follow
    #[arg(value_name = "EVENT")]
    event: Vec<EventId>,

    /// Every event that was given up, as far as the log shows it
    #[arg(long)]
    failed: bool,

    /// Every event that the log shows attempted since then: RFC 3339, 'YYYY-MM-DD HH:MM:SS' (UTC), or how long ago, such as 2h
    #[arg(long, value_name = "TIME", value_parser = since)]
    since: Option<Since>,
}

/// A point in time, or a distance back from now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Since {
    At(Timestamp),
    Ago(Duration),
}

fn since(text: &str) -> Result<Since, String> {
    if let Some(at) = Timestamp::from_text(text) {
        return Ok(Since::At(at));
    }
    value::duration(text, Duration::ZERO..=SINCE_MAX).map(Since::Ago).map_err(|_| {
        "a time is written 2026-01-31T12:00:00Z, '2026-01-31 12:00:00' (UTC), or as how long ago: 2h, at most 365d"
            .to_owned()
    })
}

impl Since {
    fn at(self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(at) => at,
            Self::Ago(length) => {
                let millis = i64::try_from(length.as_millis()).unwrap_or(i64::MAX);
                Timestamp::from_millis(now.millis().saturating_sub(millis))
            }
        }
    }
}

impl Replay {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let whole = match self.since {
            Some(since) => Some(client::Replay::Since(since.at(cx.now()))),
            None if self.failed => Some(client::Replay::Failed),
            None => None,
        };
        let each = self.event.iter().copied().map(client::Replay::Event);
        let client = cx.client().await?;
        let mut replayed = 0;
        let mut missed = Vec::new();
        for which in whole.into_iter().chain(each) {
            let count = client.replay(self.id, which).await.map_err(explained)?;
            replayed += count;
            if let (client::Replay::Event(event), 0) = (which, count) {
                missed.push(event);
            }
        }
        let answer = serde_json::json!({ "replayed": replayed });
        cx.print(match cx.style.of_list() {
            Format::Json => output::json(&answer),
            Format::Ndjson => output::json_line(&answer),
            Format::Table | Format::Tsv => output::pairs(cx.style, &[("replayed", Cell::Number(replayed))], cx.now()),
            Format::Id => format!("{replayed}\n"),
        })?;
        match missed.first() {
            None => Ok(Exit::Ok),
            Some(event) => Err(Error::new(Exit::NotFound, format!("event {event} can't be sent again"))
                .hint("it waits already, it is not in the webhook's log, or its mail is gone")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_is_a_time_or_a_distance() {
        let now = Timestamp::from_millis(1_700_000_000_000);
        for (text, millis) in [
            ("2023-11-14 22:13:20", 1_700_000_000_000),
            ("2023-11-14T23:13:20+01:00", 1_700_000_000_000),
            ("1h30m", 1_699_994_600_000),
            ("0s", 1_700_000_000_000),
        ] {
            assert_eq!(since(text).expect(text).at(now).millis(), millis, "{text}");
        }
        for bad in ["", "2", "yesterday", "366d", "2023-11-14", "-1h"] {
            assert!(since(bad).is_err(), "{bad}");
        }
    }
}
