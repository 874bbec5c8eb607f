//! The slot of one connection, which it leaves while all of its requests wait for mail.
//!
//! Requests that wait have places of their own, so their connection takes no slot and does not count for its client. It
//! takes a slot again when a request no longer waits. If there is none, it ends after the answers in progress.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use super::accept::Slot;
use crate::connections::ClientConnection;

/// The connection of a request, in its extensions. A request without one came over no socket.
#[derive(Clone, Debug)]
pub(super) struct OwnConnection {
    pub(super) berth: Arc<Berth>,
    /// Cancelled when the service stops.
    pub(super) stopping: CancellationToken,
}

/// The slot of a connection, and what its requests do.
#[derive(Debug)]
pub(super) struct Berth {
    slot: Slot,
    of_client: ClientConnection,
    state: Mutex<State>,
    lost: CancellationToken,
}

#[derive(Debug, Default)]
struct State {
    /// Requests in progress, with those that wait.
    requests: usize,
    /// Requests that wait, and answers to such requests whose octets are not written yet.
    waiting: usize,
    has_left: bool,
}

impl Berth {
    pub(super) fn new(slot: Slot, of_client: ClientConnection) -> Arc<Self> {
        Arc::new(Self { slot, of_client, state: Mutex::default(), lost: CancellationToken::new() })
    }

    pub(super) fn slot(&self) -> &Slot {
        &self.slot
    }

    /// Waits until the connection needs a slot and there is none.
    pub(super) async fn lost(&self) {
        self.lost.cancelled().await;
    }

    /// Counts a request until the returned value is dropped. `false`: the connection has no slot, so the request must be
    /// refused.
    pub(super) fn request(self: &Arc<Self>) -> (InProgress, bool) {
        let mut state = self.state();
        state.requests += 1;
        let has_slot = !state.has_left || self.enter(&mut state);
        (InProgress(Arc::clone(self)), has_slot)
    }

    /// Counts a request in progress as waiting until the returned value is dropped.
    pub(super) fn wait(self: &Arc<Self>) -> Waiting {
        let mut state = self.state();
        state.waiting += 1;
        self.settle(&mut state);
        Waiting(Arc::clone(self))
    }

    /// Takes a slot again. If there is none, the connection ends soon.
    fn enter(&self, state: &mut State) -> bool {
        state.has_left = !(self.of_client.count_again() && self.slot.take_again());
        if state.has_left {
            self.of_client.leave();
            self.lost.cancel();
        }
        !state.has_left
    }

    /// Leaves the slot if all requests wait, and takes one again if they no longer do.
    fn settle(&self, state: &mut State) {
        let all_wait = state.waiting > 0 && state.waiting >= state.requests;
        if all_wait && !state.has_left {
            state.has_left = true;
            self.slot.leave();
            self.of_client.leave();
        } else if state.has_left && !all_wait {
            self.enter(state);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request in progress.
#[derive(Debug)]
pub(super) struct InProgress(Arc<Berth>);

impl Drop for InProgress {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.requests -= 1;
        self.0.settle(&mut state);
    }
}

/// A request that waits.
#[derive(Debug)]
pub(super) struct Waiting(Arc<Berth>);

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.waiting -= 1;
        self.0.settle(&mut state);
    }
}
