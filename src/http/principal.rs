//! Who asks.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

/// Who asks: what the transport knows of the caller, kept in the request's extensions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Principal {
    /// Anybody.
    #[default]
    Public,
    /// The administrator: whoever may open the local socket or the data directory.
    Administrator,
}

impl<S: Sync> FromRequestParts<S> for Principal {
    type Rejection = Infallible;

    /// A request without one is the public's.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().copied().unwrap_or_default())
    }
}
