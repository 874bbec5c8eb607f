//! The daemon in the process of the test, on free ports, with its own data directory and a clock that the test sets.

use std::cell::Cell;
use std::fmt::from_fn;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tempmail::clock::{Clock, SystemClock};
use tempmail::config::{Config, Revision};
use tempmail::daemon::{
    ControlSocket, Daemon, DaemonError, Inherited, Listeners, hold_data_dir, open_certificate, open_store,
};
use tempmail::model::Timestamp;
use tempmail::panics::Panics;
use tempmail::store::disk::Disk;
use tempmail::store::{EmbeddedStore, Storage, StoreOptions, StoreStats};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::clock::SetClock;
use super::http;
use super::program;
use super::smtp_peer::SmtpPeer;
use super::until::until;
use crate::support::command::Outcome;

/// How long a test waits for an expected event.
const PATIENCE: Duration = Duration::from_secs(20);
/// 2023-11-14 22:13:20 UTC.
const START: Timestamp = Timestamp::from_millis(1_700_000_000_000);

/// A running daemon.
pub(crate) struct TestServer {
    dir: TempDir,
    smtp: SocketAddr,
    http: SocketAddr,
    store: Arc<dyn Storage>,
    /// The panics that the daemon knows.
    pub(crate) panics: Panics,
    shutdown: CancellationToken,
    running: JoinHandle<Result<(), DaemonError>>,
    /// The daemon's clock.
    pub(crate) clock: Arc<SetClock>,
}

impl TestServer {
    /// A daemon as a first start makes it.
    pub(crate) async fn start() -> Self {
        Self::with(|_| {}).await
    }

    /// A daemon with settings of revision 2 that `configure` changes.
    pub(crate) async fn with(configure: impl FnOnce(&mut Config)) -> Self {
        Self::of_revision(Revision::Two, configure).await
    }

    /// A daemon whose clock ticks, for tests of retries.
    pub(crate) async fn ticking(configure: impl FnOnce(&mut Config)) -> Self {
        let dir = tempfile::tempdir().expect("directory");
        Self::run(dir, Arc::new(SetClock::ticking_from(START)), Revision::Two, configure).await
    }

    /// A daemon in the time of this machine, for browsers, which have no other.
    pub(crate) async fn live(configure: impl FnOnce(&mut Config)) -> Self {
        let dir = tempfile::tempdir().expect("directory");
        Self::run(dir, Arc::new(SetClock::ticking_from(SystemClock.now())), Revision::Two, configure).await
    }

    /// A daemon with the settings of a revision that `configure` changes.
    pub(crate) async fn of_revision(revision: Revision, configure: impl FnOnce(&mut Config)) -> Self {
        let dir = tempfile::tempdir().expect("directory");
        Self::run(dir, Arc::new(SetClock::at(START)), revision, configure).await
    }

    /// A daemon that stores mail on a disk of the caller.
    pub(crate) async fn on(disk: impl Disk, configure: impl FnOnce(&mut Config)) -> Self {
        let dir = tempfile::tempdir().expect("directory");
        Self::run_on(Some(Arc::new(disk)), dir, Arc::new(SetClock::at(START)), Revision::Two, configure).await
    }

    /// Stops it, and returns what starts it again on the same data and the same ports.
    pub(crate) async fn pause(self, configure: impl FnOnce(&mut Config)) -> impl AsyncFnOnce() -> Self {
        let (smtp, http, clock) = (self.smtp, self.http, Arc::clone(&self.clock));
        let dir = self.stop().await;
        async move || {
            let ports = |config: &mut Config| {
                configure(config);
                (config.smtp.listen, config.http.listen) = (vec![smtp], vec![http.into()]);
            };
            Self::run(dir, clock, Revision::Two, ports).await
        }
    }

    /// Stops it and starts it again on the same data, with the same clock.
    pub(crate) async fn restart(self, configure: impl FnOnce(&mut Config)) -> Self {
        let clock = Arc::clone(&self.clock);
        Self::run(self.stop().await, clock, Revision::Two, configure).await
    }

    /// A daemon on the data of one that has ended.
    pub(crate) async fn again(dir: TempDir, clock: Arc<SetClock>) -> Self {
        Self::run(dir, clock, Revision::Two, |_| {}).await
    }

    async fn run(dir: TempDir, clock: Arc<SetClock>, revision: Revision, configure: impl FnOnce(&mut Config)) -> Self {
        Self::run_on(None, dir, clock, revision, configure).await
    }

