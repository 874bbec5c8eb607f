//! What may be called: no address that is not public, none of this machine's, no port of mail.
//!
//! The answer for a name is given when its addresses are dialled, never before: a name that led to a public address at
//! registration may lead elsewhere a second later.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use ipnet::IpNet;
use nix::ifaddrs::{InterfaceAddress, getifaddrs};
use url::Host;

pub mod ranges;

use super::target::{Target, UrlError, is_localhost};

/// Ports of mail submission and transfer, refused everywhere: a POST to them could be taken for a session.
const PORTS_OF_MAIL: [u16; 3] = [25, 465, 587];

/// What the guard goes by.
#[derive(Clone, Debug, Default)]
pub struct GuardSettings {
    /// Networks that may be called although they are not public.
    pub allow: Vec<IpNet>,
    /// Where this daemon listens, with real ports; an unspecified address stands for every address of this machine. Public
    /// addresses that a router forwards to us belong here too.
    pub own: Vec<SocketAddr>,
    /// Ports that are refused beside 25, 465 and 587.
    pub refused_ports: Vec<u16>,
}

/// Decides what may be called.
#[derive(Clone, Debug)]
pub struct Guard {
    settings: GuardSettings,
    is_local: fn(IpAddr) -> bool,
}

/// Why something may not be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// An address that is not public and in no allowed network.
    #[error("{0} is not a public address")]
    NotPublic(IpAddr),
    /// A listener of this daemon.
    #[error("{0} is this service itself")]
    Own(SocketAddr),
    /// An address of this machine, in no allowed network.
    #[error("{0} is an address of this machine")]
    OfMachine(IpAddr),
    /// A port that is never called.
    #[error("port {0} is not accepted")]
    Port(u16),
}

impl Guard {
    /// A guard with these settings.
    pub fn new(settings: GuardSettings) -> Self {
        Self { settings, is_local }
    }

    /// What registration asks: the URL is well-formed, and its port and its literal address may be called. Names are not
    /// resolved; `localhost` and what is below it are loopback addresses.
    pub fn check_url(&self, text: &str) -> Result<Target, UrlError> {
        let target = Target::parse(text)?;
        self.check_target(&target)?;
        Ok(target)
    }

    /// The same for a URL that has been read.
    fn check_target(&self, target: &Target) -> Result<(), Refused> {
        let port = target.port();
        self.check_port(port)?;
        match target.host() {
            Some(Host::Ipv4(v4)) => self.check_dialled(SocketAddr::from((v4, port))),
            Some(Host::Ipv6(v6)) => self.check_dialled(SocketAddr::from((v6, port))),
            Some(Host::Domain(name)) if is_localhost(name) => {
                let [v4, v6] = loopbacks().map(|address| self.check_dialled(SocketAddr::from((address, port))));
                if v6.is_ok() { v6 } else { v4 }
            }
            Some(Host::Domain(_)) | None => Ok(()),
        }
    }

    /// Whether a connection to `address` may be opened.
    pub fn check_dialled(&self, address: SocketAddr) -> Result<(), Refused> {
        self.check_port(address.port())?;
        let check_own = || if self.is_own(address) { Err(Refused::Own(address)) } else { Ok(()) };
        // No setting opens what is ours, so that is said first. Not of other addresses: strangers would learn which of a
        // private network this machine has.
        let dialled = ranges::canonical(address.ip());
        if dialled.is_loopback() || dialled.is_unspecified() {
            check_own()?;
        }
        self.check_address(address.ip())?;
        check_own()?;
        self.check_machine(address.ip())
    }

    /// Whether `address` may be called, be it ours or not.
    fn check_address(&self, address: IpAddr) -> Result<(), Refused> {
        let is_permitted = |one: IpAddr| ranges::is_public(one) || self.is_allowed(one);
        if reached(address).into_iter().flatten().all(is_permitted) { Ok(()) } else { Err(Refused::NotPublic(address)) }
    }

    /// What a firewall closes to others is open from here, so an address of this machine must be allowed by name.
    fn check_machine(&self, address: IpAddr) -> Result<(), Refused> {
        let is_refused = |one: IpAddr| !self.is_allowed(one) && (self.is_local)(one);
        if reached(address).into_iter().flatten().any(is_refused) { Err(Refused::OfMachine(address)) } else { Ok(()) }
    }

    fn check_port(&self, port: u16) -> Result<(), Refused> {
        let is_refused = port == 0 || PORTS_OF_MAIL.contains(&port) || self.settings.refused_ports.contains(&port);
        if is_refused { Err(Refused::Port(port)) } else { Ok(()) }
    }

    fn is_allowed(&self, address: IpAddr) -> bool {
        self.settings.allow.iter().any(|network| network.contains(&address))
    }

    fn is_own(&self, address: SocketAddr) -> bool {
        let ours = self.settings.own.iter().filter(|own| own.port() == address.port());
        let ours: Vec<IpAddr> = ours.map(|own| ranges::canonical(own.ip())).collect();
        let is_anywhere = ours.iter().any(IpAddr::is_unspecified);
        // What is sent to an unspecified address arrives at the machine itself.
        let is_ours = |one: IpAddr| {
            ours.contains(&one) || (!ours.is_empty() && one.is_unspecified()) || (is_anywhere && (self.is_local)(one))
        };
        reached(address.ip()).into_iter().flatten().any(is_ours)
    }
}

/// `localhost`, as its two addresses.
pub(super) fn loopbacks() -> [IpAddr; 2] {
    [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]
}

/// The address that is dialled, and the one within it that a translator may take it to.
fn reached(address: IpAddr) -> [Option<IpAddr>; 2] {
    let dialled = ranges::canonical(address);
    let carried = match dialled {
        IpAddr::V4(_) => None,
        IpAddr::V6(v6) => ranges::carried(v6).map(IpAddr::V4),
    };
    [Some(dialled), carried]
}

/// Whether `address` is one that an interface of this machine has now. Nothing is remembered: addresses come and go. If the
/// system doesn't say, every address counts as one.
fn is_local(address: IpAddr) -> bool {
    let Ok(interfaces) = getifaddrs() else { return true };
    let of_interface = |it: InterfaceAddress| {
        let storage = it.address?;
        let v4 = storage.as_sockaddr_in().map(|v4| IpAddr::V4(v4.ip()));
        v4.or_else(|| storage.as_sockaddr_in6().map(|v6| IpAddr::V6(v6.ip())))
    };
    address.is_loopback() || interfaces.filter_map(of_interface).any(|own| own == address)
}

#[cfg(test)]
mod tests;
