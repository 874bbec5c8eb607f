//! Opens connections: resolves a target's name, checks each address right before it is dialled, then TCP, and TLS for https.
//!
//! Nothing else opens a connection for a webhook. No DNS answer is cached here, so the checked addresses are current.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::select_ok;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use url::Host;

use super::address_limits::{AddressLimits, Busy, Permit};
use super::guard::{Guard, Refused, loopbacks};
use super::target::{Target, is_localhost};
use crate::dns::{Failure, Resolver};

/// The most addresses of one family that are dialled for one connection. A name can have thousands.
const ADDRESSES_MAX: usize = 4;
/// How long IPv6 is dialled alone before IPv4 is dialled as well (RFC 8305 section 5).
const HEAD_START: Duration = Duration::from_millis(300);
/// The part of the connect timeout that DNS may take.
const SHARE_OF_DNS: f64 = 0.8;

/// Opens connections.
pub(super) struct Dial {
    pub(super) guard: Arc<Guard>,
    pub(super) resolver: Arc<dyn Resolver>,
    pub(super) tls: TlsConnector,
    /// The connect timeout: how long DNS, TCP and TLS may take together.
    pub(super) timeout: Duration,
    pub(super) limits: AddressLimits,
}

/// A connection's stream: TCP, with or without TLS.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// A stream, and the permit of the attempt for which it was opened.
pub(super) struct Dialled {
    pub(super) stream: Box<dyn Stream>,
    pub(super) permit: Permit,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum DialError {
    /// The guard refuses each address. This is the first refusal.
    #[error("{0}")]
    Refused(Refused),
    /// The name has no address, or does not exist.
    #[error("the name has no address")]
    NoAddress,
    /// DNS gave no answer.
    #[error("{0}")]
    NoAnswer(Failure),
    /// TCP could not connect.
    #[error("{0}")]
    Tcp(io::Error),
    /// The TLS handshake failed, or the certificate is not valid.
    #[error("{0}")]
    Tls(io::Error),
    /// Each address is at its rate limit.
    #[error("{0}")]
    Busy(#[from] Busy),
    /// There was no connection within the connect timeout.
    #[error("no connection in time")]
    TimedOut,
}

impl Dial {
    /// Opens a connection to `target`.
    pub(super) async fn connect(&self, target: &Target) -> Result<Dialled, DialError> {
        timeout(self.timeout, self.open(target)).await.map_err(|_| DialError::TimedOut)?
    }

    async fn open(&self, target: &Target) -> Result<Dialled, DialError> {
        let addresses = self.addresses(target).await?;
        let (stream, permit) = self.dial(&addresses).await?;
        // A request is written in one piece, so Nagle's algorithm would only delay it.
        stream.set_nodelay(true).map_err(DialError::Tcp)?;
        if !target.is_tls() {
            return Ok(Dialled { stream: Box::new(stream), permit });
        }
        let name = server_name(target).map_err(DialError::Tls)?;
        let stream = self.tls.connect(name, stream).await.map_err(DialError::Tls)?;
        Ok(Dialled { stream: Box::new(stream), permit })
    }

    /// The addresses of `target` that may be dialled: at most four of each family, IPv6 first.
    async fn addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, DialError> {
        let found = match target.host() {
            Some(Host::Ipv4(v4)) => vec![v4.into()],
            Some(Host::Ipv6(v6)) => vec![v6.into()],
            Some(Host::Domain(name)) if is_localhost(name) => loopbacks().to_vec(),
            Some(Host::Domain(name)) => self.resolve(name).await?,
            None => Vec::new(),
        };
        let mut refused = None;
        let (mut v4, mut v6) = (Vec::new(), Vec::new());
        for address in found {
            let of_family = if address.is_ipv4() { &mut v4 } else { &mut v6 };
            let address = SocketAddr::new(address, target.port());
            match self.guard.check_dialled(address) {
                Ok(()) if of_family.len() < ADDRESSES_MAX => of_family.push(address),
                Ok(()) => (),
                Err(why) => refused = refused.or(Some(why)),
            }
        }
        v6.append(&mut v4);
        match refused {
            Some(why) if v6.is_empty() => Err(DialError::Refused(why)),
            None if v6.is_empty() => Err(DialError::NoAddress),
            _ => Ok(v6),
        }
    }

    async fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, DialError> {
        let answer = timeout(self.timeout.mul_f64(SHARE_OF_DNS), self.resolver.addresses(name)).await;
        let answer = answer.map_err(|_| DialError::NoAnswer(Failure::TimedOut))?;
        match (answer.found, answer.missing) {
            (found, _) if !found.is_empty() => Ok(found),
            (_, Some(why)) => Err(DialError::NoAnswer(why)),
            (_, None) => Err(DialError::NoAddress),
        }
    }

    /// Connects over IPv6 or IPv4, whichever is first. IPv6 has a head start.
    async fn dial(&self, addresses: &[SocketAddr]) -> Result<(TcpStream, Permit), DialError> {
        let (v6, v4) = addresses.split_at(addresses.partition_point(SocketAddr::is_ipv6));
        if v6.is_empty() || v4.is_empty() {
            return self.dial_each(addresses).await;
        }
        let mut first = Box::pin(self.dial_each(v6));
        match timeout(HEAD_START, &mut first).await {
            Ok(Ok(dialled)) => Ok(dialled),
            Ok(Err(_)) => self.dial_each(v4).await,
            Err(_) => select_ok([first, Box::pin(self.dial_each(v4))]).await.map(|(dialled, _)| dialled),
        }
    }

    /// Dials the addresses one after another; each has its share of the connect timeout. An address at its rate limit is
    /// left out. The error is `Busy` only if no other address fails.
    async fn dial_each(&self, addresses: &[SocketAddr]) -> Result<(TcpStream, Permit), DialError> {
        let share = self.timeout / u32::try_from(addresses.len().max(1)).unwrap_or(u32::MAX);
        let (mut failed, mut soonest) = (None, None::<Busy>);
        for address in addresses {
            let permit = match self.limits.begin(*address) {
                Ok(permit) => permit,
                Err(busy) => {
                    soonest = Some(soonest.map_or(busy, |known| Busy { wait: known.wait.min(busy.wait) }));
                    continue;
                }
            };
            match timeout(share, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => return Ok((stream, permit)),
                Ok(Err(error)) => failed = Some(error),
                Err(_) => failed = Some(io::ErrorKind::TimedOut.into()),
            }
        }
        let failed = failed.map(DialError::Tcp).or(soonest.map(DialError::Busy));
        Err(failed.unwrap_or_else(|| DialError::Tcp(io::ErrorKind::AddrNotAvailable.into())))
    }
}

/// The name that the server's certificate must be valid for.
fn server_name(target: &Target) -> io::Result<ServerName<'static>> {
    let name = match target.host() {
        Some(Host::Ipv4(v4)) => return Ok(IpAddr::from(v4).into()),
        Some(Host::Ipv6(v6)) => return Ok(IpAddr::from(v6).into()),
        _ => target.origin().host(),
    };
    ServerName::try_from(name.to_owned()).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;

    use super::super::guard::GuardSettings;
    use super::*;
    use crate::dns::{Addresses, MxAnswer};
    use crate::model::DomainName;

    /// Gives the same answer for every name, or never answers.
    struct Fixed(Option<Addresses>);

    #[async_trait]
    impl Resolver for Fixed {
        async fn mx(&self, _: &DomainName) -> MxAnswer {
            MxAnswer::NoSuchName
        }

        async fn addresses(&self, _: &str) -> Addresses {
            match &self.0 {
                Some(addresses) => addresses.clone(),
                None => std::future::pending().await,
            }
        }
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().expect(text)
    }

    fn dial(answer: Option<Addresses>) -> Dial {
        let settings = GuardSettings { own: vec![SocketAddr::new(ip("8.8.4.4"), 8080)], ..GuardSettings::default() };
        Dial {
            guard: Arc::new(Guard::new(settings)),
            resolver: Arc::new(Fixed(answer)),
            tls: crate::tls::client_config().expect("TLS").into(),
            timeout: Duration::from_millis(20),
            limits: AddressLimits::new(1000, true, Arc::new(crate::clock::SystemClock)),
        }
    }

    fn found(texts: &[&str]) -> Addresses {
        Addresses { found: texts.iter().map(|text| ip(text)).collect(), missing: None }
    }

    /// The addresses that would be dialled for a host when DNS gives `answer`, or the error.
    async fn dialled(answer: Option<Addresses>, host: &str) -> Result<Vec<IpAddr>, String> {
        let target = Target::parse(&format!("http://{host}/")).expect(host);
        let addresses = dial(answer).addresses(&target).await.map_err(|error| format!("{error:?}"))?;
        assert!(addresses.iter().all(|address| address.port() == target.port()));
        Ok(addresses.iter().map(SocketAddr::ip).collect())
    }

    fn refused(why: Refused) -> Result<Vec<IpAddr>, String> {
        Err(format!("{:?}", DialError::Refused(why)))
    }

    #[tokio::test]
    async fn only_public_addresses_of_a_name_are_dialled() {
        let mixed = found(&["10.0.0.1", "8.8.8.8", "::1", "2a00:1450::1", "169.254.169.254"]);
        assert_eq!(dialled(Some(mixed), "a.example").await, Ok(vec![ip("2a00:1450::1"), ip("8.8.8.8")]));
        let private = found(&["10.0.0.1", "::1"]);
        assert_eq!(dialled(Some(private), "a.example").await, refused(Refused::NotPublic(ip("10.0.0.1"))));
    }

    #[tokio::test]
    async fn literal_addresses_are_checked_like_those_of_names() {
        for host in ["10.0.0.1", "[::ffff:10.0.0.1]", "167772161"] {
            let why = dialled(None, host).await.expect_err(host);
            assert!(why.contains("NotPublic"), "{host}: {why}");
        }
        assert_eq!(dialled(None, "8.8.8.8:81").await, Ok(vec![ip("8.8.8.8")]));
        let ours = Refused::Own(SocketAddr::new(ip("8.8.4.4"), 8080));
        assert_eq!(dialled(None, "8.8.4.4:8080").await, refused(ours));
    }

    #[tokio::test]
    async fn no_name_leads_to_our_own_listener() {
        let ours = Refused::Own(SocketAddr::new(ip("8.8.4.4"), 8080));
        assert_eq!(dialled(Some(found(&["8.8.4.4"])), "a.example:8080").await, refused(ours));
        assert_eq!(dialled(Some(found(&["8.8.4.4"])), "a.example:80").await, Ok(vec![ip("8.8.4.4")]));
    }

    #[tokio::test]
    async fn localhost_is_never_looked_up() {
        for name in ["localhost", "a.localhost."] {
            let lying = Some(found(&["8.8.8.8"]));
            assert_eq!(dialled(lying, name).await, refused(Refused::NotPublic(ip("127.0.0.1"))), "{name}");
        }
    }

    #[tokio::test]
    async fn few_addresses_of_a_name_with_many_are_dialled() {
        let many: Vec<String> = (1..=200).map(|last| format!("8.8.8.{last}")).collect();
        let many = found(&many.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(dialled(Some(many), "a.example").await.map(|addresses| addresses.len()), Ok(ADDRESSES_MAX));
    }

    #[tokio::test]
    async fn no_dns_answer_and_no_address_are_different_errors() {
        let failed = |why| Err(format!("{:?}", DialError::NoAnswer(why)));
        assert_eq!(dialled(Some(found(&[])), "a.example").await, Err(format!("{:?}", DialError::NoAddress)));
        assert_eq!(dialled(None, "a.example").await, failed(Failure::TimedOut));
        let half = Addresses { found: vec![ip("8.8.8.8")], missing: Some(Failure::ServerFailed) };
        assert_eq!(dialled(Some(half), "a.example").await, Ok(vec![ip("8.8.8.8")]));
        let none = Addresses { found: Vec::new(), missing: Some(Failure::ServerFailed) };
        assert_eq!(dialled(Some(none), "a.example").await, failed(Failure::ServerFailed));
    }

    #[tokio::test]
    async fn an_address_that_fails_leaves_time_for_the_others() {
        let open = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let open = open.local_addr().map(|address| (open, address)).expect("bound address");
        // Nothing listens on this port of these addresses.
        let closed = ["[::1]", "127.0.0.9"].map(|host| format!("{host}:{}", open.1.port()).parse().expect("address"));
        let dial = Dial { timeout: Duration::from_secs(30), ..dial(None) };
        let (connected, permit) =
            dial.dial(&[closed[0], closed[1], open.1]).await.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((connected.peer_addr().expect("connected"), permit.address), (open.1, open.1));
        assert!(dial.dial(&closed).await.is_err());
        assert!(dial.dial(&[]).await.is_err());
    }
}
