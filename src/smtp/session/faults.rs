//! Faults on purpose: what a session does in place of its usual reply, or before it.
//!
//! A fault concerns only what the session would accept, so a rule never hides a refusal. The session decides and the
//! connection waits; until then nothing more of the dialog happens.

use std::num::NonZeroU32;
use std::time::Duration;

use super::{Message, Session, State};
use crate::smtp::fault::{Fault, Injected, Outcome, Parties, Stage};
use crate::smtp::reasons::End;
use crate::smtp::reply::Reply;
use crate::smtp::session::Action;

/// The faults of a session.
#[derive(Default)]
pub(super) struct Faults {
    /// The fault of the command that is being executed.
    met: Option<Fault>,
    /// What happens after a fault.
    held: Option<Held>,
    /// The rate of the pending replies in octets per second.
    rate: Option<NonZeroU32>,
    /// All faults since the connection asked for them last.
    injected: Vec<Injected>,
}

/// Something that waits for a fault.
struct Held {
    fault: Fault,
    then: Then,
}

/// What happens next.
pub(super) enum Then {
    /// A reply, so many times.
    Answer(Reply, usize),
    /// The message is stored.
    Store(Message),
    /// The octets of a chunk are read.
    GoOn,
}

impl Session<'_> {
    /// Asks for a fault at this stage. The error is the reply of the fault in place of the usual one; what else the fault
    /// does happens when the reply is given.
    pub(super) fn meet(&mut self, stage: Stage, parties: Parties<'_>) -> Result<(), Reply> {
        let Some(injected) = self.policy.fault(stage, parties) else { return Ok(()) };
        let Fault { delay, outcome } = injected.fault.clone();
        self.faults.injected.push(injected);
        let (outcome, reply) = match outcome {
            Outcome::Reply(code, text) => {
                let is_last = code == 421 || stage == Stage::Banner;
                (Outcome::Usual, Err(Reply::of_fault(code, text, is_last)))
            }
            outcome => (outcome, Ok(())),
        };
        if !delay.is_zero() || outcome != Outcome::Usual {
            self.faults.met = Some(Fault { delay, outcome });
        }
        reply
    }

    /// Breaks the TLS handshake if the fault drops the connection: the client gets 220 and no more.
    pub(super) fn breaks_handshake(&mut self) -> bool {
        let is_drop = |fault: &mut Fault| fault.outcome == Outcome::Drop;
        match self.faults.met.take_if(is_drop) {
            None => false,
            Some(Fault { delay, .. }) => {
                self.faults.met = Some(Fault { delay, outcome: Outcome::Usual });
                true
            }
        }
    }

    /// Gives a reply so many times, after the fault of its command.
    pub(super) fn respond(&mut self, reply: Reply, times: usize) {
        if let Some(Then::Answer(reply, times)) = self.hold(Then::Answer(reply, times)) {
            self.answer_times(reply, times);
        }
    }

    /// Holds something until the fault of the command is over. Without a fault it is returned.
    pub(super) fn hold(&mut self, then: Then) -> Option<Then> {
        match self.faults.met.take() {
            None => Some(then),
            Some(fault) => {
                self.faults.held = Some(Held { fault, then });
                None
            }
        }
    }

    /// The next step of a fault; `None` if there is none. All earlier replies are written before a fault.
    pub(super) fn advance_fault(&mut self) -> Option<Action> {
        if self.faults.rate.is_some() && !self.replies.is_empty() {
            return Some(Action::Write);
        }
        let Held { fault: Fault { delay, outcome }, then } = self.faults.held.take()?;
        if !delay.is_zero() {
            self.faults.held = Some(Held { fault: Fault { delay: Duration::ZERO, outcome }, then });
            return Some(Action::Wait(delay));
        }
        if let Outcome::Slow(rate) = outcome {
            if !self.replies.is_empty() {
                self.faults.held = Some(Held { fault: Fault { delay, outcome }, then });
                return Some(Action::Write);
            }
            self.faults.rate = Some(rate);
        } else if outcome == Outcome::Drop {
            self.state = State::Closed(End::Fault);
            return Some(Action::Close(End::Fault));
        }
        match then {
            Then::Answer(reply, times) => self.answer_times(reply, times),
            Then::Store(message) => return Some(Action::Store(message)),
            Then::GoOn => {}
        }
        self.advance_fault()
    }

    /// Forgets what waits for a fault, because the session ends. A message among it was not stored.
    pub(super) fn forget_faults(&mut self) {
        (self.faults.met, self.faults.held, self.faults.rate) = (None, None, None);
    }

    /// The rate of the pending replies in octets per second, if they are slow. The next ones have none.
    pub(in crate::smtp) const fn take_rate(&mut self) -> Option<NonZeroU32> {
        self.faults.rate.take()
    }

    /// The faults since the last call.
    pub(in crate::smtp) fn take_injected(&mut self) -> Vec<Injected> {
        std::mem::take(&mut self.faults.injected)
    }
}
