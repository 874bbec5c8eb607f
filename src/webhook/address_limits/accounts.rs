//! What the attempts at an address are charged to, and how much of each limit is used.
//!
//! Pure; `now` is an argument. An address and port is on probation until its first 2xx: it gets one attempt at a time and few
//! per minute. All ports on probation of one IPv4 address or IPv6 /64 share another limit, so that nobody can flood a host by
//! means of webhooks.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;

use crate::model::Client;

/// The span that attempts and octets are counted over.
const MINUTE: Duration = Duration::from_mins(1);
/// The limit of an address and port on probation.
const UNPROVEN: Limit = Limit { attempts: 6, octets: 2 << 20 };
/// The limit of all ports on probation of one host together.
const UNPROVEN_HOST: Limit = Limit { attempts: 120, octets: 8 << 20 };
/// Octets per minute at an address and port that is proven.
const OCTETS_MAX: u64 = 256 << 20;
/// The shortest wait of an attempt while another one is in flight on probation.
const IN_FLIGHT_PAUSE: Duration = Duration::from_secs(1);
/// The time between the retries of two refused attempts, unless the limit permits less. Each retry has to make its request
/// again, so the events of many webhooks at one address must not be retried together.
const RETRY_SPACING: Duration = Duration::from_millis(100);
/// No account is forgotten while there are fewer than this.
const ACCOUNTS_MIN: usize = 1024;
/// A proven address may be forgotten after so long without attempts.
const FORGOTTEN_AFTER: Duration = Duration::from_mins(10);

/// No attempt was made, because each address is at its rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the address is at its rate limit for this minute; try again later")]
pub struct Busy {
    /// How long to wait before trying again: at most a minute.
    pub wait: Duration,
}

/// What may be sent per minute. A minute that follows a quiet one may have twice as much.
#[derive(Clone, Copy, Debug)]
struct Limit {
    attempts: u32,
    octets: u64,
}

/// Something that has a limit, and to which attempts are charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Account {
    Proven(SocketAddr),
    Unproven(SocketAddr),
    /// All ports on probation of an IPv4 address or an IPv6 /64.
    UnprovenHost(Client),
}

/// The accounts to which one attempt is charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Charged([Option<Account>; 2]);

impl Charged {
    fn iter(self) -> impl Iterator<Item = Account> {
        self.0.into_iter().flatten()
    }
}

#[derive(Debug, Default)]
struct Usage {
    in_flight: usize,
    /// The time up to which its attempts use its limit.
    attempts_until: Duration,
    /// The time up to which its octets use its limit.
    octets_until: Duration,
    /// When the last refused attempt is retried.
    retried_until: Duration,
    used_at: Duration,
}

#[derive(Debug)]
pub(super) struct Accounts {
    proven: Limit,
    has_probation: bool,
    usage: HashMap<Account, Usage>,
    sweep_from: usize,
}

impl Accounts {
    pub(super) fn new(per_minute: usize, has_probation: bool) -> Self {
        let attempts = u32::try_from(per_minute).unwrap_or(u32::MAX).max(1);
        let proven = Limit { attempts, octets: OCTETS_MAX };
        Self { proven, has_probation, usage: HashMap::new(), sweep_from: ACCOUNTS_MIN }
    }

    fn charged(&self, address: SocketAddr) -> Charged {
        let proven = Account::Proven(address);
        if !self.has_probation || self.usage.contains_key(&proven) {
            return Charged([Some(proven), None]);
        }
        Charged([Some(Account::Unproven(address)), Some(Account::UnprovenHost(Client::of(address.ip())))])
    }

    fn limit(&self, account: Account) -> Limit {
        match account {
            Account::Proven(_) => self.proven,
            Account::Unproven(_) => UNPROVEN,
            Account::UnprovenHost(_) => UNPROVEN_HOST,
        }
    }

    /// Begins an attempt, or says when to try again. [`Accounts::end`] ends the attempt.
    pub(super) fn begin(&mut self, address: SocketAddr, now: Duration) -> Result<Charged, Busy> {
        self.forget(now);
        let charged = self.charged(address);
        for account in charged.iter() {
            let price = MINUTE / self.limit(account).attempts;
            let usage = self.usage.entry(account).or_default();
            if let Some(wait) = usage.wait(account, price, now) {
                return Err(Busy { wait: usage.retry(wait, price, now) });
            }
        }
        for account in charged.iter() {
            let price = MINUTE / self.limit(account).attempts;
            let usage = self.usage.entry(account).or_default();
            usage.attempts_until = usage.attempts_until.max(now) + price;
            usage.in_flight += 1;
            usage.used_at = now;
        }
        Ok(charged)
    }

