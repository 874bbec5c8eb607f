//! Binding every address that the daemon listens on, before anything else starts.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use socket2::{Domain, Protocol, Socket, Type};

use super::socket::{self, SocketFile};
use super::{DaemonError, port_owner};
use crate::config::{self, Config, Endpoint};
use crate::http::HttpListener;
use crate::smtp::{Listener, Service, ServiceListener};
use crate::tls::Keeper;

/// How many connections may wait to be accepted.
const BACKLOG: i32 = 1024;

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
#[derive(Debug)]
pub struct Listeners {
    smtp: Vec<TcpListener>,
    smtps: Vec<TcpListener>,
    lmtp: Vec<Bound>,
    http: Vec<TcpListener>,
    https: Vec<TcpListener>,
    metrics: Vec<TcpListener>,
}

/// The sockets of LMTP are of two kinds.
#[derive(Debug)]
enum Bound {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf, SocketFile),
}

impl Bound {
    fn endpoint(&self) -> Option<Endpoint> {
        match self {
            Self::Tcp(listener) => listener.local_addr().ok().map(Endpoint::Tcp),
            Self::Unix(_, path, _) => Some(Endpoint::Unix(path.clone())),
        }
    }
}

/// The sockets as the runtime has them, and the files that outlive them until the daemon has ended.
pub(super) struct Running {
    pub(super) mail: Vec<ServiceListener>,
    pub(super) http: Vec<HttpListener>,
    pub(super) metrics: Vec<HttpListener>,
    pub(super) files: Vec<SocketFile>,
}

impl Listeners {
    /// Binds what the settings have. Where they are the defaults, a host without IPv6 does without `[::1]`.
    pub fn bind(config: &Config) -> Result<Self, BindError> {
        Ok(Self {
            smtp: bind_all(&config.smtp.listen, config.is_default("smtp-listen"))?,
            smtps: bind_all(&config.smtp.smtps_listen, false)?,
            lmtp: bind_endpoints(&config.smtp.lmtp_listen, config.smtp.lmtp_socket_mode)?,
            http: bind_all(&config.http.listen, config.is_default("http-listen"))?,
            https: bind_all(&config.http.https_listen, false)?,
            metrics: bind_all(&config.http.metrics_listen, false)?,
        })
    }

    /// Why no rules for faults may be added while these sockets are served.
    pub(super) fn refuses_faults(&self, config: &Config) -> Option<String> {
        let smtp = [self.smtp_addresses(), self.smtps_addresses()].concat();
        config::exposure(config, smtp.into_iter().chain(self.lmtp_endpoints().iter().filter_map(Endpoint::tcp)))
    }

    /// Where SMTP listens.
    pub fn smtp_addresses(&self) -> Vec<SocketAddr> {
        addresses(&self.smtp)
    }

    /// Where SMTP with TLS from the first octet listens.
    pub fn smtps_addresses(&self) -> Vec<SocketAddr> {
        addresses(&self.smtps)
    }

    /// Where LMTP listens.
    pub fn lmtp_endpoints(&self) -> Vec<Endpoint> {
        self.lmtp.iter().filter_map(Bound::endpoint).collect()
    }

    /// Where HTTP listens.
    pub fn http_addresses(&self) -> Vec<SocketAddr> {
        addresses(&self.http)
    }

    /// Where HTTP with TLS from the first octet listens.
    pub fn https_addresses(&self) -> Vec<SocketAddr> {
        addresses(&self.https)
    }

    /// Where metrics alone are.
    pub fn metrics_addresses(&self) -> Vec<SocketAddr> {
        addresses(&self.metrics)
    }

    /// Hands the sockets to the runtime. `tls` is for HTTPS.
    pub(super) fn run(self, tls: Option<&Keeper>) -> Result<Running, DaemonError> {
        let mut running = Running { mail: Vec::new(), http: Vec::new(), metrics: Vec::new(), files: Vec::new() };
        for (service, listeners) in [(Service::Smtp, self.smtp), (Service::Smtps, self.smtps)] {
            for listener in listeners {
                running.mail.push(ServiceListener { listener: Listener::Tcp(listener), service });
            }
        }
        for listener in self.lmtp {
            let listener = match listener {
                Bound::Tcp(listener) => Listener::Tcp(listener),
                Bound::Unix(listener, _, file) => {
                    running.files.push(file);
                    Listener::Unix(listener)
                }
            };
            running.mail.push(ServiceListener { listener, service: Service::Lmtp });
        }
        for listener in self.http {
            running.http.push(HttpListener::Tcp(tokio::net::TcpListener::from_std(listener)?));
        }
        if let Some(tls) = tls.map(Keeper::http_acceptor) {
            for listener in self.https {
                running.http.push(HttpListener::Tls(tokio::net::TcpListener::from_std(listener)?, tls.clone()));
            }
        }
        for listener in self.metrics {
            running.metrics.push(HttpListener::Tcp(tokio::net::TcpListener::from_std(listener)?));
        }
        Ok(running)
    }
}

fn addresses(listeners: &[TcpListener]) -> Vec<SocketAddr> {
    listeners.iter().filter_map(|listener| listener.local_addr().ok()).collect()
}

fn bind_all(configured: &[SocketAddr], is_default: bool) -> Result<Vec<TcpListener>, BindError> {
    let bound = configured.iter().filter_map(|address| bind_unless_missing(*address, is_default).transpose());
    bound.collect()
}

/// Binds an address. `None` for one that is a default and that this host does not have.
fn bind_unless_missing(address: SocketAddr, is_default: bool) -> Result<Option<TcpListener>, BindError> {
    match bind_tcp(address) {
        Err(BindError::Io { error, .. }) if is_default && address.is_ipv6() => {
            tracing::debug!(%address, %error, "this host has no IPv6");
            Ok(None)
        }
        bound => bound.map(Some),
    }
}

fn bind_endpoints(configured: &[Endpoint], mode: u32) -> Result<Vec<Bound>, BindError> {
    let mut bound = Vec::new();
    for endpoint in configured {
        match endpoint {
            Endpoint::Tcp(address) => bound.push(Bound::Tcp(bind_tcp(*address)?)),
            Endpoint::Unix(path) => {
                let (listener, file) = bind_unix(path, mode)?;
                bound.push(Bound::Unix(listener, path.clone(), file));
            }
        }
    }
    Ok(bound)
}

/// Binds a Unix socket, and replaces one that nobody listens on any more.
fn bind_unix(path: &Path, mode: u32) -> Result<(UnixListener, SocketFile), BindError> {
    let address = || Endpoint::Unix(path.to_owned());
    if std::fs::symlink_metadata(path).is_ok_and(|file| !file.file_type().is_socket()) {
        return Err(BindError::NoSocket(address()));
    }
    socket::bind(path, mode).map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => BindError::InUse { address: address(), owner: None },
        _ => BindError::Io { address: address(), error },
    })
}

fn bind_tcp(address: SocketAddr) -> Result<TcpListener, BindError> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::AddrInUse => {
            BindError::InUse { address: Endpoint::Tcp(address), owner: port_owner::of(address) }
        }
        _ => BindError::Io { address: Endpoint::Tcp(address), error },
    };
    listen(address).map_err(failed)
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
