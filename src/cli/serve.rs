//! `tempmail serve`: the daemon.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::runtime::{Builder, Handle};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::{Context, Globals, hangup};
use crate::clock::{Clock, SystemClock};
use crate::config::{self, Config, Loaded, ServeArgs, Sources};
use crate::daemon::{self, BindError, Daemon, Listeners, Supervisor};
use crate::error::{Error, Exit};
use crate::panics::Panics;
use crate::{client, logging, process};

/// Run the service: receive mail over SMTP and answer over HTTP
///
/// Works without any argument: SMTP on port 2525 and HTTP on port 8080 of the loopback addresses, for the domain
/// example.test. For an application under test --dev takes any mail, with Mailpit's ports and interface.
///
/// Settings come from flags, then the environment (TEMPMAIL_*), then the configuration file, then defaults. SIGTERM and SIGINT stop it, as `tempmail stop` does; a second one stops it at once. SIGHUP stops it
/// where it runs in a terminal; elsewhere it reads the certificate again and logs which settings have changed that need a
/// restart.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail serve
  tempmail serve --dev
  tempmail serve --data-dir /var/lib/tempmail --config /etc/tempmail/config.toml
  TEMPMAIL_DATA_DIR=mail tempmail serve")]
pub(super) struct Serve {
    #[command(flatten)]
    settings: ServeArgs,
}

impl Serve {
    pub(super) async fn run(self, cx: &Context) -> Result<(), Error> {
        if cx.globals.server.is_some() {
            return Err(Error::usage("serve runs the service on this machine; --server names one elsewhere")
                .hint("leave out --server and TEMPMAIL_SERVER, or ask that service by `tempmail status`"));
        }
        if has_handed_over(cx) {
            return Err(BindError::HandedOver.into());
        }
        let sources = cx.globals.sources(self.settings, &cx.env);
        let Loaded { mut config, warnings, .. } = config::load(&sources)?;
        logging::init(config.log_format, cx.globals.verbose, cx.globals.quiet);
        let panics = Panics::watch();
        // The socket of a long path is named after it, so daemon and command must spell it alike.
        config.data_dir = std::path::absolute(&config.data_dir)
            .map_err(|error| Error::usage(format!("{}: {error}", config.data_dir.display())))?;
        let limit = process::raise_open_files_limit();
        let warnings = warnings.iter().map(ToString::to_string).chain(process::open_files_warning(limit, &config));
        for warning in warnings {
            tracing::warn!("{warning}");
        }
        let shutdown = CancellationToken::new();
        let stop = tokio::spawn(stop_on_signal(shutdown.clone())?);
        let command = command_for(&config.data_dir, cx);
        let daemon = tokio::select! {
            started = start(config, sources, panics, &shutdown, cx) => started?,
            // A start can end at any point: the next one finds nothing worse than after a crash.
            () = shutdown.cancelled() => return Ok(()),
        };
        if cx.shows_progress() {
            cx.hint(&daemon.banner().reached_by(command).to_string());
        } else {
            daemon.banner().log();
        }
        tokio::select! {
            ended = daemon.run(shutdown) => ended.map_err(Error::from),
            _ = stop => Err(Error::ending(Exit::Interrupted)),
        }
    }
}

/// How the command lines begin that reach the daemon of `data_dir` from another terminal, where the flags and variables of
/// this command are not known.
fn command_for(data_dir: &Path, cx: &Context) -> String {
    let env = cx.env.iter().filter(|(name, _)| !name.starts_with("TEMPMAIL_") && *name != "STATE_DIRECTORY");
    let env = env.map(|(name, value)| (name.clone(), value.clone())).collect();
    let plain = Globals::default().sources(ServeArgs::default(), &env);
    if client::data_dir(&plain).is_ok_and(|dir| dir == data_dir) {
        return "tempmail".to_owned();
    }
    let path = data_dir.display().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    let quoted = if path.chars().all(is_plain) { path } else { format!("'{}'", path.replace('\'', "'\\''")) };
    format!("tempmail --data-dir {quoted}")
}

/// Whether a service manager listens for this process (`sd_listen_fds(3)`).
fn has_handed_over(cx: &Context) -> bool {
    let is_for_us = cx.env.get("LISTEN_PID").is_some_and(|text| text.parse() == Ok(std::process::id()));
    is_for_us && cx.env.get("LISTEN_FDS").is_some_and(|count| count != "0")
}

/// Binds and opens everything.
async fn start(
    config: Config,
    sources: Sources,
    panics: Panics,
    shutdown: &CancellationToken,
    cx: &Context,
) -> Result<Daemon, Error> {
    let runtime_dir = cx.env.get("XDG_RUNTIME_DIR").map(PathBuf::from);
    let socket = client::socket_path(&config.data_dir, runtime_dir.as_deref()).ok_or_else(|| {
        Error::new(Exit::BadConfig, format!("{} is too long for a socket's path", config.data_dir.display()))
            .hint("set XDG_RUNTIME_DIR, or choose a data-dir with a shorter path")
    })?;
    let tls = daemon::open_certificate(&config, SystemClock.now())?;
    let settings = hangup::Settings { sources, config: config.clone() };
    tokio::spawn(hangup::watch(tls.clone(), settings, shutdown.clone())?);
    let listeners = Listeners::bind(&config)?;
    // The last step that can be refused for what the operator chose: only now is a directory made.
    let directory = daemon::hold_data_dir(&config).await?;
    let store = daemon::open_store(&config, &directory).await?;
    // Where systemd gives the service a directory of its own, commands that name no data directory look there.
    let of_service =
        cx.env.get("RUNTIME_DIRECTORY").and_then(|list| list.split(':').next()).filter(|dir| !dir.is_empty());
    let of_service = of_service.map(|dir| Path::new(dir).join("tempmail.sock"));
    // Dropped before the directory, whose lock permits a successor to bind.
    let mut listeners = listeners;
    for path in std::iter::once(socket).chain(of_service) {
        listeners.bind_control(&path)?;
    }
    let supervisor = Supervisor::from_env(&cx.env, std::process::id()).unwrap_or_else(|error| {
        tracing::warn!(%error, "the socket in NOTIFY_SOCKET cannot be used; the service manager gets no notifications");
        None
    });
    let daemon = Daemon::new(config, store, listeners, tls, Arc::new(SystemClock), panics).await?;
    Ok(daemon.holding(directory).supervised_by(supervisor).receiving_on(sessions()?))
}

/// A runtime of one thread, which ends with the process.
fn sessions() -> Result<Handle, Error> {
    let failed = |error| Error::new(Exit::Failure, error);
    let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let handle = runtime.handle().clone();
    let thread = std::thread::Builder::new().name("smtp".to_owned());
    thread.spawn(move || runtime.block_on(std::future::pending::<()>())).map_err(failed)?;
    Ok(handle)
}

/// Cancels `shutdown` at the first SIGTERM or SIGINT. The future that is returned ends at the second.
fn stop_on_signal(shutdown: CancellationToken) -> Result<impl Future<Output = ()> + use<>, Error> {
    let listen = |kind| signal(kind).map_err(|error| Error::new(Exit::Failure, error));
    let (mut terminate, mut interrupt) = (listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?);
    Ok(async move {
        for is_second in [false, true] {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            if !is_second {
                tracing::info!("stopping; a second signal stops at once");
                shutdown.cancel();
            }
        }
    })
}
