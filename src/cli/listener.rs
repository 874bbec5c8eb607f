//! Where a service takes mail and what it may take, for commands that send some.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::client::Status;
use crate::error::{Error, Exit};

/// The largest message that a service may accept, in octets.
pub(super) const MESSAGE_OCTETS_MAX: u64 = 50 << 20;

/// Where the daemon of this status takes mail.
pub(super) fn listener_of(status: &Status) -> Result<SocketAddr, Error> {
    let listener = status.smtp_listen.iter().find_map(|text| text.parse().ok()).map(reachable);
    listener.ok_or_else(|| Error::new(Exit::Unavailable, "the daemon has no listener for SMTP"))
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
