//! Queries through hickory, which no other module knows.
//!
//! It must see what senders of mail see, so it uses no cache, no hosts file and no search domains.

use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;
use futures_util::future::join;
use hickory_resolver::config::{NameServerConfig, ResolveHosts, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError, NoRecords};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::{Name, RData, RecordType};
use hickory_resolver::{TokioResolver, system_conf};
use mail_auth::MessageAuthenticator;

use super::{Addresses, Answer, Failure, MxAnswer, Resolver};
use crate::model::DomainName;

/// A resolver that queries the configured servers. A truncated answer over UDP is followed by a query over TCP, and an
/// attempt without an answer by a second one.
pub struct DnsResolver {
    servers: Vec<SocketAddr>,
    timeout: Duration,
    /// Created at the first query, and anew after a query that reached no server: a change of networks changes the
    /// system's servers.
    hickory: Mutex<Option<TokioResolver>>,
}

impl DnsResolver {
    /// A resolver that asks `servers`, or the system's servers if there are none. One attempt may take `timeout`. Reads no
    /// file and makes no query yet.
    pub fn new(servers: Vec<SocketAddr>, timeout: Duration) -> Self {
        Self { servers, timeout, hickory: Mutex::default() }
    }

    fn shared(&self) -> MutexGuard<'_, Option<TokioResolver>> {
        self.hickory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hickory(&self) -> Result<TokioResolver, Failure> {
        let mut shared = self.shared();
        if shared.is_none() {
            let unreadable = "the system's name servers cannot be read; name servers in the setting resolver";
            *shared = self.connect().inspect_err(|error| tracing::warn!(%error, "{unreadable}")).ok();
        }
        shared.clone().ok_or(Failure::NoServer)
    }

    /// What checks the senders of mail by these servers. It knows no change of the system's servers, so it is not to be kept.
    pub fn authenticator(&self) -> Result<MessageAuthenticator, Failure> {
        self.connect().map(MessageAuthenticator).map_err(|_| Failure::NoServer)
    }

    fn connect(&self) -> Result<TokioResolver, NetError> {
        let mut servers: Vec<NameServerConfig> =
            self.servers.iter().map(|server| NameServerConfig::udp_and_tcp(server.ip())).collect();
        for (config, server) in servers.iter_mut().zip(&self.servers) {
            config.connections.iter_mut().for_each(|connection| connection.port = server.port());
        }
        if servers.is_empty() {
            servers = system_conf::read_system_conf()?.0.name_servers().to_vec();
        }
        let config = ResolverConfig::from_name_servers(servers);
        let mut builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
        let options = builder.options_mut();
        options.timeout = self.timeout;
        options.attempts = 1;
        options.use_hosts_file = ResolveHosts::Never;
        options.cache_size = 0;
        builder.build()
    }

    /// Queries for records of a kind, and takes those that `read` understands.
    async fn lookup<T>(&self, name: &Name, kind: RecordType, read: impl Fn(&RData) -> Option<T>) -> Answer<T> {
        let hickory = match self.hickory() {
            Ok(hickory) => hickory,
            Err(why) => return Answer::Failed(why),
        };
        // Its future is deep. In a box the compiler looks through it once, and not within each of ours.
        let answer = match hickory.lookup(name.clone(), kind).boxed().await {
            Ok(lookup) => {
                let records: Vec<T> = lookup.answers().iter().filter_map(|record| read(&record.data)).collect();
                if records.is_empty() { Answer::Failed(Failure::Unusable) } else { Answer::Records(records) }
            }
            Err(error) => negative(name, &error),
        };
        if let Answer::Failed(why) = &answer {
            tracing::debug!(%name, %kind, %why, "no answer from the DNS");
            // Any other failure is the answer of a server, and says nothing about the network.
            if matches!(why, Failure::TimedOut | Failure::Unreachable) {
                self.shared().take();
            }
        }
        answer
    }
}

#[async_trait]
impl Resolver for DnsResolver {
    async fn mx(&self, domain: &DomainName) -> MxAnswer {
        let Some(name) = full_name(domain.as_str()) else { return Answer::Failed(Failure::Unusable) };
        let record = |data: &RData| match data {
            RData::MX(mx) => Some((mx.preference, mx.exchange.to_ascii())),
            _ => None,
        };
        self.lookup(&name, RecordType::MX, record).await
    }

    async fn addresses(&self, host: &str) -> Addresses {
        // An MX record can hold an impossible host name, such as `10 mail.example`. Such a host has no addresses.
        let Some(name) = full_name(host) else { return Addresses::default() };
        let address = |data: &RData| data.ip_addr();
        let v4 = self.lookup(&name, RecordType::A, address);
        let (v4, v6) = join(v4, self.lookup(&name, RecordType::AAAA, address)).await;
        let mut all = Addresses::default();
        for answer in [v4, v6] {
            match answer {
                Answer::Records(found) => all.found.extend(found),
                Answer::NoRecords | Answer::NoSuchName => {}
                Answer::Failed(why) => _ = all.missing.get_or_insert(why),
            }
        }
        all
    }
}

