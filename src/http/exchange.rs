//! One request and its answer, for the parts that hold something for them.
//!
//! Over HTTP/2 a connection has several exchanges, perhaps of several clients behind one proxy. So each of them can be
//! aborted alone. Over HTTP/1.1 the connection ends with its exchange.

use hyper::rt::Executor;
use tokio_util::sync::CancellationToken;

use super::activity::{HeldUp, Recorder};

tokio::task_local! {
    /// Aborts the stream of HTTP/2 that this task serves.
    static STREAM: CancellationToken;
}

/// A request and its answer; in the extensions of each request over a socket.
#[derive(Clone, Debug, Default)]
pub(super) struct Exchange {
    aborted: CancellationToken,
    recorder: Option<Recorder>,
}

impl Exchange {
    /// An exchange that `aborted` ends when it is cancelled, unless it is the exchange of a [`Streams`] task.
    pub(super) fn new(aborted: &CancellationToken, recorder: &Recorder) -> Self {
        let aborted = STREAM.try_with(CancellationToken::clone).unwrap_or_else(|_| aborted.clone());
        Self { aborted, recorder: Some(recorder.clone()) }
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

/// Runs each stream of HTTP/2 as a task that its [`Exchange`] can abort.
///
/// The client of an aborted stream gets `RST_STREAM`, and h2 drops what is buffered for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Streams;

impl<F> Executor<F> for Streams
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, stream: F) {
        let aborted = CancellationToken::new();
        tokio::spawn(STREAM.scope(aborted.clone(), async move {
            aborted.run_until_cancelled(stream).await;
        }));
    }
}
