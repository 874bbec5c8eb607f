//! One line of the log for each request.
//!
//! A line has the template of the route and never the path: an id in it is enough to read and delete an Email.

use std::net::IpAddr;
use std::time::Instant;

use axum::body::HttpBody;
use axum::http::Method;
use axum::response::Response;
use uuid::Uuid;

use crate::config::AccessLog;
use crate::model::Client;

/// What the line of a request says of it.
pub(super) struct Line {
    pub(super) request: Uuid,
    pub(super) began_at: Instant,
    pub(super) method: Method,
    /// `None` at the control socket.
    pub(super) client: Option<IpAddr>,
}

impl Line {
    /// Writes the line when the answer begins. What a stream will send is not known then.
    pub(super) fn write(&self, log: AccessLog, route: &str, response: &Response) {
        let client = match (log, self.client) {
            (AccessLog::Off, _) => return,
            (_, None) => "local".to_owned(),
            (AccessLog::Masked, Some(address)) => Client::of(address).network().to_string(),
            (AccessLog::Full, Some(address)) => address.to_string(),
        };
        let method = &self.method;
        // Methods of no standard are the client's own words.
        let is_known = method.is_idempotent() || [Method::POST, Method::PATCH, Method::CONNECT].contains(method);
        tracing::info!(
            request_id = %self.request,
            client,
            method = if is_known { method.as_str() } else { "other" },
            route,
            status = response.status().as_u16(),
            octets = response.body().size_hint().exact(),
            duration_ms = u64::try_from(self.began_at.elapsed().as_millis()).unwrap_or(u64::MAX),
            "http request"
        );
    }
}
