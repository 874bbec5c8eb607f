//! The receiver over real sockets, with a store that each test controls.

mod budget;
mod differential;
mod eviction;
mod extensions;
mod limits;
mod policy;
mod proxied;
mod sessions;
mod smuggling;
mod stopping;
mod storing;
mod tls;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tempmail::clock::{Clock, SystemClock};
use tempmail::config::{Config, Revision};
use tempmail::domains::DomainTable;
use tempmail::model::{Count, Counts, Timestamp};
use tempmail::smtp::{Counters, Listener, Receiver, Service, ServiceListener, SmtpSettings, serve};
use tempmail::tls::Keeper;
use tokio::net::{TcpListener, TcpSocket};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::support::clock::SetClock;
use crate::support::faulty_store::FaultyStore;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::until::until;

/// A receiver for example.test on a port of its own.
struct TestReceiver {
    address: SocketAddr,
    store: Arc<FaultyStore>,
    counters: Arc<Counters>,
    shutdown: CancellationToken,
    serving: JoinHandle<()>,
}

impl TestReceiver {
    async fn start(store: FaultyStore, change: impl FnOnce(&mut SmtpSettings)) -> Self {
        Self::of(Service::Smtp, None, store, change).await
    }

    /// Like [`Self::start`], for any service, with or without a certificate.
    async fn of(
        service: Service,
        tls: Option<Arc<Keeper>>,
        store: FaultyStore,
        change: impl FnOnce(&mut SmtpSettings),
    ) -> Self {
        Self::at(Arc::new(SystemClock), service, tls, store, change).await
    }

    /// Like [`Self::of`], with any clock.
    async fn at(
        clock: Arc<dyn Clock>,
        service: Service,
        tls: Option<Arc<Keeper>>,
        store: FaultyStore,
        change: impl FnOnce(&mut SmtpSettings),
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
        let address = listener.local_addr().expect("address");
        Self::over(Listener::Tcp(listener), address, clock, service, tls, store, change)
    }

    fn over(
        listener: Listener,
        address: SocketAddr,
        clock: Arc<dyn Clock>,
        service: Service,
        tls: Option<Arc<Keeper>>,
        store: FaultyStore,
        change: impl FnOnce(&mut SmtpSettings),
    ) -> Self {
        let config = Config::of_revision(Revision::Two, PathBuf::from("unused"));
        let mut settings = SmtpSettings::from_config(&config);
        change(&mut settings);
        let store = Arc::new(store);
        let domains = DomainTable::new(vec!["example.test".parse().expect("pattern")]);
        let receiver = Receiver::new(settings, store.clone(), domains, clock).with_tls(tls);
        let counters = Arc::<Counters>::default();
        let receiver = receiver.counting(Arc::clone(&counters));
        let shutdown = CancellationToken::new();
        let listener = ServiceListener { listener, service };
        let serving = tokio::spawn(serve(vec![listener], Arc::new(receiver), shutdown.clone()));
        Self { address, store, counters, shutdown, serving }
    }

    /// A receiver without exempt networks whose clock only its test moves, and that clock.
    async fn with_clock(
        service: Service,
        tls: Option<Arc<Keeper>>,
        change: impl FnOnce(&mut SmtpSettings),
    ) -> (Self, Arc<SetClock>) {
        let clock = Arc::new(SetClock::at(Timestamp::from_millis(1_000_000)));
        let change = |settings: &mut SmtpSettings| {
            settings.exempt = Vec::new();
            // In real time, a session checks its deadline so often.
            settings.stress_timeout = Duration::from_millis(20);
            change(settings);
        };
        (Self::at(clock.clone(), service, tls, FaultyStore::open(), change).await, clock)
    }

    /// A receiver without exempt networks.
    async fn bounded(change: impl FnOnce(&mut SmtpSettings)) -> Self {
        let change = |settings: &mut SmtpSettings| {
            settings.exempt = Vec::new();
            change(settings);
        };
        Self::start(FaultyStore::open(), change).await
    }

    /// The value of a counter; `label` tells it from others of its name.
    fn count(&self, name: &str, label: impl Into<Option<&'static str>>) -> u64 {
        let label = label.into();
        let is_it = |count: &&Count| count.name == name && count.label() == label;
        self.counters.read().iter().find(is_it).expect(name).value
    }

    /// Waits until a counter has this value. A session is counted a moment after its last reply.
    async fn until_counted(&self, name: &str, label: impl Into<Option<&'static str>>, value: u64) {
        let label = label.into();
        let shown = std::fmt::from_fn(|f| write!(f, "{name} {label:?} is {}, not {value}", self.count(name, label)));
        until(shown, async || self.count(name, label) == value).await;
    }

    /// Stops the receiver and waits until all sessions have ended.
    async fn stop(self) -> Arc<FaultyStore> {
        self.shutdown.cancel();
        self.serving.await.expect("serve returns");
        self.store
    }
}

/// Waits until sessions have read their clock a few times, which they do when they have read something and when they
/// check their deadlines.
async fn until_checked(clock: &SetClock) {
    let looks = clock.looks();
    until("the deadlines are checked", async || clock.looks() > looks + 5).await;
}

/// Connects from an address of loopback.
async fn from(client: Ipv4Addr, server: SocketAddr) -> SmtpPeer {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(SocketAddr::from((client, 0))).expect("bind");
    SmtpPeer::over(socket.connect(server).await.expect("connect"))
}
