//! `GET /api/mail/stream`: what happens to the mail of an address, or of all, as server-sent events.
//!
//! An event carries no body of a mail: a stream may have many readers, and each reads what it wants by the id. The id of
//! an event is the position of its Email, so a client that comes back gets what arrived meanwhile. Deletions are not
//! repeated.

use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, StreamExt};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::rows::Shown;
use super::writer;
use crate::admission::Permit;
use crate::email::Fields;
use crate::events::{Event, Happening, Hint, Position, Subscription};
use crate::http::authentication::administrator_only;
use crate::http::{Api, Caller, Problem, Query, Room};
use crate::model::{Address, Listed, Mailbox};
use crate::store::EmailsAfter;

/// How often a stream without events gets a comment, so that both sides see that the other is there.
const HEARTBEAT_EVERY: Duration = Duration::from_secs(15);
const HEARTBEAT: &[u8] = b":\n\n";
/// How long a stream lasts. Then its client comes back, and shows again that it may.
const AGE_MAX: Duration = Duration::from_mins(15);
/// By how many events a client may be late. Then it is told to read the list again.
const EVENTS_MAX: usize = 64;
/// The most Emails that a client gets when it comes back. With more it is told to read the list again.
const REPEATED_MAX: usize = 1000;
/// How long a client waits before it comes back, in milliseconds.
const RETRY_MILLIS: u32 = 1000;
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Tells nginx to pass on each event at once.
const NO_BUFFERING: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));

