//! Why webhooks may not call something.

use std::net::{IpAddr, SocketAddr};

/// Why an address or port may not be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The address is not public, and it is in no allowed network.
    #[error("{0} is not a public address")]
    NotPublic(IpAddr),
    /// The address and port belong to a listener of this daemon.
    #[error("{0} is this service itself")]
    Own(SocketAddr),
    /// The address belongs to this machine, and it is in no allowed network.
    #[error("{0} is an address of this machine")]
    OfMachine(IpAddr),
    /// The port is refused everywhere.
    #[error("port {0} is not accepted")]
    Port(u16),
}
