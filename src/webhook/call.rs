//! The calling half of an attempt: one request, under bounds of time and size.
//!
//! What bounds it: the time for connecting, the time for the whole attempt, the octets of an answer and the time given to its
//! body; and what its address may be called. It follows no redirect, uses no proxy, keeps no cookie, decodes no compression
//! and never repeats a request that a server can have seen; the schedule does that.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::header::{HOST, RETRY_AFTER};
use hyper::{Method, Request, Response};
use tokio::time::{Instant, timeout_at};

use super::address_limits::{AddressLimits, Busy, Permit};
use super::connection::{Connection, Pool};
use super::dial::{Dial, DialError, Dialled};
use super::guard::Guard;
use super::outcome::{ErrorClass, Outcome, RESPONSE_OCTETS_KEPT, cut, kept};
use super::request::Prepared;
use super::schedule::retry_after;
use super::target::Target;
use crate::clock::Clock;
use crate::dns::Resolver;
use crate::tls::{self, CertificateError};

/// How long a response's body may take. Its status has come by then and it is only read for the log, so that a slow one
/// is not worth the place of another attempt.
const BODY_WITHIN: Duration = Duration::from_millis(500);
/// Octets of a request beside its body, about: they count as well at its address.
const HEAD_OCTETS: usize = 512;
const DETAIL_OCTETS_MAX: usize = 256;

/// The bounds of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallerSettings {
    /// How long connecting may take: DNS, TCP and TLS.
    pub connect_timeout: Duration,
    /// How long the whole attempt may take.
    pub timeout: Duration,
    /// Attempts at one address and port within a minute, whatever names lead there, once it has answered a 2xx; twice as many
    /// in the first one after a quiet one.
    pub per_address_per_minute: usize,
    /// An address that has answered no 2xx yet gets one attempt at a time, a few a minute and a few MB a minute.
    pub has_probation: bool,
}

impl Default for CallerSettings {
    /// 5 s, 15 s, 6,000 and a probation.
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(5),
            timeout: Duration::from_secs(15),
            per_address_per_minute: 6_000,
            has_probation: true,
        }
    }
}

