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
    pub(super) in_progress: InProgress,
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
    /// Requests in progress, with those that wait, and with answers to such requests whose octets are not written yet.
    requests: usize,
    /// Those of them that wait, or whose octets are not written yet.
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

    /// Counts a request until the returned value and its clones are dropped. `false`: the connection has no slot, so the
    /// request must be refused.
    pub(super) fn request(self: &Arc<Self>) -> (InProgress, bool) {
        let mut state = self.state();
        state.requests += 1;
        let has_slot = !state.has_left || self.enter(&mut state);
        (InProgress { berth: Arc::clone(self), request: Some(Arc::default()) }, has_slot)
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
        let all_wait = state.requests > 0 && state.waiting == state.requests;
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

/// A request in progress. It ends with the last clone.
#[derive(Clone, Debug)]
pub(super) struct InProgress {
    berth: Arc<Berth>,
    /// Shared by the clones, and dropped only while the state is locked. `None` once this clone has ended.
    request: Option<Arc<()>>,
}

impl InProgress {
    /// Counts the request as waiting, and as in progress, until the returned value is dropped.
    pub(super) fn wait(&self) -> Waiting {
        let mut state = self.berth.state();
        state.waiting += 1;
        self.berth.settle(&mut state);
        Waiting(self.clone())
    }

    /// Ends this clone. Returns whether it was the last one.
    fn end(&mut self, state: &mut State) -> bool {
        let is_last = self.request.take().and_then(Arc::into_inner).is_some();
        state.requests -= usize::from(is_last);
        is_last
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        let berth = Arc::clone(&self.berth);
        let mut state = berth.state();
        if self.end(&mut state) {
            berth.settle(&mut state);
        }
    }
}

/// A request that waits, or octets of its answer that are not written yet.
#[derive(Debug)]
pub(super) struct Waiting(InProgress);

impl Drop for Waiting {
    fn drop(&mut self) {
        let berth = Arc::clone(&self.0.berth);
        let mut state = berth.state();
        // Both counts change at once. Else the connection would look for a slot that it does not need.
        state.waiting -= 1;
        self.0.end(&mut state);
        berth.settle(&mut state);
    }
}