    async fn run_on(
        disk: Option<Arc<dyn Disk>>,
        dir: TempDir,
        clock: Arc<SetClock>,
        revision: Revision,
        configure: impl FnOnce(&mut Config),
    ) -> Self {
        let mut config = Config::of_revision(revision, dir.path().into());
        let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
        (config.smtp.listen, config.http.listen) = (vec![any_port], vec![any_port.into()]);
        // Just enough for two of the largest messages, because each start fills two segments with zeros.
        config.store.segment_octets = 20 << 20;
        configure(&mut config);
        let listeners = Listeners::bind(&config, Inherited::default()).expect("free ports");
        let (smtp, http) = (listeners.smtp_addresses()[0], listeners.http_addresses()[0]);
        let directory = hold_data_dir(&config).await.expect("the data directory");
        let store: Arc<dyn Storage> = match disk {
            Some(disk) => Arc::new(EmbeddedStore::open_on(disk, &StoreOptions::from_config(&config)).expect("open")),
            None => open_store(&config, &directory).await.expect("open"),
        };
        let control = vec![ControlSocket::bind(&dir.path().join("tempmail.sock")).expect("socket")];
        let panics = Panics::default();
        let tls = open_certificate(&config, clock.now()).expect("a certificate");
        let daemon = Daemon::new(config, Arc::clone(&store), listeners, tls, control, clock.clone(), panics.clone());
        let daemon = daemon.await.expect("daemon").holding(directory);
        let shutdown = CancellationToken::new();
        let stop = shutdown.clone();
        let running = tokio::spawn(daemon.run(stop));
        Self { dir, smtp, http, store, panics, shutdown, running, clock }
    }

    /// The data directory.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Where SMTP listens.
    pub(crate) fn smtp(&self) -> SocketAddr {
        self.smtp
    }

    /// Where HTTP listens.
    pub(crate) fn http(&self) -> SocketAddr {
        self.http
    }

    /// The daemon's store.
    pub(crate) fn store(&self) -> &dyn Storage {
        &*self.store
    }

    /// The administrator's `GET`, through the control socket.
    pub(crate) async fn admin_get(&self, path: &str) -> Value {
        let answer = self.control().get(format!("http://control{path}")).send().await.expect("an answer");
        answer.json().await.expect("JSON")
    }

    /// The administrator's `POST`, through the control socket.
    pub(crate) async fn admin_post(&self, path: &str, body: &Value) -> (u16, Value) {
        let answer = self.control().post(format!("http://control{path}")).json(body).send().await.expect("an answer");
        (answer.status().as_u16(), answer.json().await.expect("JSON"))
    }

    fn control(&self) -> reqwest::Client {
        let socket = self.dir.path().join("tempmail.sock");
        http::client_builder().unix_socket(socket).build().expect("a client")
    }

    /// Delivers a text mail over SMTP.
    pub(crate) async fn send(&self, to: &str, subject: &str, text: &str) {
        let message = format!("From: bob@example.com\r\nSubject: {subject}\r\n\r\n{text}");
        SmtpPeer::greeted(self.smtp).await.deliver(to, &message).await;
    }

    /// The statistics of the store.
    pub(crate) async fn stats(&self) -> StoreStats {
        self.store.stats().await.expect("stats")
    }

    /// Waits until the statistics are as wanted.
    pub(crate) async fn until_stats(&self, wanted: impl Fn(&StoreStats) -> bool) -> StoreStats {
        let last = Cell::new(self.stats().await);
        until(from_fn(|f| write!(f, "other stats than {:?}", last.get())), async || {
            last.set(self.stats().await);
            wanted(&last.get())
        })
        .await;
        last.get()
    }

    /// Waits until the statistics are as wanted, and moves the clock meanwhile, because removals pause after a start.
    pub(crate) async fn in_time(&self, wanted: impl Fn(&StoreStats) -> bool) -> StoreStats {
        let wanted = |stats: &StoreStats| {
            self.clock.advance(Duration::from_mins(1));
            wanted(stats)
        };
        self.until_stats(wanted).await
    }

    /// A command of the binary that reaches this daemon through its control socket.
    pub(crate) async fn tempmail(&self, args: &[&str]) -> Outcome {
        let dir = self.dir.path().to_owned();
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let run = move || program::local(&dir, &args.iter().map(String::as_str).collect::<Vec<_>>());
        tokio::task::spawn_blocking(run).await.expect("the command")
    }

    /// Stops it in order. Returns its data directory.
    pub(crate) async fn stop(self) -> TempDir {
        let Self { dir, store, shutdown, running, .. } = self;
        shutdown.cancel();
        let ended = tokio::time::timeout(PATIENCE, running).await.expect("an end in time");
        ended.expect("no panic").expect("a good end");
        drop(store);
        dir
    }
}
