//! The limits and timeouts of one SMTP client.

use std::time::Duration;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// The bounds on clients of SMTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmtpBounds {
    /// The most connections at once from one address.
    pub connections_per_address_max: usize,
    /// The most connections at once from one network: /24 of IPv4, /64 of IPv6.
    pub connections_per_network_max: usize,
    /// The most new connections in a minute from an address of IPv4 or a /64 of IPv6.
    pub connections_per_minute_max: usize,
    /// The most octets of memory for messages that are coming in from one address; at least one message.
    pub bodies_octets_per_address_max: u64,
    /// The most octets of memory for messages that are coming in from one network.
    pub bodies_octets_per_network_max: u64,
    /// Networks without these five limits.
    pub exempt: Vec<IpNet>,
    /// How many 5yz replies without a stored message between them end a session.
    pub errors_max: u32,
    /// How long a client may be silent.
    pub idle_timeout: Duration,
    /// How long a client may take to read what is written to it.
    pub reply_timeout: Duration,
    /// How long a whole command line may take.
    pub command_timeout: Duration,
    /// How long a transaction may take, and longer if its message keeps `rate_min`.
    pub message_timeout: Duration,
    /// Octets of a message in a second that give it more time than `message_timeout`.
    pub rate_min: u64,
    /// After so long a session ends between two transactions.
    pub session_life: Duration,
    /// In place of the timeouts before while more than three quarters of the connections are taken.
    pub stress_timeout: Duration,
}

impl Default for SmtpBounds {
    fn default() -> Self {
        Self {
            connections_per_address_max: 50,
            connections_per_network_max: 200,
            connections_per_minute_max: 600,
            bodies_octets_per_address_max: 64 << 20,
            bodies_octets_per_network_max: 128 << 20,
            exempt: loopback(),
            errors_max: 20,
            idle_timeout: Duration::from_mins(5),
            reply_timeout: Duration::from_mins(5),
            command_timeout: Duration::from_mins(5),
            message_timeout: Duration::from_mins(10),
            rate_min: 500,
            session_life: Duration::from_hours(1),
            stress_timeout: Duration::from_secs(10),
        }
    }
}

fn loopback() -> Vec<IpNet> {
    let v4 = Ipv4Net::new([127, 0, 0, 0].into(), 8).map(IpNet::V4);
    let v6 = Ipv6Net::new([0, 0, 0, 0, 0, 0, 0, 1].into(), 128).map(IpNet::V6);
    v4.into_iter().chain(v6).collect()
}
