//! Binding every address that the daemon listens on, before anything else starts.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixListener;
use std::path::Path;

use socket2::{Domain, Protocol, Socket, Type};

use super::port_owner;
use super::socket::{self, SocketFile};
use crate::config::{Config, Endpoint};
use crate::connections::{Listener, Listening, Purpose};

/// How many connections may wait to be accepted.
const BACKLOG: i32 = 1024;
/// Only the owner may open the control socket.
const CONTROL_MODE: u32 = 0o600;

/// Why an address can't be listened on.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Another process listens there.
    #[error("{address} is in use{}", owner.as_ref().map(|who| format!(" by {who}")).unwrap_or_default())]
    InUse {
        /// The address.
        address: Endpoint,
        /// Who has it, where the system tells.
        owner: Option<String>,
    },
    /// The system refuses.
    #[error("can't listen on {address}: {error}")]
    Io {
        /// The address.
        address: Endpoint,
        /// What the system says.
        error: io::Error,
    },
    /// A file that is no socket has the path of one.
    #[error("{0} is there and is no socket; choose another path, or remove it")]
    NoSocket(Endpoint),
    /// A service manager listens in place of the service.
    #[error("a service manager handed sockets over (LISTEN_FDS), and connections to them would get no answer")]
    HandedOver,
}

/// Bound sockets. Port 0 has become a real one.
#[derive(Debug, Default)]
pub struct Listeners {
    bound: Vec<(Purpose, Endpoint, Bound)>,
    /// The files of Unix sockets, which go when this is dropped.
    files: Vec<SocketFile>,
}

/// A socket that no runtime has yet.
#[derive(Debug)]
enum Bound {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listeners {
    /// Binds what the settings have. A host without IPv6 does without `[::1]` of the defaults, and without `[::]` beside the
    /// same port of `0.0.0.0`.
    pub fn bind(config: &Config) -> Result<Self, BindError> {
        let mut listeners = Self::default();
        let (smtp, http) = (&config.smtp, &config.http);
        for (purpose, addresses, key) in [
            (Purpose::Smtp, &smtp.listen, "smtp-listen"),
            (Purpose::Smtps, &smtp.smtps_listen, "smtps-listen"),
            (Purpose::Http, &http.listen, "http-listen"),
            (Purpose::Https, &http.https_listen, "https-listen"),
            (Purpose::Metrics, &http.metrics_listen, "metrics-listen"),
        ] {
            for address in addresses {
                let of_ipv4 = SocketAddr::from((Ipv4Addr::UNSPECIFIED, address.port()));
                let has_twin = address.ip().is_unspecified() && addresses.contains(&of_ipv4);
                listeners.add_tcp(purpose, *address, has_twin || config.is_default(key))?;
            }
        }
        for endpoint in &smtp.lmtp_listen {
            match endpoint {
                Endpoint::Tcp(address) => listeners.add_tcp(Purpose::Lmtp, *address, false)?,
                Endpoint::Unix(path) => listeners.add_unix(Purpose::Lmtp, path, smtp.lmtp_socket_mode)?,
            }
        }
        Ok(listeners)
    }

    /// Binds the control socket as well. The caller holds the lock of the data directory, so a socket that is there is a
    /// dead daemon's. One that somebody listens on is that of another service: its clients must not become administrators.
    pub fn bind_control(&mut self, path: &Path) -> Result<(), BindError> {
        self.add_unix(Purpose::Control, path, CONTROL_MODE)
    }

    /// Where they listen.
    pub fn listening(&self) -> Listening {
        Listening(self.bound.iter().map(|(purpose, endpoint, _)| (*purpose, endpoint.clone())).collect())
    }

    /// Takes those for some purposes and hands them to the runtime of the caller. The files of Unix sockets stay here.
    pub(super) fn take(&mut self, purposes: &[Purpose]) -> io::Result<Vec<(Purpose, Listener)>> {
        let of_runtime = |bound| match bound {
            Bound::Tcp(listener) => tokio::net::TcpListener::from_std(listener).map(Listener::Tcp),
            Bound::Unix(listener) => tokio::net::UnixListener::from_std(listener).map(Listener::Unix),
        };
        let taken = self.bound.extract_if(.., |(purpose, ..)| purposes.contains(purpose));
        taken.map(|(purpose, _, bound)| Ok((purpose, of_runtime(bound)?))).collect()
    }

    fn add_tcp(&mut self, purpose: Purpose, address: SocketAddr, may_be_missing: bool) -> Result<(), BindError> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::AddrInUse => {
                BindError::InUse { address: Endpoint::Tcp(address), owner: port_owner::of(address) }
            }
            _ => BindError::Io { address: Endpoint::Tcp(address), error },
        };
        let bound = match listen(address).map_err(failed) {
            Err(BindError::Io { error, .. }) if may_be_missing && address.is_ipv6() => {
                tracing::debug!(%address, %error, "this host has no IPv6");
                return Ok(());
            }
            bound => bound?,
        };
        let endpoint = Endpoint::Tcp(bound.local_addr().map_err(failed)?);
        self.bound.push((purpose, endpoint, Bound::Tcp(bound)));
        Ok(())
    }

    /// Binds a Unix socket, and replaces one that nobody listens on any more.
    fn add_unix(&mut self, purpose: Purpose, path: &Path, mode: u32) -> Result<(), BindError> {
        let address = || Endpoint::Unix(path.to_owned());
        if std::fs::metadata(path).is_ok_and(|file| !file.file_type().is_socket()) {
            return Err(BindError::NoSocket(address()));
        }
        let (listener, file) = socket::bind(path, mode).map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => {
                BindError::InUse { address: address(), owner: Some("another process or another setting".into()) }
            }
            _ => BindError::Io { address: address(), error },
        })?;
        self.bound.push((purpose, address(), Bound::Unix(listener)));
        self.files.push(file);
        Ok(())
    }
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
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
