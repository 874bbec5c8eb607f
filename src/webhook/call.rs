//! One attempt's request and response, within limits of time and size.
//!
//! The limits are the connect timeout, the timeout of the whole attempt, the octets of a response, the time for reading its
//! body, and the rate limit of the address. A call follows no redirect, uses no proxy, keeps no cookie and decodes no
//! compression. It never repeats a request that a server can have seen; retries belong to the schedule.

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
use super::outcome::{ErrorClass, Outcome, RESPONSE_OCTETS_MAX, cut, response_start};
use super::request::EventRequest;
use super::schedule::retry_after;
use super::target::Target;
use crate::clock::Clock;
use crate::dns::Resolver;
use crate::tls::{self, CertificateError};

/// How long reading a response's body may take. The body is only for the log, so a slow one must not hold up other attempts.
const BODY_TIMEOUT: Duration = Duration::from_millis(500);
/// About how many octets a request has besides its body. They count against the rate limit of the address.
const HEAD_OCTETS: usize = 512;
const DETAIL_OCTETS_MAX: usize = 256;

/// The limits of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallerSettings {
    /// How long connecting may take: DNS, TCP and TLS.
    pub connect_timeout: Duration,
    /// How long the whole attempt may take.
    pub timeout: Duration,
    /// The rate limit of an address and port after its probation, in attempts per minute. All names that lead there share
    /// it. A minute that follows a quiet one may have twice as many.
    pub per_address_per_minute: usize,
    /// Whether an address is on probation until its first 2xx: one attempt at a time, few attempts and few MB per minute.
    pub has_probation: bool,
}

impl Default for CallerSettings {
    /// 5 s for connecting, 15 s in all, 6,000 attempts per minute, with a probation.
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

/// Sends the requests of attempts.
pub struct Caller {
    settings: CallerSettings,
    guard: Arc<Guard>,
    clock: Arc<dyn Clock>,
    dial: Dial,
    pool: Pool,
}

/// What is kept of a response.
struct ReceivedResponse {
    status: u16,
    retry_after: Option<Duration>,
    body: String,
}

/// Why there is no response.
enum CallError {
    Failed {
        class: ErrorClass,
        detail: String,
    },
    /// The address is at its rate limit. Nothing was sent.
    Busy(Busy),
}

impl Caller {
    /// A caller that dials only what `guard` permits, and resolves names with `resolver`.
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

    /// Makes one attempt as soon as the rate limit of its address permits.
    pub async fn call_when_permitted(&self, request: EventRequest) -> Outcome {
        loop {
            match self.call(request.clone()).await {
                Ok(outcome) => return outcome,
                Err(Busy { wait }) => tokio::time::sleep(wait).await,
            }
        }
    }

    /// Makes one attempt. It ends within [`CallerSettings::timeout`], whatever the receiver does.
    ///
    /// `Err` means that nothing was sent, because the address is at its rate limit.
    pub async fn call(&self, request: EventRequest) -> Result<Outcome, Busy> {
        let started_at = self.clock.boot();
        let received = self.exchange(request).await;
        let duration = self.clock.boot().saturating_sub(started_at);
        match received {
            Ok(ReceivedResponse { status, retry_after, body }) => {
                let class = (!(200..300).contains(&status)).then_some(ErrorClass::HttpStatus);
                Ok(Outcome {
                    status: Some(status),
                    class,
                    duration,
                    retry_after,
                    response: body,
                    detail: String::new(),
                })
            }
            Err(CallError::Failed { class, detail }) => {
                Ok(Outcome::unanswered(class, duration, &cut(&detail, DETAIL_OCTETS_MAX)))
            }
            Err(CallError::Busy(busy)) => Err(busy),
        }
    }

    /// Closes connections that were idle for too long.
    pub(super) fn close_idle(&self) {
        self.pool.expire(self.clock.boot());
    }

