//! The hosts that requests may name.
//!
//! In DNS rebinding, the name of a hostile site resolves to 127.0.0.1. Pages of that site could then read from
//! services on loopback. So while HTTP listens only on loopback, it answers only for loopback names and addresses.
//! Hosts that the administrator lists are the only others, wherever HTTP listens.

use std::net::{Ipv4Addr, Ipv6Addr};

use axum::http::{Request, Version, header};

use super::problem::{Code, Problem};

/// The hosts that the service answers for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AllowedHosts {
    /// All hosts are permitted.
    Any,
    /// Loopback hosts and these others are permitted, on any port. Addresses have no brackets.
    Loopback(Vec<String>),
}

impl AllowedHosts {
    /// The rule for these listed hosts. `is_local`: HTTP listens only on loopback.
    pub(super) fn new(listed: &[String], is_local: bool) -> Self {
        if listed.is_empty() && !is_local { Self::Any } else { Self::Loopback(listed.to_vec()) }
    }

    /// Refuses a request for a host that is not permitted. The host of the target takes precedence over the field Host
    /// (RFC 9112 section 3.2.2).
    pub(super) fn check<B>(&self, request: &Request<B>) -> Result<(), Problem> {
        let Self::Loopback(others) = self else { return Ok(()) };
        let Some(authority) = authority(request)? else { return Ok(()) };
        let Some(host) = host_of(authority) else {
            return Err(Problem::new(Code::HostInvalid, "the Host of the request is no host"));
        };
        if is_loopback(host) || others.iter().any(|other| is_same(other, host)) {
            return Ok(());
        }
        Err(Problem::new(
            Code::HostNotAllowed,
            "this service does not answer for this Host; add it to the setting http-allowed-hosts",
        ))
    }
}

/// The `host[:port]` of a request; `None` for a request of HTTP/1.0 without one.
pub(super) fn authority<B>(request: &Request<B>) -> Result<Option<&str>, Problem> {
    if let Some(authority) = request.uri().authority() {
        return Ok(Some(authority.as_str()));
    }
    let invalid = |detail: &'static str| Problem::new(Code::HostInvalid, detail);
    let mut values = request.headers().get_all(header::HOST).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().map(Some).map_err(|_| invalid("the Host of the request is no host")),
        (Some(_), Some(_)) => Err(invalid("the request has more than one Host")),
        (None, _) if request.version() < Version::HTTP_11 => Ok(None),
        (None, _) => Err(invalid("the request has no Host")),
    }
}

/// The host in `host[:port]`; `None` for any other text. An IPv6 address keeps its brackets.
pub(super) fn host_of(authority: &str) -> Option<&str> {
    let end = match authority.strip_prefix('[') {
        Some(rest) => rest.find(']')? + 2,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at(end);
    let is_port =
        port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()));
    let is_host = !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._[]:".contains(&b));
    (is_host && is_port).then_some(host)
}

/// Whether the host of a request equals the host of a setting.
fn is_same(setting: &str, host: &str) -> bool {
    match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(address) => address.parse().is_ok_and(|address: Ipv6Addr| setting.parse() == Ok(address)),
        None => setting.eq_ignore_ascii_case(host.strip_suffix('.').unwrap_or(host)),
    }
}

/// Whether a host is a loopback name or address (RFC 6761 section 6.3, RFC 1122, RFC 4291).
pub(super) fn is_loopback(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    if let Some(address) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        return address.parse::<Ipv6Addr>().is_ok_and(|address| address.to_canonical().is_loopback());
    }
    let name = host.strip_suffix('.').unwrap_or(&host);
    name == "localhost"
        || name.ends_with(".localhost")
        || name.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_distinguished_from_what_looks_like_it() {
        for host in [
            "localhost",
            "LOCALHOST",
            "localhost.",
            "a.localhost",
            "127.0.0.1",
            "127.8.9.1",
            "[::1]",
            "[::ffff:127.0.0.1]",
        ] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "",
            "example.test",
            "localhost.example.test",
            "notlocalhost",
            "127.0.0.1.example.test",
            "128.0.0.1",
            "0.0.0.0",
            "[::2]",
            "[::]",
            "::1",
            "2130706433",
            "0x7f.1",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn the_host_is_what_precedes_the_port() {
        for (authority, host) in [
            ("localhost:8080", Some("localhost")),
            ("localhost", Some("localhost")),
            ("[::1]:80", Some("[::1]")),
            ("[::1]", Some("[::1]")),
            ("localhost:", Some("localhost")),
            ("localhost:80@evil.test", None),
            ("user@localhost", None),
            ("localhost:x", None),
            ("[::1", None),
            ("[::1]x", None),
            ("", None),
            (":80", None),
            ("a b", None),
        ] {
            assert_eq!(host_of(authority), host, "{authority}");
        }
    }

    #[test]
    fn every_spelling_of_the_host_is_checked() {
        let hosts = AllowedHosts::Loopback(vec!["mail.example.test".into(), "192.0.2.1".into(), "2001:db8::1".into()]);
        let code = |target: &str, host: Option<&str>, version| {
            let mut request = Request::builder().uri(target).version(version);
            if let Some(host) = host {
                request = request.header("host", host);
            }
            hosts.check(&request.body(()).expect("request")).err().map(|problem| problem.code())
        };
        let http11 = Version::HTTP_11;
        assert_eq!(code("/", Some("127.0.0.1:8080"), http11), None);
        assert_eq!(code("/", Some("Mail.Example.test:99"), http11), None);
        assert_eq!(code("/", Some("mail.example.test."), http11), None);
        assert_eq!(code("/", Some("192.0.2.1:8080"), http11), None);
        assert_eq!(code("/", Some("[2001:db8::1]:8080"), http11), None);
        assert_eq!(code("/", Some("[2001:DB8:0::1]"), http11), None);
        assert_eq!(code("/", Some("[2001:db8::2]"), http11), Some(Code::HostNotAllowed));
        assert_eq!(code("/", Some("box.mail.example.test"), http11), Some(Code::HostNotAllowed));
        assert_eq!(code("/", Some("evil.test"), http11), Some(Code::HostNotAllowed));
        assert_eq!(code("http://evil.test/", Some("localhost"), http11), Some(Code::HostNotAllowed));
        assert_eq!(code("http://localhost/", Some("localhost"), http11), None);
        assert_eq!(code("/", Some("a b"), http11), Some(Code::HostInvalid));
        assert_eq!(code("/", None, http11), Some(Code::HostInvalid));
        assert_eq!(code("/", None, Version::HTTP_10), None);
        let twice = Request::builder().uri("/").header("host", "localhost").header("host", "evil.test");
        assert!(hosts.check(&twice.body(()).expect("request")).is_err());
    }
}
