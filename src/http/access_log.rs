//! The identity of requests, and one line of the log for each.
//!
//! A line has the template of the route and never the path: an id in it is enough to read and delete an Email.

use std::fmt;
use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use ipnet::IpNet;
use uuid::Uuid;

use super::edge::Peer;
use crate::config::AccessLog;

/// The header field with the id of a request, in its answer. What a client sends in it has no effect.
pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The id of a request. It is unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RequestId(Uuid);

impl RequestId {
    pub(super) fn new() -> Self {
        Self(Uuid::now_v7())
    }

    /// The value of the header field.
    pub(super) fn value(self) -> HeaderValue {
        HeaderValue::from_str(&self.to_string()).expect("hexadecimal digits and hyphens")
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What the line of a request has. It is written when the answer has been sent or given up.
pub(super) struct Line {
    request: RequestId,
    began_at: Instant,
    method: &'static str,
    route: String,
    client: String,
    status: u16,
    octets: u64,
}

impl Line {
    /// The line of a request that begins now; `None` if the log is off.
    pub(super) fn begin(log: AccessLog, id: RequestId, request: &Request, route: &str) -> Option<Self> {
        let peer = request.extensions().get().map(|Peer(peer)| peer.ip());
        let client = match (log, peer) {
            (AccessLog::Off, _) => return None,
            (_, None) => "local".to_owned(),
            (AccessLog::Masked, Some(peer)) => masked(peer),
            (AccessLog::Full, Some(peer)) => peer.to_canonical().to_string(),
        };
        let method = standard(request.method());
        let began_at = Instant::now();
        Some(Self { request: id, began_at, method, route: route.to_owned(), client, status: 0, octets: 0 })
    }

    /// The answer, whose end writes the line.
    pub(super) fn follow(mut self, response: Response) -> Response {
        self.status = response.status().as_u16();
        response.map(|body| Body::new(Followed { body, line: self }))
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        tracing::info!(
            request_id = %self.request,
            client = self.client,
            method = self.method,
            route = self.route,
            status = self.status,
            octets = self.octets,
            duration_ms = u64::try_from(self.began_at.elapsed().as_millis()).unwrap_or(u64::MAX),
            "http request"
        );
    }
}

/// The network of an address: its /24 or its /48.
fn masked(address: IpAddr) -> String {
    let address = address.to_canonical();
    let prefix_length = if address.is_ipv4() { 24 } else { 48 };
    IpNet::new(address, prefix_length).map_or_else(|_| String::new(), |network| network.trunc().to_string())
}

/// A method of RFC 9110; others are the client's own words.
fn standard(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        Method::PATCH => "PATCH",
        Method::CONNECT => "CONNECT",
        Method::TRACE => "TRACE",
        _ => "other",
    }
}

/// A body whose octets are counted.
struct Followed {
    body: Body,
    line: Line,
}

impl HttpBody for Followed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            self.line.octets += frame.data_ref().map_or(0, |data| data.len() as u64);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_masked_address_is_its_network() {
        for (address, shown) in [
            ("192.0.2.17", "192.0.2.0/24"),
            ("::ffff:192.0.2.17", "192.0.2.0/24"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"),
        ] {
            assert_eq!(masked(address.parse().expect(address)), shown);
        }
    }
}
