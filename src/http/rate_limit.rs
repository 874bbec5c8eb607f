//! Rate limits of a client: one for all requests, and smaller ones for requests that cost more.
//!
//! A minute's quota may be used at once; after that it comes back evenly. A request that is refused uses nothing of the
//! limit that refuses it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};

use super::principal::Requester;
use super::problem::{Code, Problem};
use crate::clock::Clock;
use crate::config::Config;
use crate::model::Client;

/// The period of every limit.
const MINUTE: Duration = Duration::from_mins(1);
/// The most registrations of domains in a minute of one client. Each asks DNS.
const DOMAIN_REGISTRATIONS_PER_MINUTE: u32 = 30;
/// The most checks of DNS in a minute of one client.
const DNS_CHECKS_PER_MINUTE: u32 = 60;
/// The most clients that a limit remembers, 4 MB of them.
const CLIENTS_MAX: usize = 100_000;
/// The number of clients at which those whose quota is whole again are first forgotten.
const CLIENTS_MIN: usize = 1024;
/// The fields that say how much of each quota is left (draft-ietf-httpapi-ratelimit-headers).
const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// All rate limits of the interface.
pub(super) struct RateLimits {
    /// `None`: no limit is set, neither for all requests nor for those about domains.
    requests: Option<RateLimit>,
    domain_registrations: Option<RateLimit>,
    dns_checks: Option<RateLimit>,
    webhook_registrations: RateLimit,
    clock: Arc<dyn Clock>,
}

impl RateLimits {
    /// The limits of `config`.
    pub(super) fn new(config: &Config, clock: Arc<dyn Clock>) -> Self {
        let requests = config.http.rate_limit.map(|per_minute| RateLimit::new("requests", "requests", per_minute));
        let unless_off = |limit: RateLimit| requests.is_some().then_some(limit);
        Self {
            domain_registrations: unless_off(RateLimit::new(
                "domain-registrations",
                "registrations of domains",
                DOMAIN_REGISTRATIONS_PER_MINUTE,
            )),
            dns_checks: unless_off(RateLimit::new("dns-checks", "checks of DNS", DNS_CHECKS_PER_MINUTE)),
            // It counts refused registrations too, so that no client can guess a secret.
            webhook_registrations: RateLimit::new(
                "webhook-registrations",
                "registrations of webhooks",
                config.webhooks.registrations_per_minute,
            ),
            requests,
            clock,
        }
    }

    /// Counts a request. The local socket, the bearers of valid tokens, and checks of health have no limit.
    pub(super) fn count(&self, request: &Request) -> Quotas {
        let mut quotas = Quotas::default();
        let Requester::At(client) = Requester::of(request.extensions()) else { return quotas };
        let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
        if ["/healthz", "/readyz"].contains(&route) {
            return quotas;
        }
        let now = self.clock.boot();
        for limit in [self.requests.as_ref(), self.of_route(request.method(), route)].into_iter().flatten() {
            match limit.take(client, now) {
                Ok(left) => quotas.push(limit, left),
                Err(wait) => {
                    quotas.push(limit, Left { requests: 0, whole_in: wait });
                    quotas.refusal = Some(limit.exceeded(wait));
                    break;
                }
            }
        }
        quotas
    }

    /// The limit of a request that costs more than others.
    fn of_route(&self, method: &Method, route: &str) -> Option<&RateLimit> {
        match route {
            "/api/domains" if method == Method::POST => self.domain_registrations.as_ref(),
            "/api/domains/check-dns" if [Method::GET, Method::HEAD].contains(method) => self.dns_checks.as_ref(),
            "/api/webhooks" if method == Method::POST => Some(&self.webhook_registrations),
            _ => None,
        }
    }
}

/// What is left of the quotas that a request was counted for.
#[derive(Default)]
pub(super) struct Quotas {
    left: Vec<String>,
    policies: Vec<String>,
    /// The answer to a request that exceeds a limit.
    pub(super) refusal: Option<Problem>,
}

