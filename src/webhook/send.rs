//! Requests and their responses, within limits of time and size.
//!
//! A call has two steps. [`Caller::permitted`] resolves the host and asks the guard and the limits of the hosts; what it
//! returns is needed to send. [`Caller::send`] makes the request and gets an [`Answered`] over a connection of its own to a permitted address: no
//! pool, no redirect, no proxy, no cookie, no compression, and no retry, which belong to the schedule.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hyper::header::RETRY_AFTER;
use rand::seq::SliceRandom;
use tokio::time::{Instant, timeout, timeout_at};
use url::Host;

use super::guard::{Guard, loopbacks};
use super::hosts::{Busy, Hosts};
use super::outcome::{ErrorClass, Outcome};
use super::post::{Answer, Connection, Failure};
use super::request::EventRequest;
use super::schedule::retry_after;
use super::target::{Target, is_localhost};
use crate::clock::Clock;
use crate::dns::{self, Resolver};
use crate::tls::ClientTls;

/// How long the body of a response may take, and a receiver that reads on after its answer. The body is only for the log, so
/// a slow one must not hold up other attempts.
const FINISH_TIMEOUT: Duration = Duration::from_millis(500);
/// About how many octets a request has besides its body.
const HEAD_OCTETS: u64 = 512;

/// Makes the calls of attempts.
pub struct Caller {
    /// How long DNS may take, and how long TCP and TLS may take.
    pub connect_timeout: Duration,
    /// How long it may take from connecting to the end of the response.
    pub timeout: Duration,
    /// Permits each address a moment before it is dialled.
    pub guard: Arc<Guard>,
    /// The limits of receiving hosts; without it they have none.
    pub hosts: Option<Hosts>,
    /// Resolves names.
    pub resolver: Arc<dyn Resolver>,
    /// Secures connections. Later calls resume the sessions in it.
    pub tls: ClientTls,
    /// Tells how long it is to the date that a receiver asks for.
    pub clock: Arc<dyn Clock>,
}

/// The way to a receiver, as it was permitted a moment ago.
#[derive(Debug)]
pub struct Route {
    /// At most one address of each family.
    addresses: Vec<SocketAddr>,
    /// The octets that were charged.
    octets: u64,
    /// How long it took to find it. A receiver whose name servers are slow is slow.
    took: Duration,
}

/// Why no request may be sent.
#[derive(Debug)]
pub enum Refusal {
    /// The attempt has failed.
    Failed(Outcome),
    /// Nothing has failed: a host is at its limit.
    Busy(Busy),
}

impl Caller {
    /// Makes one call. `Err` means that nothing was sent, because the host is at its limit.
    pub async fn call(&self, request: EventRequest) -> Result<Outcome, Busy> {
        match self.permitted(&request.target, request.body.len() as u64).await {
            Ok(route) => Ok(match self.send(request, route).await {
                Ok(mut answered) => {
                    let body = answered.finish().await;
                    answered.outcome(&body)
                }
                Err(outcome) => outcome,
            }),
            Err(Refusal::Failed(outcome)) => Ok(outcome),
            Err(Refusal::Busy(busy)) => Err(busy),
        }
    }

    /// Asks whether a request with a body of about so many octets may be sent to `target` now, and where.
    pub async fn permitted(&self, target: &Target, octets: u64) -> Result<Route, Refusal> {
        let begun = Instant::now();
        let addresses = self.addresses(target).await;
        let took = begun.elapsed();
        let mut addresses =
            addresses.map_err(|(error, text)| Refusal::Failed(Outcome::unanswered(error, &text, took)))?;
        let octets = octets.saturating_add(HEAD_OCTETS);
        let mut busy = None;
        if let Some(hosts) = &self.hosts {
            addresses.retain(|at| hosts.admit(at.ip(), octets).map_err(|why| busy = Some(why)).is_ok());
        }
        match busy {
            Some(busy) if addresses.is_empty() => Err(Refusal::Busy(busy)),
            _ => Ok(Route { addresses, octets, took }),
        }
    }

