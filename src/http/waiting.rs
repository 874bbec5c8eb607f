//! Requests that wait for mail. Each has a place, beside that of its connection.

use super::authentication::token_invalid;
use super::problem::{Code, Problem};
use super::{Api, Caller, rate_limit};
use crate::admission::{Permit, What};
use crate::model::Mailbox;

/// How long a client should wait before it tries again to get a place, in seconds.
const RETRY_AFTER: u32 = 5;

impl Api {
    /// Takes a place for a request. The problem is that there is none.
    pub(super) fn place(&self, caller: &Caller) -> Result<Permit, Problem> {
        let place = self.admission.admit(caller.who, What::Waiting, 1);
        place.map_err(|refused| rate_limit::no_place(refused, "requests that wait for mail", RETRY_AFTER))
    }

    /// Refuses a caller whose token is not valid any more, or whose lease of the mailbox has ended. It is asked again before
    /// each answer.
    pub(super) async fn check(&self, caller: &Caller, mailbox: Option<&Mailbox>) -> Result<(), Problem> {
        if let Some(token) = &caller.token
            && self.tokens.look_up(token.expose(), self.clock.now()).await.is_none()
        {
            return Err(token_invalid());
        }
        match mailbox {
            Some(mailbox) if !self.opens(caller, mailbox).await? || self.has_ended(caller, mailbox).await? => {
                // Its key may still open others.
                Err(Problem::new(Code::NotFound, "the private inbox has ended"))
            }
            _ => Ok(()),
        }
    }

    /// Whether a mailbox is of a lease that is over. The administrator may still read what is left of it.
    async fn has_ended(&self, caller: &Caller, mailbox: &Mailbox) -> Result<bool, Problem> {
        Ok(caller.is_administrator() && self.leases.is_over(mailbox).await?)
    }

    /// Waits until the service stops. The problem tells the client to try again.
    pub(super) async fn stopping(&self) -> Problem {
        self.stop.cancelled().await;
        Problem::new(Code::Stopping, "the service stops; try again").with_retry_after(1)
    }
}
