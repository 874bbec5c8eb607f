//! The daemon in the process of the test, on free ports, with its own data directory and a clock that the test sets.
//!
//! Its settings are the text of a configuration file, as an operator writes it.

use std::cell::Cell;
use std::fmt::from_fn;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use reqwest::{Client, RequestBuilder};
use serde_json::Value;
use tempfile::TempDir;
use tempmail::clock::{Clock, SystemClock};
use tempmail::config::{self, Config, Sources};
use tempmail::connections::Purpose;
use tempmail::daemon::{Daemon, DaemonError, Listeners, hold_data_dir, open_certificate, open_store};
use tempmail::error::Error;
use tempmail::model::Timestamp;
use tempmail::panics::Panics;
use tempmail::store::disk::Disk;
use tempmail::store::{EmbeddedStore, Storage, StoreOptions, StoreStats};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::answer::Answer;
use super::clock::SetClock;
use super::command::Outcome;
use super::in_process::CommandLine;
use super::smtp_peer::SmtpPeer;
use super::until::until;
use super::{files, http};

/// How long a test waits for an expected event.
const PATIENCE: Duration = Duration::from_secs(20);
/// When a test begins: 2023-11-14 22:13:20 UTC.
pub(crate) const START: Timestamp = Timestamp::from_millis(1_700_000_000_000);
/// What a test changes if its own settings name the key. Each start fills two segments with zeros, so they are small.
/// No test asks the name servers of this machine.
const DEFAULTS: [(&str, &str); 5] = [
    ("smtp-listen", "127.0.0.1:0"),
    ("http-listen", "127.0.0.1:0"),
    ("hostname", "localhost"),
    ("segment-size", "1MB"),
    ("sender-verdicts", "off"),
];

/// A running daemon.
pub(crate) struct TestServer {
    dir: TempDir,
    listening: Listening,
    store: Arc<dyn Storage>,
    /// The panics that the daemon knows.
    pub(crate) panics: Panics,
    shutdown: CancellationToken,
    running: JoinHandle<Result<(), DaemonError>>,
    /// The daemon's clock.
    pub(crate) clock: Arc<SetClock>,
    client: Client,
    administrator: Client,
}

/// The first address of each service.
#[derive(Clone, Copy, Debug)]
struct Listening {
    smtp: SocketAddr,
    smtps: Option<SocketAddr>,
    lmtp: Option<SocketAddr>,
    http: SocketAddr,
    https: Option<SocketAddr>,
}

impl Listening {
    fn of(listeners: &Listeners) -> Self {
        let listening = listeners.listening();
        let first = |purpose| listening.tcp(purpose).next();
        Self {
            smtp: first(Purpose::Smtp).expect("smtp-listen"),
            smtps: first(Purpose::Smtps),
            lmtp: first(Purpose::Lmtp),
            http: first(Purpose::Http).expect("http-listen"),
            https: first(Purpose::Https),
        }
    }
}

impl TestServer {
    /// A daemon as a first start makes it.
    pub(crate) async fn start() -> Self {
        Self::with("").await
    }

    /// A daemon with these settings, whose clock stands still.
    pub(crate) async fn with(settings: &str) -> Self {
        Self::run(None, fresh_directory(), Arc::new(SetClock::at(START)), settings).await
    }

    /// A daemon whose clock ticks, for tests of retries.
    pub(crate) async fn ticking(settings: &str) -> Self {
        Self::run(None, fresh_directory(), Arc::new(SetClock::ticking_from(START)), settings).await
    }

    /// A daemon in the time of this machine, for browsers, which have no other.
    pub(crate) async fn live(settings: &str) -> Self {
        Self::run(None, fresh_directory(), Arc::new(SetClock::ticking_from(SystemClock.now())), settings).await
    }

    /// A daemon that stores mail on a disk of the caller.
    pub(crate) async fn on(disk: impl Disk, settings: &str) -> Self {
        Self::run(Some(Arc::new(disk)), fresh_directory(), Arc::new(SetClock::at(START)), settings).await
    }

