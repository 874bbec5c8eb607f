//! How a request reaches the service: over TCP, or through the daemon's socket.
//!
//! Every answer is bounded in octets and in time, and no redirect is followed.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, LOCATION, RETRY_AFTER};
use axum::http::{HeaderName, Method};
use bytes::{Bytes, BytesMut};
use serde_json::Value;
use tokio::time::timeout;
use url::Url;

use super::{Access, ClientError, Failure, ServerUrl, Token};

const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// Enough for the deletion of an inbox of 100,000, for a DNS check whose servers do not answer, and for the test of a webhook
/// with the longest attempt at a webhook, which is 2 minutes.
const ANSWER_WITHIN: Duration = Duration::from_secs(150);
/// How long the next octets of an answer without a bound may take.
const OCTETS_WITHIN: Duration = Duration::from_mins(2);
/// The largest answer that is read whole: a page of messages comes with their bodies.
pub(super) const OCTETS_MAX: usize = 256 * 1024 * 1024;

/// Where private inboxes are. A key goes nowhere else, so one that has lapsed is in nobody's way.
const OF_ADDRESSES: [&str; 3] = ["/api/mail/", "/api/webhooks", "/api/addresses"];

/// A response.
#[derive(Debug)]
pub(super) struct ApiResponse {
    pub(super) status: u16,
    pub(super) content_type: String,
    pub(super) retry_after: Option<u64>,
    pub(super) location: Option<String>,
    pub(super) body: Bytes,
}

/// The octets of an answer as they come.
#[derive(Debug)]
pub(super) struct Pieces<'c> {
    transport: &'c Transport,
    response: reqwest::Response,
}

impl Pieces<'_> {
    /// The next octets; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, ClientError> {
        match timeout(OCTETS_WITHIN, self.response.chunk()).await {
            Err(_elapsed) => Err(self.transport.failure(Failure::TimedOut)),
            Ok(piece) => piece.map_err(|error| self.transport.failure(Failure::BrokenOff(root_cause(&error)))),
        }
    }
}

/// A pool of connections to one place.
#[derive(Debug)]
pub struct Transport {
    http: reqwest::Client,
    base: String,
    shown: String,
    token: Mutex<Option<Token>>,
    is_local: bool,
}

impl Transport {
    /// Over TCP to `server`.
    pub fn http(server: &ServerUrl, access: Access) -> Result<Self, ClientError> {
        let mut builder = builder();
        if server.is_tls() {
            builder = builder.tls_certs_merge(access.authorities);
        } else {
            // Without TLS no certificate is needed, so a machine without any can still ask.
            builder = builder.tls_certs_only([]);
        }
        if server.is_loopback() {
            builder = builder.no_proxy();
        }
        let base = server.base().to_owned();
        Ok(Self {
            http: build(builder, &base)?,
            shown: base.clone(),
            base,
            token: Mutex::new(access.token),
            is_local: false,
        })
    }

    /// Through the socket of the daemon on this machine at `path`. The caller is the administrator.
    pub fn unix(path: &Path) -> Result<Self, ClientError> {
        let shown = path.display().to_string();
        let http = build(builder().tls_certs_only([]).unix_socket(path), &shown)?;
        Ok(Self { http, shown, base: "http://localhost".to_owned(), token: Mutex::default(), is_local: true })
    }

    /// Where questions go, for a person.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Whether the service treats the caller as the administrator, as far as the client knows.
    pub fn is_administrator(&self) -> bool {
        self.is_local || self.token().is_some_and(|token| !token.is_key())
    }

    /// What the caller bears.
    pub fn token(&self) -> Option<Token> {
        self.token.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes the caller bear this from now on.
    pub fn bear(&self, token: Option<Token>) {
        *self.token.lock().unwrap_or_else(PoisonError::into_inner) = token;
    }

    /// Whether it leads to the daemon of this machine.
    pub const fn is_local(&self) -> bool {
        self.is_local
    }

    /// Asks, and reads the whole answer. `path` is below the base address, with its query.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<ApiResponse, ClientError> {
        self.in_time(async { self.whole(&mut self.request(method, path, body).await?).await }).await
    }

    /// Asks for an answer without a bound: its head, with the body of a failure, and the octets of a success.
    pub(super) async fn open(&self, path: &str) -> Result<(ApiResponse, Pieces<'_>), ClientError> {
        self.in_time(async {
            let mut response = self.request(Method::GET, path, None).await?;
            let is_success = response.status().is_success();
            let answer = if is_success { head(&response) } else { self.whole(&mut response).await? };
            Ok((answer, Pieces { transport: self, response }))
        })
        .await
    }

    async fn in_time<T>(&self, answer: impl Future<Output = Result<T, ClientError>>) -> Result<T, ClientError> {
        timeout(ANSWER_WITHIN, answer).await.unwrap_or_else(|_| Err(self.failure(Failure::TimedOut)))
    }

    async fn request(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<reqwest::Response, ClientError> {
        let url = Url::parse(&format!("{}{path}", self.base))
            .map_err(|error| self.failure(Failure::Unreachable(error.to_string())))?;
        let mut builder = self.http.request(method, url);
        let is_for = |token: &Token| !token.is_key() || OF_ADDRESSES.iter().any(|part| path.starts_with(part));
        if let Some(token) = self.token().filter(is_for) {
            builder = builder.header(AUTHORIZATION, token.header());
        }
        if let Some(body) = body {
            builder = builder.header(CONTENT_TYPE, "application/json").body(body.to_string());
        }
        builder.send().await.map_err(|error| self.failed(&error))
    }

    async fn whole(&self, response: &mut reqwest::Response) -> Result<ApiResponse, ClientError> {
        let mut body = BytesMut::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.failed(&error))? {
            if body.len() + chunk.len() > OCTETS_MAX {
                return Err(ClientError::TooLarge { octets_max: OCTETS_MAX });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(ApiResponse { body: body.freeze(), ..head(response) })
    }

    fn failed(&self, error: &reqwest::Error) -> ClientError {
        let cause = root_cause(error);
        self.failure(match cause.as_str() {
            _ if error.is_timeout() => Failure::TimedOut,
            // The words of rustls and hyper, whose types are not reachable through the layers.
            text if text.starts_with("received corrupt message") => Failure::NoTls,
            text if text.starts_with("invalid HTTP") => Failure::NoHttp,
            text if text.contains("UnknownIssuer") => Failure::NoTrust,
            _ => Failure::Unreachable(cause),
        })
    }

    /// The error for what went wrong there.
    pub fn failure(&self, why: Failure) -> ClientError {
        ClientError::Failed { server: self.shown.clone(), why }
    }
}

fn builder() -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .user_agent(concat!("tempmail-cli/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_WITHIN)
}

fn build(builder: reqwest::ClientBuilder, server: &str) -> Result<reqwest::Client, ClientError> {
    let failed = |error| Failure::Unreachable(root_cause(&error));
    builder.build().map_err(|error| ClientError::Failed { server: server.to_owned(), why: failed(error) })
}

/// A response without its body.
fn head(response: &reqwest::Response) -> ApiResponse {
    let text = |name: HeaderName| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    ApiResponse {
        status: response.status().as_u16(),
        content_type: text(CONTENT_TYPE).unwrap_or_default(),
        retry_after: text(RETRY_AFTER).and_then(|seconds| seconds.trim().parse().ok()),
        location: text(LOCATION),
        body: Bytes::new(),
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