impl Quotas {
    fn push(&mut self, limit: &RateLimit, left: Left) {
        self.left.push(format!("\"{}\";r={};t={}", limit.name, left.requests, whole_seconds(left.whole_in)));
        self.policies.push(format!("\"{}\";q={};w={}", limit.name, limit.per_minute, MINUTE.as_secs()));
    }

    /// Writes the quotas into an answer's fields.
    pub(super) fn write(&self, headers: &mut HeaderMap) {
        for (name, values) in [(RATE_LIMIT, &self.left), (RATE_LIMIT_POLICY, &self.policies)] {
            if !values.is_empty() {
                headers.insert(name, HeaderValue::try_from(values.join(", ")).expect("words and numbers"));
            }
        }
    }
}

/// What is left of one client's quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Left {
    requests: u32,
    /// When the quota is whole again; where none is left, when a request is permitted again.
    whole_in: Duration,
}

/// A rate limit of each client.
pub(super) struct RateLimit {
    /// The name in the fields.
    name: &'static str,
    /// What is counted, in words.
    what: &'static str,
    per_minute: u32,
    table: Mutex<Table>,
}

impl RateLimit {
    /// A limit with a name for header fields, and with words for what it counts.
    pub(super) fn new(name: &'static str, what: &'static str, per_minute: u32) -> Self {
        let table = Table { taken_until: HashMap::new(), sweep_at: CLIENTS_MIN };
        Self { name, what, per_minute: per_minute.max(1), table: Mutex::new(table) }
    }

    /// Counts a request at `now`. The problem is that none is permitted.
    pub(super) fn count(&self, client: Client, now: Duration) -> Result<(), Problem> {
        self.take(client, now).map(|_| ()).map_err(|wait| self.exceeded(wait))
    }

    /// The time until which the quota is used up after one more request, or the time until one is permitted.
    fn next(&self, taken_until: u64, now: u64) -> Result<u64, Duration> {
        let next = taken_until.max(now) + self.price();
        match next.checked_sub(now + nanos(MINUTE)).filter(|wait| *wait > 0) {
            Some(wait) => Err(Duration::from_nanos(wait)),
            None => Ok(next),
        }
    }

    /// The part of a minute that a request uses up, in nanoseconds.
    fn price(&self) -> u64 {
        nanos(MINUTE) / u64::from(self.per_minute)
    }

    /// Counts a request at `now`, or returns the time until one is permitted.
    pub(super) fn take(&self, client: Client, now: Duration) -> Result<Left, Duration> {
        let now = nanos(now);
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if table.taken_until.len() >= table.sweep_at {
            table.sweep(now);
        }
        let until = table.taken_until.entry(client).or_default();
        let next = self.next(*until, now)?;
        *until = next;
        let requests = u32::try_from((now + nanos(MINUTE) - next) / self.price()).unwrap_or(u32::MAX);
        Ok(Left { requests, whole_in: Duration::from_nanos(next - now) })
    }