    /// Stops it, and returns what starts it again on the same data and the same ports.
    pub(crate) async fn pause(self, settings: &str) -> impl AsyncFnOnce() -> Self {
        let (Listening { smtp, http, .. }, clock) = (self.listening, Arc::clone(&self.clock));
        let dir = self.stop().await;
        let settings = format!("smtp-listen = '{smtp}'\nhttp-listen = '{http}'\n{settings}");
        async move || Self::run(None, dir, clock, &settings).await
    }

    /// Stops it and starts it again on the same data, with the same clock.
    pub(crate) async fn restart(self, settings: &str) -> Self {
        let clock = Arc::clone(&self.clock);
        Self::again(self.stop().await, clock, settings).await
    }

    /// A daemon on the data of one that has ended.
    pub(crate) async fn again(dir: TempDir, clock: Arc<SetClock>, settings: &str) -> Self {
        Self::run(None, dir, clock, settings).await
    }

    async fn run(disk: Option<Arc<dyn Disk>>, dir: TempDir, clock: Arc<SetClock>, settings: &str) -> Self {
        let config = load(dir.path(), settings);
        let mut listeners = Listeners::bind(&config).expect("free ports");
        let listening = Listening::of(&listeners);
        let directory = hold_data_dir(&config).await.expect("the data directory");
        let store: Arc<dyn Storage> = match disk {
            Some(disk) => Arc::new(EmbeddedStore::open_on(disk, &StoreOptions::from_config(&config)).expect("open")),
            None => open_store(&config, &directory).await.expect("open"),
        };
        let socket = dir.path().join("tempmail.sock");
        listeners.bind_control(&socket).expect("socket");
        let panics = Panics::default();
        let tls = open_certificate(&config, clock.now()).expect("a certificate");
        let daemon = Daemon::new(config, Arc::clone(&store), listeners, tls, clock.clone(), panics.clone());
        let daemon = daemon.await.expect("daemon").holding(directory);
        let shutdown = CancellationToken::new();
        let running = tokio::spawn(daemon.run(shutdown.clone()));
        let administrator = http::client_builder().unix_socket(socket).build().expect("a client");
        Self { dir, listening, store, panics, shutdown, running, clock, client: http::client(), administrator }
    }

    /// The data directory.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Lets time pass for everything: the clock of the service and all of its timers.
    pub(crate) async fn pass(&self, time: Duration) {
        self.clock.advance(time);
        tokio::time::pause();
        tokio::time::advance(time).await;
        tokio::time::resume();
    }

    /// Where SMTP listens.
    pub(crate) fn smtp(&self) -> SocketAddr {
        self.listening.smtp
    }

    /// Where SMTP with TLS from the first octet listens.
    pub(crate) fn smtps(&self) -> SocketAddr {
        self.listening.smtps.expect("smtps-listen is set")
    }

    /// Where LMTP listens.
    pub(crate) fn lmtp(&self) -> SocketAddr {
        self.listening.lmtp.expect("lmtp-listen is set to an address")
    }

    /// Where HTTP listens.
    pub(crate) fn http(&self) -> SocketAddr {
        self.listening.http
    }

    /// Where HTTP with TLS listens.
    pub(crate) fn https(&self) -> SocketAddr {
        self.listening.https.expect("https-listen is set")
    }

    /// The daemon's store.
    pub(crate) fn store(&self) -> &dyn Storage {
        &*self.store
    }

