//! Ports that nothing else takes while a node starts, or is down.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

/// The kernel gives none of these to those who ask for any port, nor to connections, unless it is told otherwise.
const RANGE: std::ops::Range<u16> = 10_000..32_000;
const TRIES: usize = 1000;

/// The ports of a ring, which are the same on each of its addresses.
#[derive(Clone, Copy)]
pub(super) struct Ports {
    /// For clients.
    pub(super) native: u16,
    /// For other nodes.
    pub(super) storage: u16,
}

/// Two ports that are free on all of these addresses.
pub(super) fn free(addresses: &[Ipv4Addr]) -> Ports {
    let native = free_but(addresses, &[]);
    Ports { native, storage: free_but(addresses, &[native]) }
}

/// A port that is free on all of these addresses and none of `taken`.
pub(super) fn free_but(addresses: &[Ipv4Addr], taken: &[u16]) -> u16 {
    let is_free = |port: &u16| {
        !taken.contains(port) && addresses.iter().all(|&it| TcpListener::bind(SocketAddr::from((it, *port))).is_ok())
    };
    (0..TRIES).map(|_| rand::random_range(RANGE)).find(is_free).expect("a free port")
}
