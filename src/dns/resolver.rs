//! Queries through hickory, which no other module knows.
//!
//! This module sets the limits of a query (servers, time, attempts) and interprets hickory's errors. It must see what
//! senders of mail see, so it uses no cache, no hosts file and no search domains.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use async_trait::async_trait;
use futures_util::future::join;
use hickory_resolver::config::{NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts};
use hickory_resolver::lookup::Lookup;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError, NoRecords};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::{Name, RData, RecordType};
use hickory_resolver::{TokioResolver, system_conf};

use super::{Addresses, Failure, MxAnswer, MxRecord, Resolver};
use crate::model::DomainName;

/// Which servers a resolver queries, and how long it waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolverSettings {
    /// The servers, or the system's servers if the list is empty. A truncated answer over UDP is followed by a query
    /// over TCP.
    pub servers: Vec<SocketAddr>,
    /// How long one attempt may take.
    pub timeout: Duration,
    /// How many attempts follow a first one without an answer.
    pub retries: usize,
}

impl ResolverSettings {
    /// The settings for `servers`, with two attempts of 3 s each.
    pub fn new(servers: Vec<SocketAddr>) -> Self {
        Self { servers, timeout: Duration::from_secs(3), retries: 1 }
    }

    fn options(&self) -> ResolverOpts {
        let mut options = ResolverOpts::default();
        options.timeout = self.timeout;
        options.attempts = self.retries;
        options.use_hosts_file = ResolveHosts::Never;
        options.cache_size = 0;
        options
    }

    fn name_servers(&self) -> Result<Vec<NameServerConfig>, NetError> {
        if self.servers.is_empty() {
            return system_conf::read_system_conf().map(|(config, _)| config.name_servers().to_vec());
        }
        let servers = self.servers.iter().map(|server| {
            let mut config = NameServerConfig::udp_and_tcp(server.ip());
            for connection in &mut config.connections {
                connection.port = server.port();
            }
            config
        });
        Ok(servers.collect())
    }
}

/// A resolver that queries the configured servers.
pub struct DnsResolver {
    settings: ResolverSettings,
    /// Created at the first query. A query without an answer creates it anew, since a change of networks changes the
    /// system's servers.
    hickory: ArcSwapOption<TokioResolver>,
}

impl DnsResolver {
    /// A resolver with these settings. Reads no file and makes no query yet.
    pub fn new(settings: ResolverSettings) -> Self {
        Self { settings, hickory: ArcSwapOption::empty() }
    }

    fn hickory(&self) -> Result<Arc<TokioResolver>, Failure> {
        if let Some(hickory) = self.hickory.load_full() {
            return Ok(hickory);
        }
        let build = || {
            let config = ResolverConfig::from_name_servers(self.settings.name_servers()?);
            let builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
            builder.with_options(self.settings.options()).build()
        };
        let hickory = Arc::new(build().map_err(|error| {
            tracing::warn!(%error, "the system's name servers cannot be read; name servers in the setting resolver");
            Failure::NoServer
        })?);
        self.hickory.store(Some(hickory.clone()));
        Ok(hickory)
    }

    async fn lookup(&self, name: &str, kind: RecordType) -> Result<Answer, Failure> {
        let full_name = full_name(name).ok_or(Failure::Unusable)?;
        let answer = self.hickory()?.lookup(full_name.clone(), kind).await;
        let answer = answer.map_or_else(|error| negative(&full_name, &error), |lookup| Ok(Answer::Records(lookup)));
        if let Err(why) = &answer {
            tracing::debug!(name, %kind, %why, "no answer from the DNS");
            if self.settings.servers.is_empty() {
                self.hickory.store(None);
            }
        }
        answer
    }

    async fn addresses_of(&self, host: &str, kind: RecordType) -> Addresses {
        // An MX record can hold an impossible host name, such as `10 mail.example`. Such a host has no addresses.
        if full_name(host).is_none() {
            return Addresses::default();
        }
        let records = match self.lookup(host, kind).await {
            Ok(Answer::Records(lookup)) => lookup,
            Ok(Answer::NoRecords | Answer::NoSuchName) => return Addresses::default(),
            Err(why) => return Addresses { found: Vec::new(), missing: Some(why) },
        };
        let address = |data: &RData| match data {
            RData::A(v4) => Some(IpAddr::V4(v4.0)),
            RData::AAAA(v6) => Some(IpAddr::V6(v6.0)),
            _ => None,
        };
        let found: Vec<IpAddr> = records.answers().iter().filter_map(|record| address(&record.data)).collect();
        let missing = found.is_empty().then_some(Failure::Unusable);
        Addresses { found, missing }
    }
}

#[async_trait]
impl Resolver for DnsResolver {
    async fn mx(&self, domain: &DomainName) -> MxAnswer {
        let lookup = match self.lookup(domain.as_str(), RecordType::MX).await {
            Ok(Answer::Records(lookup)) => lookup,
            Ok(Answer::NoRecords) => return MxAnswer::NoRecords,
            Ok(Answer::NoSuchName) => return MxAnswer::NoSuchName,
            Err(why) => return MxAnswer::Failed(why),
        };
        let record = |data: &RData| match data {
            RData::MX(mx) => Some(MxRecord { preference: mx.preference, exchange: mx.exchange.to_ascii() }),
            _ => None,
        };
        let records: Vec<MxRecord> = lookup.answers().iter().filter_map(|answer| record(&answer.data)).collect();
        if records.is_empty() { MxAnswer::Failed(Failure::Unusable) } else { MxAnswer::Records(records) }
    }

