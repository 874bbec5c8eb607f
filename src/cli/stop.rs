//! `tempmail stop`: ends the daemon of this machine.

use std::io;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tokio::net::UnixStream;
use tokio::time::{sleep, timeout};

use super::Context;
use crate::client;
use crate::config::ServeArgs;
use crate::error::{Error, Exit};

/// How long the daemon may take for its last answers and for closing the store.
const PATIENCE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(20);

/// Stop the service on this machine, as SIGTERM does
///
/// Ends the daemon of --data-dir, without one that of this user or else of this machine, and returns when it has closed its store: sessions and requests in progress get their
/// answers first. Exit code 6 if none runs.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail stop
  tempmail stop --data-dir /var/lib/tempmail")]
pub(super) struct Stop;

impl Stop {
    pub(super) async fn run(self, cx: &Context) -> Result<(), Error> {
        if cx.globals.server.is_some() {
            return Err(Error::usage("stop ends the service on this machine; --server names one elsewhere")
                .hint("leave out --server and TEMPMAIL_SERVER, or run `tempmail stop` on that machine"));
        }
        let socket = client::daemon_socket(&cx.globals.sources(ServeArgs::default(), &cx.env));
        let socket = socket.map_err(|error| match error.exit() {
            Exit::Unavailable => error.hint("there is nothing to stop; --data-dir names another directory"),
            _ => error,
        })?;
        let failed = |error: io::Error| Error::new(Exit::Failure, format!("{}: {error}", socket.display()));
        let owner = UnixStream::connect(&socket).await.and_then(|stream| stream.peer_cred()).map_err(failed)?;
        // A process in another container has no number here.
        let process = owner.pid().and_then(Pid::from_raw).ok_or_else(|| {
            Error::new(Exit::Failure, "the service runs in another container").hint("stop that container")
        })?;
        kill_process(process, Signal::TERM).map_err(|error| failed(error.into()))?;
        let ended = timeout(PATIENCE, has_ended(process, &socket)).await;
        ended.map_err(|_| {
            Error::new(Exit::Failure, format!("process {} has not ended yet", process.as_raw_nonzero()))
                .hint("its log says what it waits for; a second signal stops it at once")
        })?;
        cx.hint(&format!("stopped the service at {}", socket.display()));
        Ok(())
    }
}

/// Waits until a daemon has removed its socket, which it does last, or is gone.
async fn has_ended(process: Pid, socket: &Path) {
    while socket.exists() && test_kill_process(process).is_ok() {
        sleep(PAUSE).await;
    }
}
