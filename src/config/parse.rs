//! Texts to the values of settings: what clap calls for each of them.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use ipnet::{IpNet, Ipv4Net};
use url::Url;

use super::value::{self, ValueError};
use super::{Certificate, CompatApi, Endpoint, PublicConfig};
use crate::model::{Address, DomainName, DomainPattern, FAULTS_MAX, FaultRule, RoleAddresses, Subaddressing};

/// What precedes each value of a list in the one text that it becomes: no value has it, and commas stay what they are.
const VALUE_MARK: char = '\u{1f}';
/// The port of DNS (RFC 1035 section 4.2).
const DNS_PORT: u16 = 53;
/// The most waits of a schedule.
const WAITS_MAX: usize = 20;

/// Several values as one text.
pub(super) fn joined(values: &[String]) -> String {
    values.iter().flat_map(|value| [VALUE_MARK.to_string(), value.clone()]).collect()
}

/// The values of [`joined`]; `none` alone is no value.
fn values(text: &str) -> impl Iterator<Item = &str> {
    text.split(VALUE_MARK).skip(1).filter(move |_| text != "\u{1f}none")
}

/// The parts of a list with commas. Blanks around a part and empty parts are dropped.
pub(super) fn at_commas(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// Any number of values, each kept once.
pub(super) fn list<T: PartialEq>(
    item: impl Fn(&str) -> Result<T, ValueError> + Clone,
) -> impl Fn(&str) -> Result<Vec<T>, ValueError> + Clone {
    move |text| {
        let mut all = Vec::new();
        for value in values(text) {
            let parsed = item(value)?;
            if !all.contains(&parsed) {
                all.push(parsed);
            }
        }
        Ok(all)
    }
}

/// A whole number within `range`.
pub(super) fn number<T>(range: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, ValueError> + Clone
where
    T: std::str::FromStr + PartialOrd + std::fmt::Display + Clone,
{
    move |text| value::number(text, range.clone())
}

/// A size in octets within `range`.
pub(super) fn size(range: RangeInclusive<u64>) -> impl Fn(&str) -> Result<u64, ValueError> + Clone {
    move |text| value::size(text, range.clone())
}

/// A duration within `range`.
pub(super) fn duration(range: RangeInclusive<Duration>) -> impl Fn(&str) -> Result<Duration, ValueError> + Clone {
    move |text| value::duration(text, range.clone())
}

/// A constant: a number from 1 on.
pub(super) fn count<T: TryFrom<u64>>(text: &str) -> Result<T, ValueError> {
    let number = value::number(text, 1..=u64::from(u32::MAX))?;
    T::try_from(number).map_err(|_| ValueError::malformed(text, "a number of 32 bits"))
}

/// A constant: a size of at least 1 KB.
pub(super) fn octets(text: &str) -> Result<u64, ValueError> {
    value::size(text, 1 << 10..=1 << 40)
}

/// A constant: a time.
pub(super) fn time(text: &str) -> Result<Duration, ValueError> {
    value::duration(text, Duration::ZERO..=Duration::from_hours(365 * 24))
}

/// `true` or `false`.
pub(super) fn switch(text: &str) -> Result<bool, ValueError> {
    text.parse().map_err(|_| ValueError::malformed(text, "true or false"))
}

pub(super) fn subaddressing(text: &str) -> Result<Subaddressing, ValueError> {
    match text {
        "keep" => Ok(Subaddressing::Keep),
        "strip" => Ok(Subaddressing::Strip),
        _ => Err(ValueError::malformed(text, "keep or strip")),
    }
}

pub(super) fn compat_api(text: &str) -> Result<CompatApi, ValueError> {
    let accepted = "off or mailpit";
    if text == "mailhog" {
        let gone = "there is no interface of MailHog any more, and Mailpit's lists, searches and deletes the same mail";
        return Err(ValueError::invalid(text, &gone, accepted));
    }
    CompatApi::from_str(text, false).map_err(|_| ValueError::malformed(text, accepted))
}

/// What callers without a token may do.
pub(super) fn public(text: &str) -> Result<PublicConfig, ValueError> {
    let mut public = PublicConfig { read: false, delete: false, webhooks: false, domains: false, web: false };
    for value in values(text) {
        let part = match value {
            "read" => &mut public.read,
            "delete" => &mut public.delete,
            "webhooks" => &mut public.webhooks,
            "domains" => &mut public.domains,
            "web" => &mut public.web,
            _ => return Err(ValueError::malformed(value, "read, delete, webhooks, domains or web")),
        };
        *part = true;
    }
    Ok(public)
}

pub(super) fn faults(text: &str) -> Result<Vec<FaultRule>, ValueError> {
    let rules = list(super::fault_rule::fault_rule)(text)?;
    match rules.get(FAULTS_MAX) {
        None => Ok(rules),
        Some(rule) => {
            let reason = format!("there are {} rules", rules.len());
            Err(ValueError::invalid(&rule.text, &reason, "at most 100 rules"))
        }
    }
}

/// At least one address to listen on. Port 0 may be there more than once.
pub(super) fn listen_addresses(text: &str) -> Result<Vec<SocketAddr>, ValueError> {
    if values(text).next().is_none() {
        return Err(ValueError::missing("an IP address with a port, such as 127.0.0.1:2525"));
    }
    values(text).map(listen_address).collect()
}

pub(super) fn listen_address(text: &str) -> Result<SocketAddr, ValueError> {
    text.parse().map_err(|_| {
        ValueError::malformed(text, "an IP address with a port, such as 127.0.0.1:2525, 0.0.0.0:25 or [::1]:2525")
    })
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

/// The mode of a file, in octal.
pub(super) fn file_mode(text: &str) -> Result<u32, ValueError> {
    let mode = u32::from_str_radix(text, 8).ok().filter(|mode| *mode <= 0o777 && !text.starts_with('+'));
    mode.ok_or_else(|| ValueError::malformed(text, "a mode in octal, such as 660"))
}

/// The path of a file or directory.
pub(super) fn path(text: &str) -> Result<PathBuf, ValueError> {
    if text.is_empty() || text.starts_with('~') || text.contains('\0') {
        return Err(ValueError::malformed(text, "a path ('~' is expanded by shells alone)"));
    }
    Ok(text.into())
}

/// The path of a file, or `none`.
pub(super) fn optional_file(text: &str) -> Result<Option<PathBuf>, ValueError> {
    if text == "none" { Ok(None) } else { path(text).map(Some) }
}

/// The path of a certificate, `self-signed` or `none`.
pub(super) fn certificate(text: &str) -> Result<Certificate, ValueError> {
    match text {
        "none" => Ok(Certificate::None),
        "self-signed" => Ok(Certificate::SelfSigned),
        _ => path(text).map(Certificate::File),
    }
}

pub(super) fn domain_name(text: &str) -> Result<DomainName, ValueError> {
    text.parse().map_err(|reason| ValueError::invalid(text, &reason, "a domain name such as mail.example.com"))
}

pub(super) fn domain_pattern(text: &str) -> Result<DomainPattern, ValueError> {
    text.parse().map_err(|reason| ValueError::invalid(text, &reason, "a domain name, '*.' and a domain name, or '*'"))
}

/// The domains of senders to refuse: not all of them at once.
pub(super) fn refused_sender(text: &str) -> Result<DomainPattern, ValueError> {
    let accepted = "a domain name, or '*.' and a domain name";
    match text.parse() {
        Ok(DomainPattern::Any) => Err(ValueError::malformed(text, accepted)),
        Ok(pattern) => Ok(pattern),
        Err(reason) => Err(ValueError::invalid(text, &reason, accepted)),
    }
}

/// `IP`, `IP:PORT`, `[IPv6]` or `[IPv6]:PORT`.
pub(super) fn resolver(text: &str) -> Result<SocketAddr, ValueError> {
    let malformed = || {
        ValueError::malformed(text, "the address of a DNS server, such as 9.9.9.9, 127.0.0.1:5353, ::1 or [::1]:5353")
    };
    let address = ip(text)
        .map(|ip| SocketAddr::new(ip, DNS_PORT))
        .or_else(|| text.parse().ok())
        .filter(|address| address.port() != 0 && !address.ip().is_unspecified());
    address.ok_or_else(malformed)
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
    if text.is_empty() { Ok(None) } else { list(origin)(text).map(Some) }
}

/// An origin as browsers send it (RFC 6454 section 6.2).
fn origin(text: &str) -> Result<String, ValueError> {
    if text == "*" {
        return Ok(text.to_owned());
    }
    let malformed = || ValueError::malformed(text, "an origin such as https://app.example or http://localhost:3000");
    let url = Url::parse(text).map_err(|_| malformed())?;
    let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
    if !is_bare || !matches!(url.scheme(), "http" | "https") || text.ends_with('/') {
        return Err(malformed());
    }
    Ok(url.origin().ascii_serialization())
}

/// How many bits of an IPv4-mapped IPv6 address come before the IPv4 address (RFC 4291 section 2.5.5.2).
const MAPPED_PREFIX_BITS: u8 = 96;

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

/// The waits between the attempts of an event, in their order.
pub(super) fn schedule(text: &str) -> Result<Vec<Duration>, ValueError> {
    let accepted = "a list of 1 to 20 durations, such as 5s,30s,2m";
    match values(text).count() {
        0 => Err(ValueError::missing(accepted)),
        1..=WAITS_MAX => values(text).map(duration(Duration::from_millis(10)..=Duration::from_hours(24))).collect(),
        _ => Err(ValueError::malformed(&values(text).collect::<Vec<_>>().join(","), accepted)),
    }
}

/// The list of role addresses.
pub(super) fn roles(text: &str) -> Result<RoleAddresses, ValueError> {
    for value in values(text) {
        if format!("{value}@localhost").parse::<Address>().is_err() || value.starts_with('"') {
            return Err(ValueError::malformed(value, "a local part without quotes, such as postmaster"));
        }
    }
    Ok(RoleAddresses::new(values(text)))
}

fn ip(text: &str) -> Option<IpAddr> {
    let bracketed = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match bracketed {
        Some(inner) => inner.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        None => text.parse().ok(),
    }
}

pub(super) fn rate_limit(text: &str) -> Result<Option<u32>, ValueError> {
    match text {
        "off" => Ok(None),
        _ if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) => {
            Err(ValueError::malformed(text, "a number of requests per minute, or off"))
        }
        _ => value::number(text, 1..=10_000_000).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(listen_address("0.0.0.0:25").is_ok());
        for bad in ["", "25", ":25", "localhost:25", "127.0.0.1", "::1:25", "127.0.0.1:70000"] {
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
    fn role_addresses_are_local_parts() {
        assert_eq!(roles(&text(&["none"])), Ok(RoleAddresses::new([])));
        assert_eq!(roles(&text(&[])), Ok(RoleAddresses::new([])));
        assert_eq!(roles(&text(&["Admin", "root"])), Ok(RoleAddresses::new(["admin", "root"])));
        for bad in ["", "a b", "admin@example.com", "\"a\""] {
            assert!(roles(&text(&[bad])).is_err(), "{bad}");
        }
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
    fn policies_are_read_as_they_are_shown() {
        for text in ["spam.example", "*.spam.example"] {
            assert_eq!(refused_sender(text).map(|pattern| pattern.to_string()).as_deref(), Ok(text));
        }
        for bad in ["", "*", "*.", "a@spam.example", "spam*.example", "192.0.2.1"] {
            assert!(refused_sender(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_schedule_has_1_to_20_waits_within_bounds() {
        let seconds = |values: &[u64]| Ok(values.iter().copied().map(Duration::from_secs).collect::<Vec<_>>());
        assert_eq!(schedule(&text(&["5s", "5s", "1s"])), seconds(&[5, 5, 1]));
        assert_eq!(schedule(&text(&["1d"; 20])), seconds(&[86_400; 20]));
        assert!(schedule(&text(&["1s"; 21])).is_err());
        for bad in [&[][..], &["9ms"], &["1s", "1d1ms"], &["5"], &["1s", ""]] {
            assert!(schedule(&text(bad)).is_err(), "{bad:?}");
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
