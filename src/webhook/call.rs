//! The calling half of an attempt: one request, under bounds of time and size.
//!
//! What bounds it: the time for connecting, the time for the whole attempt, the octets and the time given to a response's
//! body; and all its idle connections together (`webhook/kept.rs`). It follows no redirect, uses no proxy, keeps no cookie, decodes no compression and never repeats a request; the
//! schedule does that.

use std::collections::HashMap;
use std::error::Error;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::header::RETRY_AFTER;
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Response};
use tokio::time::{Instant, timeout_at};

use super::attempt::Prepared;
use super::dial::{Dial, DialError};
use super::guard::Guard;
use super::kept::{IDLE_MAX, IDLE_PER_ENDPOINT_MAX, Kept};
use super::outcome::{ErrorClass, Outcome, cut, kept};
use super::schedule::retry_after;
use super::target::Endpoint;
use crate::clock::Clock;
use crate::dns::Resolver;

/// How much of a response's body is read before the connection is dropped.
const BODY_OCTETS_MAX: usize = 64 * 1024;
/// How long a response's body may take. Its status has come by then and it is only read for the log, so that a slow one
/// is not worth the place of another attempt.
const BODY_WITHIN: Duration = Duration::from_secs(2);
const HEADERS_MAX: usize = 100;
const DETAIL_OCTETS_MAX: usize = 256;

/// The bounds of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallerSettings {
    /// How long connecting may take: DNS, TCP and TLS.
    pub connect_timeout: Duration,
    /// How long the whole attempt may take.
    pub timeout: Duration,
}

impl Default for CallerSettings {
    /// 5 s and 15 s.
    fn default() -> Self {
        Self { connect_timeout: Duration::from_secs(5), timeout: Duration::from_secs(15) }
    }
}

/// The HTTP client cannot be set up.
#[derive(Debug, thiserror::Error)]
#[error("the HTTP client for webhooks cannot be set up: {0}")]
pub struct CallerError(#[from] reqwest::Error);

/// Sends prepared requests.
pub struct Caller {
    settings: CallerSettings,
    guard: Arc<Guard>,
    clock: Arc<dyn Clock>,
    clients: Clients,
    /// Clients for the ports on which we listen: a client's resolver is not told the port, and only there it matters.
    own_ports: HashMap<u16, Clients>,
    kept: Mutex<Kept>,
}

/// One that keeps connections for the next event, and one that keeps none.
struct Clients {
    keeping: Client,
    closing: Client,
}

/// Which client an attempt has. What keeps connections has a place in [`Kept`] as long as this lives.
struct Turn<'a> {
    caller: &'a Caller,
    endpoint: &'a Endpoint,
    is_kept: bool,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if self.is_kept {
            self.caller.kept().end(self.endpoint, self.caller.clock.boot());
        }
    }
}

struct Answer {
    status: u16,
    retry_after: Option<Duration>,
    response: String,
}

struct Failed {
    class: ErrorClass,
    detail: String,
}

