//! A response of HTTP with its whole body.

use bytes::Bytes;
use reqwest::header::HeaderMap;
use reqwest::{RequestBuilder, StatusCode};
use serde_json::Value;

/// A response that was read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    /// The answer to a request.
    pub(crate) async fn to(request: RequestBuilder) -> Self {
        let response = request.send().await.expect("an answer");
        let (status, headers) = (response.status(), response.headers().clone());
        Self { status, headers, body: response.bytes().await.expect("its whole body") }
    }

    /// The body, which says that it is JSON.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"), "{self:?}");
        serde_json::from_slice(&self.body).expect("JSON")
    }

    /// The code of a problem, after a check of all its members.
    pub(crate) fn problem(&self) -> String {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let body: Value = serde_json::from_slice(&self.body).expect("JSON");
        assert_eq!(body["status"], self.status.as_u16());
        assert_eq!(body["type"], "about:blank");
        assert_eq!(body["title"], self.status.canonical_reason().expect("phrase"));
        assert!(!body["detail"].as_str().expect("detail").is_empty());
        body["code"].as_str().expect("code").to_owned()
    }

    /// A further member of a problem.
    pub(crate) fn member(&self, name: &str) -> Value {
        self.problem();
        serde_json::from_slice::<Value>(&self.body).expect("JSON")[name].clone()
    }

    /// A header field.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("text"))
    }

    /// The body as text.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("UTF-8")
    }
}
