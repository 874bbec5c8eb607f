//! The middleware of every request. It finds the client behind proxies and the bearer of a token, and checks host and
//! origin. It counts the request for the rate limits, logs failures and panics, and sets common header fields.

use std::net::Ipv4Addr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use tracing::Instrument;
use uuid::Uuid;

use super::Api;
use super::access_log::Line;
use super::caller::Caller;
use super::forwarded::{self, is_forwarded};
use super::memory;
use super::problem::{COMMON_FIELDS, Code, LogDetail, Problem};
use super::rate_limit;
use super::web;
use crate::random;

/// The header field with the id of a request, in its answer. What a client sends in it has no effect.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

impl Api {
    /// The caller of a request: the client that a trusted proxy names in place of the proxy.
    fn caller(&self, request: &mut Request) -> Caller {
        let (admission, proxies) = (&self.admission, &self.config.http.trusted_proxies);
        let at_connection = request.extensions_mut().remove::<Caller>();
        let at_connection = at_connection.unwrap_or_else(|| Caller::public(Ipv4Addr::UNSPECIFIED.into(), admission));
        let Some(peer) = at_connection.address else { return at_connection };
        let (client, is_forwarded) =
            (forwarded::client(proxies, peer, request.headers()), is_forwarded(request.headers()));
        if is_forwarded && proxies.is_empty() {
            self.warning_of_proxy.call_once(|| tracing::warn!(
                %peer,
                "a request came through a proxy, but no trusted-proxies are set: all clients behind it share its limits"
            ));
        }
        Caller { is_here: client.is_loopback() && !is_forwarded, ..Caller::public(client, admission) }
    }

    /// Answers a request, unless its token is wrong or its client has used up a quota.
    async fn handle(&self, mut caller: Caller, mut request: Request, next: Next, id: Uuid) -> Response {
        let admission = &self.admission;
        let is_options = request.method() == Method::OPTIONS;
        let identified = self.identify(&mut caller, request.headers()).await;
        let who = caller.who;
        let mut quotas = rate_limit::count(admission, who, &request);
        let refusal = match quotas.refusal.take() {
            None if !is_options => identified.and_then(|()| self.permit_route(&mut caller, &request)).err(),
            refusal => refusal,
        };
        request.extensions_mut().insert(caller);
        let mut response = match refusal {
            Some(problem) => problem.into_response(),
            None if is_options => options(),
            None => {
                let answered = answer(request, next).instrument(tracing::info_span!("request", request_id = %id));
                memory::hold(admission, who, answered.await).await
            }
        };
        quotas.write(response.headers_mut());
        response
    }
}

/// Handles a request in the outermost layer.
pub(super) async fn pass(State(api): State<Arc<Api>>, mut request: Request, next: Next) -> Response {
    let caller = api.caller(&mut request);
    let config = &api.config.http;
    let in_flight = api.requests.begin(&request);
    let id = random::request_id(api.clock.now());
    let (method, client) = (request.method().clone(), caller.address);
    let line = Line { request: id, began_at: Instant::now(), method, client };
    let is_page = config.public.web && web::is_document(&request);
    // What a page may not send uses up nobody's quota.
    let checked = caller.address.map(|_| api.browsers.check(&request)).transpose();
    let (mut response, allowed) = match checked {
        Ok(allowed) => (api.handle(caller, request, next, id).await, allowed),
        Err(problem) => (problem.into_response(), None),
    };
    if is_page {
        response = web::shown(response);
    }
    let id = HeaderValue::try_from(id.to_string()).expect("hexadecimal digits and hyphens");
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, id);
    for (name, value) in COMMON_FIELDS {
        // A page of mail has a policy of its own.
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    if let Some(allow_origin) = allowed {
        api.browsers.write(allow_origin, headers);
    }
    line.write(config.access_log, in_flight.route(), &response);
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
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, PATCH, DELETE"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "Authorization, Content-Type"),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    (StatusCode::NO_CONTENT, fields).into_response()
}