    /// Charges an attempt for the octets that it sends.
    pub(super) fn send(&mut self, charged: Charged, octets: usize, now: Duration) {
        for account in charged.iter() {
            let limit = self.limit(account);
            let Some(usage) = self.usage.get_mut(&account) else { continue };
            let nanos = u128::from(octets as u64) * MINUTE.as_nanos() / u128::from(limit.octets);
            let taken = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
            usage.octets_until = usage.octets_until.max(now) + taken;
        }
    }

    /// Records a 2xx from `address`, which is proven now. Earlier charges no longer count for it.
    pub(super) fn prove(&mut self, address: SocketAddr, now: Duration) {
        self.usage.entry(Account::Proven(address)).or_default().used_at = now;
    }

    pub(super) fn end(&mut self, charged: Charged) {
        for account in charged.iter() {
            if let Some(usage) = self.usage.get_mut(&account) {
                usage.in_flight = usage.in_flight.saturating_sub(1);
            }
        }
    }

    fn forget(&mut self, now: Duration) {
        if self.usage.len() >= self.sweep_from {
            self.usage.retain(|account, usage| usage.matters(*account, now));
            self.sweep_from = (2 * self.usage.len()).max(ACCOUNTS_MIN);
        }
    }
}

impl Usage {
    /// How long the next attempt has to wait, unless it may begin.
    fn wait(&self, account: Account, price: Duration, now: Duration) -> Option<Duration> {
        if matches!(account, Account::Unproven(_)) && self.in_flight > 0 {
            return Some(IN_FLIGHT_PAUSE);
        }
        // There must be room for the attempt itself. Some room for octets is enough, because their number is not known yet.
        let free_at = (self.attempts_until + price).max(self.octets_until);
        free_at.checked_sub(now + MINUTE).filter(|wait| !wait.is_zero())
    }

    /// How long a refused attempt waits before it is retried: longer than those that were refused before it.
    fn retry(&mut self, wait: Duration, price: Duration, now: Duration) -> Duration {
        let at = self.retried_until.max(now + wait) + price.min(RETRY_SPACING);
        self.retried_until = at.min(now + MINUTE);
        self.retried_until.saturating_sub(now)
    }

