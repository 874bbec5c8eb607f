//! Requests that wait for mail. Each has a place, beside that of its connection.

use super::authentication::token_invalid;
use super::problem::{Code, Problem};
use super::{Api, Caller, rate_limit};
use crate::admission::{Permit, What};

/// How long a client should wait before it tries again to get a place, in seconds.
const RETRY_AFTER: u32 = 5;

impl Api {
    /// Takes a place for a request. The problem is that there is none.
    pub(super) fn place(&self, caller: &Caller) -> Result<Permit, Problem> {
        let place = self.admission.admit(caller.who, What::Waiting, 1);
        place.map_err(|refused| rate_limit::no_place(refused, "requests that wait for mail", RETRY_AFTER))
    }

    /// Refuses a caller whose token is not valid any more. It is asked again before each answer.
    pub(super) async fn check_token(&self, caller: &Caller) -> Result<(), Problem> {
        match &caller.token {
            Some(token) if self.tokens.look_up(token.expose(), self.clock.now()).await.is_none() => {
                Err(token_invalid())
            }
            _ => Ok(()),
        }
    }

    /// Waits until the service stops. The problem tells the client to try again.
    pub(super) async fn stopping(&self) -> Problem {
        self.stop.cancelled().await;
        Problem::new(Code::Stopping, "the service stops; try again").with_retry_after(1)
    }
}
