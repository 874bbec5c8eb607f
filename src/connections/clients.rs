//! The connection limits of a client: connections at once, and new connections per minute.
//!
//! Pure: `now` is an argument, time since a fixed point that never jumps. The table has an entry for each client with a
//! connection, and for a bounded number of clients that had one within the last minute.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ipnet::IpNet;

use crate::model::Client;

const MINUTE: Duration = Duration::from_secs(60);
/// The most clients without a connection in the table. Beyond that all of these are forgotten: a limit per client does
/// not stop an attacker who has so many addresses.
const REMEMBERED_MAX: usize = 65_536;
/// The table is not searched for entries to forget while it is smaller than this.
const SWEEP_AT_LEAST: usize = 1024;

/// How many connections one client may have and make.
#[derive(Clone, Debug)]
pub struct ClientLimits {
    /// The most connections at once.
    pub connections_max: usize,
    /// The most new connections in a minute. All of them may come at once, at the start of the minute.
    pub per_minute_max: usize,
    /// Networks that have none of these limits.
    pub exempt: Vec<IpNet>,
}

/// The limit that a new connection exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exceeded {
    /// That of connections at once.
    Connections,
    /// That of new connections in a minute.
    Rate,
}

/// The connections of each client.
#[derive(Debug)]
pub struct Clients {
    limits: ClientLimits,
    table: Mutex<Table>,
}

#[derive(Debug)]
struct Table {
    clients: HashMap<Client, Usage>,
    /// The size at which the table is swept.
    sweep_at: usize,
}

/// What one client uses.
#[derive(Debug, Default)]
struct Usage {
    connections: usize,
    /// The time until which its connections so far use up the rate. A connection costs its part of a minute.
    paid_until: Duration,
}

/// A connection that counts for its client until this is dropped.
#[derive(Debug)]
pub struct ClientConnection {
    /// `None` if no limit of a client applies.
    of: Option<(Arc<Clients>, Client)>,
    is_counted: AtomicBool,
}

impl ClientConnection {
    /// A connection that no limit of a client applies to.
    pub const fn unlimited() -> Self {
        Self { of: None, is_counted: AtomicBool::new(false) }
    }

    /// The client whose limits apply; `None` if none do.
    pub fn client(&self) -> Option<Client> {
        self.of.as_ref().map(|(_, client)| *client)
    }

    /// Stops counting for the client.
    pub fn leave(&self) {
        if let Some((clients, client)) = &self.of
            && self.is_counted.swap(false, Ordering::SeqCst)
            && let Some(usage) = clients.table().clients.get_mut(client)
        {
            usage.connections -= 1;
        }
    }

    /// Counts for the client again. `false`: the client has as many connections as it may have.
    pub fn count_again(&self) -> bool {
        let Some((clients, client)) = &self.of else { return true };
        let mut table = clients.table();
        let usage = table.clients.entry(*client).or_default();
        if usage.connections >= clients.limits.connections_max {
            return false;
        }
        usage.connections += 1;
        self.is_counted.store(true, Ordering::SeqCst);
        true
    }
}

impl Drop for ClientConnection {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Clients {
    /// These limits, and no connection yet.
    pub fn new(limits: ClientLimits) -> Self {
        let table = Table { clients: HashMap::new(), sweep_at: SWEEP_AT_LEAST };
        Self { limits, table: Mutex::new(table) }
    }

