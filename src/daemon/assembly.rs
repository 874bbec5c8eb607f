//! What a daemon consists of, put together from the settings and an open store.

use std::net::SocketAddr;
use std::sync::Arc;

use super::DaemonError;
use crate::admission::Admission;
use crate::clock::Clock;
use crate::config::{self, Config};
use crate::connections::{Listening, Purpose};
use crate::dns::{DnsResolver, Resolver};
use crate::domains::Registry;
use crate::fault::Faults;
use crate::leases::Leases;
use crate::model::DomainPattern;
use crate::panics::Panics;
use crate::reader::Reader;
use crate::sender::Senders;
use crate::service::{History, Service};
use crate::smtp::Receiver;
use crate::store::Storage;
use crate::tls::{self, Keeper};
use crate::tokens::Tokens;
use crate::webhook::{Caller, EventSender, Guard, GuardSettings, Hosts, Schedule};

/// The threads that read mail for HTTP, and those that do so for webhooks. Each may hold the largest message several times.
const READERS: usize = 3;

/// Puts the parts together over an open store; none of them runs yet.
pub(super) async fn assemble(
    mut config: Config,
    store: Arc<dyn Storage>,
    clock: Arc<dyn Clock>,
    tls: Option<Arc<Keeper>>,
    listening: Listening,
    panics: Panics,
) -> Result<Arc<Service>, DaemonError> {
    if config.domains.fixed.is_empty() && config.domains.mx_hosts.is_empty() && store.domains().await?.is_empty() {
        config.domains.fixed.push(example_domain());
    }
    let config = Arc::new(config);
    let dns = Arc::new(DnsResolver::new(config.domains.resolvers.clone(), config.constants.dns_timeout));
    let resolver: Arc<dyn Resolver> = dns.clone();
    let admission = Arc::new(Admission::new(&config));
    let senders = Senders::new(&config, dns, Arc::clone(&admission));
    let registry =
        Registry::open(&config, store.clone(), Arc::clone(&resolver), Arc::clone(&clock), Arc::clone(&admission));
    let domains = registry.await?;
    let guard = Arc::new(guard(&config, &listening));
    let webhooks = Arc::new(sender(&config, &store, &guard, &admission, resolver, &clock)?);
    let tokens = Tokens::open(store.clone(), &config.data_dir, config.admin_token.as_ref(), clock.now()).await?;
    let reader = Reader::start(READERS)?;
    let faults = Faults::new(config.smtp.faults.clone(), exposure(&config, &listening));
    let leases = Arc::new(Leases::new(&config, &clock, store.clone(), &admission, &domains));
    let parts = (store.clone(), &admission, &domains, &leases);
    let smtp = Receiver::new(&config, &clock, parts, tls.clone(), faults);
    Ok(Arc::new(Service {
        started_at: clock.now(),
        config,
        clock,
        store,
        admission,
        domains,
        leases,
        tokens,
        reader,
        senders,
        guard,
        webhooks,
        tls,
        smtp: Arc::new(smtp),
        listening,
        panics,
        history: History::default(),
    }))
}

/// What sends events.
fn sender(
    config: &Config,
    store: &Arc<dyn Storage>,
    guard: &Arc<Guard>,
    admission: &Arc<Admission>,
    resolver: Arc<dyn Resolver>,
    clock: &Arc<dyn Clock>,
) -> Result<EventSender, DaemonError> {
    let caller = Caller {
        connect_timeout: config.constants.webhook_connect_timeout,
        timeout: config.webhooks.timeout,
        guard: Arc::clone(guard),
        hosts: Some(Hosts::new(Arc::clone(admission), Arc::clone(guard), config.constants.webhook_limits_allowed)),
        resolver,
        tls: tls::client_config().map_err(DaemonError::Caller)?,
        clock: Arc::clone(clock),
    };
    Ok(EventSender {
        outbox: store.clone(),
        // Webhooks and readers over HTTP do not wait for each other.
        reader: Reader::start(READERS)?,
        admission: Arc::clone(admission),
        caller,
        schedule: Schedule::new(config.webhooks.schedule.clone()),
        grace: config.webhooks.grace,
        roles: config.mail.role_addresses.clone(),
        hostname: config.smtp.hostname.clone(),
        clock: Arc::clone(clock),
        counters: Arc::default(),
    })
}

/// Why no rules for faults may be added while the service listens where it does.
fn exposure(config: &Config, listening: &Listening) -> Option<String> {
    let of_mail = [Purpose::Smtp, Purpose::Smtps, Purpose::Lmtp];
    config::exposure(config, of_mail.into_iter().flat_map(|of| listening.tcp(of)))
}

/// What webhooks may be sent to: nothing that is ours, at the addresses we listen on and those that lead to us.
fn guard(config: &Config, listening: &Listening) -> Guard {
    let listening: Vec<SocketAddr> = listening.all_tcp();
    let ports: Vec<u16> = listening.iter().map(SocketAddr::port).collect();
    let forwarded =
        config.domains.public_addresses.iter().flat_map(|ip| ports.iter().map(|port| SocketAddr::new(*ip, *port)));
    Guard::new(GuardSettings {
        allow: config.webhooks.allow.clone(),
        own: listening.iter().copied().chain(forwarded).collect(),
    })
}

/// The domain that is fixed where none is configured or stored and no mail host is named, so that a first start works.
/// RFC 2606 reserves it; it can't be used on the Internet.
pub(super) fn example_domain() -> DomainPattern {
    DomainPattern::Exact("example.test".parse().expect("a constant domain name"))
}
