//! Places of requests that wait for mail, beside those of their connections.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use tokio_util::sync::CancellationToken;

use super::Api;
use super::authentication::{Bearer, token_invalid};
use super::principal::asker;
use super::problem::{Code, Problem};
use super::rate_limit;
use crate::admission::{Permit, What, Who};

/// How long a client should wait before it tries again to get a place, in seconds.
const RETRY_AFTER: u32 = 5;

/// Cancelled when the service stops; in the extensions of each request over a socket.
#[derive(Clone, Debug)]
pub(super) struct Stopping(pub(super) CancellationToken);

/// A request that may wait.
#[derive(Debug)]
pub(super) struct Waiter {
    who: Who,
    stopping: Option<Stopping>,
    bearer: Option<Bearer>,
}

impl Api {
    /// Takes a place for a request. The problem is that there is none.
    pub(super) fn place(&self, waiter: &Waiter) -> Result<Permit, Problem> {
        let place = self.admission.admit(waiter.who, What::Waiting, 1);
        place.map_err(|refused| rate_limit::no_place(refused, "requests that wait for mail", RETRY_AFTER))
    }
}

impl Waiter {
    /// Refuses a request whose token is not valid any more. It is asked again before each answer.
    pub(super) async fn check(&self, api: &Api) -> Result<(), Problem> {
        match &self.bearer {
            Some(Bearer(token)) if api.tokens.look_up(token.expose(), api.clock.now()).await.is_none() => {
                Err(token_invalid())
            }
            _ => Ok(()),
        }
    }

    /// Waits until the service stops. The problem tells the client to try again.
    pub(super) async fn stopping(&self) -> Problem {
        match &self.stopping {
            Some(Stopping(token)) => token.cancelled().await,
            None => std::future::pending().await,
        }
        Problem::new(Code::Stopping, "the service stops; try again").with_retry_after(1)
    }
}

impl<S: Sync> FromRequestParts<S> for Waiter {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let extensions = &parts.extensions;
        Ok(Self { who: asker(extensions), stopping: extensions.get().cloned(), bearer: extensions.get().cloned() })
    }
}
