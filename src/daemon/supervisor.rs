//! Notifications for the service manager: readiness, the watchdog and the stop (`sd_notify(3)` of systemd).

use std::collections::BTreeMap;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use crate::store::Store;

/// Notifications per watchdog period, so that a late one ends nothing.
const NOTIFICATIONS_PER_PERIOD: u32 = 2;

/// The connection to the service manager.
#[derive(Debug)]
pub struct Supervisor {
    socket: UnixDatagram,
    /// The watchdog period; `None`: there is no watchdog.
    watchdog: Option<Duration>,
}

impl Supervisor {
    /// The service manager that `env` names, if any; `process` is the id of this process.
    ///
    /// Reads `NOTIFY_SOCKET` (a path, or `@` and a name in the abstract namespace), `WATCHDOG_USEC` and `WATCHDOG_PID`.
    /// The error is that of a socket that cannot be reached.
    pub fn from_env(env: &BTreeMap<String, String>, process: u32) -> io::Result<Option<Self>> {
        let Some(name) = env.get("NOTIFY_SOCKET").filter(|name| !name.is_empty()) else { return Ok(None) };
        let address = match name.strip_prefix('@') {
            Some(name) => SocketAddr::from_abstract_name(name)?,
            None => SocketAddr::from_pathname(name)?,
        };
        let socket = UnixDatagram::unbound()?;
        socket.connect_addr(&address)?;
        socket.set_nonblocking(true)?;
        let number = |name: &str| env.get(name).and_then(|text| text.parse::<u64>().ok());
        let is_for_us = env.get("WATCHDOG_PID").is_none_or(|text| text.parse() == Ok(process));
        let micros = number("WATCHDOG_USEC").filter(|&micros| is_for_us && micros > 0);
        Ok(Some(Self { socket, watchdog: micros.map(Duration::from_micros) }))
    }

    /// Reports that the service is ready, feeds the watchdog while the store answers, and reports the stop.
    pub async fn run(self, store: Arc<dyn Store>, shutdown: CancellationToken) {
        self.notify("READY=1");
        let feeding = async {
            match self.watchdog {
                Some(period) => self.feed_watchdog(&*store, period / NOTIFICATIONS_PER_PERIOD).await,
                None => std::future::pending().await,
            }
        };
        shutdown.run_until_cancelled(feeding).await;
        self.notify("STOPPING=1");
    }

    async fn feed_watchdog(&self, store: &dyn Store, every: Duration) {
        let mut ticks = interval(every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            match timeout(every, store.answers()).await {
                Ok(Ok(())) => self.notify("WATCHDOG=1"),
                Ok(Err(error)) => tracing::error!(%error, "the watchdog is not fed: the store failed"),
                Err(_elapsed) => tracing::error!("the watchdog is not fed: the store does not answer"),
            }
        }
    }

    fn notify(&self, what: &str) {
        if let Err(error) = self.socket.send(what.as_bytes()) {
            tracing::warn!(%error, what, "the service manager could not be notified");
        }
    }
}