    /// A request of the public.
    pub(crate) fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let method = method.parse().expect("a method");
        self.client.request(method, format!("http://{}{path}", self.http()))
    }

    /// A request of the administrator, through the control socket.
    pub(crate) fn admin(&self, method: &str, path: &str) -> RequestBuilder {
        let method = method.parse().expect("a method");
        self.administrator.request(method, format!("http://control{path}"))
    }

    /// `GET`, by the public.
    pub(crate) async fn get(&self, path: &str) -> Answer {
        Answer::to(self.request("GET", path)).await
    }

    /// `DELETE`, by the public.
    pub(crate) async fn delete(&self, path: &str) -> Answer {
        Answer::to(self.request("DELETE", path)).await
    }

    /// `POST` of JSON, by the public.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        Answer::to(self.request("POST", path).json(body)).await
    }

    /// The administrator's `GET`.
    pub(crate) async fn admin_get(&self, path: &str) -> Value {
        Answer::to(self.admin("GET", path)).await.json()
    }

    /// The administrator's `POST`.
    pub(crate) async fn admin_post(&self, path: &str, body: &Value) -> (u16, Value) {
        let answer = Answer::to(self.admin("POST", path).json(body)).await;
        (answer.status.as_u16(), serde_json::from_slice(&answer.body).unwrap_or_default())
    }

    /// Delivers a message over SMTP, in an envelope of `bob@example.com`.
    pub(crate) async fn deliver(&self, to: &str, message: &str) {
        SmtpPeer::greeted(self.smtp()).await.deliver(to, message).await;
    }

    /// Delivers a text mail over SMTP.
    pub(crate) async fn send(&self, to: &str, subject: &str, text: &str) {
        self.deliver(to, &format!("From: bob@example.com\r\nSubject: {subject}\r\n\r\n{text}")).await;
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

    /// Waits until the statistics are as wanted, and lets time pass meanwhile, because removals pause after a start.
    pub(crate) async fn in_time(&self, wanted: impl Fn(&StoreStats) -> bool) -> StoreStats {
        let last = Cell::new(self.stats().await);
        until(from_fn(|f| write!(f, "other stats than {:?}", last.get())), async || {
            self.pass(Duration::from_mins(1)).await;
            last.set(self.stats().await);
            wanted(&last.get())
        })
        .await;
        last.get()
    }

    /// Waits until so many requests wait for mail.
    pub(crate) async fn until_waiting(&self, expected: usize) {
        let line = format!("\ntempmail_http_requests_waiting {expected}\n");
        until("requests wait", async || self.get("/metrics").await.text().contains(&line)).await;
    }

    /// A command in this process that reaches this daemon through its control socket.
    pub(crate) async fn tempmail(&self, args: &[&str]) -> Outcome {
        let line = CommandLine::on_data(self.dir(), args);
        tokio::task::spawn_blocking(|| line.run()).await.expect("the command")
    }

    /// Waits until it has ended by itself: the error that ended it.
    pub(crate) async fn failed(self) -> Error {
        let ended = tokio::time::timeout(PATIENCE, self.running).await.expect("an end in time");
        ended.expect("no panic").expect_err("an end that is a failure").into()
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

/// A directory that no daemon had.
fn fresh_directory() -> TempDir {
    files::prepare();
    tempfile::tempdir().expect("directory")
}

/// The settings of a file with this text, and the defaults of tests for what it does not name.
pub(crate) fn load(dir: &Path, settings: &str) -> Config {
    let names = |key: &str| settings.lines().any(|line| line.split('=').next().is_some_and(|name| name.trim() == key));
    // Segments must take two of the largest messages.
    let has_large_mail = names("max-message-size") || names("revision");
    let is_default = |key: &str| !(names(key) || key == "segment-size" && has_large_mail);
    let defaults =
        DEFAULTS.iter().filter(|(key, _)| is_default(key)).map(|(key, value)| format!("{key} = '{value}'\n"));
    let file = dir.join("config.toml");
    std::fs::write(&file, defaults.collect::<String>() + settings).expect("write");
    let sources = Sources { data_dir: Some(dir.into()), config_file: Some(file), ..Sources::default() };
    config::load(&sources).unwrap_or_else(|error| panic!("{error}\n{settings}")).config
}
