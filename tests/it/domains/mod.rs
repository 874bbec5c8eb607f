//! Domains against a real DNS server.

mod answers;
mod panics;
mod registration;
mod verification;
mod worker;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use tempmail::clock::Clock;
use tempmail::config::{Config, Revision};
use tempmail::dns::{DnsResolver, ResolverSettings};
use tempmail::domains::{DomainError, NewDomain, Registered, Registry, Served};
use tempmail::model::{Client, DomainName, Timestamp};

use crate::support::dns_zone::DnsZone;
use crate::support::faulty_store::FaultyStore;

/// The name that domains point to in these tests.
const OUR_HOST: &str = "mx.tempmail.test";
/// The name of another provider's host.
const OTHER_HOST: &str = "mx.other.test";

fn name(text: &str) -> DomainName {
    text.parse().expect(text)
}

fn new(domain: &str) -> NewDomain {
    NewDomain { name: name(domain), owner: None, email: None }
}

/// A client of a registration.
#[expect(clippy::unnecessary_wraps, reason = "the registry takes a client or none")]
fn client(last: u8) -> Option<Client> {
    Some(Client::of([192, 0, 2, last].into()))
}

/// A clock that stands still until a test moves it.
struct SetClock {
    millis: AtomicI64,
    boot_millis: AtomicU64,
}

impl SetClock {
    fn new() -> Arc<Self> {
        Arc::new(Self { millis: AtomicI64::new(1_700_000_000_000), boot_millis: AtomicU64::new(5_000) })
    }

    fn advance(&self, duration: Duration) {
        let millis = u64::try_from(duration.as_millis()).expect("a short time");
        self.millis.fetch_add(millis.cast_signed(), Ordering::Relaxed);
        self.boot_millis.fetch_add(millis, Ordering::Relaxed);
    }
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.millis.load(Ordering::Relaxed))
    }

    fn boot(&self) -> Duration {
        Duration::from_millis(self.boot_millis.load(Ordering::Relaxed))
    }

    fn boot_id(&self) -> Option<String> {
        None
    }
}

/// A registry with its surroundings. Its one host is [`OUR_HOST`], at `192.0.2.25` and `2001:db8::25`.
struct Setup {
    zone: DnsZone,
    store: Arc<FaultyStore>,
    clock: Arc<SetClock>,
    registry: Arc<Registry>,
}

impl Setup {
    async fn new() -> Self {
        Self::with(|_| ()).await
    }

    async fn with(adjust: impl FnOnce(&mut Config)) -> Self {
        let zone = DnsZone::start().await;
        zone.set_addresses(OUR_HOST, &["192.0.2.25", "2001:db8::25"]);
        zone.set_addresses(OTHER_HOST, &["203.0.113.9"]);
        let mut config = Config::of_revision(Revision::Two, PathBuf::from("unused"));
        config.domains.mx_hosts = vec![name(OUR_HOST)];
        config.domains.resolvers = vec![zone.addr()];
        adjust(&mut config);
        let (store, clock) = (Arc::new(FaultyStore::open()), SetClock::new());
        let registry = open(Arc::new(config), &store, &clock).await;
        Self { zone, store, clock, registry }
    }

    /// A registry over the same store and zone, as after a restart.
    async fn restarted(&self, adjust: impl FnOnce(&mut Config)) -> Arc<Registry> {
        let mut config = Config::of_revision(Revision::Two, PathBuf::from("unused"));
        config.domains.mx_hosts = vec![name(OUR_HOST)];
        config.domains.resolvers = vec![self.zone.addr()];
        adjust(&mut config);
        open(Arc::new(config), &self.store, &self.clock).await
    }

    /// Makes the zone say that the mail of `domain` comes to us.
    fn point_here(&self, domain: &str) {
        self.zone.set_mx(domain, &[(10, OUR_HOST)]);
    }

    /// Makes the zone say that it goes to another provider.
    fn point_elsewhere(&self, domain: &str) {
        self.zone.set_mx(domain, &[(10, OTHER_HOST)]);
    }

    fn all_point_here(&self, domains: &[String]) {
        for domain in domains {
            self.point_here(domain);
        }
    }

    fn all_point_elsewhere(&self, domains: &[String]) {
        for domain in domains {
            self.point_elsewhere(domain);
        }
    }

    async fn register(&self, domain: &str) -> Result<Registered, DomainError> {
        self.registry.register(new(domain), client(1)).await
    }

    /// Registers `count` domains that point here, and returns their names.
    async fn register_many(&self, count: usize) -> Vec<String> {
        let domains: Vec<String> = (0..count).map(|number| format!("d{number}.test")).collect();
        for domain in &domains {
            self.point_here(domain);
            self.register(domain).await.expect(domain);
        }
        domains
    }

    fn served(&self, domain: &str) -> Served {
        self.registry.table().served(&name(domain))
    }
}

async fn open(config: Arc<Config>, store: &Arc<FaultyStore>, clock: &Arc<SetClock>) -> Arc<Registry> {
    // Longer than a busy machine takes for an answer on loopback; tests of silence wait for one attempt of it.
    let settings = ResolverSettings {
        timeout: Duration::from_secs(2),
        retries: 0,
        ..ResolverSettings::new(config.domains.resolvers.clone())
    };
    let resolver = Arc::new(DnsResolver::new(settings));
    Registry::open(config, store.clone(), resolver, clock.clone()).await.expect("an open registry")
}
