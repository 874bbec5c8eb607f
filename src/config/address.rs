//! Texts to addresses: of listeners, networks, hosts and origins.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use ipnet::{IpNet, Ipv4Net};
use url::Url;

use super::Endpoint;
use super::list::{list_or_none, values};
use crate::model::DomainName;
use crate::value::ValueError;

/// The port of DNS (RFC 1035 section 4.2).
const DNS_PORT: u16 = 53;
/// How many bits of an IPv4-mapped IPv6 address come before the IPv4 address (RFC 4291 section 2.5.5.2).
const MAPPED_PREFIX_BITS: u8 = 96;

/// At least one address to listen on. Port 0 may be there more than once.
pub(super) fn listen_addresses(text: &str) -> Result<Vec<SocketAddr>, ValueError> {
    if values(text).next().is_none() {
        return Err(ValueError::missing("an IP address with a port, such as 127.0.0.1:2525"));
    }
    any_listen_addresses(text)
}

/// Any number of addresses to listen on, each kept once.
pub(super) fn any_listen_addresses(text: &str) -> Result<Vec<SocketAddr>, ValueError> {
    let mut all = values(text).map(listen_address).collect::<Result<Vec<_>, _>>()?.concat();
    let mut seen = HashSet::new();
    all.retain(|address| address.port() == 0 || seen.insert(*address));
    Ok(all)
}

/// `IP:PORT`, or `:PORT` for this port of every address.
fn listen_address(text: &str) -> Result<Vec<SocketAddr>, ValueError> {
    let malformed = || {
        ValueError::malformed(
            text,
            "an IP address with a port, such as 127.0.0.1:2525, 0.0.0.0:25 or [::1]:2525, or :2525 for every address",
        )
    };
    if let Some(port) = text.strip_prefix(':') {
        let port = port.parse().map_err(|_| malformed())?;
        return Ok(vec![(Ipv4Addr::UNSPECIFIED, port).into(), (Ipv6Addr::UNSPECIFIED, port).into()]);
    }
    text.parse().map(|address| vec![address]).map_err(|_| malformed())
}

/// Addresses of HTTP. The path of a Unix socket is answered with what replaces it, until the next release.
pub(super) fn http_listen_addresses(text: &str) -> Result<Vec<SocketAddr>, ValueError> {
    if let Some(path) = values(text).find(|value| value.starts_with('/')) {
        let instead = "HTTP has no Unix socket any more, and a reverse proxy reaches it on loopback";
        return Err(ValueError::invalid(path, &instead, "an IP address with a port, such as 127.0.0.1:8080"));
    }
    listen_addresses(text)
}

/// `IP:PORT`, or the path of a Unix socket from the root on.
pub(super) fn endpoint(text: &str) -> Result<Endpoint, ValueError> {
    let accepted =
        "an IP address with a port, such as 127.0.0.1:24, or the path of a socket, such as /run/tempmail/socket";
    if text.starts_with('/') && !text.ends_with('/') && !text.contains('\0') {
        return Ok(Endpoint::Unix(text.into()));
    }
    text.parse().map(Endpoint::Tcp).map_err(|_| ValueError::malformed(text, accepted))
}

/// `IP`, `IP:PORT`, `[IPv6]` or `[IPv6]:PORT`.
pub(super) fn resolver(text: &str) -> Result<SocketAddr, ValueError> {
    let accepted = "the address of a DNS server, such as 9.9.9.9, 127.0.0.1:5353, ::1 or [::1]:5353";
    let address = ip(text).map(|ip| SocketAddr::new(ip, DNS_PORT)).or_else(|| text.parse().ok());
    let usable = address.filter(|address| address.port() != 0 && !address.ip().is_unspecified());
    usable.ok_or_else(|| ValueError::malformed(text, accepted))
}

pub(super) fn public_address(text: &str) -> Result<IpAddr, ValueError> {
    ip(text)
        .filter(|ip| !ip.is_unspecified() && !ip.is_multicast())
        .ok_or_else(|| ValueError::malformed(text, "an IP address of this service, such as 192.0.2.1 or 2001:db8::1"))
}

/// A host in the form in which it is compared: a canonical domain name, or an IP address without brackets.
pub(super) fn allowed_host(text: &str) -> Result<String, ValueError> {
    if let Some(ip) = ip(text) {
        return Ok(ip.to_string());
    }
    let accepted = "a host name or IP address without a port, such as mail.example.com";
    text.parse::<DomainName>().map(String::from).map_err(|reason| ValueError::invalid(text, &reason, accepted))
}

/// `None` for no value, so that the rule by listening address holds; an empty list for `none`; `*` stays as it is.
pub(super) fn origins(text: &str) -> Result<Option<Vec<String>>, ValueError> {
    if text.is_empty() { Ok(None) } else { list_or_none(origin)(text).map(Some) }
}

/// An origin as browsers send it (RFC 6454 section 6.2).
fn origin(text: &str) -> Result<String, ValueError> {
    if text == "*" {
        return Ok(text.to_owned());
    }
    let accepted = "an origin such as https://app.example or http://localhost:3000";
    let is_of_web = |url: &Url| matches!(url.scheme(), "http" | "https") && url.username().is_empty();
    let is_bare = |url: &Url| url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    let url = Url::parse(text).ok().filter(|url| is_of_web(url) && is_bare(url) && !text.ends_with('/'));
    url.map(|url| url.origin().ascii_serialization()).ok_or_else(|| ValueError::malformed(text, accepted))
}

