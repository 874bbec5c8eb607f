//! The middleware of every request. It checks host and origin, logs failures and panics, and sets common header
//! fields.

use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;

use super::host::{AllowedHosts, authority};
use super::metrics::Requests;
use super::origin::{AllowedOrigins, Grant};
use super::problem::{Code, LogDetail, Problem};
use crate::config::Config;

/// The client's address of a request over TCP, in the request's extensions.
///
/// The rules for hosts and origins apply only to such requests, since no browser reaches a Unix socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

/// The permitted hosts and origins of requests over TCP, and the counters of requests.
#[derive(Debug)]
pub(super) struct Edge {
    hosts: AllowedHosts,
    origins: AllowedOrigins,
    requests: Arc<Requests>,
}

impl Edge {
    pub(super) fn new(config: &Config, requests: Arc<Requests>) -> Arc<Self> {
        let is_local = config.http.is_local();
        let hosts =
            if is_local { AllowedHosts::Loopback(config.http.allowed_hosts.clone()) } else { AllowedHosts::Any };
        let origins = match &config.http.allowed_origins {
            Some(origins) if origins.iter().any(|origin| origin == "*") => AllowedOrigins::Any,
            Some(origins) => AllowedOrigins::Listed(origins.clone()),
            None if is_local => AllowedOrigins::Loopback,
            None => AllowedOrigins::Any,
        };
        Arc::new(Self { hosts, origins, requests })
    }

    /// Checks host and origin of a request. Returns the permission for the page that sent it, if it came over TCP.
    fn admit(&self, request: &Request) -> Result<Option<Grant>, Problem> {
        if request.extensions().get::<Peer>().is_none() {
            return Ok(None);
        }
        self.hosts.check(request)?;
        let grant = self.origins.grant(request.headers().get(header::ORIGIN), authority(request).ok().flatten());
        // A form can POST without a preflight, so a page without permission must not write either.
        let is_write = ![Method::GET, Method::HEAD, Method::OPTIONS].contains(request.method());
        if is_write && !grant.is_allowed {
            return Err(Problem::new(
                Code::OriginNotAllowed,
                "pages of this origin may not write; add the origin to the setting http-allowed-origins",
            ));
        }
        Ok(Some(grant))
    }
}

/// Handles a request in the outermost layer.
pub(super) async fn pass(State(edge): State<Arc<Edge>>, request: Request, next: Next) -> Response {
    let in_flight = edge.requests.begin(&request);
    let is_options = request.method() == Method::OPTIONS;
    let (grant, mut response) = match edge.admit(&request) {
        Err(problem) => (None, problem.into_response()),
        Ok(grant) if is_options => (grant, options()),
        Ok(grant) => (grant, answer(request, next).await),
    };
    finish(response.headers_mut(), grant);
    in_flight.end(response.status());
    response
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
        (header::ALLOW, "GET, HEAD, POST, DELETE, OPTIONS"),
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "Content-Type, If-None-Match"),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    (StatusCode::NO_CONTENT, fields).into_response()
}

/// The header fields that pages of other origins may read, beside those that they always may.
const EXPOSED: &str = "Accept-Ranges, Content-Disposition, Content-Range, ETag";

/// Adds the header fields of every answer. They forbid caching, guessing of the content type, and the Referer.
fn finish(headers: &mut HeaderMap, grant: Option<Grant>) {
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    // A page of mail has a policy of its own.
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'; sandbox"));
    let Some(grant) = grant else { return };
    if let Some(origin) = grant.allow_origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    }
    if grant.varies {
        headers.append(header::VARY, HeaderValue::from_static("Origin"));
    }
}
