//! `GET /api/mail/stream`: what happens to the mail of an address, or of all, as server-sent events.
//!
//! An event carries no body of a mail: a stream may have many readers, and each reads what it wants by the id. The id of
//! an event is the position of its Email, so a client that comes back gets what arrived meanwhile. Deletions are not
//! repeated.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde_json::json;
use tokio::time::timeout;

use super::Api;
use super::admin::administrator_only;
use super::fields::Fields;
use super::memory::Asker;
use super::principal::Principal;
use super::problem::Problem;
use super::query::Query;
use super::rendered::load_to_list;
use super::waiting::{Place, Waiter};
use crate::events::{Event, Happening, Hint, Position, Subscription};
use crate::model::{Listed, Mailbox, StoredEmail};
use crate::reader;
use crate::store::EmailsAfter;

/// How often a stream without events gets a comment, so that both sides see that the other is there.
const HEARTBEAT_EVERY: Duration = Duration::from_secs(15);
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
pub(super) async fn stream(
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
    let place = api.waiting.take(&waiter)?;
    // The subscription comes first, so that nothing falls between it and the position.
    let events = api.store.subscribe(mailbox.as_ref(), EVENTS_MAX);
    let position = api.store.position(mailbox.as_ref()).await?;
    let mut feed =
        Feed { api, asker, waiter, mailbox, events, position, unsent: VecDeque::new(), begin: None, _place: place };
    feed.resume(last_event_id).await?;
    let pieces = stream::unfold(Box::new(feed), |mut feed| async move {
        let piece = Box::pin(feed.next()).await?;
        Some((Ok::<_, std::convert::Infallible>(piece), feed))
    });
    let content_type = (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    Ok(([content_type, NO_BUFFERING], Body::from_stream(pieces)).into_response())
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
    /// Emails that arrived before the subscription, oldest first.
    unsent: VecDeque<Listed>,
    /// What the stream begins with, until it is sent.
    begin: Option<Bytes>,
    _place: Place,
}

impl Feed {
    /// Prepares what a client gets that was at `last_event_id`.
    async fn resume(&mut self, last_event_id: Option<&str>) -> Result<(), Problem> {
        let retry = format!("retry: {RETRY_MILLIS}\n");
        let current = self.position;
        let missed = match last_event_id.map(str::parse::<Position>) {
            None => Some(Vec::new()),
            Some(Ok(last)) if last.tag == current.tag && last.sequence <= current.sequence => self.since(last).await?,
            Some(_) => None,
        };
        self.begin = Some(match missed {
            // An id without data is no event, and yet the client comes back with it.
            Some(missed) => {
                if let Some(first) = missed.first() {
                    self.position.sequence = first.sequence - 1;
                }
                self.unsent = missed.into();
                format!("{retry}id: {}\n\n", self.position).into()
            }
            None => format!("{retry}{}", self.reset()).into(),
        });
        Ok(())
    }

    /// The Emails after a position; `None` if they are too many, or cannot be found.
    async fn since(&self, last: Position) -> Result<Option<Vec<Listed>>, Problem> {
        if last.sequence == self.position.sequence {
            return Ok(Some(Vec::new()));
        }
        let Some(mailbox) = &self.mailbox else { return Ok(None) };
        let (mut found, mut after) = (Vec::new(), last.sequence);
        loop {
            let left = REPEATED_MAX + 1 - found.len();
            let EmailsAfter { emails, next } =
                self.api.store.list_after(mailbox, after, left, self.api.clock.now()).await?;
            found.extend(emails);
            match next {
                _ if found.len() > REPEATED_MAX => return Ok(None),
                Some(next) => after = next,
                None => return Ok(Some(found)),
            }
        }
    }

    /// Waits for the next octets; `None` ends the stream.
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(begin) = self.begin.take() {
            return Some(begin);
        }
        match self.event().await {
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
            if let Some(listed) = self.unsent.pop_front() {
                if let Some(event) = self.received(listed).await? {
                    return Ok(Some(event));
                }
                continue;
            }
            let hint = tokio::select! {
                biased;
                _ = self.waiter.stopping() => return Ok(None),
                hint = timeout(HEARTBEAT_EVERY, self.events.next()) => hint,
            };
            let event = match hint {
                Err(_elapsed) => return Ok(Some(Bytes::from_static(b":\n\n"))),
                Ok(Hint::Missed) => {
                    self.position = self.api.store.position(self.mailbox.as_ref()).await?;
                    return Ok(Some(self.reset().into()));
                }
                Ok(Hint::Event(event)) => event,
            };
            let Event { happening, email } = event;
            let piece = match happening {
                // The list has shown it already.
                Happening::Received if email.sequence <= self.position.sequence => None,
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
        self.position.sequence = listed.sequence;
        let json = self.read(listed, |email| Fields::of_events().render(email, &reader::parse_headers(&email.raw)));
        let Some(mut json) = json.await? else { return Ok(None) };
        let mut event = format!("event: email.received\nid: {}\ndata: ", self.position).into_bytes();
        event.append(&mut json);
        event.extend(b"\n\n");
        Ok(Some(event.into()))
    }

    /// The event of an Email that is gone.
    async fn removed(&self, name: &str, listed: &Listed) -> Result<Option<Bytes>, Problem> {
        let recipient = if let Some(mailbox) = &self.mailbox {
            mailbox.to_string()
        } else {
            // For a short time its record is still there.
            let address = self.read(listed.clone(), |email| email.recipient().map(|it| it.address.clone()));
            address.await?.unwrap_or_default()
        };
        let data = json!({ "id": listed.id, "recipient": recipient });
        Ok(Some(format!("event: {name}\ndata: {data}\n\n").into()))
    }

    /// Loads an Email and reads something of it; `None` if it is gone.
    async fn read<T: Send + 'static>(
        &self,
        listed: Listed,
        read: impl FnOnce(&StoredEmail) -> Option<T> + Send + 'static,
    ) -> Result<Option<T>, Problem> {
        let room = self.api.memory.reserve(&self.asker, listed.size_octets).await?;
        let store = Arc::clone(&self.api.store);
        let reading = async move {
            let _room = room;
            Ok::<_, Problem>(load_to_list(&*store, &listed).await?.as_ref().and_then(read))
        };
        self.api.reader.run(reading).await
    }
}
