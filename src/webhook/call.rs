//! The calling half of an attempt: one request, under bounds of time and size.
//!
//! What bounds it: the time for connecting, the time for the whole attempt, the octets of an answer and the time given to its
//! body; and all its idle connections together (`webhook/kept.rs`). It follows no redirect, uses no proxy, keeps no cookie,
//! decodes no compression and never repeats a request that a server can have seen; the schedule does that.

use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{HOST, RETRY_AFTER};
use hyper::{Method, Request, Response};
use tokio::time::{Instant, timeout_at};

use super::attempt::Prepared;
use super::connection::{Connection, Unanswered};
use super::dial::{Dial, DialError, Pace};
use super::guard::Guard;
use super::kept::{IDLE_MAX, Kept};
use super::outcome::{ErrorClass, Outcome, RESPONSE_OCTETS_KEPT, cut, kept};
use super::schedule::retry_after;
use super::target::{Endpoint, Target};
use crate::clock::Clock;
use crate::dns::Resolver;
use crate::tls::{self, CertificateError};

/// How long a response's body may take. Its status has come by then and it is only read for the log, so that a slow one
/// is not worth the place of another attempt.
const BODY_WITHIN: Duration = Duration::from_secs(2);
const DETAIL_OCTETS_MAX: usize = 256;

/// The bounds of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallerSettings {
    /// How long connecting may take: DNS, TCP and TLS.
    pub connect_timeout: Duration,
    /// How long the whole attempt may take.
    pub timeout: Duration,
    /// Attempts at one address and port within a minute, whatever names lead there; twice as many after a quiet one.
    pub per_address_per_minute: usize,
}

/// No attempt was made: every address has been called as often as permitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("called too often within this minute")]
pub struct Busy {
    /// When one of them may be called again.
    pub wait: Duration,
}

impl Default for CallerSettings {
    /// 5 s, 15 s and 6,000.
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(5),
            timeout: Duration::from_secs(15),
            per_address_per_minute: 6_000,
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
    idle: Arc<Mutex<Idle>>,
}

/// The connections that are kept for the next event.
#[derive(Default)]
struct Idle {
    kept: Kept<Box<Connection>>,
    /// A task looks for those that are unused for too long.
    is_swept: bool,
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
        let pace = Pace::new(settings.per_address_per_minute, Arc::clone(&clock));
        let dial = Dial { guard: Arc::clone(&guard), resolver, tls, timeout: settings.connect_timeout, pace };
        Ok(Self { settings, guard, clock, dial, idle: Arc::default() })
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
            Err(Unmade::Failed { class, detail }) => Ok(Outcome {
                status: None,
                class: Some(class),
                duration,
                retry_after: None,
                response: String::new(),
                detail: cut(&detail, DETAIL_OCTETS_MAX),
            }),
            Err(Unmade::Busy(busy)) => Err(busy),
        }
    }

    async fn answer(&self, prepared: Prepared) -> Result<Answer, Unmade> {
        let target = Arc::clone(&prepared.target);
        let deadline = Instant::now() + self.settings.timeout;
        let asked = timeout_at(deadline, self.ask(&target, request(prepared))).await;
        let asked = asked
            .map_err(|_| Unmade::Failed { class: ErrorClass::Timeout, detail: "no response in time".to_owned() })?;
        let (mut connection, response) = asked?;
        let status = response.status().as_u16();
        let asks = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let retry_after = asks.filter(|_| matches!(status, 429 | 503)).and_then(|it| retry_after(it, self.clock.now()));
        let deadline = deadline.min(Instant::now() + BODY_WITHIN);
        let (response, is_whole) = read(&mut connection, response.into_body(), deadline).await;
        if is_whole && connection.is_open().await {
            self.keep(target.endpoint(), connection);
        }
        Ok(Answer { status, retry_after, response })
    }

    /// Makes the request, on a kept connection if there is one.
    async fn ask(
        &self,
        target: &Target,
        mut request: Request<Full<Bytes>>,
    ) -> Result<(Box<Connection>, Response<Incoming>), Unmade> {
        while let Some(mut connection) = self.kept(target.endpoint()) {
            if self.guard.check_dialled(connection.address()).is_err() || !connection.is_open().await {
                continue;
            }
            if let Err(busy) = self.dial.pace.take(connection.address()) {
                self.keep(target.endpoint(), connection);
                return Err(Unmade::Busy(busy));
            }
            match connection.ask(request).await {
                Ok(response) => return Ok((connection, response)),
                Err(Unanswered { unsent: Some(unsent), .. }) => request = unsent,
                Err(unanswered) => return Err(unanswered.into()),
            }
        }
        // In a box, since it takes much room and is rarely needed.
        let mut connection = Box::pin(self.begin(target)).await?;
        let response = connection.ask(request).await?;
        Ok((connection, response))
    }

    async fn begin(&self, target: &Target) -> Result<Box<Connection>, Unmade> {
        Ok(Connection::begin(self.dial.connect(target).await?).await?)
    }

    fn kept(&self, endpoint: &Endpoint) -> Option<Box<Connection>> {
        locked(&self.idle).kept.take(endpoint, self.clock.boot())
    }

    fn keep(&self, endpoint: &Endpoint, connection: Box<Connection>) {
        let mut idle = locked(&self.idle);
        let dropped = idle.kept.put(endpoint, connection, self.clock.boot());
        let is_swept = std::mem::replace(&mut idle.is_swept, true);
        drop(idle);
        // Closes it, which nobody else is to wait for.
        drop(dropped);
        if !is_swept {
            tokio::spawn(sweep(Arc::downgrade(&self.idle), Arc::clone(&self.clock)));
        }
    }
}

/// Closes connections that are unused for too long, until there is none or the caller is gone.
async fn sweep(idle: Weak<Mutex<Idle>>, clock: Arc<dyn Clock>) {
    loop {
        tokio::time::sleep(IDLE_MAX).await;
        let Some(idle) = idle.upgrade() else { return };
        let mut idle = locked(&idle);
        let expired = idle.kept.expire(clock.boot());
        idle.is_swept = !idle.kept.is_empty();
        let is_over = !idle.is_swept;
        drop(idle);
        drop(expired);
        if is_over {
            return;
        }
    }
}

fn locked(idle: &Mutex<Idle>) -> MutexGuard<'_, Idle> {
    idle.lock().unwrap_or_else(PoisonError::into_inner)
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
async fn read(connection: &mut Connection, mut body: Incoming, deadline: Instant) -> (String, bool) {
    let mut start = Vec::new();
    let is_whole = loop {
        match timeout_at(deadline, connection.next_piece(&mut body)).await {
            Ok(Ok(Some(piece))) => {
                let room = RESPONSE_OCTETS_KEPT - start.len();
                start.extend_from_slice(&piece[..piece.len().min(room)]);
            }
            Ok(Ok(None)) => break true,
            Ok(Err(_)) | Err(_) => break false,
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

impl From<Unanswered> for Unmade {
    fn from(unanswered: Unanswered) -> Self {
        unanswered.error.into()
    }
}
