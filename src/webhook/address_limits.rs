//! How many attempts and octets each address is sent, whatever names lead there.
//!
//! An address and port that has answered no 2xx yet is on probation: it gets one attempt at a time and few a minute. All ports
//! on probation of one IPv4 address or IPv6 /64 have a limit together, so that nobody can turn webhooks against a host.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock::Clock;
use crate::model::Client;

/// The span that attempts and octets are counted over.
const MINUTE: Duration = Duration::from_mins(1);
/// What is sent in a minute to an address and port on probation, and to all of a host together.
const UNPROVEN: Limit = Limit { attempts: 6, octets: 2 << 20 };
const UNPROVEN_HOST: Limit = Limit { attempts: 120, octets: 8 << 20 };
/// Octets a minute at an address and port that is proven.
const OCTETS_MAX: u64 = 256 << 20;
/// How long an attempt waits at least while another one is in flight on probation.
const IN_FLIGHT_PAUSE: Duration = Duration::from_secs(1);
/// The time between two attempts that were refused and try again, unless the limit permits more. Each prepares its request
/// first, so that the events of many webhooks at one address must not come back together.
const RETRY_SPACING: Duration = Duration::from_millis(100);
/// So many accounts are remembered before any is forgotten. Proven ones are forgotten after a time without attempts.
const ACCOUNTS_MIN: usize = 1024;
const FORGOTTEN_AFTER: Duration = Duration::from_mins(10);

/// No attempt was made: each address was called as often as permitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("called too often within this minute")]
pub struct Busy {
    /// After how long to try again; a minute at most.
    pub wait: Duration,
}

/// The limits of all addresses, and what they have been sent.
#[derive(Clone)]
pub(super) struct AddressLimits {
    accounts: Arc<Mutex<Accounts>>,
    clock: Arc<dyn Clock>,
}

/// Permits one attempt at an address, which ends when this is dropped.
pub(super) struct Permit {
    limits: AddressLimits,
    accounts: Charged,
    pub(super) address: SocketAddr,
}

impl AddressLimits {
    /// An address and port that has answered a 2xx gets `per_minute` attempts a minute, and twice as many in the first one;
    /// 0 counts as 1. Without a probation each counts as if it had.
    pub(super) fn new(per_minute: usize, has_probation: bool, clock: Arc<dyn Clock>) -> Self {
        Self { accounts: Arc::new(Mutex::new(Accounts::new(per_minute, has_probation))), clock }
    }

    /// Begins an attempt at `address`, or says when to try again.
    pub(super) fn begin(&self, address: SocketAddr) -> Result<Permit, Busy> {
        let accounts = self.accounts().begin(address, self.clock.boot())?;
        Ok(Permit { limits: self.clone(), accounts, address })
    }

    fn accounts(&self) -> MutexGuard<'_, Accounts> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permit {
    /// Records that so many octets are sent.
    pub(super) fn send(&self, octets: usize) {
        self.limits.accounts().send(self.accounts, octets, self.limits.clock.boot());
    }

    /// Records that the answer was a 2xx, which ends the probation of this address and port.
    pub(super) fn prove(&self) {
        self.limits.accounts().prove(self.address, self.limits.clock.boot());
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.limits.accounts().end(self.accounts);
    }
}

/// What may be sent in a minute, and twice as much in the first one after a quiet one.
#[derive(Clone, Copy, Debug)]
struct Limit {
    attempts: u32,
    octets: u64,
}

/// What an attempt is charged to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Account {
    Proven(SocketAddr),
    Unproven(SocketAddr),
    /// All ports on probation of an IPv4 address or an IPv6 /64.
    UnprovenHost(Client),
}

/// What one attempt is charged to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Charged([Option<Account>; 2]);

impl Charged {
    fn iter(self) -> impl Iterator<Item = Account> {
        self.0.into_iter().flatten()
    }
}

#[derive(Debug, Default)]
struct Usage {
    in_flight: usize,
    /// Up to when its attempts, and its octets, take up time.
    attempts_until: Duration,
    octets_until: Duration,
    /// When the last attempt that was refused tries again.
    retried_until: Duration,
    used_at: Duration,
}

/// Pure; `now` is an argument.
#[derive(Debug)]
struct Accounts {
    proven: Limit,
    has_probation: bool,
    usage: HashMap<Account, Usage>,
    sweep_from: usize,
}

