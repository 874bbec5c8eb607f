//! The client behind reverse proxies: `X-Forwarded-For`.
//!
//! Each proxy appends the address that it was called from. Whatever is left of what a trusted proxy appended may be forged,
//! so the field is read from the right, and only as far as the proxies are trusted.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, HeaderName};
use ipnet::IpNet;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
/// The fields that only proxies write (RFC 9110 section 7.6.3, RFC 7239, and those that came before it).
const OF_PROXIES: [&str; 6] =
    ["x-forwarded-for", "forwarded", "via", "x-real-ip", "x-forwarded-host", "x-forwarded-proto"];

/// The client of a request that `peer` sent, where the proxies in these networks are trusted: the first address from the
/// right that is none of them. If an element names no address or none is left, it is the proxy that was reached last.
pub(super) fn client(proxies: &[IpNet], peer: IpAddr, headers: &HeaderMap) -> IpAddr {
    let mut named = elements(headers).map_while(|text| address(text?));
    let mut nearest = peer.to_canonical();
    while is_trusted(proxies, nearest)
        && let Some(next) = named.next()
    {
        nearest = next;
    }
    nearest
}

/// Whether an address is that of a trusted proxy.
pub(super) fn is_trusted(proxies: &[IpNet], address: IpAddr) -> bool {
    proxies.iter().any(|network| network.contains(&address.to_canonical()))
}

/// Whether a request has a field that proxies write. One that names no client may still have passed it on.
pub(super) fn is_forwarded(headers: &HeaderMap) -> bool {
    OF_PROXIES.iter().any(|name| headers.contains_key(*name))
}

/// The elements of a field from the right; `None` for one that is no text.
///
/// No node has a comma, so each element of a proxy begins at one. Quotes that a client left open before it mean nothing.
fn elements(headers: &HeaderMap) -> impl Iterator<Item = Option<&str>> {
    let values = headers.get_all(X_FORWARDED_FOR).into_iter().rev();
    let elements = values.flat_map(|value| value.as_bytes().rsplit(|octet| *octet == b','));
    elements.map(|element| std::str::from_utf8(element).ok().map(str::trim)).filter(|element| *element != Some(""))
}

/// An IP address, with or without a port; an IPv6 address may have brackets.
fn address(node: &str) -> Option<IpAddr> {
    let bare = node.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(node);
    let address = bare.parse().ok().or_else(|| node.parse::<SocketAddr>().ok().map(|with_port| with_port.ip()));
    address.as_ref().map(IpAddr::to_canonical)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    const CLIENT: &str = "192.0.2.1";

    fn client(fields: &[(&'static str, &str)]) -> String {
        client_of("10.0.0.1", fields)
    }

    fn client_of(peer: &str, fields: &[(&'static str, &str)]) -> String {
        let networks = ["10.0.0.0/24", "fd00::/8"].map(|network| network.parse().expect("a network"));
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, HeaderValue::from_bytes(value.as_bytes()).expect("a value"));
        }
        super::client(&networks, peer.parse().expect("an address"), &headers).to_string()
    }

    #[test]
    fn a_proxy_that_names_no_client_is_noticed() {
        let has = |name: &'static str| {
            is_forwarded(&HeaderMap::from_iter([(HeaderName::from_static(name), HeaderValue::from_static("x"))]))
        };
        assert!(OF_PROXIES.into_iter().all(has));
        assert!(!has("accept") && !is_forwarded(&HeaderMap::new()));
    }

    #[test]
    fn only_what_trusted_proxies_appended_counts() {
        for (field, wanted) in [
            ("192.0.2.1", CLIENT),
            ("6.6.6.6, 192.0.2.1", CLIENT),
            ("6.6.6.6,192.0.2.1 , 10.0.0.2,10.0.0.3", CLIENT),
            ("6.6.6.6, 192.0.2.1:51234", CLIENT),
            ("6.6.6.6, ::ffff:192.0.2.1", CLIENT),
            ("2001:db8::1, fd00::7", "2001:db8::1"),
            ("[2001:db8::1]:443", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
            ("10.0.0.9, 10.0.0.2", "10.0.0.9"),
            ("192.0.2.1, , ", CLIENT),
            // What is no address ends the reading at the proxy that wrote it.
            ("192.0.2.1, unknown", "10.0.0.1"),
            ("192.0.2.1, unknown, 10.0.0.2", "10.0.0.2"),
            ("192.0.2.1, 1.2.3", "10.0.0.1"),
            ("", "10.0.0.1"),
            ("192.0.2.1, ü", "10.0.0.1"),
        ] {
            assert_eq!(client(&[("x-forwarded-for", field)]), wanted, "{field}");
            assert_eq!(client_of("198.51.100.1", &[("x-forwarded-for", field)]), "198.51.100.1", "{field}");
        }
        assert_eq!(client(&[("x-forwarded-for", "6.6.6.6"), ("x-forwarded-for", "192.0.2.1")]), CLIENT);
        assert_eq!(client(&[]), "10.0.0.1");
        // A proxy usually passes on what it does not write.
        assert_eq!(client(&[("x-forwarded-for", CLIENT), ("forwarded", "for=6.6.6.6")]), CLIENT);
        assert_eq!(client(&[("forwarded", "for=6.6.6.6")]), "10.0.0.1");
        assert_eq!(client_of("::ffff:10.0.0.1", &[("x-forwarded-for", CLIENT)]), CLIENT);
    }
}
