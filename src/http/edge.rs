//! The middleware of every request. It finds the client behind proxies and the bearer of a token, and checks host and
//! origin. It counts the request for the rate limits, logs failures and panics, and sets common header fields.

use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use tracing::Instrument;

use super::Api;
use super::access_log::{Line, REQUEST_ID, RequestId};
use super::authentication::Authentication;
use super::browser::{Browsers, Grant};
use super::forwarded::{TrustedProxies, is_forwarded};
use super::memory;
use super::metrics::Requests;
use super::principal;
use super::problem::{Code, LogDetail, Problem};
use super::rate_limit;
use super::web;
use crate::admission::Admission;
use crate::config::AccessLog;

/// The client's address of a request of the public, in the request's extensions. Where a proxy named it, the port is 0.
///
/// The rules for hosts and origins apply only to such requests, since no browser reaches the control socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

/// The header fields of every answer. They forbid caching, guessing of the content type, the Referer, and the use as an
/// image or script in pages of other origins.
pub(super) const COMMON_FIELDS: [(HeaderName, &str); 5] = [
    (header::CACHE_CONTROL, "no-store"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'; sandbox"),
];

/// The permitted callers of requests of the public, their shares, and the counters of requests.
pub(super) struct Edge {
    browsers: Browsers,
    proxies: TrustedProxies,
    has_warned_of_proxy: AtomicBool,
    authentication: Arc<Authentication>,
    admission: Arc<Admission>,
    requests: Arc<Requests>,
    access_log: AccessLog,
    /// Whether there is a page for people.
    has_page: bool,
}

impl Edge {
    pub(super) fn new(api: &Api, authentication: Arc<Authentication>) -> Arc<Self> {
        Arc::new(Self {
            browsers: Browsers::new(&api.config.http),
            proxies: TrustedProxies::new(&api.config.http.trusted_proxies),
            has_warned_of_proxy: AtomicBool::new(false),
            authentication,
            admission: Arc::clone(&api.admission),
            requests: Arc::clone(&api.requests),
            access_log: api.config.http.access_log,
            has_page: api.config.http.public.web,
        })
    }

    /// Replaces the peer by the client that a trusted proxy names.
    fn identify(&self, request: &mut Request) {
        let Some(&Peer(peer)) = request.extensions().get() else { return };
        let client = self.proxies.client(peer.ip(), request.headers());
        if client != peer.ip().to_canonical() {
            request.extensions_mut().insert(Peer(SocketAddr::new(client, 0)));
        } else if self.proxies.is_empty()
            && is_forwarded(request.headers())
            && !self.has_warned_of_proxy.swap(true, Ordering::Relaxed)
        {
            tracing::warn!(
                peer = %peer.ip(),
                "a request has X-Forwarded-For or Forwarded, but no trusted-proxies are set: all clients behind a proxy share its limits"
            );
        }
    }

    /// Checks what a browser says of a request, if the public sent it. Returns the permission for the page that did.
    fn admit(&self, request: &Request) -> Result<Option<Grant>, Problem> {
        let is_public = request.extensions().get::<Peer>().is_some();
        is_public.then(|| self.browsers.check(request)).transpose()
    }

    /// Answers a request, unless its token is wrong or its client has used up a quota.
    async fn handle(&self, mut request: Request, next: Next, id: RequestId) -> Response {
        let is_options = request.method() == Method::OPTIONS;
        let identified = self.authentication.identify(&mut request).await;
        let who = principal::who(request.extensions(), &self.admission);
        request.extensions_mut().insert(who);
        let mut quotas = rate_limit::count(&self.admission, who, &request);
        let refusal = quotas.refusal.take().or(identified.err().filter(|_| !is_options));
        let mut response = match refusal {
            Some(problem) => problem.into_response(),
            None if is_options => options(),
            None => {
                self.authentication.admit_reader(&mut request);
                let answered = answer(request, next).instrument(tracing::info_span!("request", request_id = %id)).await;
                memory::hold(&self.admission, who, answered).await
            }
        };
        quotas.write(response.headers_mut());
        response
    }
}

/// Handles a request in the outermost layer.
pub(super) async fn pass(State(edge): State<Arc<Edge>>, mut request: Request, next: Next) -> Response {
    edge.identify(&mut request);
    let in_flight = edge.requests.begin(&request);
    let id = RequestId::new();
    let line = Line::begin(edge.access_log, id, &request, in_flight.route());
    let is_page = edge.has_page && web::is_document(&request);
    // What a page may not send uses up nobody's quota.
    let (mut response, grant) = match edge.admit(&request) {
        Ok(grant) => (edge.handle(request, next, id).await, grant),
        Err(problem) => (problem.into_response(), None),
    };
    if is_page {
        response = web::shown(response);
    }
    response.headers_mut().insert(REQUEST_ID, id.value());
    finish(response.headers_mut(), grant);
    in_flight.end(response.status());
    match line {
        Some(line) => line.follow(response),
        None => response,
    }
}

async fn answer(request: Request, next: Next) -> Response {
    // The path must not be logged: its id is enough to read and delete an Email.
    let route = request.extensions().get::<MatchedPath>().map_or("no route", MatchedPath::as_str);
    let target = format!("{} {route}", request.method());
    let Ok(response) = AssertUnwindSafe(next.run(request)).catch_unwind().await else {
        tracing::error!(%target, "a handler panicked");
        return Problem::internal().into_response();
    };
    match response.extensions().get::<LogDetail>() {
        Some(LogDetail { is_failure: true, text }) => tracing::error!(%target, cause = %text, "a request failed"),
        Some(LogDetail { is_failure: false, text }) => tracing::warn!(%target, cause = %text, "a request failed"),
        None => {}
    }
    if response.status() != StatusCode::METHOD_NOT_ALLOWED {
        return response;
    }
    let problem = Problem::new(
        Code::MethodNotAllowed,
        "this path does not have this method; the header field Allow lists its methods",
    );
    match response.headers().get(header::ALLOW) {
        Some(allow) => problem.with_header(header::ALLOW, allow.clone()).into_response(),
        None => problem.into_response(),
    }
}

/// The answer to OPTIONS for every path, with the methods and header fields that a page may send.
fn options() -> Response {
    let fields = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "Authorization, Content-Type"),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    (StatusCode::NO_CONTENT, fields).into_response()
}

/// Adds the header fields of every answer, and those for the page that asked.
fn finish(headers: &mut HeaderMap, grant: Option<Grant>) {
    for (name, value) in COMMON_FIELDS {
        // A page of mail has a policy of its own.
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    if let Some(grant) = grant {
        grant.write(headers);
    }
}
