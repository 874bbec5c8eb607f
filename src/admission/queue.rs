//! Requests that wait for something.

use std::collections::{HashSet, VecDeque};

use tokio::sync::oneshot;

use super::{Bound, Permit, What, Who};
use crate::model::{Client, Network};

/// Those that wait for each [`What`], in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Queue([VecDeque<Waiter>; What::ALL.len()]);

#[derive(Debug)]
struct Waiter {
    who: Who,
    amount: u64,
    turn: oneshot::Sender<Permit>,
}

impl Queue {
    /// Begins to wait. A waiter leaves by dropping what this returns.
    pub(super) fn push(&mut self, who: Who, what: What, amount: u64) -> oneshot::Receiver<Permit> {
        let (turn, permit) = oneshot::channel();
        self.0[what as usize].push_back(Waiter { who, amount, turn });
        permit
    }

    /// Whether somebody waits for it.
    pub(super) fn has(&self, what: What) -> bool {
        !self.0[what as usize].is_empty()
    }

    /// Gives permits to those who wait for `what`, until all have what they may have or nothing is left. Whoever waits for
    /// more than `share`, that of a client, holds up nobody. The permits that nobody takes any more are returned.
    pub(super) fn serve(
        &mut self,
        what: What,
        share: u64,
        mut take: impl FnMut(Who, u64) -> Result<Permit, Bound>,
    ) -> Vec<Permit> {
        let waiting = &mut self.0[what as usize];
        let (mut unclaimed, mut kept) = (Vec::new(), VecDeque::new());
        let (mut clients, mut networks) = (HashSet::new(), HashSet::<Network>::new());
        while let Some(waiter) = waiting.pop_front() {
            let network = waiter.who.client().map(Client::network);
            if waiter.turn.is_closed() {
                continue;
            }
            if clients.contains(&waiter.who) || network.is_some_and(|network| networks.contains(&network)) {
                kept.push_back(waiter);
                continue;
            }
            match take(waiter.who, waiter.amount) {
                Ok(permit) => unclaimed.extend(waiter.turn.send(permit).err()),
                Err(bound) => {
                    let is_used_up = bound == Bound::All && waiter.amount <= share;
                    if let (Bound::Network, Some(network)) = (bound, network) {
                        networks.insert(network);
                    } else if bound == Bound::Client {
                        clients.insert(waiter.who);
                    }
                    kept.push_back(waiter);
                    if is_used_up {
                        break;
                    }
                }
            }
        }
        while let Some(waiter) = kept.pop_back() {
            waiting.push_front(waiter);
        }
        unclaimed
    }
}
