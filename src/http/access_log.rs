//! One line of the log for each request.
//!
//! A line has the template of the route and never the path: an id in it is enough to read and delete an Email.

use std::time::Instant;

use axum::body::HttpBody;
use axum::http::Method;
use axum::response::Response;
use uuid::Uuid;

use super::caller::Caller;
use crate::config::AccessLog;
use crate::model::Client;

/// What the line of a request says of it.
pub(super) struct Line {
    request: Uuid,
    began_at: Instant,
    method: String,
    route: String,
    client: String,
}

impl Line {
    /// The line of a request that begins now; `None` if the log is off.
    pub(super) fn begin(log: AccessLog, id: Uuid, caller: &Caller, method: &Method, route: &str) -> Option<Self> {
        let client = match (log, caller.address) {
            (AccessLog::Off, _) => return None,
            (_, None) => "local".to_owned(),
            (AccessLog::Masked, Some(address)) => Client::of(address).network().to_string(),
            (AccessLog::Full, Some(address)) => address.to_string(),
        };
        // Methods of no standard are the client's own words.
        let is_known = method.is_idempotent() || [Method::POST, Method::PATCH, Method::CONNECT].contains(method);
        let method = if is_known { method.to_string() } else { "other".to_owned() };
        Some(Self { request: id, began_at: Instant::now(), method, route: route.to_owned(), client })
    }

    /// Writes the line when the answer begins. What a stream will send is not known then.
    pub(super) fn write(self, response: &Response) {
        tracing::info!(
            request_id = %self.request,
            client = self.client,
            method = self.method,
            route = self.route,
            status = response.status().as_u16(),
            octets = response.body().size_hint().exact(),
            duration_ms = u64::try_from(self.began_at.elapsed().as_millis()).unwrap_or(u64::MAX),
            "http request"
        );
    }
}