    /// Whether forgetting the account would change what may be sent.
    fn matters(&self, account: Account, now: Duration) -> bool {
        let is_charged = self.attempts_until.max(self.octets_until) > now;
        let is_proven = matches!(account, Account::Proven(_)) && self.used_at + FORGOTTEN_AFTER > now;
        self.in_flight > 0 || is_charged || is_proven
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(1000);
    const SECOND: Duration = Duration::from_secs(1);
    const MB: usize = 1 << 20;

    fn address(port: u16) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, 1], port))
    }

    /// How many attempts of `octets` each can be made one after another within `seconds`.
    fn attempts(accounts: &mut Accounts, octets: usize, from: Duration, seconds: u32) -> usize {
        let begins = |second: u32| {
            let now = from + SECOND * second;
            let mut begun = 0;
            while let Ok(charged) = accounts.begin(address(80), now) {
                accounts.send(charged, octets, now);
                accounts.end(charged);
                begun += 1;
            }
            begun
        };
        (0..seconds).map(begins).sum()
    }

    #[test]
    fn on_probation_an_address_gets_one_attempt_at_a_time_and_few_per_minute() {
        let mut accounts = Accounts::new(6_000, true);
        let first = accounts.begin(address(80), NOW).expect("a permit");
        assert_eq!(accounts.begin(address(80), NOW), Err(Busy { wait: SECOND + RETRY_SPACING }));
        assert_eq!(accounts.begin(address(80), NOW), Err(Busy { wait: SECOND + 2 * RETRY_SPACING }));
        assert!(accounts.begin(address(81), NOW).is_ok(), "another port");
        accounts.end(first);
        assert_eq!(attempts(&mut accounts, 0, NOW, 1), 5);
        assert_eq!(attempts(&mut accounts, 0, NOW + SECOND, 600), 60, "an even pace from then on");
    }

    /// A stranger can register URLs with every port of a host, and with every address of a network.
    #[test]
    fn all_ports_of_a_host_and_all_addresses_of_a_64_share_a_limit() {
        let v6 = |host: u16, port| SocketAddr::from(([0x2001, 0xdb8, 0, 1, 0, 0, 0, host], port));
        for of in [&address as &dyn Fn(u16) -> SocketAddr, &|number| v6(number, number)] {
            let mut accounts = Accounts::new(6_000, true);
            let begun = (1..10_000).filter(|number| {
                let begun = accounts.begin(of(*number), NOW);
                begun.map(|charged| accounts.end(charged)).is_ok()
            });
            assert_eq!(begun.count(), 120);
            accounts.prove(of(20_000), NOW);
            assert!(accounts.begin(of(20_000), NOW).is_ok(), "this port alone is proven");
            assert!(accounts.begin(of(20_001), NOW).is_err());
        }
        let mut accounts = Accounts::new(6_000, true);
        for number in 1..=9 {
            let charged = accounts.begin(v6(number, 80), NOW).expect("a permit");
            accounts.send(charged, MB, NOW);
        }
        assert!(accounts.begin(v6(10, 80), NOW).is_err(), "8 MB and a body");
        let other = SocketAddr::from(([0x2001, 0xdb8, 0, 2, 0, 0, 0, 1], 80));
        assert!(accounts.begin(other, NOW).is_ok(), "another network");
    }

    #[test]
    fn on_probation_an_address_gets_few_octets_per_minute() {
        let mut accounts = Accounts::new(6_000, true);
        assert_eq!(attempts(&mut accounts, MB / 2, NOW, 1), 5, "2 MB and a body");
        let more = attempts(&mut accounts, MB / 2, NOW + SECOND, 600);
        assert!((39..=40).contains(&more), "{more}: 2 MB a minute");
        let wait = accounts.begin(address(80), NOW + 600 * SECOND).map_err(|busy| busy.wait > Duration::ZERO);
        assert_eq!(wait, Err(true));
    }

    /// Each retry costs reading, rendering and signing a request, and a DNS query.
    #[test]
    fn attempts_at_a_thousand_names_of_one_address_are_not_retried_together() {
        let mut accounts = Accounts::new(6_000, true);
        let mut tries_at = vec![NOW; 1_000];
        let (mut tries, mut begun) = (0, 0);
        for tenth in 0..6_000 {
            let now = NOW + RETRY_SPACING * tenth;
            for at in tries_at.iter_mut().filter(|at| **at <= now) {
                tries += 1;
                match accounts.begin(address(80), now) {
                    Ok(charged) => {
                        accounts.end(charged);
                        begun += 1;
                    }
                    Err(busy) => *at = now + busy.wait,
                }
            }
        }
        assert!(begun >= 60, "{begun}");
        assert!(tries <= 13 * 1_000, "{tries}: about once a minute each");
    }

    #[test]
    fn a_proven_address_is_limited_in_attempts_and_octets() {
        let mut accounts = Accounts::new(60, true);
        assert_eq!(attempts(&mut accounts, 0, NOW, 1), 6);
        accounts.prove(address(80), NOW);
        assert_eq!(attempts(&mut accounts, 0, NOW, 1), 60);
        assert_eq!(attempts(&mut accounts, 0, NOW + SECOND, 60), 60);
        let mut accounts = Accounts::new(1_000_000, false);
        assert_eq!(attempts(&mut accounts, MB, NOW, 1), 257, "256 MB and a body");
        let more = attempts(&mut accounts, MB, NOW + SECOND, 60);
        assert!((255..=257).contains(&more), "{more}: 256 MB a minute");
        assert!(accounts.begin(address(80), NOW + SECOND).is_err());
    }

    /// Otherwise a stranger could call many other addresses until a host is forgotten, and then flood that host.
    #[test]
    fn usage_is_remembered_as_long_as_it_counts() {
        let mut accounts = Accounts::new(1, true);
        let charged = accounts.begin(address(80), NOW).expect("a permit");
        accounts.send(charged, 60 * MB, NOW);
        accounts.end(charged);
        let later = NOW + FORGOTTEN_AFTER + MINUTE;
        for host in 1_000..3_000_u16 {
            let [high, low] = host.to_be_bytes();
            let charged = accounts.begin(SocketAddr::from(([198, 51, high, low], 80)), later).expect("a permit");
            accounts.end(charged);
        }
        assert!(accounts.begin(address(80), later).is_err());
    }

    #[test]
    fn accounts_without_recent_attempts_are_forgotten() {
        let mut accounts = Accounts::new(1, false);
        for port in 0..5000 {
            let now = NOW + FORGOTTEN_AFTER * 2 * u32::from(port / 1000);
            let charged = accounts.begin(address(port), now).expect("a permit");
            accounts.end(charged);
        }
        assert!(accounts.usage.len() <= 2 * ACCOUNTS_MIN, "{}", accounts.usage.len());
    }
}
