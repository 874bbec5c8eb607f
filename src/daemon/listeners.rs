//! Binding every address that the daemon listens on, before anything else starts.

use std::io;
use std::net::{SocketAddr, TcpListener};

use socket2::{Domain, Protocol, Socket, Type};

use super::holder;
use crate::config::Config;

/// How many connections may wait to be accepted.
const BACKLOG: i32 = 1024;

/// Why an address can't be listened on.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Another process listens there.
    #[error("{address} is in use{}", holder.as_ref().map(|who| format!(" by {who}")).unwrap_or_default())]
    InUse {
        /// The address.
        address: SocketAddr,
        /// Who has it, where the system tells.
        holder: Option<String>,
    },
    /// The system refuses.
    #[error("can't listen on {address}: {error}")]
    Io {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        error: io::Error,
    },
}

/// Bound sockets. Port 0 has become a real one.
#[derive(Debug)]
pub struct Listeners {
    /// For SMTP.
    pub smtp: Vec<TcpListener>,
    /// For HTTP.
    pub http: Vec<TcpListener>,
}

impl Listeners {
    /// Binds what the settings say. Where they are the defaults, a host without IPv6 does without `[::1]`.
    pub fn bind(config: &Config) -> Result<Self, BindError> {
        Ok(Self {
            smtp: bind_all(&config.smtp_listen, config.smtp_listen_is_default)?,
            http: bind_all(&config.http_listen, config.http_listen_is_default)?,
        })
    }

    /// Where SMTP listens.
    pub fn smtp_addresses(&self) -> Vec<SocketAddr> {
        self.smtp.iter().filter_map(|listener| listener.local_addr().ok()).collect()
    }

    /// Where HTTP listens.
    pub fn http_addresses(&self) -> Vec<SocketAddr> {
        self.http.iter().filter_map(|listener| listener.local_addr().ok()).collect()
    }
}

fn bind_all(addresses: &[SocketAddr], is_default: bool) -> Result<Vec<TcpListener>, BindError> {
    let mut bound = Vec::with_capacity(addresses.len());
    for address in addresses {
        match bind(*address) {
            Ok(listener) => bound.push(listener),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                return Err(BindError::InUse { address: *address, holder: holder::of(*address) });
            }
            Err(error) if is_default && address.is_ipv6() => tracing::debug!(%address, %error, "this host has no IPv6"),
            Err(error) => return Err(BindError::Io { address: *address, error }),
        }
    }
    Ok(bound)
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // Connections of a predecessor that linger must not keep its successor from starting.
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}
