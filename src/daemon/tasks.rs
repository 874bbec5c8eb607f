//! The tasks of a running daemon: they end together, and those without a state of their own restart after a panic.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::runtime::Handle;
use tokio::task::{Id, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The delay before a task restarts after its first panic; each further panic doubles it.
const DELAY_FIRST: Duration = Duration::from_secs(1);
/// The longest delay. A task that has run for longer restarts as after its first panic.
const DELAY_MAX: Duration = Duration::from_mins(1);

/// The running tasks with their names.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    running: JoinSet<()>,
    names: Vec<(Id, &'static str)>,
}

impl Tasks {
    /// Starts a task.
    pub(super) fn spawn(&mut self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        self.names.push((self.running.spawn(task).id(), name));
    }

    /// Starts a task on another runtime.
    pub(super) fn spawn_on(
        &mut self,
        runtime: &Handle,
        name: &'static str,
        task: impl Future<Output = ()> + Send + 'static,
    ) {
        self.names.push((self.running.spawn_on(task, runtime).id(), name));
    }

    /// Starts a task that restarts after a panic. `begin` makes it, and may panic as well.
    pub(super) fn spawn_restarting<P>(
        &mut self,
        name: &'static str,
        shutdown: &CancellationToken,
        mut begin: impl FnMut() -> P + Send + 'static,
    ) where
        P: Future<Output = ()> + Send + 'static,
    {
        let shutdown = shutdown.clone();
        self.spawn(name, async move {
            let mut delay = DELAY_FIRST;
            loop {
                let begun_at = Instant::now();
                if AssertUnwindSafe(async { begin().await }).catch_unwind().await.is_ok() {
                    return;
                }
                if begun_at.elapsed() > DELAY_MAX {
                    delay = DELAY_FIRST;
                }
                tracing::error!(
                    task = name,
                    restart_in_ms = delay.as_millis(),
                    "a task of the daemon panicked; it restarts"
                );
                if shutdown.run_until_cancelled(tokio::time::sleep(delay)).await.is_none() {
                    return;
                }
                delay = (delay * 2).min(DELAY_MAX);
            }
        });
    }

    /// Waits until all tasks have ended. The first that panics cancels `shutdown` for the others; its name is returned.
    pub(super) async fn run(mut self, shutdown: &CancellationToken) -> Option<&'static str> {
        let mut first = None;
        while let Some(ended) = self.running.join_next().await {
            let Err(error) = ended else { continue };
            let name = self.names.iter().find(|(id, _)| *id == error.id()).map_or("an unknown task", |(_, name)| name);
            tracing::error!(task = name, "a task of the daemon panicked; the daemon stops");
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
    async fn a_task_restarts_after_each_panic_and_a_delay_and_the_others_go_on() {
        let (shutdown, begun) = (CancellationToken::new(), Arc::<AtomicU32>::default());
        let restarted = Arc::<Notify>::default();
        let mut tasks = Tasks::default();
        tasks.spawn_restarting("panics", &shutdown, {
            let (begun, restarted) = (Arc::clone(&begun), Arc::clone(&restarted));
            move || {
                let before = begun.fetch_add(1, Ordering::Relaxed);
                assert!(before != 1, "on purpose, as it begins");
                let restarted = Arc::clone(&restarted);
                async move {
                    assert!(before != 0, "on purpose, at work");
                    restarted.notify_one();
                }
            }
        });
        let other = shutdown.clone();
        tasks.spawn("another", async move { other.cancelled().await });
        let started_at = Instant::now();
        let stop = shutdown.clone();
        let running = tokio::spawn(async move { tasks.run(&stop).await });
        tokio::time::timeout(DELAY_FIRST * 20, restarted.notified()).await.expect("a restart");
        assert!(started_at.elapsed() >= 3 * DELAY_FIRST, "one delay, and one twice as long");
        assert!(!shutdown.is_cancelled());
        shutdown.cancel();
        assert_eq!(running.await.expect("no panic"), None);
        assert_eq!(begun.load(Ordering::Relaxed), 3);
    }

    #[tokio::test]
    async fn a_task_that_does_not_restart_stops_all() {
        let shutdown = CancellationToken::new();
        let mut tasks = Tasks::default();
        let other = shutdown.clone();
        tasks.spawn("another", async move { other.cancelled().await });
        tasks.spawn("panics", async { panic!("on purpose") });
        assert_eq!(tasks.run(&shutdown).await, Some("panics"));
        assert!(shutdown.is_cancelled());
    }
}
