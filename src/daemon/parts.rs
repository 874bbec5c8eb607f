//! The parts of a running daemon: they end together, and those that hold nothing begin anew after a panic.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::task::{Id, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long a part rests after its first panic; twice as long after each that follows.
const REST_FIRST: Duration = Duration::from_secs(1);
/// The longest rest. A part that has worked for longer rests as after its first panic.
const REST_MAX: Duration = Duration::from_mins(1);

/// What runs, each with what it is for.
#[derive(Debug, Default)]
pub(super) struct Parts {
    running: JoinSet<()>,
    names: Vec<(Id, &'static str)>,
}

impl Parts {
    /// Starts a part.
    pub(super) fn spawn(&mut self, name: &'static str, part: impl Future<Output = ()> + Send + 'static) {
        self.names.push((self.running.spawn(part).id(), name));
    }

    /// Starts a part that begins anew when it, or its beginning, has panicked: one that has all it needs from the store.
    pub(super) fn spawn_anew<P>(
        &mut self,
        name: &'static str,
        shutdown: &CancellationToken,
        mut begin: impl FnMut() -> P + Send + 'static,
    ) where
        P: Future<Output = ()> + Send + 'static,
    {
        let shutdown = shutdown.clone();
        self.spawn(name, async move {
            let mut rest = REST_FIRST;
            loop {
                let begun_at = Instant::now();
                if AssertUnwindSafe(async { begin().await }).catch_unwind().await.is_ok() {
                    return;
                }
                if begun_at.elapsed() > REST_MAX {
                    rest = REST_FIRST;
                }
                tracing::error!(part = name, again_in_ms = rest.as_millis(), "a part of the daemon panicked");
                if shutdown.run_until_cancelled(tokio::time::sleep(rest)).await.is_none() {
                    return;
                }
                rest = (rest * 2).min(REST_MAX);
            }
        });
    }

    /// Waits until all have ended. The first that panics cancels `shutdown` for the others, and is what is returned.
    pub(super) async fn run(mut self, shutdown: &CancellationToken) -> Option<&'static str> {
        let mut first = None;
        while let Some(ended) = self.running.join_next().await {
            let Err(error) = ended else { continue };
            let name =
                self.names.iter().find(|(id, _)| *id == error.id()).map_or("nobody knows what", |(_, name)| name);
            tracing::error!(part = name, "a part of the daemon ended early; stopping");
            first.get_or_insert(name);
            shutdown.cancel();
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn a_part_begins_anew_after_each_panic_and_a_rest_and_the_others_go_on() {
        let (shutdown, begun) = (CancellationToken::new(), Arc::<AtomicU32>::default());
        let has_begun_anew = Arc::<Notify>::default();
        let mut parts = Parts::default();
        parts.spawn_anew("panics", &shutdown, {
            let (begun, has_begun_anew) = (Arc::clone(&begun), Arc::clone(&has_begun_anew));
            move || {
                let before = begun.fetch_add(1, Ordering::Relaxed);
                assert!(before != 1, "on purpose, as it begins");
                let has_begun_anew = Arc::clone(&has_begun_anew);
                async move {
                    assert!(before != 0, "on purpose, at work");
                    has_begun_anew.notify_one();
                }
            }
        });
        let other = shutdown.clone();
        parts.spawn("another", async move { other.cancelled().await });
        let started_at = Instant::now();
        let stop = shutdown.clone();
        let running = tokio::spawn(async move { parts.run(&stop).await });
        tokio::time::timeout(REST_FIRST * 20, has_begun_anew.notified()).await.expect("it begins anew");
        assert!(started_at.elapsed() >= 3 * REST_FIRST, "one rest, and one twice as long");
        assert!(!shutdown.is_cancelled());
        shutdown.cancel();
        assert_eq!(running.await.expect("no panic"), None);
        assert_eq!(begun.load(Ordering::Relaxed), 3);
    }

    #[tokio::test]
    async fn a_part_that_does_not_stops_all() {
        let shutdown = CancellationToken::new();
        let mut parts = Parts::default();
        let other = shutdown.clone();
        parts.spawn("another", async move { other.cancelled().await });
        parts.spawn("panics", async { panic!("on purpose") });
        assert_eq!(parts.run(&shutdown).await, Some("panics"));
        assert!(shutdown.is_cancelled());
    }
}
