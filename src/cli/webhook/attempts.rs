//! Attempts at the events of a webhook: their log, events again, and a sample event.

use serde_json::{Value, json};

use super::super::ids::{Id, Of};
use super::super::output::{Column, Kind};
use super::super::span::Moment;
use super::super::{Context, listing};
use super::ADMINISTRATORS;
use crate::client::{Method, text};
use crate::error::{Error, Exit};

const ATTEMPTS: [Column; 9] = [
    Kind::Time.column("TIME", "at").rank(1),
    Kind::Id.column("EVENT", "event"),
    Kind::Number.column("ATTEMPT", "attempt").rank(5),
    Kind::State.column("RESULT", "result"),
    Kind::Text.column("STATUS", "status").rank(2),
    Kind::Number.column("MS", "durationMillis").rank(7),
    Kind::Text.column("ERROR", "error").rank(3),
    Kind::Time.column("NEXT", "nextAttemptAt").rank(4),
    Kind::Text.column("RESPONSE", "response").rank(6),
];

/// Shows the delivery log of a webhook.
pub(super) async fn deliveries(cx: &Context, id: &Id, limit: Option<u64>) -> Result<(), Error> {
    let id = Of::Webhooks.one(cx.client().await?, id).await?;
    let query = [("limit", limit.map(|limit| limit.to_string()))];
    let path = format!("{ADMINISTRATORS}/{id}/deliveries");
    listing::whole(cx, &path, &query, &ATTEMPTS, "no event has been sent to it yet").await
}

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
pub(in crate::cli) struct Replay {
    /// The id of the webhook, or its end
    #[arg(value_name = "ID")]
    id: Id,

    /// The id of an event, as `webhook deliveries` shows it; several may follow
    #[arg(value_name = "EVENT")]
    event: Vec<Id>,

    /// Every ended event whose last attempt failed
    #[arg(long)]
    failed: bool,

    /// Every event with an attempt in the log since this time: how long ago, such as 2h, or a time such as 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME")]
    since: Option<Moment>,
}

impl Replay {
    pub(super) async fn run(self, cx: &Context) -> Result<(), Error> {
        let client = cx.client().await?;
        let id = Of::Webhooks.one(client, &self.id).await?;
        let bodies: Vec<Value> = match self.since {
            Some(since) => vec![json!({ "since": since.at(cx.now()).to_rfc3339() })],
            None if self.failed => vec![json!({ "failed": true })],
            None => {
                let events = Of::Events(&id).whole(client, &self.event).await?;
                events.iter().map(|event| json!({ "event": event.to_string() })).collect()
            }
        };
        let path = format!("{ADMINISTRATORS}/{id}/replay");
        let (mut replayed, mut no_room, mut missed) = (0, 0, None);
        for body in bodies {
            let event = body["event"].as_str().map(str::to_owned);
            let answer: Value = client.call(Method::POST, &path, &[], Some(body)).await?;
            let number = |member: &str| answer[member].as_u64().unwrap_or(0);
            let (sent, left) = (number("replayed"), number("noRoom"));
            (replayed, no_room) = (replayed + sent, no_room + left);
            missed = missed.or(event.filter(|_| (sent, left) == (0, 0)));
        }
        let both = json!({ "replayed": replayed, "noRoom": no_room });
        cx.document(&both, &both)?;
        let full = (no_room > 0).then(|| format!("the outbox has no room for {no_room} of the events"));
        match (missed, full) {
            (None, None) => Ok(()),
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

/// Sends a sample event, and shows the attempt.
pub(super) async fn test(cx: &Context, id: &Id) -> Result<(), Error> {
    let client = cx.client().await?;
    let id = Of::Webhooks.one(client, id).await?;
    let path = format!("{ADMINISTRATORS}/{id}/test");
    let attempt: Value = client.call(Method::POST, &path, &[], None).await?;
    cx.document(&tried(&attempt), &attempt)?;
    if attempt["result"] == "delivered" {
        return Ok(());
    }
    let error = text(&attempt, "error");
    let why = match (attempt["status"].as_u64(), error) {
        (Some(status), _) => format!("the receiver answered {status}"),
        (None, "") => "the receiver gave no answer".to_owned(),
        (None, error) => format!("the receiver gave no answer: {error}"),
    };
    Err(Error::new(Exit::CheckFailed, why).hint(what_to_do(error)))
}

/// What matters of an attempt that was made alone.
fn tried(attempt: &Value) -> Value {
    let members = ["event", "result", "status", "durationMillis", "error", "response"];
    members.iter().map(|member| ((*member).to_owned(), attempt[*member].clone())).collect()
}

/// What to do about an attempt that failed in this way.
fn what_to_do(error: &str) -> &'static str {
    match error {
        "dns" => "the name in its URL does not resolve: see the URL, and DNS on the machine of the service",
        "refused_address" => "its address is not public; the administrator can permit a network with webhook-allow",
        "connect" => "see that the receiver runs, and listens on the port of its URL",
        "tls" => "see that the receiver has TLS on that port, and a valid certificate for the name in its URL",
        "timeout" => "a receiver must answer within 15 s",
        _ => "a receiver must answer with a status of 200 to 299",
    }
}