/// The fully qualified name; `None` if no host can have it.
fn full_name(name: &str) -> Option<Name> {
    let mut full_name = Name::from_ascii(name).ok()?;
    full_name.set_fqdn(true);
    Some(full_name)
}

/// The negative answer in an error of hickory, or why there is no answer at all.
fn negative<T>(asked: &Name, error: &NetError) -> Answer<T> {
    Answer::Failed(match error {
        NetError::Dns(DnsError::NoRecordsFound(none)) => match none.response_code {
            ResponseCode::NXDomain => return Answer::NoSuchName,
            ResponseCode::NoError if is_no_data(asked, none) => return Answer::NoRecords,
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

    fn outcome(error: impl Into<NetError>) -> MxAnswer {
        negative(&Name::from_ascii("a.test.").expect("name"), &error.into())
    }

    fn none(name: &str, code: ResponseCode) -> NoRecords {
        NoRecords::new(Query::query(Name::from_ascii(name).expect("name"), RecordType::MX), code)
    }

    #[test]
    fn only_no_such_name_and_no_records_are_negative_answers() {
        assert_eq!(outcome(none("a.test.", ResponseCode::NXDomain)), Answer::NoSuchName);
        assert_eq!(outcome(none("a.test.", ResponseCode::NoError)), Answer::NoRecords);
        assert_eq!(outcome(none("a.test.", ResponseCode::ServFail)), Answer::Failed(Failure::ServerFailed));
        assert_eq!(outcome(DnsError::ResponseCode(ResponseCode::ServFail)), Answer::Failed(Failure::ServerFailed));
        assert_eq!(outcome(DnsError::ResponseCode(ResponseCode::Refused)), Answer::Failed(Failure::Refused));
        assert!(matches!(
            outcome(DnsError::ResponseCode(ResponseCode::FormErr)),
            Answer::Failed(Failure::ErrorCode(_))
        ));
        assert!(matches!(outcome(none("a.test.", ResponseCode::Unknown(3841))), Answer::Failed(Failure::ErrorCode(_))));
        assert_eq!(outcome(DnsError::DnssecBogus), Answer::Failed(Failure::Bogus));
        assert_eq!(outcome(NetError::Timeout), Answer::Failed(Failure::TimedOut));
        assert_eq!(outcome(NetError::NoConnections), Answer::Failed(Failure::Unreachable));
        assert_eq!(outcome(NetError::from(std::io::Error::other("x"))), Answer::Failed(Failure::Unreachable));
        assert_eq!(outcome(NetError::Busy), Answer::Failed(Failure::Busy));
        assert_eq!(outcome(NetError::Truncated), Answer::Failed(Failure::Unusable));
    }

    /// A server that answers every query with SERVFAIL, or not at all.
    async fn server(answers: bool) -> SocketAddr {
        let socket = tokio::net::UdpSocket::bind("127.0.0.1:0").await.expect("a free port");
        let addr = socket.local_addr().expect("address");
        tokio::spawn(async move {
            let mut query = [0; 512];
            while let Ok((octets, client)) = socket.recv_from(&mut query).await {
                if answers {
                    (query[2], query[3]) = (query[2] | 0x80, 2);
                    socket.send_to(&query[..octets], client).await.expect("sent");
                }
            }
        });
        addr
    }

    /// A regression: every stranger's broken zone made the next query read the system's servers again.
    #[tokio::test]
    async fn only_a_server_that_does_not_answer_makes_the_resolver_anew() {
        for (answers, why) in [(true, Failure::ServerFailed), (false, Failure::TimedOut)] {
            let resolver = DnsResolver::new(vec![server(answers).await], Duration::from_millis(200));
            assert_eq!(resolver.mx(&"a.test".parse().expect("name")).await, MxAnswer::Failed(why));
            assert_eq!(resolver.hickory.lock().expect("resolver").is_some(), answers);
        }
    }

    #[test]
    fn a_referral_and_an_endless_alias_chain_are_no_answers() {
        let mut referral = none("a.test.", ResponseCode::NoError);
        referral.ns = Some(std::sync::Arc::new([]));
        assert_eq!(outcome(referral), Answer::Failed(Failure::Unusable));
        assert_eq!(outcome(none("loop.test.", ResponseCode::NoError)), Answer::Failed(Failure::Unusable));
    }

    #[tokio::test]
    async fn neither_hosts_file_nor_cache_nor_search_domains_are_used() {
        let server = SocketAddr::from(([192, 0, 2, 53], 5353));
        let resolver = DnsResolver::new(vec![server], Duration::from_secs(1)).connect().expect("a resolver");
        assert_eq!(resolver.options().use_hosts_file, ResolveHosts::Never);
        assert_eq!(resolver.options().cache_size, 0);
    }
}