/// Answers with the stream. Without an address it is the administrator's.
pub(in crate::http) async fn stream(
    State(api): State<Arc<Api>>,
    mut caller: Caller,
    headers: HeaderMap,
    query: Query,
) -> Result<Response, Problem> {
    let to = query.opt::<Address>("to")?;
    let mailbox = match &to {
        Some(to) => Some(api.mailbox(&mut caller, to).await?),
        None if !caller.reads_all() => return Err(administrator_only()),
        None => None,
    };
    let of_header = headers.get(LAST_EVENT_ID).map(|id| id.to_str().unwrap_or_default());
    let last_event_id = of_header.or(query.get("lastEventId")?).filter(|id| !id.is_empty());
    let place = api.place(&caller)?;
    // The subscription comes first, so that nothing falls between it and the position.
    let events = api.store.subscribe(mailbox.as_ref(), EVENTS_MAX);
    let position = api.store.position(mailbox.as_ref()).await?;
    let shown_through = shown_through(mailbox.as_ref(), position);
    let ends_at = Instant::now() + AGE_MAX;
    let mut feed =
        Feed { api, caller, to, mailbox, events, position, shown_through, repeat: 0..0, ends_at, _place: place };
    let begin = Bytes::from(format!("retry: {RETRY_MILLIS}\n{}", feed.resume(last_event_id).await?));
    let pieces = stream::unfold(Box::new(feed), |mut feed| async move { Some((Box::pin(feed.next()).await?, feed)) });
    let pieces = stream::once(async { begin }).chain(pieces).map(Ok::<_, Infallible>);
    let content_type = (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    Ok(([content_type, NO_BUFFERING], Body::from_stream(pieces)).into_response())
}

/// Up to where the list of a mailbox shows what arrived, for a stream that begins at `position`.
fn shown_through(mailbox: Option<&Mailbox>, position: Position) -> u64 {
    if mailbox.is_some() { position.sequence } else { 0 }
}

/// The state of one stream.
struct Feed {
    api: Arc<Api>,
    caller: Caller,
    /// The address that it is about; `None` for all.
    to: Option<Address>,
    /// `None` for all mailboxes.
    mailbox: Option<Mailbox>,
    events: Subscription,
    /// The position of the last event.
    position: Position,
    /// Up to where a list has shown what arrived; 0 if the stream is about all mailboxes, which nobody lists.
    shown_through: u64,
    /// The Emails that are still to be listed of those that arrived before the subscription: after the start, and up to
    /// the end.
    repeat: Range<u64>,
    ends_at: Instant,
    _place: Permit,
}

impl Feed {
    /// What a client gets first that was at `last_event_id`. What it missed follows.
    async fn resume(&mut self, last_event_id: Option<&str>) -> Result<String, Problem> {
        let missed = match last_event_id.map(str::parse::<Position>) {
            None => Some(Vec::new()),
            Some(Ok(last)) if last.tag == self.position.tag && last.sequence <= self.position.sequence => {
                self.since(last.sequence).await?
            }
            Some(_) => None,
        };
        let Some(missed) = missed else { return Ok(self.reset()) };
        if let (Some(newest), Some(oldest)) = (missed.first(), missed.last()) {
            self.repeat = oldest.sequence - 1..newest.sequence;
            self.position.sequence = self.repeat.start;
            self.shown_through = self.shown_through.max(newest.sequence);
        }
        // An id without data is no event, and yet the client comes back with it.
        Ok(format!("id: {}\n\n", self.position))
    }

    /// The Emails after a sequence number, newest first; `None` if they are too many, or cannot be found.
    async fn since(&self, last: u64) -> Result<Option<Vec<Listed>>, Problem> {
        if last == self.position.sequence {
            return Ok(Some(Vec::new()));
        }
        let Some(mailbox) = &self.mailbox else { return Ok(None) };
        let now = self.api.clock.now();
        let mut emails = self.api.store.list_before(mailbox, u64::MAX, REPEATED_MAX + 1, now).await?;
        emails.retain(|listed| listed.sequence > last);
        Ok((emails.len() <= REPEATED_MAX).then_some(emails))
    }

    /// The next of the Emails that arrived before the subscription.
    async fn missed(&mut self) -> Result<Option<Listed>, Problem> {
        let Some(mailbox) = &self.mailbox else { return Ok(None) };
        while !self.repeat.is_empty() {
            let Range { start, end } = self.repeat;
            let EmailsAfter { emails, next } =
                self.api.store.list_after(mailbox, start, 1, self.api.clock.now()).await?;
            self.repeat.start = next.unwrap_or(end);
            if let Some(listed) = emails.into_iter().find(|listed| listed.sequence <= end) {
                return Ok(Some(listed));
            }
        }
        Ok(None)
    }

    /// Waits for the next octets; `None` ends the stream.
    async fn next(&mut self) -> Option<Bytes> {
        let event = match self.event().await {
            // The token may have been revoked meanwhile, or the lease have ended.
            Ok(piece) => self.api.check(&self.caller, self.mailbox.as_ref()).await.map(|()| piece),
            failed => failed,
        };
        match event {
            Ok(piece) => piece,
            Err(problem) => {
                // The client comes back, and gets what it missed.
                tracing::warn!(code = ?problem.code(), "a stream of events ends early");
                None
            }
        }
    }

    async fn event(&mut self) -> Result<Option<Bytes>, Problem> {
        loop {
            if Instant::now() >= self.ends_at || self.api.stop.is_cancelled() {
                return Ok(None);
            }
            if let Some(listed) = self.missed().await? {
                if let Some(event) = self.received(listed).await? {
                    return Ok(Some(event));
                }
                continue;
            }
            let hint = tokio::select! {
                biased;
                _ = self.api.stopping() => return Ok(None),
                hint = self.events.next() => hint,
                () = sleep(HEARTBEAT_EVERY) => {
                    // A client that comes back follows the inbox that the address has by then.
                    let is_current = match (&self.to, &self.mailbox) {
                        (Some(to), Some(mailbox)) => self.api.is_current(&self.caller, to, mailbox).await?,
                        _ => true,
                    };
                    return Ok(is_current.then(|| Bytes::from_static(HEARTBEAT)));
                }
            };
            let event = match hint {
                Hint::Missed => {
                    self.position = self.api.store.position(self.mailbox.as_ref()).await?;
                    self.shown_through = shown_through(self.mailbox.as_ref(), self.position);
                    return Ok(Some(self.reset().into()));
                }
                Hint::Event(event) => event,
            };
            let Event { happening, email } = event;
            let piece = match happening {
                Happening::Received if email.sequence <= self.shown_through => None,
                // Mail that several nodes receive at once is told of in another order than its numbers have. So this is only a
                // reason to look.
                Happening::Received if self.mailbox.is_some() && self.api.store.is_shared() => {
                    self.repeat = self.position.sequence..u64::MAX;
                    None
                }
                Happening::Received => self.received(email).await?,
                Happening::Deleted => self.removed("email.deleted", &email).await?,
                Happening::Expired => self.removed("email.expired", &email).await?,
            };
            if piece.is_some() {
                return Ok(piece);
            }
        }
    }

    fn reset(&self) -> String {
        format!("event: reset\nid: {}\ndata: {{}}\n\n", self.position)
    }

    /// The event of an Email that arrived; `None` if it is gone already.
    async fn received(&mut self, listed: Listed) -> Result<Option<Bytes>, Problem> {
        // Mail that two nodes receive at once may become readable in another order than its numbers have.
        self.position.sequence = self.position.sequence.max(listed.sequence);
        let begin = format!("event: email.received\nid: {}\ndata: ", self.position);
        let shown = Shown { listed, fields: Fields::WITHOUT_BODY };
        let event = writer::one(&self.api, &self.caller, shown, begin.into_bytes()).await?;
        Ok(event.map(|(event, room)| finished(event, room)))
    }

    /// The event of an Email that is gone.
    async fn removed(&self, name: &str, listed: &Listed) -> Result<Option<Bytes>, Problem> {
        let begin = format!("event: {name}\ndata: ");
        if self.mailbox.is_none() {
            // For a short time its record is still there.
            let shown = Shown { listed: listed.clone(), fields: Fields::NAMES };
            let event = writer::one(&self.api, &self.caller, shown, begin.clone().into_bytes()).await?;
            if let Some((event, room)) = event {
                return Ok(Some(finished(event, room)));
            }
            // Nobody knows whose it was.
            if !self.caller.is_administrator() {
                return Ok(None);
            }
        }
        let recipient = self.mailbox.as_ref().map(Mailbox::to_string).unwrap_or_default();
        let data = json!({ "id": listed.id, "recipient": recipient });
        Ok(Some(format!("{begin}{data}\n\n").into()))
    }
}

/// An event with its end.
fn finished(mut event: Vec<u8>, room: Room) -> Bytes {
    event.extend(b"\n\n");
    room.hold(event)
}
