//! Whether events may be ended by the time of day.

use std::sync::{Mutex, PoisonError};

use crate::clock::Clock;
use crate::expiry::StepGuard;

/// The guard that notices when the time of day jumps, for attempts that run side by side.
pub(super) struct Steps(Mutex<StepGuard>);

impl Steps {
    pub(super) fn new(guard: StepGuard) -> Self {
        Self(Mutex::new(guard))
    }

    /// Whether the time of day can be relied on so far that an event may be past its end.
    pub(super) fn may_end(&self, clock: &dyn Clock) -> bool {
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        guard.may_remove(clock.now(), clock.boot())
    }
}