    /// The addresses of `target` that the guard permits: any one of each family.
    async fn addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, Failure> {
        let mut found = match target.host() {
            Some(Host::Ipv4(v4)) => vec![v4.into()],
            Some(Host::Ipv6(v6)) => vec![v6.into()],
            Some(Host::Domain(name)) if is_localhost(name) => loopbacks().to_vec(),
            Some(Host::Domain(name)) => self.resolve(name).await?,
            None => Vec::new(),
        };
        // If one of them is down, a later attempt dials another.
        found.shuffle(&mut rand::rng());
        let (mut permitted, mut refused) = (Vec::<SocketAddr>::new(), None);
        for address in found {
            let address = SocketAddr::new(address, target.port());
            match self.guard.check_dialled(address) {
                Ok(()) if permitted.iter().all(|one| one.is_ipv4() != address.is_ipv4()) => permitted.push(address),
                Ok(()) => {}
                Err(why) => refused = Some(why),
            }
        }
        match refused {
            Some(why) if permitted.is_empty() => Err((ErrorClass::RefusedAddress, why.to_string())),
            None if permitted.is_empty() => Err((ErrorClass::Dns, "the name has no address".to_owned())),
            _ => Ok(permitted),
        }
    }

    async fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, Failure> {
        let answer = timeout(self.connect_timeout, self.resolver.addresses(name)).await;
        let answer = answer.map_err(|_| (ErrorClass::Dns, dns::Failure::TimedOut.to_string()))?;
        match answer.missing {
            Some(why) if answer.found.is_empty() => Err((ErrorClass::Dns, why.to_string())),
            _ => Ok(answer.found),
        }
    }

    /// Sends a request on its route. `Err` is the outcome of one without an answer. It ends within the timeout, whatever the
    /// receiver does, and so does its connection.
    pub async fn send(&self, request: EventRequest, route: Route) -> Result<Answered, Outcome> {
        let begun = Instant::now();
        let more = (request.body.len() as u64 + HEAD_OCTETS).saturating_sub(route.octets);
        if let Some(hosts) = &self.hosts {
            route.addresses.iter().for_each(|address| hosts.charge(address.ip(), more));
        }
        let ends_at = begun + self.timeout;
        let sent = timeout_at(ends_at, self.exchange(request, &route)).await;
        let sent = sent.unwrap_or_else(|_| Err((ErrorClass::Timeout, "no response in time".to_owned())));
        let answer = sent.map_err(|(error, text)| Outcome::unanswered(error, &text, route.took + begun.elapsed()))?;
        let asked = answer.head.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let asked = asked.and_then(|value| retry_after(value, self.clock.now()));
        let finishes_by = ends_at.min(Instant::now() + FINISH_TIMEOUT);
        Ok(Answered { answer, asked, begun, finishes_by, took: route.took })
    }

    async fn exchange(&self, request: EventRequest, route: &Route) -> Result<Answer, Failure> {
        let opening = Connection::open(&request.target, &route.addresses, &self.tls);
        let connection = timeout(self.connect_timeout, opening).await;
        let connection = connection.map_err(|_| (ErrorClass::Connect, "no connection in time".to_owned()))??;
        let address = connection.address.ip();
        let answer = connection.post(request).await?;
        if let Some(hosts) = self.hosts.as_ref().filter(|_| answer.head.status.is_success()) {
            hosts.prove(address);
        }
        Ok(answer)
    }
}

/// A receiver has answered. Its status decides, whatever comes or does not come afterwards.
pub struct Answered {
    answer: Answer,
    /// The wait that it asks for.
    asked: Option<Duration>,
    begun: Instant,
    /// How long it took to find the way.
    took: Duration,
    finishes_by: Instant,
}

impl Answered {
    /// Reads the start of the body, and gives the receiver the rest of the request. Ends within half a second.
    pub async fn finish(&mut self) -> Vec<u8> {
        self.answer.finish(self.finishes_by).await
    }