impl Accounts {
    fn new(per_minute: usize, has_probation: bool) -> Self {
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

    /// Begins an attempt, or says when to try again. It ends with [`Accounts::end`].
    fn begin(&mut self, address: SocketAddr, now: Duration) -> Result<Charged, Busy> {
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

    /// Charges an attempt for so many octets that it sends.
    fn send(&mut self, charged: Charged, octets: usize, now: Duration) {
        for account in charged.iter() {
            let limit = self.limit(account);
            let Some(usage) = self.usage.get_mut(&account) else { continue };
            let nanos = u128::from(octets as u64) * MINUTE.as_nanos() / u128::from(limit.octets);
            let taken = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
            usage.octets_until = usage.octets_until.max(now) + taken;
        }
    }

    /// An attempt at `address` was answered with a 2xx: nothing that was charged before counts for it any more.
    fn prove(&mut self, address: SocketAddr, now: Duration) {
        self.usage.entry(Account::Proven(address)).or_default().used_at = now;
    }

    fn end(&mut self, charged: Charged) {
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
        // The next attempt must fit. The octets must have some room left: their number is known only when they are sent.
        let free_at = (self.attempts_until + price).max(self.octets_until);
        free_at.checked_sub(now + MINUTE).filter(|wait| !wait.is_zero())
    }

    /// After how long an attempt that was refused tries again: behind those that were refused before.
    fn retry(&mut self, wait: Duration, price: Duration, now: Duration) -> Duration {
        let at = self.retried_until.max(now + wait) + price.min(RETRY_SPACING);
        self.retried_until = at.min(now + MINUTE);
        self.retried_until.saturating_sub(now)
    }

    /// Whether forgetting it would change what may be sent.
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

    /// How many attempts with bodies of so many octets there are in so many seconds, one after another.
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
    fn on_probation_there_is_one_attempt_at_a_time_and_few_a_minute() {
        let mut accounts = Accounts::new(6_000, true);
        let first = accounts.begin(address(80), NOW).expect("a permit");
        assert_eq!(accounts.begin(address(80), NOW), Err(Busy { wait: SECOND + RETRY_SPACING }));
        assert_eq!(accounts.begin(address(80), NOW), Err(Busy { wait: SECOND + 2 * RETRY_SPACING }));
        assert!(accounts.begin(address(81), NOW).is_ok(), "another port");
        accounts.end(first);
        assert_eq!(attempts(&mut accounts, 0, NOW, 1), 5);
        assert_eq!(attempts(&mut accounts, 0, NOW + SECOND, 600), 60, "an even pace from then on");
    }

    /// A stranger can name each port of a host, and each address of a network.
    #[test]
    fn all_ports_of_a_host_and_a_network_of_ipv6_have_a_limit_together() {
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
    fn on_probation_few_octets_are_sent_a_minute() {
        let mut accounts = Accounts::new(6_000, true);
        assert_eq!(attempts(&mut accounts, MB / 2, NOW, 1), 5, "2 MB and a body");
        let more = attempts(&mut accounts, MB / 2, NOW + SECOND, 600);
        assert!((39..=40).contains(&more), "{more}: 2 MB a minute");
        let wait = accounts.begin(address(80), NOW + 600 * SECOND).map_err(|busy| busy.wait > Duration::ZERO);
        assert_eq!(wait, Err(true));
    }

    /// Each try costs a request that is read, rendered and signed, and a question to the DNS.
    #[test]
    fn a_thousand_names_of_one_address_do_not_come_back_together() {
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
    fn a_proven_address_has_its_limits_in_attempts_and_octets() {
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

    /// A stranger could call so many others that a host is forgotten, and is sent as much as in its first minute again.
    #[test]
    fn what_was_sent_is_remembered_as_long_as_it_counts() {
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
    fn accounts_without_attempts_for_long_are_forgotten() {
        let mut accounts = Accounts::new(1, false);
        for port in 0..5000 {
            let now = NOW + FORGOTTEN_AFTER * 2 * u32::from(port / 1000);
            let charged = accounts.begin(address(port), now).expect("a permit");
            accounts.end(charged);
        }
        assert!(accounts.usage.len() <= 2 * ACCOUNTS_MIN, "{}", accounts.usage.len());
    }
}
