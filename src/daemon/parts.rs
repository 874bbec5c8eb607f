//! The parts of a running daemon: they end together.

use tokio::task::{Id, JoinSet};
use tokio_util::sync::CancellationToken;

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
