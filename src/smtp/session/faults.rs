//! Faults on purpose: what a session does in place of its usual reply, or before it.
//!
//! A fault concerns only what the session would accept, so a rule never hides a refusal.

use super::{Refused, Session};
use crate::fault::{Fault, Outcome, Parties, Stage};
use crate::smtp::reasons::End;
use crate::smtp::reply::Reply;

impl Session<'_> {
    /// Carries out the fault of this stage, if there is one. All earlier replies are written before.
    pub(super) async fn meet(&mut self, stage: Stage, parties: Parties<'_>) -> Result<(), Refused> {
        let Some((rule, fault)) = self.context.backend.fault(stage, parties) else { return Ok(()) };
        tracing::debug!(client = %self.context.address, stage = stage.as_str(), rule, "fault on purpose");
        let Fault { delay, outcome } = fault;
        self.io.flush().await?;
        if !delay.is_zero() {
            self.io.pause(delay).await;
        }
        match outcome {
            _ if self.context.stop.is_cancelled() => Err(End::Stopping.into()),
            Outcome::Usual => Ok(()),
            Outcome::Slow(rate) => {
                self.slow = Some(rate);
                Ok(())
            }
            Outcome::Drop => Err(End::Fault.into()),
            Outcome::Reply(code, text) => {
                let is_last = code == 421 || stage == Stage::Banner;
                Err(Reply::of_fault(code, text, is_last).into())
            }
        }
    }

    /// Carries out the fault of a stage that the recipients decide.
    pub(super) async fn meet_with_recipients(&mut self, stage: Stage) -> Result<(), Refused> {
        let Some(transaction) = self.transaction.take() else { return Ok(()) };
        let met = self.meet(stage, Parties::Recipients(&transaction.recipients)).await;
        self.transaction = Some(transaction);
        met
    }
}
