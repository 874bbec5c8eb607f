//! JSON bodies, bounded in size and time.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::problem::{Code, Problem};
use super::query;

/// The longest body in octets.
const BODY_OCTETS_MAX: u64 = 64 * 1024;

/// How long a body may take by default.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a body may take, in the extensions of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BodyTimeout(pub(super) Duration);

/// The JSON object in a request's body. A member that is null is as good as a missing one.
#[derive(Clone, Debug)]
pub(super) struct JsonObject(Map<String, Value>);

impl JsonObject {
    /// The value of an optional member.
    pub(super) fn opt<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<T>, Problem> {
        self.get(name)?.map(|text| query::parse(name, text)).transpose()
    }

    /// The value of a required member.
    pub(super) fn req<T: FromStr<Err: Display>>(&self, name: &str) -> Result<T, Problem> {
        query::parse(name, self.text(name)?)
    }

    /// The text in a required member.
    pub(super) fn text(&self, name: &str) -> Result<&str, Problem> {
        let missing = || Problem::new(Code::ParameterMissing, format!("the field '{name}' is missing"));
        self.get(name)?.ok_or_else(missing)
    }

    /// The text in an optional member.
    pub(super) fn get(&self, name: &str) -> Result<Option<&str>, Problem> {
        self.member(name, "a string")
    }

    /// The whole number in an optional member.
    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, Problem> {
        self.member(name, "a whole number")
    }

    /// The boolean in an optional member; `false` if it is missing.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Problem> {
        Ok(self.member(name, "true or false")?.unwrap_or(false))
    }

    fn member<'a, T: Deserialize<'a>>(&'a self, name: &str, kind: &str) -> Result<Option<T>, Problem> {
        let value = self.0.get(name).unwrap_or(&Value::Null);
        Option::deserialize(value).map_err(|_| Problem::invalid(name, format!("'{name}' must be {kind}")))
    }
}

impl<S: Sync> FromRequest<S> for JsonObject {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        if !is_json(request.headers()) {
            let detail = "the body must be JSON with 'Content-Type: application/json'";
            return Err(Problem::new(Code::ContentTypeUnsupported, detail));
        }
        let octets = read_body(request, BODY_OCTETS_MAX).await?;
        match serde_json::from_slice(&octets) {
            Ok(Value::Object(object)) => Ok(Self(object)),
            Ok(_) => Err(Problem::new(Code::JsonInvalid, "the body must be a JSON object")),
            Err(error) => Err(Problem::new(Code::JsonInvalid, format!("the body is not JSON: {error}"))),
        }
    }
}

/// Reads the body of a request in time, if it has at most `octets_max`.
pub(super) async fn read_body(request: Request, octets_max: u64) -> Result<Bytes, Problem> {
    let timeout = request.extensions().get().map_or(BODY_TIMEOUT, |BodyTimeout(timeout)| *timeout);
    let body = Limited::new(request.into_body(), usize::try_from(octets_max).unwrap_or(usize::MAX));
    let late = |_| Problem::new(Code::BodyTimeout, "the body did not arrive in time");
    match tokio::time::timeout(timeout, body.collect()).await.map_err(late)? {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            Err(Problem::new(Code::BodyTooLarge, format!("the body is longer than {octets_max} octets")))
        }
        Err(_) => Err(Problem::new(Code::JsonInvalid, "the connection broke before the body was complete")),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let media_type = media_type(headers);
    media_type == "application/json" || (media_type.starts_with("application/") && media_type.ends_with("+json"))
}

/// The media type in lower case, without parameters; empty if a request has none.
pub(super) fn media_type(headers: &HeaderMap) -> String {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
