//! How a request reaches the service: over TCP, over the daemon's socket, or by calling the router in this process.
//!
//! Every answer is bounded in octets and in time, and no redirect is followed.

use std::path::Path;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, LOCATION, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderName, Method, Request, Response};
use bytes::{Bytes, BytesMut};
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use serde_json::Value;
use tower::ServiceExt;
use url::Url;

use super::problem::{NO_HTTP, NO_TLS};
use super::{ClientError, LocalRouter, ServerUrl, Token};

/// The content type of the bodies of requests.
const JSON: &str = "application/json";
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// Enough for the deletion of an inbox of 100,000, for a DNS check whose servers do not answer, and for the test of a webhook
/// with the longest attempt at a webhook, which is 2 minutes.
const ANSWER_WITHIN: Duration = Duration::from_secs(150);
/// How long the next octets of an answer without a bound may take.
pub(super) const OCTETS_WITHIN: Duration = Duration::from_mins(2);

/// A request.
#[derive(Debug)]
pub(super) struct ApiRequest {
    pub(super) method: Method,
    /// Path and query below the base address, percent-encoded, with a leading `/`.
    pub(super) path: String,
    pub(super) body: Option<Value>,
    /// The largest response that is read.
    pub(super) octets_max: usize,
}

/// A response.
#[derive(Debug)]
pub(super) struct ApiResponse {
    pub(super) status: u16,
    pub(super) content_type: String,
    pub(super) retry_after: Option<u64>,
    pub(super) location: Option<String>,
    pub(super) body: Bytes,
}

/// Where the service is and how it is spoken to.
#[derive(Debug)]
pub enum Transport {
    /// A server anywhere, by its base address.
    Http(Wire),
    /// The daemon on this machine, through the socket in its data directory. The caller is the administrator.
    Unix(Wire),
    /// The router in this process, over the store that this process opened. The caller is the administrator.
    InProcess(LocalRouter),
}

/// A connection pool to one place.
#[derive(Debug)]
pub struct Wire {
    http: reqwest::Client,
    base: String,
    shown: String,
    token: Option<Token>,
}

impl Transport {
    /// Over TCP to `server`, with the administrator's token if there is one.
    pub fn http(server: &ServerUrl, token: Option<Token>) -> Result<Self, ClientError> {
        let mut builder = builder();
        if !server.is_tls() {
            // Without TLS no certificate is needed, so a machine without any can still ask.
            builder = builder.tls_certs_only([]);
        }
        if server.is_loopback() {
            builder = builder.no_proxy();
        }
        let base = server.base().to_owned();
        Ok(Self::Http(Wire { http: build(builder, &base)?, shown: base.clone(), base, token }))
    }

    /// Through the socket at `path`.
    pub fn unix(path: &Path) -> Result<Self, ClientError> {
        let shown = path.display().to_string();
        let http = build(builder().tls_certs_only([]).unix_socket(path), &shown)?;
        Ok(Self::Unix(Wire { http, shown, base: "http://localhost".to_owned(), token: None }))
    }

    /// Where questions go, for a person.
    pub fn shown(&self) -> &str {
        match self {
            Self::Http(wire) | Self::Unix(wire) => &wire.shown,
            Self::InProcess(local) => &local.shown,
        }
    }

    /// Whether the service treats the caller as the administrator, as far as the client knows.
    pub const fn is_administrator(&self) -> bool {
        match self {
            Self::Http(wire) => wire.token.is_some(),
            Self::Unix(_) | Self::InProcess(_) => true,
        }
    }

    pub(super) async fn send(&self, request: ApiRequest) -> Result<ApiResponse, ClientError> {
        let answer = async {
            match self {
                Self::Http(wire) | Self::Unix(wire) => wire.send(request).await,
                Self::InProcess(local) => in_process(&local.router, &local.shown, request).await,
            }
        };
        match tokio::time::timeout(ANSWER_WITHIN, answer).await {
            Ok(answer) => answer,
            Err(_) => Err(ClientError::TimedOut { server: self.shown().to_owned() }),
        }
    }
}

/// The octets of an answer as they come.
pub(super) type Pieces = BoxStream<'static, Result<Bytes, String>>;

impl Transport {
    /// Asks for an answer without a bound: its head, with the body of a failure, and the octets of a success.
    pub(super) async fn open(&self, request: ApiRequest) -> Result<(ApiResponse, Pieces), ClientError> {
        let opened = async {
            match self {
                Self::Http(wire) | Self::Unix(wire) => wire.open(request).await,
                Self::InProcess(local) => open_in_process(&local.router, &local.shown, request).await,
            }
        };
        match tokio::time::timeout(ANSWER_WITHIN, opened).await {
            Ok(opened) => opened,
            Err(_) => Err(ClientError::TimedOut { server: self.shown().to_owned() }),
        }
    }
}

