//! What this thread writes to the log.

use tempfile::NamedTempFile;
use tracing::Dispatch;
use tracing::subscriber::{DefaultGuard, NoSubscriber, set_default};

/// The lines since its creation. Other threads have logs of their own.
pub(crate) struct Log {
    file: NamedTempFile,
    // While there is one subscriber only, tracing asks the thread that comes first to a span or an event whether anyone
    // wants it, for all threads. The threads of other tests have no subscriber.
    _second: Dispatch,
    _guard: DefaultGuard,
}

impl Log {
    /// Begins to keep the lines.
    pub(crate) fn of_this_thread() -> Self {
        let file = NamedTempFile::new().expect("file");
        let writer = file.reopen().expect("the same file");
        let subscriber =
            tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.try_clone().expect("a copy"));
        let second = Dispatch::new(NoSubscriber::new());
        Self { file, _second: second, _guard: set_default(subscriber.finish()) }
    }

    /// The lines so far.
    pub(crate) fn lines(&self) -> String {
        std::fs::read_to_string(self.file.path()).expect("the lines")
    }
}
