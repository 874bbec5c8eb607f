//! Ctrl-C and SIGTERM: a command runs on a thread of its own, while the first thread listens for signals.
//!
//! So a signal also ends a command whose thread is blocked: by a read of standard input, or by a pipe
//! that nobody reads. The command itself needs one thread only, so its runtime has no others.

use std::future::pending;
use std::io;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::error::{Error, Exit};

/// The stack that the first thread of a process has on Linux.
const STACK_OCTETS: usize = 8 << 20;

/// Whether a program such as the pager has the terminal. Ctrl-C is meant for that program then. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Lent(Arc<AtomicBool>);

impl Lent {
    /// Lends the terminal to `program` until it returns.
    pub fn to<T>(&self, program: impl FnOnce() -> T) -> T {
        self.0.store(true, Ordering::Relaxed);
        let result = program();
        self.0.store(false, Ordering::Relaxed);
        result
    }

    fn is_lent(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a command needs when a signal comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tidying {
    /// Whether SIGTERM is waited for too. Without that it ends the process at once.
    pub(super) on_terminate: bool,
    /// How long the command may take to remove what is not finished, on the terminal or among files.
    pub(super) within: Duration,
}

/// Runs a command until it ends or a signal comes.
pub(super) fn interruptible<F>(
    command: impl FnOnce() -> F + Send + 'static,
    tidying: Tidying,
    lent: &Lent,
) -> Result<Exit, Error>
where
    F: Future<Output = Result<Exit, Error>>,
{
    runtime()?.block_on(async {
        // Before the command begins, since the user may interrupt it at once.
        let mut interrupt = on(SignalKind::interrupt())?;
        let mut terminate = tidying.on_terminate.then(|| on(SignalKind::terminate())).transpose()?;
        let (cancel, cancelled) = oneshot::channel();
        let (end, mut ended) = oneshot::channel();
        let thread = spawn(move || drop(end.send(until_cancelled(command, cancelled))))?;
        let exit = loop {
            tokio::select! {
                result = &mut ended => return result.unwrap_or_else(|_| panicked(thread)),
                _ = interrupt.recv() => {
                    if !lent.is_lent() {
                        break Exit::Interrupted;
                    }
                }
                () = received(&mut terminate) => break Exit::Terminated,
            }
        };
        drop::<oneshot::Sender<()>>(cancel);
        // A thread that is blocked does not end. The process ends without it.
        let _ = timeout(tidying.within, ended).await;
        Ok(exit)
    })
}

/// The life of the command's thread. The command is dropped when it is cancelled, and its unfinished work with it.
fn until_cancelled<F>(command: impl FnOnce() -> F, cancelled: oneshot::Receiver<()>) -> Result<Exit, Error>
where
    F: Future<Output = Result<Exit, Error>>,
{
    let runtime = runtime()?;
    let result = runtime.block_on(async {
        tokio::select! {
            result = command() => result,
            _ = cancelled => Ok(Exit::Interrupted),
        }
    });
    // A thread may still wait for an answer on the terminal.
    runtime.shutdown_background();
    result
}

fn spawn(work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, Error> {
    Builder::new().name("command".to_owned()).stack_size(STACK_OCTETS).spawn(work).map_err(no_threads)
}

fn panicked(thread: JoinHandle<()>) -> Result<Exit, Error> {
    match thread.join() {
        Err(panic) => resume_unwind(panic),
        Ok(()) => unreachable!("the thread of the command ended without a result"),
    }
}

/// A runtime on this thread alone.
fn runtime() -> Result<Runtime, Error> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(no_threads)
}

/// The error where the system refuses a thread or what a runtime needs.
pub(super) fn no_threads(error: io::Error) -> Error {
    Error::new(Exit::Failure, format!("no threads can be started: {error}"))
}

fn on(kind: SignalKind) -> Result<Signal, Error> {
    signal(kind).map_err(|error| Error::new(Exit::Failure, error))
}

/// Ends when the signal comes that is waited for, if any.
async fn received(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => pending().await,
    }
}