/// A network, its host bits cleared; an address alone is a network of one. One of IPv4-mapped addresses is the IPv4
/// network, since that is what its clients are compared as.
pub(super) fn network(text: &str) -> Result<IpNet, ValueError> {
    let accepted = "a network such as 10.0.0.0/8, fd00::/8 or 127.0.0.1";
    let network = ip(text).map(IpNet::from).or_else(|| text.parse().ok());
    network.map(|network| unmapped(network.trunc())).ok_or_else(|| ValueError::malformed(text, accepted))
}

fn unmapped(network: IpNet) -> IpNet {
    let bits = network.prefix_len().checked_sub(MAPPED_PREFIX_BITS);
    match (network.addr().to_canonical(), bits) {
        (IpAddr::V4(address), Some(bits)) => Ipv4Net::new(address, bits).map_or(network, IpNet::V4),
        _ => network,
    }
}

fn ip(text: &str) -> Option<IpAddr> {
    let bracketed = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match bracketed {
        Some(inner) => inner.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::list::joined;

    fn owned(values: &[&str]) -> Vec<String> {
        values.iter().map(|&value| value.to_owned()).collect()
    }

    fn text(values: &[&str]) -> String {
        joined(&owned(values))
    }

    #[test]
    fn a_resolver_has_port_53_unless_it_names_one() {
        for (text, address) in [
            ("9.9.9.9", "9.9.9.9:53"),
            ("127.0.0.1:5353", "127.0.0.1:5353"),
            ("::1", "[::1]:53"),
            ("[::1]", "[::1]:53"),
            ("[::1]:5353", "[::1]:5353"),
        ] {
            assert_eq!(resolver(text), Ok(address.parse().expect("address")), "{text}");
        }
        for bad in
            ["", "dns.example", "9.9.9.9:", "9.9.9.9:0", "9.9.9.9:65536", "0.0.0.0", "[9.9.9.9]", "::1:53:", "[::1"]
        {
            assert!(resolver(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_listening_address_needs_its_port() {
        for (text, expected) in [("0.0.0.0:25", "0.0.0.0:25"), ("[::1]:0", "[::1]:0"), (":25", "0.0.0.0:25 [::]:25")] {
            let addresses = listen_address(text).expect(text);
            assert_eq!(addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "), expected);
        }
        for bad in ["", "25", ":", ":x", "localhost:25", "127.0.0.1", "::1:25", "127.0.0.1:70000"] {
            assert!(listen_address(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_endpoint_is_an_address_or_a_path_from_the_root() {
        for text in ["127.0.0.1:24", "[::1]:24", "/run/tempmail/lmtp"] {
            assert_eq!(endpoint(text).map(|endpoint| endpoint.to_string()).as_deref(), Ok(text));
        }
        for bad in
            ["", "24", "lmtp.sock", "./lmtp", "run/lmtp", "/", "/run/", "/a\0b", "unix:/run/lmtp", "localhost:24"]
        {
            assert!(endpoint(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_path_of_a_socket_of_http_is_answered_with_what_replaces_it() {
        let listen = |address: &str| http_listen_addresses(&text(&["127.0.0.1:80", address]));
        assert_eq!(listen("[::1]:80").map(|all| all.len()), Ok(2));
        let gone = listen("/run/tempmail/http").expect_err("gone").to_string();
        assert!(gone.starts_with("'/run/tempmail/http': ") && gone.contains("on loopback"), "{gone}");
    }

    #[test]
    fn hosts_have_one_form() {
        for (text, host) in
            [("Mail.Example.COM.", "mail.example.com"), ("[2001:DB8::1]", "2001:db8::1"), ("192.0.2.1", "192.0.2.1")]
        {
            assert_eq!(allowed_host(text).as_deref(), Ok(host));
        }
        for bad in ["", "mail.example.com:80", "http://x", "*", "[x]"] {
            assert!(allowed_host(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn origins_are_as_browsers_send_them() {
        let read = |values: &[&str]| origins(&text(values));
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&["none"]), Ok(Some(vec![])));
        assert_eq!(read(&["*"]), Ok(Some(owned(&["*"]))));
        let given = ["HTTPS://App.Example:443", "http://localhost:3000"];
        assert_eq!(read(&given), Ok(Some(owned(&["https://app.example", "http://localhost:3000"]))));
        for bad in [
            "",
            "app.example",
            "https://app.example/",
            "https://a.example/x",
            "https://u@a.example",
            "null",
            "file:///x",
        ] {
            assert!(read(&[bad]).is_err(), "{bad}");
        }
        assert!(read(&["none", "https://app.example"]).is_err());
    }

    #[test]
    fn a_network_has_no_host_bits() {
        for (text, shown) in [
            ("10.1.2.3/8", "10.0.0.0/8"),
            ("127.0.0.1", "127.0.0.1/32"),
            ("fd00::1/8", "fd00::/8"),
            ("::1", "::1/128"),
            ("[::1]", "::1/128"),
            ("0.0.0.0/0", "0.0.0.0/0"),
            ("::ffff:192.0.2.7", "192.0.2.7/32"),
            ("::ffff:192.0.2.7/120", "192.0.2.0/24"),
            ("::ffff:0:0/96", "0.0.0.0/0"),
            ("::/0", "::/0"),
            ("::/96", "::/96"),
        ] {
            assert_eq!(network(text).map(|network| network.to_string()), Ok(shown.to_owned()), "{text}");
        }
        for bad in ["", "/", "10.0.0.0/33", "10.0.0.0/-1", "10/8", "fd00::/129", "localhost/8", "10.0.0.0/8:80"] {
            assert!(network(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_public_address_can_be_reached() {
        assert!(public_address("192.0.2.1").is_ok());
        assert!(public_address("2001:db8::1").is_ok());
        for bad in ["0.0.0.0", "::", "224.0.0.1", "192.0.2.1:25", "mail.example.com"] {
            assert!(public_address(bad).is_err(), "{bad}");
        }
    }
}