    async fn addresses(&self, host: &str) -> Addresses {
        let (v4, v6) = join(self.addresses_of(host, RecordType::A), self.addresses_of(host, RecordType::AAAA)).await;
        Addresses { found: [v4.found, v6.found].concat(), missing: v4.missing.or(v6.missing) }
    }
}

/// The fully qualified name; `None` if no host can have it.
fn full_name(name: &str) -> Option<Name> {
    let mut full_name = Name::from_ascii(name).ok()?;
    full_name.set_fqdn(true);
    Some(full_name)
}

enum Answer {
    Records(Lookup),
    NoRecords,
    NoSuchName,
}

/// The negative answer in an error of hickory, or why there is no answer at all.
fn negative(asked: &Name, error: &NetError) -> Result<Answer, Failure> {
    Err(match error {
        NetError::Dns(DnsError::NoRecordsFound(none)) => match none.response_code {
            ResponseCode::NXDomain => return Ok(Answer::NoSuchName),
            ResponseCode::NoError if is_no_data(asked, none) => return Ok(Answer::NoRecords),
            ResponseCode::NoError => Failure::Unusable,
            code => failure_of(code),
        },
        NetError::Dns(DnsError::ResponseCode(code)) => failure_of(*code),
        NetError::Dns(DnsError::DnssecBogus) => Failure::Bogus,
        NetError::Timeout => Failure::TimedOut,
        NetError::Io(_) | NetError::NoConnections => Failure::Unreachable,
        NetError::Busy => Failure::Busy,
        _ => Failure::Unusable,
    })
}

/// Whether an empty answer says that there are no such records (RFC 2308 section 2.2). Without an SOA record, it may
/// be a referral or an unfinished chain of aliases. A referral has name servers in the authority section. An
/// unfinished chain has another name than the query.
fn is_no_data(asked: &Name, none: &NoRecords) -> bool {
    none.soa.is_some() || (none.ns.is_none() && none.query.name() == asked)
}

fn failure_of(code: ResponseCode) -> Failure {
    match code {
        ResponseCode::ServFail => Failure::ServerFailed,
        ResponseCode::Refused => Failure::Refused,
        code => Failure::ErrorCode(code.to_str().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use hickory_resolver::proto::op::Query;

    use super::*;

    fn outcome(error: impl Into<NetError>) -> Result<&'static str, Failure> {
        negative(&Name::from_ascii("a.test.").expect("name"), &error.into()).map(|answer| match answer {
            Answer::Records(_) => "records",
            Answer::NoRecords => "no records",
            Answer::NoSuchName => "no such name",
        })
    }

    fn none(name: &str, code: ResponseCode) -> NoRecords {
        NoRecords::new(Query::query(Name::from_ascii(name).expect("name"), RecordType::MX), code)
    }

    #[test]
    fn only_no_such_name_and_no_records_are_negative_answers() {
        assert_eq!(outcome(none("a.test.", ResponseCode::NXDomain)), Ok("no such name"));
        assert_eq!(outcome(none("a.test.", ResponseCode::NoError)), Ok("no records"));
        assert_eq!(outcome(none("a.test.", ResponseCode::ServFail)), Err(Failure::ServerFailed));
        assert_eq!(outcome(DnsError::ResponseCode(ResponseCode::ServFail)), Err(Failure::ServerFailed));
        assert_eq!(outcome(DnsError::ResponseCode(ResponseCode::Refused)), Err(Failure::Refused));
        assert!(matches!(outcome(DnsError::ResponseCode(ResponseCode::FormErr)), Err(Failure::ErrorCode(_))));
        assert!(matches!(outcome(none("a.test.", ResponseCode::Unknown(3841))), Err(Failure::ErrorCode(_))));
        assert_eq!(outcome(DnsError::DnssecBogus), Err(Failure::Bogus));
        assert_eq!(outcome(NetError::Timeout), Err(Failure::TimedOut));
        assert_eq!(outcome(NetError::NoConnections), Err(Failure::Unreachable));
        assert_eq!(outcome(NetError::from(std::io::Error::other("x"))), Err(Failure::Unreachable));
        assert_eq!(outcome(NetError::Busy), Err(Failure::Busy));
        assert_eq!(outcome(NetError::Truncated), Err(Failure::Unusable));
    }

    #[test]
    fn a_referral_and_an_endless_alias_chain_are_no_answers() {
        let mut referral = none("a.test.", ResponseCode::NoError);
        referral.ns = Some(Arc::new([]));
        assert_eq!(outcome(referral), Err(Failure::Unusable));
        assert_eq!(outcome(none("loop.test.", ResponseCode::NoError)), Err(Failure::Unusable));
    }

    #[test]
    fn neither_hosts_file_nor_cache_nor_search_domains_are_used() {
        let options = ResolverSettings::new(Vec::new()).options();
        assert_eq!(options.use_hosts_file, ResolveHosts::Never);
        assert_eq!(options.cache_size, 0);
    }
}
