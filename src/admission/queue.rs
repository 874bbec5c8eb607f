//! Requests that wait for something.

use std::collections::VecDeque;

use tokio::sync::oneshot;

use super::{Bound, Permit, What, Who};

/// Those that wait, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Queue(VecDeque<Waiter>);

#[derive(Debug)]
struct Waiter {
    who: Who,
    what: What,
    amount: u64,
    turn: oneshot::Sender<Permit>,
}

impl Queue {
    /// Begins to wait. A waiter leaves by dropping what this returns.
    pub(super) fn push(&mut self, who: Who, what: What, amount: u64) -> oneshot::Receiver<Permit> {
        let (turn, permit) = oneshot::channel();
        self.0.push_back(Waiter { who, what, amount, turn });
        permit
    }

    /// Whether somebody waits for it.
    pub(super) fn has(&self, what: What) -> bool {
        self.0.iter().any(|waiter| waiter.what == what)
    }

    /// Gives permits to those who wait for `what`, until all have what they may have or nothing is left. The permits that
    /// nobody takes any more are returned.
    pub(super) fn serve(&mut self, what: What, mut take: impl FnMut(Who, u64) -> Result<Permit, Bound>) -> Vec<Permit> {
        let (mut is_used_up, mut unclaimed, mut waiting) = (false, Vec::new(), VecDeque::new());
        for waiter in self.0.drain(..) {
            if waiter.turn.is_closed() {
                continue;
            }
            if waiter.what != what || is_used_up {
                waiting.push_back(waiter);
                continue;
            }
            match take(waiter.who, waiter.amount) {
                Ok(permit) => unclaimed.extend(waiter.turn.send(permit).err()),
                Err(bound) => {
                    is_used_up = bound == Bound::All;
                    waiting.push_back(waiter);
                }
            }
        }
        self.0 = waiting;
        unclaimed
    }
}
