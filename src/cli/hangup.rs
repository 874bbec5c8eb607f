//! What SIGHUP does: it stops a daemon of a terminal, whose window has closed. Another one reads the certificate again and
//! tells which changed settings need a restart.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::clock::{Clock, SystemClock};
use crate::config::{self, Config, Loaded, Sources};
use crate::error::{Error, Exit};
use crate::tls::Keeper;

/// The settings that the daemon began with, and where they were read.
pub(super) struct Settings {
    pub(super) sources: Sources,
    pub(super) config: Config,
}

/// Does at each SIGHUP what it is for. One that was ignored at the start, as `nohup` does, stays ignored.
pub(super) fn watch(
    tls: Option<Arc<Keeper>>,
    settings: Settings,
    shutdown: CancellationToken,
) -> Result<impl Future<Output = ()> + use<>, Error> {
    let hangup = if is_ignored() { None } else { Some(signal(SignalKind::hangup())) };
    let hangup = hangup.transpose().map_err(|error| Error::new(Exit::Failure, error))?;
    let has_terminal = File::open("/dev/tty").is_ok();
    let settings = Arc::new(settings);
    Ok(async move {
        let Some(mut hangup) = hangup else { return };
        while hangup.recv().await.is_some() {
            if has_terminal {
                tracing::info!("stopping: the terminal has gone");
                return shutdown.cancel();
            }
            let (tls, settings) = (tls.clone(), Arc::clone(&settings));
            // The results are logged, and so is a panic.
            let _ = tokio::task::spawn_blocking(move || {
                let reloaded = tls.is_some_and(|tls| tls.reload(SystemClock.now()));
                settings.compare(if reloaded { "the certificate" } else { "nothing" });
            })
            .await;
        }
    })
}

/// Whether this process ignores SIGHUP, by the mask of signals in `/proc` (`proc_pid_status(5)`).
fn is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    // The lowest bit is signal 1, which is SIGHUP.
    mask & 1 == 1
}

impl Settings {
    /// Logs how the settings have changed. `reloaded` is what was read again.
    fn compare(&self, reloaded: &str) {
        match config::load(&self.sources) {
            Ok(Loaded { config, .. }) => {
                let needs_restart = self.config.differences(&with_absolute_data_dir(config)).join(", ");
                if needs_restart.is_empty() {
                    tracing::info!(reloaded, "SIGHUP: no setting has changed");
                } else {
                    tracing::warn!(reloaded, needs_restart, "SIGHUP: settings have changed that need a restart");
                }
            }
            Err(error) => {
                let faults = error.to_string();
                tracing::error!(reloaded, faults, "SIGHUP: a start with the settings as they are now would fail");
            }
        }
    }
}

/// The settings with the data directory as the daemon spells it.
fn with_absolute_data_dir(mut config: Config) -> Config {
    let absolute: Option<PathBuf> = std::path::absolute(&config.data_dir).ok();
    config.data_dir = absolute.unwrap_or(config.data_dir);
    config
}