impl Caller {
    /// A caller behind `guard` that asks `resolver` for the addresses of names.
    pub fn new(
        settings: CallerSettings,
        guard: Arc<Guard>,
        resolver: Arc<dyn Resolver>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, CallerError> {
        let clients = |own_port| {
            let timeout = settings.connect_timeout.mul_f64(0.8);
            let dial = Dial { guard: guard.clone(), resolver: resolver.clone(), own_port, timeout };
            let keeping = client(settings, dial.clone(), IDLE_PER_ENDPOINT_MAX)?;
            Ok(Clients { keeping, closing: client(settings, dial, 0)? })
        };
        let own_ports = guard.own_ports().into_iter().map(|port| Ok((port, clients(Some(port))?)));
        let own_ports = own_ports.collect::<Result<_, reqwest::Error>>()?;
        let clients = clients(None)?;
        Ok(Self { settings, clients, own_ports, guard: guard.clone(), clock, kept: Mutex::default() })
    }

    /// Makes one attempt. It ends within [`CallerSettings::timeout`], whatever the receiver does.
    pub async fn call(&self, prepared: &Prepared) -> Outcome {
        let started_at = self.clock.boot();
        let answer = self.answer(prepared).await;
        let duration = self.clock.boot().saturating_sub(started_at);
        match answer {
            Ok(Answer { status, retry_after, response }) => {
                let class = (!(200..300).contains(&status)).then_some(ErrorClass::HttpStatus);
                Outcome { status: Some(status), class, duration, retry_after, response, detail: String::new() }
            }
            Err(Failed { class, detail }) => Outcome {
                status: None,
                class: Some(class),
                duration,
                retry_after: None,
                response: String::new(),
                detail: cut(&detail, DETAIL_OCTETS_MAX),
            },
        }
    }

    async fn answer(&self, prepared: &Prepared) -> Result<Answer, Failed> {
        let target = &prepared.target;
        self.guard
            .check_target(target)
            .map_err(|refused| Failed { class: ErrorClass::RefusedAddress, detail: refused.to_string() })?;
        let deadline = Instant::now() + self.settings.timeout;
        let turn = self.turn(target.endpoint());
        let clients = self.own_ports.get(&target.port()).unwrap_or(&self.clients);
        let client = if turn.is_kept { &clients.keeping } else { &clients.closing };
        let request = client.post(target.url().clone()).headers(prepared.headers.clone()).body(prepared.body.clone());
        let sent = timeout_at(deadline, request.send()).await;
        let sent = sent.map_err(|_| Failed { class: ErrorClass::Timeout, detail: "no response in time".to_owned() })?;
        let mut response = sent.map_err(|error| failed(&error))?;
        let status = response.status().as_u16();
        let asked = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let retry_after =
            asked.filter(|_| matches!(status, 429 | 503)).and_then(|it| retry_after(it, self.clock.now()));
        let response = read(&mut response, deadline.min(Instant::now() + BODY_WITHIN)).await;
        Ok(Answer { status, retry_after, response })
    }

    fn turn<'a>(&'a self, endpoint: &'a Endpoint) -> Turn<'a> {
        let is_kept = self.kept().begin(endpoint, self.clock.boot());
        Turn { caller: self, endpoint, is_kept }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads a response's body up to its end, the bound, the deadline or an error: what came until then is what is kept.
async fn read(response: &mut Response, deadline: Instant) -> String {
    let mut start = Vec::new();
    let mut count = 0;
    while let Ok(Ok(Some(chunk))) = timeout_at(deadline, response.chunk()).await {
        let room = super::outcome::RESPONSE_OCTETS_KEPT - start.len();
        start.extend_from_slice(&chunk[..chunk.len().min(room)]);
        count += chunk.len();
        if count >= BODY_OCTETS_MAX {
            break;
        }
    }
    kept(&start)
}

fn client(settings: CallerSettings, dial: Dial, idle_per_endpoint_max: usize) -> Result<Client, reqwest::Error> {
    let builder = || builder(settings, dial.clone()).pool_max_idle_per_host(idle_per_endpoint_max);
    builder().build().or_else(|error| {
        tracing::warn!(%error, "no certificates of this system can be read; webhooks with https URLs will fail");
        builder().tls_certs_only([]).build()
    })
}

fn builder(settings: CallerSettings, dial: Dial) -> ClientBuilder {
    Client::builder()
        .dns_resolver(dial)
        .no_proxy()
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate()
        .http1_only()
        .http1_max_headers(HEADERS_MAX)
        .connect_timeout(settings.connect_timeout)
        .pool_idle_timeout(IDLE_MAX)
}

fn failed(error: &reqwest::Error) -> Failed {
    let causes: Vec<_> = causes(error).collect();
    let dial = causes.iter().find_map(|cause| cause.downcast_ref::<DialError>());
    let is_tls = || causes.iter().any(|cause| is_tls_failure(*cause));
    let class = match dial {
        Some(DialError::Refused(_)) => ErrorClass::RefusedAddress,
        Some(_) => ErrorClass::Dns,
        None if error.is_dns() => ErrorClass::Dns,
        None if error.is_connect() && is_tls() => ErrorClass::Tls,
        None if error.is_connect() => ErrorClass::Connect,
        None if error.is_timeout() => ErrorClass::Timeout,
        None => ErrorClass::Other,
    };
    // The innermost cause says it best, and it does not repeat the URL.
    let detail = dial.map(ToString::to_string).or_else(|| causes.last().map(ToString::to_string));
    Failed { class, detail: detail.unwrap_or_default() }
}

/// How the TLS layer reports what is wrong with a certificate or a handshake, and a peer that leaves during one.
fn is_tls_failure(cause: &(dyn Error + 'static)) -> bool {
    let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
    matches!(kind, Some(io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof))
}

/// The error and what caused it, outermost first.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| {
        // The source of an I/O error is the source of what it wraps: without this the wrapped one would be passed over.
        match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(wrapped) => Some(wrapped as &(dyn Error + 'static)),
            None => error.source(),
        }
    })
}
