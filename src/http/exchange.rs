//! One request and its answer, for the parts that hold something for them.
//!
//! An exchange that is aborted ends its connection.

use tokio_util::sync::CancellationToken;

use super::activity::{HeldUp, Recorder};

/// A request and its answer; in the extensions of each request over a socket.
#[derive(Clone, Debug, Default)]
pub(super) struct Exchange {
    aborted: CancellationToken,
    recorder: Option<Recorder>,
}

impl Exchange {
    /// An exchange whose connection ends when `aborted` is cancelled.
    pub(super) fn new(aborted: &CancellationToken, recorder: &Recorder) -> Self {
        Self { aborted: aborted.clone(), recorder: Some(recorder.clone()) }
    }

    /// Ends the exchange. What it holds is given back soon after.
    pub(super) fn abort(&self) {
        self.aborted.cancel();
    }

    /// Records, until the guard is dropped, that other answers to the same client keep this one from going on.
    pub(super) fn held_up(&self) -> Option<HeldUp> {
        self.recorder.as_ref().map(Recorder::held_up)
    }

    #[cfg(test)]
    pub(super) const fn aborted(&self) -> &CancellationToken {
        &self.aborted
    }
}
