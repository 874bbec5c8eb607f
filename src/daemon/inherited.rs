//! Sockets that a service manager listens on and hands over (`sd_listen_fds(3)`).
//!
//! They keep taking connections while the daemon is replaced, and the next daemon serves them.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use listenfd::ListenFd;
use rustix::net::sockopt::socket_acceptconn;

use crate::config::{Config, Endpoint};

/// The most sockets that are taken.
const SOCKETS_MAX: usize = 64;

/// Why a socket that was handed over can't be used. All must be: one that is left alone takes connections that nobody
/// answers.
#[derive(Debug, thiserror::Error)]
pub enum InheritError {
    /// A count that is none.
    #[error("LISTEN_FDS is '{0}'; at most 64 sockets are taken")]
    Count(String),
    /// Neither a TCP nor a Unix socket that listens.
    #[error("socket {number} that was handed over is no listening stream socket{}", .error.as_ref().map(|error| format!(": {error}")).unwrap_or_default())]
    NoListener {
        /// Its place, counted from 1.
        number: usize,
        /// What the system says.
        error: Option<io::Error>,
    },
    /// A socket that belongs to no service.
    #[error(
        "the socket {address} that was handed over as '{name}' has no use: name it smtp, smtps, lmtp, http or https (FileDescriptorName=), or list its address among the settings"
    )]
    Unmatched {
        /// The name that it was given.
        name: String,
        /// Where it listens.
        address: String,
    },
    /// A Unix socket for what is served over TCP.
    #[error("a Unix socket was handed over as '{name}'; only lmtp is served over one")]
    NotOverUnix {
        /// What it was meant for.
        name: &'static str,
    },
    /// TLS without a certificate.
    #[error("a socket was handed over for {service}, which needs tls-cert and tls-key, or tls-self-signed")]
    NoCertificate {
        /// What it was meant for.
        service: &'static str,
    },
}

/// A socket that listens already.
#[derive(Debug)]
pub(super) enum Handed {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// The sockets that were handed over, each with the name that it was given.
#[derive(Debug, Default)]
pub struct Inherited(Vec<(String, Handed)>);

/// The sockets of each service.
#[derive(Debug, Default)]
pub(super) struct Assigned {
    pub(super) smtp: Vec<TcpListener>,
    pub(super) smtps: Vec<TcpListener>,
    pub(super) lmtp: Vec<Handed>,
    pub(super) http: Vec<TcpListener>,
    pub(super) https: Vec<TcpListener>,
}

impl Inherited {
    /// Takes what `LISTEN_FDS` says was handed over to this process (`LISTEN_PID`, which is `process`) under the names of
    /// `LISTEN_FDNAMES`. To be called once and before any other thread runs: it takes the two variables out of the
    /// environment of the process.
    pub fn take(env: &BTreeMap<String, String>, process: u32) -> Result<Self, InheritError> {
        let is_for_us = env.get("LISTEN_PID").is_some_and(|text| text.parse() == Ok(process));
        let Some(count) = env.get("LISTEN_FDS").filter(|_| is_for_us) else { return Ok(Self::default()) };
        if !count.parse().is_ok_and(|count: usize| count <= SOCKETS_MAX) {
            return Err(InheritError::Count(count.clone()));
        }
        let mut names = env.get("LISTEN_FDNAMES").map_or("", String::as_str).split(':');
        let mut handed = ListenFd::from_env();
        let sockets = (0..handed.len()).map(|index| {
            let name = names.next().unwrap_or_default().to_owned();
            Ok((name, listener(&mut handed, index)?))
        });
        sockets.collect::<Result<_, _>>().map(Self)
    }

    /// Assigns each socket to a service: by its name, else by an address of the settings.
    pub(super) fn assign(self, config: &Config) -> Result<Assigned, InheritError> {
        let mut assigned = Assigned::default();
        for (name, socket) in self.0 {
            let service = ["smtp", "smtps", "lmtp", "http", "https"].into_iter().find(|service| *service == name);
            let Some(service) = service.or_else(|| socket.service_in(config)) else {
                return Err(InheritError::Unmatched { name, address: socket.shown() });
            };
            let list = match service {
                "lmtp" => {
                    assigned.lmtp.push(socket);
                    continue;
                }
                "http" => &mut assigned.http,
                "smtps" => &mut assigned.smtps,
                "https" => &mut assigned.https,
                _ => &mut assigned.smtp,
            };
            let Handed::Tcp(listener) = socket else { return Err(InheritError::NotOverUnix { name: service }) };
            list.push(listener);
        }
        for (service, listeners) in [("smtps", &assigned.smtps), ("https", &assigned.https)] {
            if !listeners.is_empty() && !config.tls.is_set() {
                return Err(InheritError::NoCertificate { service });
            }
        }
        Ok(assigned)
    }
}

impl Handed {
    /// The service that the settings have at its port or path.
    fn service_in(&self, config: &Config) -> Option<&'static str> {
        let of_endpoint = |endpoint: &Endpoint| match (endpoint, self) {
            (Endpoint::Tcp(address), Self::Tcp(listener)) => port(listener) == Some(address.port()),
            (Endpoint::Unix(path), Self::Unix(_)) => self.path().as_ref() == Some(path),
            _ => false,
        };
        let of_tcp = |addresses: &[SocketAddr]| match self {
            Self::Tcp(listener) => addresses.iter().any(|address| port(listener) == Some(address.port())),
            Self::Unix(_) => false,
        };
        [
            ("smtp", of_tcp(&config.smtp.listen)),
            ("smtps", of_tcp(&config.smtp.smtps_listen)),
            ("lmtp", config.smtp.lmtp_listen.iter().any(of_endpoint)),
            ("http", of_tcp(&config.http.listen)),
            ("https", of_tcp(&config.http.https_listen)),
        ]
        .into_iter()
        .find_map(|(service, is_there)| is_there.then_some(service))
    }

