//! `tempmail webhook replay`

use std::time::Duration;

use super::super::Context;
use super::super::ids::{self, IdOrPart};
use super::super::output::{self, Cell, Format};
use super::explained;
use crate::client::{self, Replayed};
use crate::config::value;
use crate::error::{Error, Exit};
use crate::model::{EventId, Timestamp, WebhookId};

/// The longest time that `--since` can go back. No mail is kept longer.
const SINCE_MAX: Duration = Duration::from_hours(365 * 24);

/// What to do about events that the outbox has no room for.
const WHEN_FULL: &str = "nothing was dropped; replay again when pending events have ended";
/// Why an event can't be sent again.
const WHEN_MISSED: &str = "the event is pending, belongs to a test, is not in the webhook's log, or its mail is gone";

/// Send events to a webhook again, under their own webhook-id
///
/// An event can be sent again while it is among the last 100 attempts and its mail exists. With the default settings,
/// an event that used up its attempts has outlived its mail. A disabled webhook becomes active if an event is sent
/// again. A replay never drops an event: events that the outbox has no room for are left out. With --failed and
/// --since the oldest mail comes first, and named events keep their order. Prints how many events are sent again, and
/// for how many there is no room. For the administrator.
#[derive(clap::Args, Debug)]
#[command(
    override_usage = "tempmail webhook replay [OPTIONS] <ID> <EVENT...|--failed|--since <TIME>>",
    group(clap::ArgGroup::new("what").required(true).args(["event", "failed", "since"])),
    after_help = "\
Examples:
  tempmail webhook replay 0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b \\
    5f0c0f7e-93a1-8c55-b0a4-2f6f8f3f9d11
  tempmail webhook replay 0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b --failed
  tempmail webhook replay 0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b --since 2h
  tempmail webhook replay 0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b \\
    --since 2026-01-31T12:00:00Z"
)]
pub(super) struct Replay {
    /// The id of the webhook, or its end
    #[arg(value_name = "ID")]
    id: IdOrPart<WebhookId>,

    /// The id of an event, as `webhook deliveries` shows it; several may follow
    #[arg(value_name = "EVENT")]
    event: Vec<IdOrPart<EventId>>,

    /// Every ended event whose last attempt failed
    #[arg(long)]
    failed: bool,

    /// Every event with an attempt in the log since this time: RFC 3339, 'YYYY-MM-DD HH:MM:SS' (UTC), or how long ago, such as 2h
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
    value::duration(Duration::ZERO..=SINCE_MAX)(text).map(Since::Ago).map_err(|_| {
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
        let client = cx.client().await?;
        let id = ids::webhook(client, &self.id).await?;
        let mut each = Vec::with_capacity(self.event.len());
        for event in &self.event {
            each.push(client::Replay::Event(ids::event(client, id, event).await?));
        }
        let mut sum = Replayed::default();
        let mut missed = None;
        for which in whole.into_iter().chain(each) {
            let one = client.replay(id, which).await.map_err(explained)?;
            (sum.replayed, sum.no_room) =
                (sum.replayed.saturating_add(one.replayed), sum.no_room.saturating_add(one.no_room));
            if let client::Replay::Event(event) = which
                && one == Replayed::default()
            {
                missed.get_or_insert(event);
            }
        }
        print(cx, sum)?;
        let full = (sum.no_room > 0).then(|| format!("the outbox has no room for {} of the events", sum.no_room));
        match (missed, full) {
            (None, None) => Ok(Exit::Ok),
            (None, Some(full)) => Err(Error::new(Exit::Conflict, full).hint(WHEN_FULL)),
            (Some(event), full) => {
                if let Some(full) = full {
                    cx.hint(&format!("{full}: {WHEN_FULL}"));
                }
                Err(Error::new(Exit::NotFound, format!("event {event} can't be sent again")).hint(WHEN_MISSED))
            }
        }
    }
}

fn print(cx: &Context, answer: Replayed) -> Result<(), Error> {
    let Replayed { replayed, no_room } = answer;
    let pairs = [("replayed", Cell::Number(replayed)), ("noRoom", Cell::Number(no_room))];
    cx.print(match cx.style.of_list() {
        Format::Json => output::json(&answer),
        Format::Ndjson => output::json_line(&answer),
        Format::Table | Format::Tsv => output::pairs(cx.style, &pairs, cx.now()),
        Format::Id => format!("{replayed}\n"),
    })
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