    /// Counts a new connection from `address`; the error is the limit that it exceeds. A connection that is refused for
    /// their number counts for the rate.
    pub fn connect(self: &Arc<Self>, address: IpAddr, now: Duration) -> Result<ClientConnection, Exceeded> {
        let address = address.to_canonical();
        if self.limits.exempt.iter().any(|network| network.contains(&address)) {
            return Ok(ClientConnection::unlimited());
        }
        let client = Client::of(address);
        let mut table = self.table();
        if table.clients.len() >= table.sweep_at {
            table.sweep(now);
        }
        let usage = table.clients.entry(client).or_default();
        let per_minute = u32::try_from(self.limits.per_minute_max).unwrap_or(u32::MAX);
        let price = MINUTE / per_minute.max(1);
        let paid_until = usage.paid_until.max(now) + price;
        if paid_until > now + MINUTE {
            return Err(Exceeded::Rate);
        }
        usage.paid_until = paid_until;
        if usage.connections >= self.limits.connections_max {
            return Err(Exceeded::Connections);
        }
        usage.connections += 1;
        Ok(ClientConnection { of: Some((Arc::clone(self), client)), is_counted: AtomicBool::new(true) })
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Forgets the clients without a connection whose rate is paid for, and all without a connection if too many remain.
    /// The table doubles before its next sweep, so that a connection costs the same however many clients there are.
    fn sweep(&mut self, now: Duration) {
        self.clients.retain(|_, usage| usage.connections > 0 || usage.paid_until > now);
        let connected = self.clients.values().filter(|usage| usage.connections > 0).count();
        if self.clients.len() - connected >= REMEMBERED_MAX {
            self.clients.retain(|_, usage| usage.connections > 0);
        }
        self.sweep_at = (self.clients.len() * 2).clamp(SWEEP_AT_LEAST, connected + REMEMBERED_MAX);
        self.clients.shrink_to(self.sweep_at);
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const NOW: Duration = Duration::from_secs(1000);

    fn clients(connections_max: usize, per_minute_max: usize) -> Arc<Clients> {
        let exempt = vec!["127.0.0.0/8".parse().expect("network"), "::1/128".parse().expect("network")];
        Arc::new(Clients::new(ClientLimits { connections_max, per_minute_max, exempt }))
    }

    fn at(text: &str) -> IpAddr {
        text.parse().expect("address")
    }

    fn number(bits: u32) -> IpAddr {
        IpAddr::V4(Ipv4Addr::from_bits(bits))
    }

    #[test]
    fn a_client_has_so_many_connections_and_gets_them_back() {
        for (addresses, refusal) in [
            (&["192.0.2.1", "192.0.2.1", "192.0.2.1"][..], Some(Exceeded::Connections)),
            (&["192.0.2.1", "192.0.2.1", "192.0.2.2"], None),
            (&["192.0.2.1", "192.0.2.1", "::ffff:192.0.2.1"], Some(Exceeded::Connections)),
            (&["2001:db8::1", "2001:db8::2", "2001:db8::ffff:0:0:1"], Some(Exceeded::Connections)),
            (&["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"], None),
            (&["127.0.0.1", "127.0.0.1", "127.0.0.1"], None),
            (&["::1", "::1", "::1", "::ffff:127.0.0.1"], None),
        ] {
            let clients = clients(2, 1000);
            let mut connected: Vec<_> = addresses.iter().map(|address| clients.connect(at(address), NOW)).collect();
            let last = connected.pop().expect("a client");
            assert!(connected.iter().all(Result::is_ok), "{addresses:?}");
            assert_eq!(last.as_ref().err().copied(), refusal, "{addresses:?}");
            drop((connected, last));
            assert!(clients.table().clients.values().all(|usage| usage.connections == 0), "{addresses:?}");
            assert!(clients.connect(at(addresses[0]), NOW).is_ok(), "{addresses:?}");
        }
    }

    #[test]
    fn a_minute_has_so_many_new_connections() {
        let clients = clients(10, 6);
        let connect =
            |address: &str, seconds: u64| clients.connect(at(address), NOW + Duration::from_secs(seconds)).is_ok();
        for _ in 0..6 {
            assert!(connect("192.0.2.1", 0));
        }
        assert!(!connect("192.0.2.1", 0));
        assert!(connect("192.0.2.2", 0), "another client has its own rate");
        assert!(!connect("192.0.2.1", 9));
        assert!(connect("192.0.2.1", 10), "one each ten seconds from then on");
        assert!(!connect("192.0.2.1", 10));
        for _ in 0..6 {
            assert!(connect("192.0.2.1", 100));
        }
        assert!(!connect("192.0.2.1", 100));
    }

    #[test]
    fn the_addresses_of_an_ipv6_64_share_one_rate() {
        let clients = clients(10, 2);
        assert!(clients.connect(at("2001:db8::1"), NOW).is_ok());
        assert!(clients.connect(at("2001:db8::2"), NOW).is_ok());
        assert_eq!(clients.connect(at("2001:db8::3"), NOW).err(), Some(Exceeded::Rate));
        assert!(clients.connect(at("2001:db8:0:1::1"), NOW).is_ok());
    }

    #[test]
    fn the_table_is_bounded_however_many_addresses_connect() {
        let clients = clients(2, 1);
        let stays = clients.connect(number(1), NOW).expect("a connection");
        let mut most = 0;
        for bits in 0..200_000 {
            drop(clients.connect(number(0x0a00_0000 + bits), NOW));
            most = most.max(clients.table().clients.len());
        }
        assert!(most <= REMEMBERED_MAX + 1, "{most}");
        assert_eq!(clients.table().clients.get(&Client::of(number(1))).map(|usage| usage.connections), Some(1));
        drop(stays);
        // A minute later no client need be remembered.
        for bits in 0..u32::try_from(SWEEP_AT_LEAST + REMEMBERED_MAX).expect("a small number") {
            let later = MINUTE * 2 * u32::from(bits as usize >= REMEMBERED_MAX);
            drop(clients.connect(number(0x0b00_0000 + bits), NOW + later));
        }
        assert!(clients.table().clients.len() <= 2 * SWEEP_AT_LEAST, "{}", clients.table().clients.len());
    }

    #[test]
    fn a_sweep_forgets_no_client_that_is_ahead_of_its_rate() {
        let clients = clients(2, 1);
        let connect = |bits: u32, now| clients.connect(number(bits), now).is_ok();
        assert!(connect(0x0a00_0000, NOW));
        for bits in 1..=2 * u32::try_from(SWEEP_AT_LEAST).expect("a small number") {
            connect(0x0a00_0000 + bits, NOW);
        }
        assert!(!connect(0x0a00_0000, NOW));
        assert!(connect(0x0a00_0000, NOW + MINUTE));
    }
}
