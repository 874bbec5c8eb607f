//! Decides what webhooks may call: public addresses only, none of this machine's, and no mail ports.
//!
//! A name is not checked at registration, because it can lead to another address a second later. Its addresses are checked
//! each time when they are dialled.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use ipnet::IpNet;
use url::Host;

pub mod ranges;

use super::refused::Refused;
use super::target::{Target, UrlError, is_localhost};

/// Ports of mail submission and transfer, refused everywhere: a mail server could take a POST for a session.
const MAIL_PORTS: [u16; 3] = [25, 465, 587];

/// The settings of a guard.
#[derive(Clone, Debug, Default)]
pub struct GuardSettings {
    /// Networks that may be called although they are not public.
    pub allow: Vec<IpNet>,
    /// The listeners of this daemon, with their real ports. An unspecified address stands for every address of this machine.
    /// Public addresses that a router forwards to this daemon belong here too.
    pub own: Vec<SocketAddr>,
}

/// Decides what webhooks may call.
#[derive(Clone, Debug)]
pub struct Guard {
    settings: GuardSettings,
    is_local: fn(IpAddr) -> bool,
}

impl Guard {
    /// A guard with these settings.
    pub fn new(settings: GuardSettings) -> Self {
        Self { settings, is_local }
    }

    /// Checks a URL at registration: it must be valid, and its port and literal address must be permitted. Names are not
    /// resolved, except that `localhost` and names below it count as loopback addresses.
    pub fn check_url(&self, text: &str) -> Result<Target, UrlError> {
        let target = Target::parse(text)?;
        self.check_target(&target)?;
        Ok(target)
    }

    /// Checks the port and the literal address of a parsed URL.
    fn check_target(&self, target: &Target) -> Result<(), Refused> {
        let port = target.port();
        Self::check_port(port)?;
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

    /// Checks whether a connection to `address` may be opened.
    pub fn check_dialled(&self, address: SocketAddr) -> Result<(), Refused> {
        Self::check_port(address.port())?;
        let check_own = || if self.is_own(address) { Err(Refused::Own(address)) } else { Ok(()) };
        // No setting opens our own listeners, so `Own` is the most useful error. It comes first for loopback addresses only:
        // for others it would tell strangers which private addresses this machine has.
        let dialled = ranges::canonical(address.ip());
        if dialled.is_loopback() || dialled.is_unspecified() {
            check_own()?;
        }
        self.check_address(address.ip())?;
        check_own()?;
        self.check_machine(address.ip())
    }

    /// Checks whether `address` is public or in an allowed network.
    fn check_address(&self, address: IpAddr) -> Result<(), Refused> {
        let is_permitted = |one: IpAddr| ranges::is_public(one) || self.is_allowed(one);
        if reached(address).into_iter().flatten().all(is_permitted) { Ok(()) } else { Err(Refused::NotPublic(address)) }
    }

    /// Checks whether `address` belongs to this machine. A firewall does not protect the machine from itself, so even its
    /// public addresses must be in an allowed network.
    fn check_machine(&self, address: IpAddr) -> Result<(), Refused> {
        let is_refused = |one: IpAddr| !self.is_allowed(one) && (self.is_local)(one);
        if reached(address).into_iter().flatten().any(is_refused) { Err(Refused::OfMachine(address)) } else { Ok(()) }
    }

    fn check_port(port: u16) -> Result<(), Refused> {
        if port == 0 || MAIL_PORTS.contains(&port) { Err(Refused::Port(port)) } else { Ok(()) }
    }

    /// Whether `address` is within a network that is allowed although it is not public.
    pub(super) fn is_allowed(&self, address: IpAddr) -> bool {
        let address = ranges::canonical(address);
        self.settings.allow.iter().any(|network| network.contains(&address))
    }

    fn is_own(&self, address: SocketAddr) -> bool {
        let ours = self.settings.own.iter().filter(|own| own.port() == address.port());
        let ours: Vec<IpAddr> = ours.map(|own| ranges::canonical(own.ip())).collect();
        let is_anywhere = ours.iter().any(IpAddr::is_unspecified);
        // A connection to an unspecified address reaches the machine itself.
        let is_ours = |one: IpAddr| {
            ours.contains(&one) || (!ours.is_empty() && one.is_unspecified()) || (is_anywhere && (self.is_local)(one))
        };
        reached(address.ip()).into_iter().flatten().any(is_ours)
    }
}

/// The two addresses of `localhost`.
pub(super) fn loopbacks() -> [IpAddr; 2] {
    [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]
}

/// The address that is dialled, and the IPv4 address within it to which a translator may lead.
fn reached(address: IpAddr) -> [Option<IpAddr>; 2] {
    let dialled = ranges::canonical(address);
    let carried = match dialled {
        IpAddr::V4(_) => None,
        IpAddr::V6(v6) => ranges::carried(v6).map(IpAddr::V4),
    };
    [Some(dialled), carried]
}

/// Whether `address` is one of this machine now: only its own can be bound. Nothing is cached, because addresses come and go.
/// Any error but that one leaves it open, and then the address counts as local.
fn is_local(address: IpAddr) -> bool {
    !UdpSocket::bind((address, 0)).is_err_and(|error| error.kind() == ErrorKind::AddrNotAvailable)
}

#[cfg(test)]
mod tests;
