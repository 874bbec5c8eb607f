//! A panic during a DNS query.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use tempmail::config::{Config, Revision};
use tempmail::dns::{Addresses, DnsResolver, MxAnswer, Resolver, ResolverSettings};
use tempmail::domains::{Registry, Served};
use tempmail::model::DomainName;

use super::{OUR_HOST, Setup, name};

/// A resolver that panics when it is asked for one domain.
struct Trapped {
    resolver: DnsResolver,
    trap: &'static str,
}

#[async_trait]
impl Resolver for Trapped {
    async fn mx(&self, domain: &DomainName) -> MxAnswer {
        assert!(domain.as_str() != self.trap, "the resolver panics as the test wants");
        self.resolver.mx(domain).await
    }

    async fn addresses(&self, host: &str) -> Addresses {
        self.resolver.addresses(host).await
    }
}

#[tokio::test]
async fn a_panic_costs_one_domain_its_answer() {
    let setup = Setup::new().await;
    setup.register_many(3).await;
    let mut config = Config::of_revision(Revision::Two, PathBuf::from("unused"));
    config.domains.mx_hosts = vec![name(OUR_HOST)];
    let resolver = DnsResolver::new(ResolverSettings::new(vec![setup.zone.addr()]));
    let trapped = Arc::new(Trapped { resolver, trap: "d1.test" });
    let registry =
        Registry::open(Arc::new(config), setup.store.clone(), trapped, setup.clock.clone()).await.expect("open");
    let round = registry.verify(None, false).await.expect("a round");
    assert_eq!((round.checked, round.failed, round.deactivated), (3, 1, 0));
    assert_eq!(registry.table().served(&name("d1.test")), Served::Active);
}
