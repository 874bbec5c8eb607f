//! Where a service takes mail and what it may take, for commands that send some.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use serde_json::Value;

use crate::client::texts;
use crate::error::{Error, Exit};

/// The largest message that a service may accept, in octets.
pub(super) const MESSAGE_OCTETS_MAX: u64 = 50 << 20;

/// Where the daemon of this status listens, by the member that lists it: the first address of TCP.
pub(super) fn listener_of(status: &Value, member: &str) -> Option<SocketAddr> {
    texts(&status[member]).find_map(|text| text.parse().ok()).map(reachable)
}

/// Host and port where the daemon of this status takes mail.
pub(super) fn smtp_of(status: &Value) -> Result<String, Error> {
    let listener = listener_of(status, "smtpListen");
    let no_listener = || Error::new(Exit::Unavailable, "the daemon has no listener for SMTP");
    listener.map(|address| address.to_string()).ok_or_else(no_listener)
}

/// A listener on every address is reached through loopback.
pub(super) fn reachable(listener: SocketAddr) -> SocketAddr {
    let ip = match listener.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listener.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_on_every_address_is_on_loopback() {
        let of = |address: &str| reachable(address.parse().expect("address")).to_string();
        assert_eq!(of("0.0.0.0:25"), "127.0.0.1:25");
        assert_eq!(of("[::]:25"), "[::1]:25");
        assert_eq!(of("192.0.2.1:25"), "192.0.2.1:25");
    }
}