/// The HTTP client cannot be set up.
#[derive(Debug, thiserror::Error)]
#[error("the HTTP client for webhooks cannot be set up: {0}")]
pub struct CallerError(#[from] CertificateError);

/// Sends prepared requests.
pub struct Caller {
    settings: CallerSettings,
    guard: Arc<Guard>,
    clock: Arc<dyn Clock>,
    dial: Dial,
    pool: Pool,
}

struct Answer {
    status: u16,
    retry_after: Option<Duration>,
    response: String,
}

/// Why there is no answer.
enum Unmade {
    Failed { class: ErrorClass, detail: String },
    Busy(Busy),
}

impl Caller {
    /// A caller behind `guard` that asks `resolver` for the addresses of names.
    pub fn new(
        settings: CallerSettings,
        guard: Arc<Guard>,
        resolver: Arc<dyn Resolver>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, CallerError> {
        let tls = tls::client_config()?.into();
        let limits = AddressLimits::new(settings.per_address_per_minute, settings.has_probation, Arc::clone(&clock));
        let dial = Dial { guard: Arc::clone(&guard), resolver, tls, timeout: settings.connect_timeout, limits };
        Ok(Self { settings, guard, clock, dial, pool: Pool::default() })
    }

    /// Makes one attempt as soon as its address may be called.
    pub async fn call_in_turn(&self, prepared: Prepared) -> Outcome {
        loop {
            match self.call(prepared.clone()).await {
                Ok(outcome) => return outcome,
                Err(Busy { wait }) => tokio::time::sleep(wait).await,
            }
        }
    }

    /// Makes one attempt. It ends within [`CallerSettings::timeout`], whatever the receiver does.
    pub async fn call(&self, prepared: Prepared) -> Result<Outcome, Busy> {
        let started_at = self.clock.boot();
        let answer = self.answer(prepared).await;
        let duration = self.clock.boot().saturating_sub(started_at);
        match answer {
            Ok(Answer { status, retry_after, response }) => {
                let class = (!(200..300).contains(&status)).then_some(ErrorClass::HttpStatus);
                Ok(Outcome { status: Some(status), class, duration, retry_after, response, detail: String::new() })
            }
            Err(Unmade::Failed { class, detail }) => {
                Ok(Outcome::unanswered(class, duration, &cut(&detail, DETAIL_OCTETS_MAX)))
            }
            Err(Unmade::Busy(busy)) => Err(busy),
        }
    }

    /// Closes connections that are unused for too long.
    pub(super) fn close_idle(&self) {
        self.pool.expire(self.clock.boot());
    }

    async fn answer(&self, prepared: Prepared) -> Result<Answer, Unmade> {
        let target = Arc::clone(&prepared.target);
        let deadline = Instant::now() + self.settings.timeout;
        let asked = timeout_at(deadline, self.ask(&target, request(prepared))).await;
        let asked = asked
            .map_err(|_| Unmade::Failed { class: ErrorClass::Timeout, detail: "no response in time".to_owned() })?;
        let (permit, connection, response) = asked?;
        let status = response.status().as_u16();
        if response.status().is_success() {
            permit.prove();
        }
        let asks = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let retry_after = asks.filter(|_| matches!(status, 429 | 503)).and_then(|it| retry_after(it, self.clock.now()));
        let deadline = deadline.min(Instant::now() + BODY_WITHIN);
        let (response, is_whole) = read(response.into_body(), deadline).await;
        if is_whole {
            self.pool.put(target.origin(), connection, self.clock.boot());
        }
        Ok(Answer { status, retry_after, response })
    }

    /// Makes the request, on a kept connection if there is one.
    async fn ask(&self, target: &Target, mut request: Request<Full<Bytes>>) -> Result<Asked, Unmade> {
        while let Some(connection) = self.pool.take(target.origin(), self.clock.boot()) {
            if self.guard.check_dialled(connection.address()).is_err() {
                continue;
            }
            let permit = match self.dial.limits.begin(connection.address()) {
                Ok(permit) => permit,
                Err(busy) => {
                    self.pool.put(target.origin(), connection, self.clock.boot());
                    return Err(Unmade::Busy(busy));
                }
            };
            match send(permit, connection, request).await {
                Ok(asked) => return Ok(asked),
                Err(Unanswered { unsent: Some(unsent), .. }) => request = unsent,
                Err(Unanswered { error, .. }) => return Err(error.into()),
            }
        }
        // In a box, since it takes much room and is rarely needed.
        let Dialled { stream, permit } = Box::pin(self.dial.connect(target)).await?;
        let connection = Connection::begin(stream, permit.address).await?;
        send(permit, connection, request).await.map_err(|unanswered| unanswered.error.into())
    }
}

/// A request that was answered, so far as its header section.
type Asked = (Permit, Connection, Response<Incoming>);

/// No answer to a request.
struct Unanswered {
    error: hyper::Error,
    /// The request, if the server can't have seen any of it.
    unsent: Option<Request<Full<Bytes>>>,
}

async fn send(permit: Permit, mut connection: Connection, request: Request<Full<Bytes>>) -> Result<Asked, Unanswered> {
    let octets = request.body().size_hint().exact().unwrap_or_default();
    permit.send(usize::try_from(octets).unwrap_or(usize::MAX).saturating_add(HEAD_OCTETS));
    match connection.ask(request).await {
        Ok(response) => Ok((permit, connection, response)),
        Err(mut failed) => {
            let unsent = failed.take_message();
            Err(Unanswered { error: failed.into_error(), unsent })
        }
    }
}

fn request(prepared: Prepared) -> Request<Full<Bytes>> {
    let Prepared { target, headers, body } = prepared;
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = target.request_target().clone();
    *request.headers_mut() = headers;
    request.headers_mut().insert(HOST, target.authority().clone());
    request
}

/// Reads a response's body up to its end, the connection's bound, the deadline or an error: what came until then is what is
/// kept. Whether it came to its end.
async fn read(mut body: Incoming, deadline: Instant) -> (String, bool) {
    let mut start = Vec::new();
    let is_whole = loop {
        match timeout_at(deadline, body.frame()).await {
            Ok(Some(Ok(frame))) => {
                let piece = frame.into_data().unwrap_or_default();
                let room = RESPONSE_OCTETS_KEPT - start.len();
                start.extend_from_slice(&piece[..piece.len().min(room)]);
            }
            Ok(None) => break true,
            Ok(Some(Err(_))) | Err(_) => break false,
        }
    };
    (kept(&start), is_whole)
}

impl From<DialError> for Unmade {
    fn from(error: DialError) -> Self {
        let class = match error {
            DialError::Busy(busy) => return Self::Busy(busy),
            DialError::Refused(_) => ErrorClass::RefusedAddress,
            DialError::NoAddress | DialError::NoAnswer(_) => ErrorClass::Dns,
            DialError::Tcp(_) | DialError::TimedOut => ErrorClass::Connect,
            DialError::Tls(_) => ErrorClass::Tls,
        };
        Self::Failed { class, detail: error.to_string() }
    }
}

impl From<hyper::Error> for Unmade {
    fn from(error: hyper::Error) -> Self {
        // The innermost cause says it best.
        let mut cause: &dyn Error = &error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        Self::Failed { class: ErrorClass::Other, detail: cause.to_string() }
    }
}
