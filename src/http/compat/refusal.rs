//! Errors as the original has them: a status and a text.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::http::problem::{Code, Problem};

/// An error of a request. Those of the service itself (5xx) stay problems.
#[derive(Debug)]
pub(super) struct Refusal(Problem);

impl<T: Into<Problem>> From<T> for Refusal {
    fn from(problem: T) -> Self {
        Self(problem.into())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self.0.code() {
            // A caller that may not read a message must not learn that it is there.
            Code::NotFound | Code::IdInvalid | Code::RoleAddress => {
                let fields = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
                (StatusCode::NOT_FOUND, fields, "404 page not found").into_response()
            }
            _ => self.0.into_text(),
        }
    }
}
