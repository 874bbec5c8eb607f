//! What the service manager is told, where it asks for it: sd_notify(3) of systemd.

use std::collections::BTreeMap;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use crate::store::Store;

/// Two signs of life fit into the time that the manager waits for one.
const SIGNS_PER_PERIOD: u32 = 2;

/// The way to the service manager.
#[derive(Debug)]
pub struct Supervisor {
    socket: UnixDatagram,
    /// How long the manager waits for a sign of life; `None`: it does not.
    patience: Option<Duration>,
}

impl Supervisor {
    /// The one that `env` names, if it names one; `process` is the number of this process.
    ///
    /// Reads `NOTIFY_SOCKET` (a path, or `@` and a name in the abstract namespace), `WATCHDOG_USEC` and `WATCHDOG_PID`.
    /// The error is that of a socket which cannot be reached.
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
        Ok(Some(Self { socket, patience: micros.map(Duration::from_micros) }))
    }

    /// Says that the service is ready, then gives signs of life while the store answers, and says when it stops.
    pub async fn run(self, store: Arc<dyn Store>, shutdown: CancellationToken) {
        self.tell("READY=1");
        let signs = async {
            match self.patience {
                Some(patience) => self.give_signs(&*store, patience / SIGNS_PER_PERIOD).await,
                None => std::future::pending().await,
            }
        };
        shutdown.run_until_cancelled(signs).await;
        self.tell("STOPPING=1");
    }

    async fn give_signs(&self, store: &dyn Store, every: Duration) {
        let mut turns = interval(every);
        turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            turns.tick().await;
            match timeout(every, store.answers()).await {
                Ok(Ok(())) => self.tell("WATCHDOG=1"),
                Ok(Err(error)) => tracing::error!(%error, "no sign of life is given: the store does not work"),
                Err(_elapsed) => tracing::error!("no sign of life is given: the store does not answer"),
            }
        }
    }

    fn tell(&self, what: &str) {
        if let Err(error) = self.socket.send(what.as_bytes()) {
            tracing::warn!(%error, what, "the service manager could not be told");
        }
    }
}
