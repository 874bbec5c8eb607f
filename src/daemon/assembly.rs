//! Putting the service together over an open store: for the daemon, and for a command where none runs.

use std::sync::Arc;

use axum::Router;

use super::{DaemonError, example_domain, resolver};
use crate::clock::Clock;
use crate::config::Config;
use crate::dns::DnsResolver;
use crate::domains::Registry;
use crate::http::{self, Api, DaemonStatus};
use crate::mime::Parser;
use crate::store::Store;

/// How many messages are read for people at once: a message takes several times its size in memory while it is read.
const PARSERS: usize = 2;

/// The parts that work together, none of them running yet.
pub struct Assembled {
    /// The settings in effect, with the domain that a first start gets.
    pub config: Arc<Config>,
    /// The domains.
    pub registry: Arc<Registry>,
    /// The HTTP interface. Without a principal in a request's extensions the caller is the public.
    pub router: Router,
}

/// Puts the parts together. `status` is what only a running daemon knows.
pub async fn assemble(
    mut config: Config,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    status: Option<DaemonStatus>,
) -> Result<Assembled, DaemonError> {
    if config.domains.is_empty() && config.mx_hosts.is_empty() && store.domains().await?.is_empty() {
        config.domains.push(example_domain());
    }
    let config = Arc::new(config);
    let resolver = DnsResolver::new(resolver(&config));
    let registry =
        Registry::open(Arc::clone(&config), Arc::clone(&store), Arc::new(resolver), Arc::clone(&clock)).await?;
    let router = http::router(Api {
        config: Arc::clone(&config),
        store,
        registry: Arc::clone(&registry) as Arc<dyn http::Domains>,
        parser: Parser::start(PARSERS)?,
        clock,
        status: status.map(Arc::new),
    });
    Ok(Assembled { config, registry, router })
}
