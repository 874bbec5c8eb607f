//! The daemon: bind, open, run, drain.
//!
//! ```text
//! listeners   binds every address                 port_owner  the process on a taken port
//! opening     the data directory and the store    socket      Unix sockets and their files
//! supervisor  readiness and watchdog              tasks       what runs, and restarts
//! banner      what a terminal shows at the start   assembly  the parts of a service, put together
//! ```
//!
//! `cli/serve` loads the settings and raises the limit of open files. The daemon then binds every listener, locks the data
//! directory, opens the store with its replay, and binds the control socket. Nobody gets an answer before all of that has
//! worked. The tasks are SMTP, HTTP for the public and over the control socket, verification, webhooks (not in revision 1), expiry,
//! private inboxes, tokens, the history of figures, the reloading of the certificate, the service manager, and the watch on the
//! store's writer.
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
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::config::{Certificate, Config, Revision};
use crate::connections::Purpose;
use crate::domains::verifier;
use crate::expiry::{self, Outlived};
use crate::model::Timestamp;
use crate::panics::Panics;
use crate::service::{Service, history};
use crate::store::disk::Directory;
use crate::store::{OpenError, Storage, StoreError};
use crate::tls::{self, CertificateError, CertificateFiles, CertificateSource, Keeper};
use crate::webhook::dispatcher;
use crate::{http, leases, smtp};

use tasks::Tasks;

pub use banner::Banner;
pub use listeners::{BindError, Listeners};
pub use opening::{LOCK_TIMEOUT, hold_data_dir, open_store};
pub use socket::try_socket;
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
    /// The HTTP client for webhooks can't be set up.
    #[error("the HTTP client for webhooks cannot be set up: {0}")]
    Caller(CertificateError),
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
    service: Arc<Service>,
    listeners: Listeners,
    directory: Option<Arc<Directory>>,
    supervisor: Option<Supervisor>,
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
        clock: Arc<dyn Clock>,
        panics: Panics,
    ) -> Result<Self, DaemonError> {
        let service = assembly::assemble(config, store, clock, tls, listeners.listening(), panics).await?;
        Ok(Self { service, listeners, directory: None, supervisor: None, sessions: Handle::current() })
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

    /// The HTTP interface without a socket, which shows its paths.
    pub fn interface(&self) -> axum::Router {
        http::router(Arc::clone(&self.service))
    }

    /// The message for the person who started it.
    pub fn banner(&self) -> Banner {
        Banner::of(&self.service)
    }

    /// Runs until `shutdown` is cancelled; then every open transaction and request gets its answer, and the store is
    /// closed. Bounded by the drain timeouts of SMTP and HTTP.
    ///
    /// Workers restart after a panic. A panic in a listener or in the store's writer stops all other tasks in order, and is
    /// the error.
    pub async fn run(self, shutdown: CancellationToken) -> Result<(), DaemonError> {
        // The files of sockets go before the lock of the directory does.
        let Self { service, directory, mut listeners, supervisor, sessions } = self;
        let mail = {
            let _its_sockets = sessions.enter();
            listeners.take(&[Purpose::Smtp, Purpose::Smtps, Purpose::Lmtp])?
        };
        let http = listeners.take(&[Purpose::Http, Purpose::Https, Purpose::Metrics, Purpose::Control])?;
        let (config, store) = (&service.config, &service.store);
        let mut tasks = Tasks::new(Arc::clone(&service), shutdown.clone());
        let receiving = smtp::serve(mail, Arc::clone(&service.smtp), Handle::current(), shutdown.clone());
        tasks.spawn_on(&sessions, "SMTP", receiving);
        tasks.spawn("HTTP", http::serve(http, Arc::clone(&service), shutdown.clone()));
        tasks.spawn_restarting("the store", |service, stop| async move {
            service.store.run(Arc::clone(&service.clock), stop).await;
        });
        tasks.spawn_restarting("verification", |service, stop| verifier::run(Arc::clone(&service.domains), stop));
        if store.is_shared() {
            tasks.spawn_restarting("tokens", |service, stop| async move {
                _ = stop.run_until_cancelled(service.tokens.follow()).await;
            });
        }
        if config.revision == Revision::Two {
            tasks.spawn_restarting("webhooks", |service, stop| dispatcher::run(Arc::clone(&service.webhooks), stop));
        }
        if let Some(tls) = service.tls.clone() {
            tasks.spawn_restarting("the certificate", move |service, stop| {
                tls::watch(Arc::clone(&tls), Arc::clone(&service.clock), stop)
            });
        }
        tasks.spawn_restarting("expiry", |service, stop| {
            expiry::run(Arc::clone(&service.store), Arc::clone(&service.clock), outlived(&service.config), stop)
        });
        tasks.spawn_restarting("private inboxes", |service, stop| leases::run(Arc::clone(&service.leases), stop));
        tasks.spawn_restarting("the plots", history::run);
        tasks.spawn("the store's writer", stop_with_writer(Arc::clone(store), shutdown.clone()));
        if let Some(supervisor) = supervisor {
            tasks.spawn("the service manager", supervisor.run(store.clone(), shutdown.clone()));
        }
        let ended_early = tasks.run().await;
        store.close().await?;
        drop((listeners, directory));
        ended_early.map_or(Ok(()), |task| Err(DaemonError::TaskEnded { task }))
    }
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
