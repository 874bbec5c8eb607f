//! What SIGHUP does: it reads the certificate again, and tells which changed settings need a restart.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};

use crate::clock::{Clock, SystemClock};
use crate::config::{self, Config, Loaded, Sources};
use crate::error::{Error, Exit};
use crate::tls::Keeper;

/// The settings that the daemon began with, and where they were read.
pub(super) struct Settings {
    pub(super) sources: Sources,
    pub(super) config: Config,
}

/// Reads the certificate again and compares the settings at each SIGHUP, which ends nothing.
pub(super) fn reload(tls: Option<Arc<Keeper>>, settings: Settings) -> Result<impl Future<Output = ()> + use<>, Error> {
    let mut hangup = signal(SignalKind::hangup()).map_err(|error| Error::new(Exit::Failure, error))?;
    let settings = Arc::new(settings);
    Ok(async move {
        while hangup.recv().await.is_some() {
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
