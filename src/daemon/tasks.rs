//! The tasks of a running daemon: they end together, and those without a state of their own restart after a panic.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::runtime::Handle;
use tokio::task::{Id, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The delay before a task restarts after its first panic; each further panic doubles it.
const DELAY_FIRST: Duration = Duration::from_secs(1);
/// The longest delay. A task that has run for longer restarts as after its first panic.
const DELAY_MAX: Duration = Duration::from_mins(1);

/// The running tasks with their names.
pub(super) struct Tasks<S> {
    /// What tasks that restart are made of.
    service: Arc<S>,
    shutdown: CancellationToken,
    running: JoinSet<()>,
    names: Vec<(Id, &'static str)>,
}

impl<S: Send + Sync + 'static> Tasks<S> {
    /// No task yet. They end when `shutdown` is cancelled.
    pub(super) fn new(service: Arc<S>, shutdown: CancellationToken) -> Self {
        Self { service, shutdown, running: JoinSet::new(), names: Vec::new() }
    }

    /// Starts a task.
    pub(super) fn spawn(&mut self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        self.names.push((self.running.spawn(task.boxed()).id(), name));
    }

    /// Starts a task on another runtime.
    pub(super) fn spawn_on(
        &mut self,
        runtime: &Handle,
        name: &'static str,
        task: impl Future<Output = ()> + Send + 'static,
    ) {
        self.names.push((self.running.spawn_on(task.boxed(), runtime).id(), name));
    }

    /// Starts a task that restarts after a panic. `begin` makes it, and may panic as well.
    pub(super) fn spawn_restarting<P>(
        &mut self,
        name: &'static str,
        begin: impl Fn(Arc<S>, CancellationToken) -> P + Send + Sync + 'static,
    ) where
        P: Future<Output = ()> + Send + 'static,
    {
        let (service, shutdown) = (Arc::clone(&self.service), self.shutdown.clone());
        let begin = move || begin(Arc::clone(&service), shutdown.clone()).boxed();
        self.spawn(name, restarting(name, Box::new(begin), self.shutdown.clone()));
    }

    /// Waits until all tasks have ended. The first that panics ends the others; its name is returned.
    pub(super) async fn run(mut self) -> Option<&'static str> {
        let mut first = None;
        while let Some(ended) = self.running.join_next().await {
            let Err(error) = ended else { continue };
            let name = self.names.iter().find(|(id, _)| *id == error.id()).map_or("an unknown task", |(_, name)| name);
            tracing::error!(task = name, "a task of the daemon panicked; the daemon stops");
            first.get_or_insert(name);
            self.shutdown.cancel();
        }
        first
    }
}

/// Runs what `begin` makes until it ends without a panic, or `shutdown` is cancelled after one.
async fn restarting(
    name: &'static str,
    begin: Box<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>,
    shutdown: CancellationToken,
) {
    let mut delay = DELAY_FIRST;
    loop {
        let begun_at = Instant::now();
        if AssertUnwindSafe(async { begin().await }).catch_unwind().await.is_ok() {
            return;
        }
        if begun_at.elapsed() > DELAY_MAX {
            delay = DELAY_FIRST;
        }
        tracing::error!(task = name, restart_in_ms = delay.as_millis(), "a task of the daemon panicked; it restarts");
        if shutdown.run_until_cancelled(tokio::time::sleep(delay)).await.is_none() {
            return;
        }
        delay = (delay * 2).min(DELAY_MAX);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn a_task_restarts_after_each_panic_and_a_delay_and_the_others_go_on() {
        let (shutdown, shared) = (CancellationToken::new(), Arc::<(AtomicU32, Notify)>::default());
        let mut tasks = Tasks::new(Arc::clone(&shared), shutdown.clone());
        tasks.spawn_restarting("panics", |shared, _| {
            let before = shared.0.fetch_add(1, Ordering::Relaxed);
            assert!(before != 1, "on purpose, as it begins");
            async move {
                assert!(before != 0, "on purpose, at work");
                shared.1.notify_one();
            }
        });
        let other = shutdown.clone();
        tasks.spawn("another", async move { other.cancelled().await });
        let started_at = Instant::now();
        let running = tokio::spawn(tasks.run());
        tokio::time::timeout(DELAY_FIRST * 20, shared.1.notified()).await.expect("a restart");
        assert!(started_at.elapsed() >= 3 * DELAY_FIRST, "one delay, and one twice as long");
        assert!(!shutdown.is_cancelled());
        shutdown.cancel();
        assert_eq!(running.await.expect("no panic"), None);
        assert_eq!(shared.0.load(Ordering::Relaxed), 3);
    }

    #[tokio::test]
    async fn a_task_that_does_not_restart_stops_all() {
        let shutdown = CancellationToken::new();
        let mut tasks = Tasks::new(Arc::new(()), shutdown.clone());
        let other = shutdown.clone();
        tasks.spawn("another", async move { other.cancelled().await });
        tasks.spawn("panics", async { panic!("on purpose") });
        assert_eq!(tasks.run().await, Some("panics"));
        assert!(shutdown.is_cancelled());
    }
}
