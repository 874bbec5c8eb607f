//! `GET /api/mail/stream`: what happens to the mail of an address, or of all, as server-sent events.
//!
//! An event carries no body of a mail: a stream may have many readers, and each reads what it wants by the id. The id of
//! an event is the position of its Email, so a client that comes back gets what arrived meanwhile. Deletions are not
//! repeated.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::rows::Shown;
use super::writer;
use crate::admission::Permit;
use crate::email::Fields;
use crate::events::{Event, Happening, Hint, Position, Subscription};
use crate::http::Api;
use crate::http::admin::administrator_only;
use crate::http::memory::{Asker, Room};
use crate::http::principal::Principal;
use crate::http::problem::Problem;
use crate::http::query::Query;
use crate::http::waiting::Waiter;
use crate::model::{Listed, Mailbox};
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
/// How many of them are listed at once.
const REPEATED_AT_ONCE: usize = 32;
/// How long a client waits before it comes back, in milliseconds.
const RETRY_MILLIS: u32 = 1000;
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Tells nginx to pass on each event at once.
const NO_BUFFERING: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));

/// Answers with the stream. Without an address it is the administrator's.
pub(in crate::http) async fn stream(
    State(api): State<Arc<Api>>,
    principal: Principal,
    asker: Asker,
    waiter: Waiter,
    headers: HeaderMap,
    query: Query,
) -> Result<Response, Problem> {
    let mailbox = match query.get("to")? {
        Some(_) => Some(query.address("to")?.mailbox(api.config.mail.subaddressing)),
        None if principal == Principal::Public => return Err(administrator_only()),
        None => None,
    };
    if let Some(mailbox) = &mailbox {
        api.permit(principal, mailbox)?;
    }
    let of_header = headers.get(LAST_EVENT_ID).map(|id| id.to_str().unwrap_or_default());
    let last_event_id = of_header.or(query.get("lastEventId")?).filter(|id| !id.is_empty());
    let place = api.place(&waiter)?;
    // The subscription comes first, so that nothing falls between it and the position.
    let events = api.store.subscribe(mailbox.as_ref(), EVENTS_MAX);
    let position = api.store.position(mailbox.as_ref()).await?;
    let shown_through = shown_through(mailbox.as_ref(), position);
    let ends_at = Instant::now() + AGE_MAX;
    let mut feed = Feed {
        api,
        asker,
        waiter,
        mailbox,
        events,
        position,
        shown_through,
        repeat: 0..0,
        unsent: VecDeque::new(),
        begin: None,
        ends_at,
        _place: place,
    };
    feed.resume(last_event_id).await?;
    let pieces = stream::unfold(Box::new(feed), |mut feed| async move {
        let piece = Box::pin(feed.next()).await?;
        Some((Ok::<_, std::convert::Infallible>(piece), feed))
    });
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
    asker: Asker,
    waiter: Waiter,
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
    /// Those that are listed, oldest first.
    unsent: VecDeque<Listed>,
    /// What the stream begins with, until it is sent.
    begin: Option<Bytes>,
    ends_at: Instant,
    _place: Permit,
}

impl Feed {
    /// Prepares what a client gets that was at `last_event_id`.
    async fn resume(&mut self, last_event_id: Option<&str>) -> Result<(), Problem> {
        let retry = format!("retry: {RETRY_MILLIS}\n");
        let current = self.position;
        let missed = match last_event_id.map(str::parse::<Position>) {
            None => Some(None),
            Some(Ok(last)) if last.tag == current.tag && last.sequence <= current.sequence => self.since(last).await?,
            Some(_) => None,
        };
        self.begin = Some(match missed {
            // An id without data is no event, and yet the client comes back with it.
            Some(missed) => {
                if let Some((first, last)) = missed {
                    self.position.sequence = first - 1;
                    self.repeat = first - 1..last;
                    self.shown_through = self.shown_through.max(last);
                }
                format!("{retry}id: {}\n\n", self.position).into()
            }
            None => format!("{retry}{}", self.reset()).into(),
        });
        Ok(())
    }

    /// The first and the last Email after a position, if there are any; `None` if they are too many, or cannot be found.
    async fn since(&self, last: Position) -> Result<Option<Option<(u64, u64)>>, Problem> {
        if last.sequence == self.position.sequence {
            return Ok(Some(None));
        }
        let Some(mailbox) = &self.mailbox else { return Ok(None) };
        let (mut range, mut found, mut after) = (None, 0, last.sequence);
        loop {
            let left = REPEATED_MAX + 1 - found;
            let EmailsAfter { emails, next } =
                self.api.store.list_after(mailbox, after, left, self.api.clock.now()).await?;
            found += emails.len();
            if let (Some(first), Some(last)) = (emails.first(), emails.last()) {
                let (first, _) = range.unwrap_or((first.sequence, 0));
                range = Some((first, last.sequence));
            }
            match next {
                _ if found > REPEATED_MAX => return Ok(None),
                Some(next) => after = next,
                None => return Ok(Some(range)),
            }
        }
    }

    /// Lists the next Emails that arrived before the subscription.
    async fn refill(&mut self) -> Result<(), Problem> {
        let Some(mailbox) = &self.mailbox else { return Ok(()) };
        while self.unsent.is_empty() && !self.repeat.is_empty() {
            let Range { start, end } = self.repeat;
            let EmailsAfter { emails, next } =
                self.api.store.list_after(mailbox, start, REPEATED_AT_ONCE, self.api.clock.now()).await?;
            self.repeat.start = next.unwrap_or(end);
            self.unsent.extend(emails.into_iter().filter(|listed| listed.sequence <= end));
        }
        Ok(())
    }

    /// Waits for the next octets; `None` ends the stream.
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(begin) = self.begin.take() {
            return Some(begin);
        }
        let event = match self.event().await {
            // The token may have been revoked meanwhile.
            Ok(piece) => self.waiter.check(&self.api).await.map(|()| piece),
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
            if Instant::now() >= self.ends_at {
                return Ok(None);
            }
            self.refill().await?;
            if let Some(listed) = self.unsent.pop_front() {
                if let Some(event) = self.received(listed).await? {
                    return Ok(Some(event));
                }
                continue;
            }
            let hint = tokio::select! {
                biased;
                _ = self.waiter.stopping() => return Ok(None),
                hint = self.events.next() => hint,
                () = sleep(HEARTBEAT_EVERY) => return Ok(Some(Bytes::from_static(HEARTBEAT))),
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
        let event = writer::one(&self.api, &self.asker, shown, begin.into_bytes()).await?;
        Ok(event.map(|(event, room)| finished(event, room)))
    }

    /// The event of an Email that is gone.
    async fn removed(&self, name: &str, listed: &Listed) -> Result<Option<Bytes>, Problem> {
        let begin = format!("event: {name}\ndata: ");
        if self.mailbox.is_none() {
            // For a short time its record is still there.
            let shown = Shown { listed: listed.clone(), fields: Fields::NAMES };
            let event = writer::one(&self.api, &self.asker, shown, begin.clone().into_bytes()).await?;
            if let Some((event, room)) = event {
                return Ok(Some(finished(event, room)));
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
    room.hold(event.into_boxed_slice())
}