    /// The outcome, with this start of the body.
    pub fn outcome(self, body: &[u8]) -> Outcome {
        let duration = self.took + self.begun.elapsed();
        Outcome::answered(self.answer.head.status.as_u16(), body, self.asked, duration)
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;

    use super::super::guard::GuardSettings;
    use super::super::refused::Refused;
    use super::*;
    use crate::clock::SystemClock;
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

    fn caller(answer: Option<Addresses>) -> Caller {
        let settings = GuardSettings { own: vec![SocketAddr::new(ip("8.8.4.4"), 8080)], ..GuardSettings::default() };
        Caller {
            connect_timeout: Duration::from_millis(20),
            timeout: Duration::from_secs(15),
            guard: Arc::new(Guard::new(settings)),
            hosts: None,
            resolver: Arc::new(Fixed(answer)),
            tls: crate::tls::client_config().expect("TLS"),
            clock: Arc::new(SystemClock),
        }
    }

    fn found(texts: &[&str]) -> Addresses {
        Addresses { found: texts.iter().map(|text| ip(text)).collect(), missing: None }
    }

    /// The addresses that would be dialled for a host when DNS gives `answer`, IPv4 first, or the error.
    async fn dialled(answer: Option<Addresses>, host: &str) -> Result<Vec<IpAddr>, Failure> {
        let target = Target::parse(&format!("http://{host}/")).expect(host);
        let addresses = caller(answer).addresses(&target).await?;
        assert!(addresses.iter().all(|address| address.port() == target.port()));
        let mut addresses: Vec<IpAddr> = addresses.iter().map(SocketAddr::ip).collect();
        addresses.sort_unstable();
        Ok(addresses)
    }

    fn refused(why: Refused) -> Result<Vec<IpAddr>, Failure> {
        Err((ErrorClass::RefusedAddress, why.to_string()))
    }

    #[tokio::test]
    async fn only_public_addresses_of_a_name_are_dialled() {
        let mixed = found(&["10.0.0.1", "8.8.8.8", "::1", "2a00:1450::1", "169.254.169.254"]);
        assert_eq!(dialled(Some(mixed), "a.example").await, Ok(vec![ip("8.8.8.8"), ip("2a00:1450::1")]));
        let private = found(&["10.0.0.1"]);
        assert_eq!(dialled(Some(private), "a.example").await, refused(Refused::NotPublic(ip("10.0.0.1"))));
    }

    #[tokio::test]
    async fn literal_addresses_are_checked_like_those_of_names() {
        for host in ["10.0.0.1", "[::ffff:10.0.0.1]", "167772161"] {
            let (class, text) = dialled(None, host).await.expect_err(host);
            assert_eq!(class, ErrorClass::RefusedAddress, "{host}: {text}");
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
            let (class, text) = dialled(lying, name).await.expect_err(name);
            assert_eq!(class, ErrorClass::RefusedAddress, "{name}: {text}");
        }
    }

    #[tokio::test]
    async fn one_address_of_a_name_with_many_is_dialled_and_not_always_the_same() {
        let many: Vec<String> = (1..=200).map(|last| format!("8.8.8.{last}")).collect();
        let many = found(&many.iter().map(String::as_str).collect::<Vec<_>>());
        let mut chosen = Vec::new();
        for _ in 0..20 {
            chosen.extend(dialled(Some(many.clone()), "a.example").await.expect("an address"));
        }
        assert_eq!(chosen.len(), 20);
        chosen.dedup();
        assert!(chosen.len() > 1, "{chosen:?}");
    }

    #[tokio::test]
    async fn no_dns_answer_and_no_address_are_different_errors() {
        let failed = |why: &dns::Failure| Err((ErrorClass::Dns, why.to_string()));
        let none = Err((ErrorClass::Dns, "the name has no address".to_owned()));
        assert_eq!(dialled(Some(found(&[])), "a.example").await, none);
        assert_eq!(dialled(None, "a.example").await, failed(&dns::Failure::TimedOut));
        let half = Addresses { found: vec![ip("8.8.8.8")], missing: Some(dns::Failure::ServerFailed) };
        assert_eq!(dialled(Some(half), "a.example").await, Ok(vec![ip("8.8.8.8")]));
        let none = Addresses { found: Vec::new(), missing: Some(dns::Failure::ServerFailed) };
        assert_eq!(dialled(Some(none), "a.example").await, failed(&dns::Failure::ServerFailed));
    }
}