    /// The path of a Unix socket.
    pub(super) fn path(&self) -> Option<PathBuf> {
        match self {
            Self::Tcp(_) => None,
            Self::Unix(listener) => listener.local_addr().ok()?.as_pathname().map(PathBuf::from),
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Tcp(listener) => listener.local_addr().map_or_else(|error| error.to_string(), |at| at.to_string()),
            Self::Unix(_) => self.path().map_or_else(|| "without a path".into(), |path| path.display().to_string()),
        }
    }
}

fn port(listener: &TcpListener) -> Option<u16> {
    listener.local_addr().ok().map(|address| address.port())
}

fn listener(handed: &mut ListenFd, index: usize) -> Result<Handed, InheritError> {
    let number = index + 1;
    let failed = |error| InheritError::NoListener { number, error: Some(error) };
    let socket = match handed.take_tcp_listener(index) {
        Ok(Some(listener)) => Handed::Tcp(listener),
        _ => match handed.take_unix_listener(index).map_err(failed)? {
            Some(listener) => Handed::Unix(listener),
            None => return Err(InheritError::NoListener { number, error: None }),
        },
    };
    let listens = match &socket {
        Handed::Tcp(listener) => listener.set_nonblocking(true).map(|()| socket_acceptconn(listener.as_fd())),
        Handed::Unix(listener) => listener.set_nonblocking(true).map(|()| socket_acceptconn(listener.as_fd())),
    };
    match listens.map_err(failed)? {
        Ok(true) => Ok(socket),
        Ok(false) => Err(InheritError::NoListener { number, error: None }),
        Err(error) => Err(failed(error.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Revision;

    fn tcp() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let address = listener.local_addr().expect("address");
        (listener, address)
    }

    fn config() -> Config {
        Config::of_revision(Revision::Two, PathBuf::new())
    }

    #[test]
    fn a_socket_goes_by_its_name_then_by_its_port() {
        let ((named, _), (by_port, at)) = (tcp(), tcp());
        let mut config = config();
        config.http.listen = vec![SocketAddr::from(([0, 0, 0, 0], at.port()))];
        let sockets = vec![("smtp".into(), Handed::Tcp(named)), ("tempmail.socket".into(), Handed::Tcp(by_port))];
        let assigned = Inherited(sockets).assign(&config).expect("a use for each");
        assert_eq!((assigned.smtp.len(), assigned.http.len(), assigned.lmtp.len()), (1, 1, 0));
    }

    #[test]
    fn a_socket_without_a_use_is_refused_with_its_address() {
        let (listener, at) = tcp();
        let sockets = vec![("tempmail.socket".into(), Handed::Tcp(listener))];
        let error = Inherited(sockets).assign(&config()).expect_err("no use").to_string();
        assert!(error.contains(&at.to_string()) && error.contains("FileDescriptorName="), "{error}");
        for service in ["smtps", "https"] {
            let sockets = vec![(service.into(), Handed::Tcp(tcp().0))];
            let error = Inherited(sockets).assign(&config()).expect_err("no certificate").to_string();
            assert!(error.contains("tls-cert") && error.contains(service), "{error}");
        }
        let dir = tempfile::tempdir().expect("directory");
        let unix = UnixListener::bind(dir.path().join("s")).expect("bind");
        let error = Inherited(vec![("smtp".into(), Handed::Unix(unix))]).assign(&config()).expect_err("Unix");
        assert!(matches!(error, InheritError::NotOverUnix { name: "smtp" }), "{error}");
    }

    #[test]
    fn what_was_handed_to_another_process_is_not_ours() {
        for (process, count) in [("1", "1"), ("", "1"), ("7x", "1"), ("1", "65"), ("77", "none")] {
            let env = [("LISTEN_PID", process), ("LISTEN_FDS", count)];
            let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
            assert!(Inherited::take(&env, 7).expect("nothing").0.is_empty());
        }
        let env = [("LISTEN_PID", "7"), ("LISTEN_FDS", "65")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert!(matches!(Inherited::take(&env.into(), 7), Err(InheritError::Count(_))));
    }
}