    fn exceeded(&self, wait: Duration) -> Problem {
        let detail = format!("a client may make {} {} in a minute; try again later", self.per_minute, self.what);
        Problem::new(Code::RateLimited, detail).with_retry_after(whole_seconds(wait))
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn whole_seconds(time: Duration) -> u32 {
    u32::try_from(time.as_millis().div_ceil(1000)).unwrap_or(u32::MAX)
}

/// The clients whose quota is not whole.
struct Table {
    /// The time until which a client's requests so far use up its rate, in nanoseconds.
    taken_until: HashMap<Client, u64>,
    /// The size at which the table is swept.
    sweep_at: usize,
}

impl Table {
    /// Forgets the clients whose quota is whole again. If the table is more than half full then, it forgets those that
    /// have used least, up to one half. They get back no more than they have used. A client that wants its own use to be
    /// forgotten needs half a table of others that have used more.
    fn sweep(&mut self, now: u64) {
        self.taken_until.retain(|_, until| *until > now);
        if self.taken_until.len() > CLIENTS_MAX / 2 {
            let mut used: Vec<u64> = self.taken_until.values().copied().collect();
            let at = used.len() - CLIENTS_MAX / 2;
            let (_, most_forgotten, _) = used.select_nth_unstable(at);
            let most_forgotten = *most_forgotten;
            self.taken_until.retain(|_, until| *until > most_forgotten);
        }
        self.sweep_at = (self.taken_until.len() * 2).clamp(CLIENTS_MIN, CLIENTS_MAX);
        self.taken_until.shrink_to(self.sweep_at);
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const NOW: Duration = Duration::from_secs(1000);

    fn client(number: u32) -> Client {
        Client::of(Ipv4Addr::from_bits(number).into())
    }

    fn passed(limit: &RateLimit, requests: u32, now: Duration) -> usize {
        (0..requests).filter(|_| limit.take(client(1), now).is_ok()).count()
    }

    #[test]
    fn a_minutes_quota_may_be_used_at_once_and_comes_back_evenly() {
        let limit = RateLimit::new("requests", "requests", 10_000);
        assert_eq!(limit.take(client(1), NOW), Ok(Left { requests: 9_999, whole_in: Duration::from_millis(6) }));
        assert_eq!(passed(&limit, 20_000, NOW), 9_999);
        assert_eq!(limit.take(client(1), NOW), Err(Duration::from_millis(6)));
        assert_eq!(limit.take(client(2), NOW).map(|left| left.requests), Ok(9_999), "another client");
        assert_eq!(passed(&limit, 10, NOW + Duration::from_millis(6)), 1);
        assert_eq!(passed(&limit, 20_000, NOW + Duration::from_secs(30)), 4_999);
        assert_eq!(passed(&limit, 20_000, NOW + Duration::from_secs(300)), 10_000);
    }

    #[test]
    fn a_client_that_never_stops_gets_its_rate() {
        for per_minute in [1, 7, 59, 60, 10_000, 9_999_999] {
            let limit = RateLimit::new("requests", "requests", per_minute);
            // One second holds as many requests as one minute permits.
            let first = passed(&limit, per_minute.min(20_000), NOW);
            assert_eq!(first, per_minute.min(20_000) as usize, "{per_minute}");
            if per_minute > 20_000 {
                continue;
            }
            let steps = (1..=6_000).map(|step| NOW + Duration::from_millis(100) * step);
            let later: usize = steps.map(|now| passed(&limit, per_minute / 100 + 2, now)).sum();
            let wanted = per_minute as usize * 10;
            assert!(later.abs_diff(wanted) * 100 <= wanted, "{later} of {wanted}");
        }
    }

    #[test]
    fn after_the_wait_a_request_passes() {
        for per_minute in [1, 7, 59, 60, 10_000, 9_999_999] {
            let limit = RateLimit::new("requests", "requests", per_minute);
            let mut now = NOW;
            for _ in 0..1_000 {
                if let Err(wait) = limit.take(client(1), now) {
                    now += wait;
                    assert!(limit.take(client(1), now).is_ok(), "{per_minute}");
                }
                now += Duration::from_nanos(17);
            }
        }
    }

    #[test]
    fn the_table_is_bounded_and_remembers_those_that_use_most() {
        let limit = RateLimit::new("requests", "requests", 60);
        assert_eq!(passed(&limit, 100, NOW), 60);
        for number in 0..1_000_000 {
            assert!(limit.take(client(0x0a00_0000 + number), NOW).is_ok(), "a flood locks nobody out");
        }
        let octets = {
            let table = limit.table.lock().expect("table");
            assert!(table.taken_until.len() <= CLIENTS_MAX);
            table.taken_until.capacity() * size_of::<(Client, u64)>()
        };
        assert!(octets < 16 << 20, "{octets} octets");
        assert!(limit.take(client(1), NOW).is_err(), "no flood makes up for what a client has used");
        // A minute later nobody need be remembered.
        for number in 0..u32::try_from(2 * CLIENTS_MAX).expect("a small number") {
            let _ =
                limit.take(client(0x0b00_0000 + number % 100), NOW + MINUTE * 2 + Duration::from_secs(number.into()));
        }
        assert!(limit.table.lock().expect("table").taken_until.len() <= CLIENTS_MAX);
    }
}
