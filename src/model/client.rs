//! The client that a limit applies to.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

/// A client: an IPv4 address, or an IPv6 /64, since one customer usually has a whole /64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Client(IpAddr);

impl Client {
    /// The client that an address belongs to. An IPv4-mapped IPv6 address is its IPv4 address.
    pub fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(v4) => Self(v4.into()),
            IpAddr::V6(v6) => Self(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX)).into()),
        }
    }
}

impl Client {
    /// The network of the client.
    pub fn network(self) -> Network {
        match self.0 {
            IpAddr::V4(v4) => Network(Ipv4Addr::from_bits(v4.to_bits() & !0xff).into()),
            IpAddr::V6(v6) => Network(Ipv6Addr::from_bits(v6.to_bits() & !(u128::MAX >> 48)).into()),
        }
    }
}

/// A network: an IPv4 /24 or an IPv6 /48, which one party usually has as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Network(IpAddr);

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = if self.0.is_ipv4() { 24 } else { 48 };
        write!(f, "{}/{bits}", self.0)
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IpAddr::V4(v4) => v4.fmt(f),
            IpAddr::V6(v6) => write!(f, "{v6}/64"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_an_ipv4_address_or_an_ipv6_64() {
        for (address, shown) in [
            ("192.0.2.1", "192.0.2.1"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
            ("2001:db8:1:2::", "2001:db8:1:2::/64"),
        ] {
            assert_eq!(Client::of(address.parse().expect(address)).to_string(), shown);
        }
    }

    #[test]
    fn a_network_is_an_ipv4_24_or_an_ipv6_48() {
        for (address, shown) in [("192.0.2.77", "192.0.2.0/24"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1::/48")] {
            assert_eq!(Client::of(address.parse().expect(address)).network().to_string(), shown);
        }
    }
}