fn builder() -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .user_agent(concat!("tempmail-cli/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_WITHIN)
}

fn build(builder: reqwest::ClientBuilder, server: &str) -> Result<reqwest::Client, ClientError> {
    builder.build().map_err(|error| ClientError::Unreachable { server: server.to_owned(), reason: root_cause(&error) })
}

impl Wire {
    async fn request(&self, request: ApiRequest) -> Result<reqwest::Response, ClientError> {
        let url = Url::parse(&format!("{}{}", self.base, request.path))
            .map_err(|error| self.unreachable(error.to_string()))?;
        let mut builder = self.http.request(request.method, url);
        if let Some(token) = &self.token {
            builder = builder.header(AUTHORIZATION, token.header());
        }
        if let Some(body) = request.body {
            builder = builder.header(CONTENT_TYPE, JSON).body(body.to_string());
        }
        builder.send().await.map_err(|error| self.failed(&error))
    }

    async fn open(&self, request: ApiRequest) -> Result<(ApiResponse, Pieces), ClientError> {
        let octets_max = request.octets_max;
        let response = self.request(request).await?;
        if !response.status().is_success() {
            return Ok((self.whole(response, octets_max).await?, stream::empty().boxed()));
        }
        let head = api_response(response.status().as_u16(), response.headers(), Bytes::new());
        Ok((head, response.bytes_stream().map_err(|error| root_cause(&error)).boxed()))
    }

    async fn send(&self, request: ApiRequest) -> Result<ApiResponse, ClientError> {
        let octets_max = request.octets_max;
        self.whole(self.request(request).await?, octets_max).await
    }

    async fn whole(&self, mut response: reqwest::Response, octets_max: usize) -> Result<ApiResponse, ClientError> {
        let mut body = BytesMut::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.failed(&error))? {
            if body.len() + chunk.len() > octets_max {
                return Err(ClientError::TooLarge { octets_max });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(api_response(response.status().as_u16(), response.headers(), body.freeze()))
    }

    fn failed(&self, error: &reqwest::Error) -> ClientError {
        if error.is_timeout() {
            ClientError::TimedOut { server: self.shown.clone() }
        } else {
            let cause = root_cause(error);
            self.unreachable(match cause.as_str() {
                // The words of rustls and hyper, whose types are not reachable through the layers.
                text if text.starts_with("received corrupt message") => NO_TLS.to_owned(),
                text if text.starts_with("invalid HTTP") => NO_HTTP.to_owned(),
                _ => cause,
            })
        }
    }

    fn unreachable(&self, reason: String) -> ClientError {
        ClientError::Unreachable { server: self.shown.clone(), reason }
    }
}

async fn in_process(router: &Router, shown: &str, request: ApiRequest) -> Result<ApiResponse, ClientError> {
    let octets_max = request.octets_max;
    bounded(ask_router(router, shown, request).await?, octets_max).await
}

async fn open_in_process(
    router: &Router,
    shown: &str,
    request: ApiRequest,
) -> Result<(ApiResponse, Pieces), ClientError> {
    let octets_max = request.octets_max;
    let response = ask_router(router, shown, request).await?;
    if !response.status().is_success() {
        return Ok((bounded(response, octets_max).await?, stream::empty().boxed()));
    }
    let (head, body) = response.into_parts();
    let pieces = body.into_data_stream().map_err(|error| root_cause(&error)).boxed();
    Ok((api_response(head.status.as_u16(), &head.headers, Bytes::new()), pieces))
}

async fn ask_router(router: &Router, shown: &str, request: ApiRequest) -> Result<Response<Body>, ClientError> {
    let mut builder = Request::builder().method(request.method).uri(request.path).header(HOST, "localhost");
    let body = match request.body {
        Some(body) => {
            builder = builder.header(CONTENT_TYPE, JSON);
            Body::from(body.to_string())
        }
        None => Body::empty(),
    };
    let unintelligible = |reason: String| ClientError::Unintelligible { server: shown.to_owned(), reason };
    let request = builder.body(body).map_err(|error| unintelligible(error.to_string()))?;
    match router.clone().oneshot(request).await {
        Ok(response) => Ok(response),
        Err(never) => match never {},
    }
}

async fn bounded(response: Response<Body>, octets_max: usize) -> Result<ApiResponse, ClientError> {
    let (head, body) = response.into_parts();
    // The router's own bodies of this kind do not fail, so an error can only be the bound.
    let body = axum::body::to_bytes(body, octets_max).await.map_err(|_| ClientError::TooLarge { octets_max })?;
    Ok(api_response(head.status.as_u16(), &head.headers, body))
}

fn api_response(status: u16, headers: &HeaderMap, body: Bytes) -> ApiResponse {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    ApiResponse {
        status,
        content_type: text(CONTENT_TYPE).unwrap_or_default(),
        retry_after: text(RETRY_AFTER).and_then(|seconds| seconds.trim().parse().ok()),
        location: text(LOCATION),
        body,
    }
}

/// The innermost cause: the HTTP client's own sentences name its layers, not what happened.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