    /// Sends a request and reads its response.
    async fn exchange(&self, request: EventRequest) -> Result<ReceivedResponse, CallError> {
        let target = Arc::clone(&request.target);
        let deadline = Instant::now() + self.settings.timeout;
        let exchange = timeout_at(deadline, self.send(&target, http_request(request))).await;
        let exchange = exchange
            .map_err(|_| CallError::Failed { class: ErrorClass::Timeout, detail: "no response in time".to_owned() })?;
        let Exchange { permit, connection, response } = exchange?;
        let status = response.status().as_u16();
        if response.status().is_success() {
            permit.prove();
        }
        let value = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let retry_after =
            value.filter(|_| matches!(status, 429 | 503)).and_then(|it| retry_after(it, self.clock.now()));
        let deadline = deadline.min(Instant::now() + BODY_TIMEOUT);
        let (body, is_whole) = read(response.into_body(), deadline).await;
        if is_whole {
            self.pool.put(target.origin(), connection, self.clock.boot());
        }
        Ok(ReceivedResponse { status, retry_after, body })
    }

    /// Sends a request, on a reused connection if there is one.
    async fn send(&self, target: &Target, mut request: Request<Full<Bytes>>) -> Result<Exchange, CallError> {
        while let Some(connection) = self.pool.take(target.origin(), self.clock.boot()) {
            if self.guard.check_dialled(connection.address()).is_err() {
                continue;
            }
            let permit = match self.dial.limits.begin(connection.address()) {
                Ok(permit) => permit,
                Err(busy) => {
                    self.pool.put(target.origin(), connection, self.clock.boot());
                    return Err(CallError::Busy(busy));
                }
            };
            match send_on(permit, connection, request).await {
                Ok(exchange) => return Ok(exchange),
                Err(SendError { unsent: Some(unsent), .. }) => request = unsent,
                Err(SendError { error, .. }) => return Err(error.into()),
            }
        }
        // In a box, because its future is large and rarely needed.
        let Dialled { stream, permit } = Box::pin(self.dial.connect(target)).await?;
        let connection = Connection::begin(stream, permit.address).await?;
        send_on(permit, connection, request).await.map_err(|failed| failed.error.into())
    }
}

/// A request that was sent, and its response. Only the header section of the response has been read.
struct Exchange {
    permit: Permit,
    connection: Connection,
    response: Response<Incoming>,
}

/// A request got no response.
struct SendError {
    error: hyper::Error,
    /// The request, if the server can't have seen any of it.
    unsent: Option<Request<Full<Bytes>>>,
}

async fn send_on(
    permit: Permit,
    mut connection: Connection,
    request: Request<Full<Bytes>>,
) -> Result<Exchange, SendError> {
    let octets = request.body().size_hint().exact().unwrap_or_default();
    permit.send(usize::try_from(octets).unwrap_or(usize::MAX).saturating_add(HEAD_OCTETS));
    match connection.send(request).await {
        Ok(response) => Ok(Exchange { permit, connection, response }),
        Err(mut failed) => {
            let unsent = failed.take_message();
            Err(SendError { error: failed.into_error(), unsent })
        }
    }
}

fn http_request(request: EventRequest) -> Request<Full<Bytes>> {
    let EventRequest { target, headers, body } = request;
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = target.request_target().clone();
    *request.headers_mut() = headers;
    request.headers_mut().insert(HOST, target.authority().clone());
    request
}

/// Reads a response's body up to its end, the connection's limit, the deadline or an error. Returns the start of what came,
/// and whether the body came to its end.
async fn read(mut body: Incoming, deadline: Instant) -> (String, bool) {
    let mut start = Vec::new();
    let is_whole = loop {
        match timeout_at(deadline, body.frame()).await {
            Ok(Some(Ok(frame))) => {
                let piece = frame.into_data().unwrap_or_default();
                let room = RESPONSE_OCTETS_MAX - start.len();
                start.extend_from_slice(&piece[..piece.len().min(room)]);
            }
            Ok(None) => break true,
            Ok(Some(Err(_))) | Err(_) => break false,
        }
    };
    (response_start(&start), is_whole)
}

impl From<DialError> for CallError {
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

impl From<hyper::Error> for CallError {
    fn from(error: hyper::Error) -> Self {
        // The innermost cause is the most precise one.
        let mut cause: &dyn Error = &error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        Self::Failed { class: ErrorClass::Other, detail: cause.to_string() }
    }
}
