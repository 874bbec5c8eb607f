//! Panics: where they happened is logged, and they are counted. What a panic costs is decided where it is caught.

use std::panic::{self, PanicHookInfo};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many panics there were. Clones are the same count.
#[derive(Clone, Debug, Default)]
pub struct Panics(Arc<AtomicU64>);

impl Panics {
    /// Logs and counts every panic of this process from now on, whichever thread it is in and whoever catches it.
    ///
    /// The hook is the process's, as the log is; what was there before is replaced.
    pub fn watch() -> Self {
        let panics = Self::default();
        let counted = panics.clone();
        panic::set_hook(Box::new(move |info| counted.record(info)));
        panics
    }

    /// Counts a panic and logs its place. What it says is logged for those who look for a fault only: it may quote mail.
    pub fn record(&self, info: &PanicHookInfo<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let thread = std::thread::current();
        tracing::error!(place, thread = thread.name().unwrap_or_default(), "a panic");
        tracing::debug!(place, says = info.payload_as_str().unwrap_or_default(), "what the panic says");
    }

    /// How many there were since the start.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
