//! The daemon: bind, assemble, run, drain. The only module that knows all others.
//!
//! ```text
//! listeners   binds every address                 port_owner  the process on a taken port
//! opening     the data directory and the store    socket      the control socket for commands
//! assembly    the service over an open store      tasks       what runs, and restarts
//! supervisor  readiness and watchdog              banner      what a terminal shows at the start
//! ```
//!
//! `cli/serve` loads the settings and raises the limit of open files. The daemon then binds every listener, locks the data
//! directory, opens the store with its replay, and binds the control socket. Nobody gets an answer before all of that has
//! worked. The tasks are SMTP, HTTP for the public and over the control socket, verification, webhooks (not in revision 1), expiry,
//! the reloading of the certificate, and the watch on the store's writer.
//!
//! SIGTERM or SIGINT cancels one token. Listeners close, sessions and requests have 8 s for their last answers, attempts of
//! webhooks 3 s. Then the store commits what is queued, seals its segment and closes. Tasks in the background begin again
//! after a panic; a listener or the store's writer that panics cancels the token, and the program ends with 1.

mod assembly;
mod banner;
mod listeners;
mod opening;
mod port_owner;
mod socket;
mod supervisor;
mod tasks;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::config::{Certificate, Config, Revision};
use crate::domains::verifier;
use crate::expiry::{self, Outlived, Sweep};
use crate::http::{self, DaemonStatus, HttpLimits};
use crate::model::{DomainPattern, Timestamp};
use crate::panics::Panics;
use crate::smtp::fault::Faults;
use crate::smtp::{self, Counters, Receiver, Refusals};
use crate::store::disk::Directory;
use crate::store::{OpenError, Storage, StoreError};
use crate::tls::{self, CertificateError, CertificateFiles, CertificateSource, Keeper};
use crate::webhook::{CallerError, dispatcher};

use listeners::Running;
use tasks::Tasks;

pub use assembly::{Assembled, assemble};
pub use banner::Banner;
pub use listeners::{BindError, Listeners};
pub use opening::{LOCK_TIMEOUT, hold_data_dir, open_store};
pub use socket::{ControlSocket, try_socket};
pub use supervisor::Supervisor;

