//! JSON bodies, bounded in size and time.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::{Map, Value};

use super::problem::{Code, Problem};

/// The longest body in octets.
const BODY_OCTETS_MAX: u64 = 64 * 1024;

/// How long a body may take, in the extensions of a request. The default is [`BodyTimeout::default`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BodyTimeout(pub(super) Duration);

impl Default for BodyTimeout {
    fn default() -> Self {
        Self(Duration::from_secs(10))
    }
}

/// The JSON object in a request's body.
#[derive(Clone, Debug)]
pub(super) struct JsonObject(Map<String, Value>);

impl JsonObject {
    /// The text in a field; `None` if the field is missing or null. Any other value is an error with `code`.
    pub(super) fn text(&self, name: &str, code: Code) -> Result<Option<&str>, Problem> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Problem::new(code, format!("'{name}' must be a string"))),
        }
    }

    /// The whole number in a field; `None` if the field is missing or null. Any other value is an error with `code`.
    pub(super) fn number(&self, name: &str, code: Code) -> Result<Option<u64>, Problem> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => {
                let invalid = || Problem::new(code, format!("'{name}' must be a whole number"));
                value.as_u64().map(Some).ok_or_else(invalid)
            }
        }
    }

    /// The boolean in a field; `false` if the field is missing or null.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Problem> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(Problem::new(Code::BooleanInvalid, format!("'{name}' must be true or false"))),
        }
    }
}

impl<S: Sync> FromRequest<S> for JsonObject {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        if !is_json(request.headers()) {
            return Err(Problem::new(
                Code::ContentTypeUnsupported,
                "the body must be JSON with 'Content-Type: application/json'",
            ));
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
    let BodyTimeout(timeout) = request.extensions().get().copied().unwrap_or_default();
    let read = tokio::time::timeout(timeout, read(request.into_body(), octets_max)).await;
    read.map_err(|_| Problem::new(Code::BodyTimeout, "the body did not arrive in time"))?
}

async fn read(body: Body, octets_max: u64) -> Result<Bytes, Problem> {
    match Limited::new(body, usize::try_from(octets_max).unwrap_or(usize::MAX)).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            Err(Problem::new(Code::BodyTooLarge, format!("the body is longer than {octets_max} octets")))
        }
        Err(_) => Err(Problem::new(Code::BodyIncomplete, "the connection broke before the body was complete")),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}
