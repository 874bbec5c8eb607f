//! From a name to the addresses that may be dialled: the resolver under the HTTP client.
//!
//! The client asks it for every connection and dials nothing else than what it answers, except literals, which the caller
//! checks. Each answer of the DNS is checked at that moment, and none is kept.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::guard::{Guard, Refused, loopbacks};
use super::target::is_localhost;
use crate::dns::{Failure, Resolver};

/// The most addresses of one family that are dialled for one connection: a name with thousands must not make us knock at
/// all of them.
const ADDRESSES_MAX: usize = 4;

/// Resolves names for one port of ours, or for all ports that are not ours.
#[derive(Clone)]
pub(super) struct Dial {
    pub(super) guard: Arc<Guard>,
    pub(super) resolver: Arc<dyn Resolver>,
    /// The one port that is dialled, if it is one on which we listen: the client does not tell its resolver.
    pub(super) own_port: Option<u16>,
    /// How long the DNS may take.
    pub(super) timeout: Duration,
}

/// Why no address can be dialled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum DialError {
    /// Each address is refused; the first refusal.
    #[error("{0}")]
    Refused(Refused),
    /// The name has no address, or does not exist.
    #[error("the name has no address")]
    NoAddress,
    /// The DNS gave no answer.
    #[error("{0}")]
    NoAnswer(Failure),
}

impl Dial {
    /// The addresses of `name` that may be dialled, at most four of each family. Their port is 0: the URL's counts.
    pub(super) async fn addresses(&self, name: &str) -> Result<Vec<SocketAddr>, DialError> {
        let found = if is_localhost(name) { loopbacks().to_vec() } else { self.ask(name).await? };
        let mut refused = None;
        let (mut v4, mut v6) = (Vec::new(), Vec::new());
        for address in found {
            let of_family = if address.is_ipv4() { &mut v4 } else { &mut v6 };
            match self.check(address) {
                Ok(()) if of_family.len() < ADDRESSES_MAX => of_family.push(SocketAddr::new(address, 0)),
                Ok(()) => (),
                Err(why) => refused = refused.or(Some(why)),
            }
        }
        v6.append(&mut v4);
        match refused {
            Some(why) if v6.is_empty() => Err(DialError::Refused(why)),
            _ => Ok(v6),
        }
    }

    async fn ask(&self, name: &str) -> Result<Vec<IpAddr>, DialError> {
        let asked = tokio::time::timeout(self.timeout, self.resolver.addresses(name)).await;
        let answer = asked.map_err(|_| DialError::NoAnswer(Failure::TimedOut))?;
        match (answer.found, answer.missing) {
            (found, _) if !found.is_empty() => Ok(found),
            (_, Some(why)) => Err(DialError::NoAnswer(why)),
            (_, None) => Err(DialError::NoAddress),
        }
    }

    fn check(&self, address: IpAddr) -> Result<(), Refused> {
        match self.own_port {
            Some(port) => self.guard.check_dialled(SocketAddr::new(address, port)),
            None => self.guard.check_address(address),
        }
    }
}

impl Resolve for Dial {
    fn resolve(&self, name: Name) -> Resolving {
        let dial = self.clone();
        Box::pin(async move {
            let addresses = dial.addresses(name.as_str()).await?;
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;

    use super::super::guard::GuardSettings;
    use super::*;
    use crate::dns::{Addresses, MxAnswer};
    use crate::model::DomainName;

    /// Answers every question for addresses alike; never, if there is nothing to answer.
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

    fn dial(answer: Addresses, own_port: Option<u16>) -> Dial {
        let settings = GuardSettings { own: vec![SocketAddr::new(ip("8.8.4.4"), 8080)], ..GuardSettings::default() };
        Dial {
            guard: Arc::new(Guard::new(settings)),
            resolver: Arc::new(Fixed(Some(answer))),
            own_port,
            timeout: Duration::from_millis(20),
        }
    }

    fn found(texts: &[&str]) -> Addresses {
        Addresses { found: texts.iter().map(|text| ip(text)).collect(), missing: None }
    }

    async fn dialled(dial: &Dial, name: &str) -> Result<Vec<IpAddr>, DialError> {
        let addresses = dial.addresses(name).await?;
        assert!(addresses.iter().all(|address| address.port() == 0));
        Ok(addresses.iter().map(SocketAddr::ip).collect())
    }

    #[tokio::test]
    async fn only_public_addresses_of_a_name_are_dialled() {
        let mixed = dial(found(&["10.0.0.1", "8.8.8.8", "::1", "2a00:1450::1", "169.254.169.254"]), None);
        assert_eq!(dialled(&mixed, "a.example").await, Ok(vec![ip("2a00:1450::1"), ip("8.8.8.8")]));
        let private = dial(found(&["10.0.0.1", "::1"]), None);
        let refused = DialError::Refused(Refused::NotPublic(ip("10.0.0.1")));
        assert_eq!(dialled(&private, "a.example").await, Err(refused));
    }

    #[tokio::test]
    async fn our_own_listener_is_not_dialled_under_any_name() {
        let own = dial(found(&["8.8.4.4"]), Some(8080));
        let ours = SocketAddr::new(ip("8.8.4.4"), 8080);
        assert_eq!(dialled(&own, "a.example").await, Err(DialError::Refused(Refused::Own(ours))));
        assert_eq!(dialled(&dial(found(&["8.8.4.4"]), None), "a.example").await, Ok(vec![ip("8.8.4.4")]));
    }

    #[tokio::test]
    async fn localhost_is_never_asked_for() {
        let lying = dial(found(&["8.8.8.8"]), None);
        for name in ["localhost", "a.localhost."] {
            assert_eq!(
                dialled(&lying, name).await,
                Err(DialError::Refused(Refused::NotPublic(ip("127.0.0.1")))),
                "{name}"
            );
        }
    }

    #[tokio::test]
    async fn a_name_with_many_addresses_is_dialled_at_few() {
        let many: Vec<String> = (1..=200).map(|last| format!("8.8.8.{last}")).collect();
        let many = dial(found(&many.iter().map(String::as_str).collect::<Vec<_>>()), None);
        assert_eq!(dialled(&many, "a.example").await.map(|addresses| addresses.len()), Ok(ADDRESSES_MAX));
    }

    #[tokio::test]
    async fn no_answer_and_no_address_are_told_apart() {
        assert_eq!(dialled(&dial(found(&[]), None), "a.example").await, Err(DialError::NoAddress));
        let silent = Dial { resolver: Arc::new(Fixed(None)), ..dial(found(&[]), None) };
        assert_eq!(dialled(&silent, "a.example").await, Err(DialError::NoAnswer(Failure::TimedOut)));
        let half = Addresses { found: vec![ip("8.8.8.8")], missing: Some(Failure::ServerFailed) };
        assert_eq!(dialled(&dial(half, None), "a.example").await, Ok(vec![ip("8.8.8.8")]));
        let failed = Addresses { found: Vec::new(), missing: Some(Failure::ServerFailed) };
        let failed = dialled(&dial(failed, None), "a.example").await;
        assert_eq!(failed, Err(DialError::NoAnswer(Failure::ServerFailed)));
    }
}