/// Why the daemon can't run.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// The store can't be opened.
    #[error("{0}")]
    Open(#[from] OpenError),
    /// The store failed while everything was put together.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The control socket can't be made.
    #[error("{path}: {error}")]
    Socket {
        /// Its path.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The HTTP client for webhooks can't be set up.
    #[error("{0}")]
    Caller(#[from] CallerError),
    /// A task of the daemon panicked that cannot restart.
    #[error("the task for {task} ended by a panic; the log says where")]
    TaskEnded {
        /// What the task is for.
        task: &'static str,
    },
    /// The system gives no thread or socket.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Everything of a daemon that is bound and open, and has answered nobody yet.
pub struct Daemon {
    assembled: Assembled,
    listeners: Listeners,
    tls: Option<Arc<Keeper>>,
    controls: Vec<ControlSocket>,
    clock: Arc<dyn Clock>,
    store: Arc<dyn Storage>,
    directory: Option<Arc<Directory>>,
    supervisor: Option<Supervisor>,
    receiver: Receiver,
    /// The runtime of SMTP sessions.
    sessions: Handle,
}

impl Daemon {
    /// Puts a daemon together over an open store. `panics` are those of the process.
    pub async fn new(
        config: Config,
        store: Arc<dyn Storage>,
        listeners: Listeners,
        tls: Option<Arc<Keeper>>,
        controls: Vec<ControlSocket>,
        clock: Arc<dyn Clock>,
        panics: Panics,
    ) -> Result<Self, DaemonError> {
        let counters = Arc::<Counters>::default();
        let refusal = listeners.refuses_faults(&config);
        let faults = Faults::new(config.smtp.faults.clone(), refusal);
        let status = DaemonStatus {
            started_at: clock.now(),
            smtp_listen: listeners.smtp_addresses(),
            smtps_listen: listeners.smtps_addresses(),
            lmtp_listen: listeners.lmtp_endpoints(),
            http_listen: listeners.http_addresses(),
            https_listen: listeners.https_addresses(),
            metrics_listen: listeners.metrics_addresses(),
            tls: tls.clone(),
            panics,
            smtp: counters.clone(),
            faults: Arc::new(faults),
        };
        let faults = Arc::clone(&status.faults);
        let assembled = assemble(config, Arc::clone(&store), Arc::clone(&clock), Some(status)).await?;
        let receiver = Receiver {
            config: Arc::clone(&assembled.config),
            store: store.clone(),
            domains: Arc::clone(&assembled.registry),
            clock: Arc::clone(&clock),
            admission: Arc::clone(&assembled.admission),
            tls: tls.clone(),
            counters,
            faults,
            refusals: Refusals::default(),
            handshakes: Handle::current(),
        };
        Ok(Self {
            assembled,
            listeners,
            tls,
            controls,
            clock,
            store,
            directory: None,
            supervisor: None,
            receiver,
            sessions: Handle::current(),
        })
    }

    /// The same daemon, which holds its data directory until it has ended.
    #[must_use]
    pub fn holding(self, directory: Arc<Directory>) -> Self {
        Self { directory: Some(directory), ..self }
    }

    /// The same daemon with notifications for a service manager.
    #[must_use]
    pub fn supervised_by(self, supervisor: Option<Supervisor>) -> Self {
        Self { supervisor, ..self }
    }

    /// The same daemon with its SMTP sessions on another runtime: with one thread of their own they wake each other less.
    #[must_use]
    pub fn receiving_on(self, sessions: Handle) -> Self {
        Self { sessions, ..self }
    }

    /// The settings in effect.
    pub fn config(&self) -> &Config {
        &self.assembled.config
    }

    /// The message for the person who started it.
    pub fn banner(&self) -> Banner {
        Banner::of(&self.assembled.config, &self.listeners, self.tls.as_deref())
    }

    /// Runs until `shutdown` is cancelled; then every open transaction and request gets its answer, and the store is
    /// closed. Bounded by the drain timeouts of SMTP and HTTP.
    ///
    /// Workers restart after a panic. A panic in a listener or in the store's writer stops all other tasks in order, and is
    /// the error.
    pub async fn run(self, shutdown: CancellationToken) -> Result<(), DaemonError> {
        let Self { assembled, listeners, tls, controls, clock, store, directory, supervisor, receiver, sessions } =
            self;
        let Assembled { config, admission, registry, tokens, event_sender, router, metrics_router } = assembled;
        let limits = HttpLimits::from_config(&config);
        let Running { mail, http, metrics, files: mut socket_files } = listeners.run(tls.as_deref())?;
        // The workers stop at once; mail and requests that are in progress still need the store.
        let mut tasks = Tasks::default();
        tasks.spawn_on(&sessions, "SMTP", smtp::serve(mail, Arc::new(receiver), shutdown.clone()));
        let shared = (admission, Arc::clone(&clock), shutdown.clone());
        let serve_public = |listeners, router| {
            let (admission, clock, stop) = shared.clone();
            http::serve_public(listeners, router, limits.clone(), admission, clock, stop)
        };
        tasks.spawn("HTTP", serve_public(http, router.clone()));
        if !metrics.is_empty() {
            tasks.spawn("metrics", serve_public(metrics, metrics_router));
        }
        for control in controls {
            let (listener, file) = control.into_parts()?;
            socket_files.push(file);
            let (admission, clock, stop) = shared.clone();
            let serving = http::serve_control(listener, router.clone(), limits.clone(), admission, clock, stop);
            tasks.spawn("the control socket", serving);
        }
        tasks.spawn_restarting("the store", &shutdown, {
            let (store, clock, stop) = (Arc::clone(&store), Arc::clone(&clock), shutdown.clone());
            move || {
                let (store, clock, stop) = (Arc::clone(&store), Arc::clone(&clock), stop.clone());
                async move { store.run(clock, stop).await }
            }
        });
        let stop = shutdown.clone();
        tasks.spawn_restarting("verification", &shutdown, move || verifier::run(Arc::clone(&registry), stop.clone()));
        if store.is_shared() {
            let stop = shutdown.clone();
            tasks.spawn_restarting("tokens", &shutdown, move || {
                let (tokens, stop) = (Arc::clone(&tokens), stop.clone());
                async move { _ = stop.run_until_cancelled(tokens.follow()).await }
            });
        }
        if config.revision == Revision::Two {
            let in_flight_max = config.webhooks.in_flight_max;
            let stop = shutdown.clone();
            tasks.spawn_restarting("webhooks", &shutdown, move || {
                dispatcher::run(Arc::clone(&event_sender), in_flight_max, stop.clone())
            });
        }
        if let Some(tls) = tls {
            let (stop, clock) = (shutdown.clone(), Arc::clone(&clock));
            tasks.spawn_restarting("the certificate", &shutdown, move || {
                tls::watch(Arc::clone(&tls), Arc::clone(&clock), stop.clone())
            });
        }
        remove_expired(&mut tasks, config, Arc::clone(&store), clock, &shutdown);
        tasks.spawn("the store's writer", stop_with_writer(Arc::clone(&store), shutdown.clone()));
        if let Some(supervisor) = supervisor {
            tasks.spawn("the service manager", supervisor.run(store.clone(), shutdown.clone()));
        }
        let ended_early = tasks.run(&shutdown).await;
        store.close().await?;
        drop((socket_files, directory));
        ended_early.map_or(Ok(()), |task| Err(DaemonError::TaskEnded { task }))
    }
}

/// Removes expired mail.
fn remove_expired(
    tasks: &mut Tasks,
    config: Arc<Config>,
    store: Arc<dyn Storage>,
    clock: Arc<dyn Clock>,
    shutdown: &CancellationToken,
) {
    let stop = shutdown.clone();
    tasks.spawn_restarting("expiry", shutdown, move || {
        let sweep = Sweep::new(store.clone(), outlived(&config), clock.boot());
        expiry::run(store.clone(), Arc::clone(&clock), sweep, stop.clone())
    });
}

/// The webhooks and events that expiry removes.
fn outlived(config: &Config) -> Outlived {
    match config.revision {
        Revision::One => Outlived::Events { grace: config.webhooks.grace },
        Revision::Two => {
            Outlived::Webhooks { idle_max: config.webhooks.idle, unproven_max: config.webhooks.unproven_life }
        }
    }
}

/// Stops the daemon when the store's writer has ended. Only a new process can open the store again.
async fn stop_with_writer(store: Arc<dyn Storage>, shutdown: CancellationToken) {
    tokio::select! {
        () = shutdown.cancelled() => {}
        () = store.ended() => {
            tracing::error!("the store's writer has ended, so no mail can be stored; the daemon stops");
            shutdown.cancel();
        }
    }
}

/// Reads or makes the certificate that the settings ask for, if they do.
pub fn open_certificate(config: &Config, now: Timestamp) -> Result<Option<Arc<Keeper>>, CertificateError> {
    let source = match (&config.tls.certificate, &config.tls.key) {
        (Certificate::None, _) => return Ok(None),
        (Certificate::SelfSigned, _) => CertificateSource::SelfSigned(config.smtp.hostname.clone()),
        (Certificate::File(certificate), key) => {
            let key = key.as_ref().unwrap_or(certificate).clone();
            CertificateSource::Files(CertificateFiles { certificate: certificate.clone(), key })
        }
    };
    Keeper::open(source, now).map(|keeper| Some(Arc::new(keeper)))
}

/// The domain that is fixed where none is configured or stored and no mail host is named, so that a first start works.
/// RFC 2606 reserves it; it can't be used on the Internet.
fn example_domain() -> DomainPattern {
    DomainPattern::Exact("example.test".parse().expect("a constant domain name"))
}
