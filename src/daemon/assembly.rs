//! Putting the service together over an open store: for the daemon, and for a command where none runs.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;

use super::{DaemonError, example_domain};
use crate::admission::Admission;
use crate::clock::Clock;
use crate::config::Config;
use crate::counts::Counts;
use crate::dns::{DnsResolver, Resolver};
use crate::domains::Registry;
use crate::http::{self, Api, DaemonStatus, MetricSource, RenderedEmails};
use crate::reader::Reader;
use crate::store::Storage;
use crate::tokens::Tokens;
use crate::webhook::{Caller, CallerSettings, EventSender, Guard, GuardSettings, Schedule, Tester};

/// The threads that read mail for HTTP, and those that do so for webhooks. Each may hold the largest message several times.
const READERS: usize = 3;

/// The parts that work together, none of them running yet.
pub struct Assembled {
    /// The settings in effect, with the domain that a first start gets.
    pub config: Arc<Config>,
    /// What each client may have, for all listeners.
    pub admission: Arc<Admission>,
    /// The domains.
    pub registry: Arc<Registry>,
    /// The tokens of remote callers.
    pub tokens: Arc<Tokens>,
    /// What sends events to webhooks.
    pub event_sender: Arc<EventSender>,
    /// The HTTP interface. Without a principal in a request's extensions the caller is the public.
    pub router: Router,
    /// Metrics and health alone.
    pub metrics_router: Router,
}

/// Puts the parts together. `status` is what only a running daemon knows.
pub async fn assemble(
    mut config: Config,
    store: Arc<dyn Storage>,
    clock: Arc<dyn Clock>,
    status: Option<DaemonStatus>,
) -> Result<Assembled, DaemonError> {
    if config.domains.fixed.is_empty() && config.domains.mx_hosts.is_empty() && store.domains().await?.is_empty() {
        config.domains.fixed.push(example_domain());
    }
    let config = Arc::new(config);
    let dns = DnsResolver::new(config.domains.resolvers.clone(), config.constants.dns_timeout);
    let resolver: Arc<dyn Resolver> = Arc::new(dns);
    let admission = Arc::new(Admission::new(&config));
    let opened =
        Registry::open(&config, store.clone(), Arc::clone(&resolver), Arc::clone(&clock), Arc::clone(&admission));
    let registry = opened.await?;
    let guard = Arc::new(guard(&config, status.as_ref()));
    let reader = Reader::start(READERS)?;
    let calls = CallerSettings {
        timeout: config.webhooks.timeout,
        per_address_per_minute: config.webhooks.per_address_per_minute,
        connect_timeout: config.constants.webhook_connect_timeout,
        has_probation: config.constants.webhook_probation,
    };
    let event_sender = Arc::new(EventSender {
        outbox: store.clone(),
        // Webhooks and readers over HTTP do not wait for each other.
        reader: Reader::start(READERS)?,
        caller: Caller::new(calls, Arc::clone(&guard), resolver, Arc::clone(&clock))?,
        schedule: Schedule::new(config.webhooks.schedule.clone()),
        grace: config.webhooks.grace,
        roles: config.mail.role_addresses.clone(),
        hostname: config.smtp.hostname.clone(),
        clock: Arc::clone(&clock),
        counters: Arc::default(),
    });
    let source = |name, counts: Arc<dyn Counts>| MetricSource { name, counts };
    let mut metrics = vec![
        source("store", store.clone()),
        source("domains", registry.clone()),
        source("webhooks", event_sender.counters.clone()),
    ];
    if let Some(daemon) = &status {
        metrics.push(source("smtp", daemon.smtp.clone()));
        metrics.push(source("faults", daemon.faults.clone()));
        metrics.push(source("panics", Arc::new(daemon.panics.clone())));
    }
    let (admin, now) = (config.admin_token.as_ref(), clock.now());
    let tokens = Tokens::open(store.clone(), &config.data_dir, admin, now).await?;
    let api = Api {
        config: Arc::clone(&config),
        store,
        guard,
        webhook_test: Arc::new(Tester::new(Arc::clone(&event_sender))),
        registry: Arc::clone(&registry),
        tokens: Arc::clone(&tokens),
        reader,
        rendered: RenderedEmails::default(),
        admission: Arc::clone(&admission),
        clock,
        status: status.map(Arc::new),
        metrics,
    };
    let (router, metrics_router) = http::routers(api);
    Ok(Assembled { config, admission, registry, tokens, event_sender, router, metrics_router })
}

/// What webhooks may be sent to: nothing that is ours, at the addresses we listen on and those that lead to us.
fn guard(config: &Config, status: Option<&DaemonStatus>) -> Guard {
    let listening = status.map(DaemonStatus::addresses).unwrap_or_default();
    let ports: Vec<u16> = listening.iter().map(SocketAddr::port).collect();
    let forwarded =
        config.domains.public_addresses.iter().flat_map(|ip| ports.iter().map(|port| SocketAddr::new(*ip, *port)));
    Guard::new(GuardSettings {
        allow: config.webhooks.allow.clone(),
        own: listening.iter().copied().chain(forwarded).collect(),
    })
}
