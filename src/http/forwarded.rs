//! The client behind reverse proxies: `X-Forwarded-For`, and `Forwarded` of RFC 7239.
//!
//! Each proxy appends the address that it was called from. Whatever is left of what a trusted proxy appended may be forged,
//! so the fields are read from the right, and only as far as the proxies are trusted.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, HeaderName, header};
use ipnet::IpNet;

use crate::config::ForwardedField;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The proxies that name clients, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TrustedProxies {
    networks: Vec<IpNet>,
    field: ForwardedField,
}

impl TrustedProxies {
    pub(super) fn new(networks: &[IpNet], field: ForwardedField) -> Self {
        Self { networks: networks.to_vec(), field }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.networks.is_empty()
    }

    /// The client of a request that `peer` sent. It is the peer unless that is a trusted proxy, by its address or because
    /// `is_proxy` says so.
    ///
    /// A proxy usually passes on what it does not write. So only the field that the proxies write counts.
    pub(super) fn client(&self, peer: IpAddr, is_proxy: bool, headers: &HeaderMap) -> IpAddr {
        let peer = peer.to_canonical();
        let (name, node): (_, fn(&str) -> Option<IpAddr>) = match self.field {
            ForwardedField::XForwardedFor => (X_FORWARDED_FOR, address),
            ForwardedField::Forwarded => (header::FORWARDED, forwarded_for),
        };
        if !is_proxy && !self.trusts(peer) {
            return peer;
        }
        self.nearest(peer, elements(headers, name).map(|text| node(text?)))
    }

    /// The first address from the right that is not a trusted proxy. Where an element names no address or none is left, it
    /// is the proxy that was reached last.
    fn nearest(&self, peer: IpAddr, from_right: impl Iterator<Item = Option<IpAddr>>) -> IpAddr {
        let mut nearest = peer;
        for address in from_right.map_while(|address| address) {
            nearest = address;
            if !self.trusts(address) {
                break;
            }
        }
        nearest
    }

    fn trusts(&self, address: IpAddr) -> bool {
        self.networks.iter().any(|network| network.contains(&address))
    }
}

/// Whether a request has a field that names clients.
pub(super) fn is_forwarded(headers: &HeaderMap) -> bool {
    headers.contains_key(X_FORWARDED_FOR) || headers.contains_key(header::FORWARDED)
}

/// The elements of a field from the right; `None` for one that is no text.
///
/// No node has a comma, so each element of a proxy begins at one. Quotes that a client left open before it mean nothing.
fn elements(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = Option<&str>> {
    let values = headers.get_all(name).into_iter().rev();
    let elements = values.flat_map(|value| value.as_bytes().rsplit(|octet| *octet == b','));
    elements.map(|element| std::str::from_utf8(element).ok().map(str::trim)).filter(|element| *element != Some(""))
}

/// The address of the only `for` of an element of `Forwarded`.
fn forwarded_for(element: &str) -> Option<IpAddr> {
    let pairs = element.split(';').filter_map(|pair| pair.split_once('='));
    let mut nodes = pairs.filter(|(name, _)| name.trim().eq_ignore_ascii_case("for")).map(|(_, node)| node.trim());
    let (node, None) = (nodes.next()?, nodes.next()) else { return None };
    let quoted = node.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    address(quoted.unwrap_or(node))
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
        client_by(ForwardedField::XForwardedFor, peer, fields)
    }

    fn client_by(field: ForwardedField, peer: &str, fields: &[(&'static str, &str)]) -> String {
        let networks = ["10.0.0.0/24", "fd00::/8"].map(|network| network.parse().expect("a network"));
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, HeaderValue::from_bytes(value.as_bytes()).expect("a value"));
        }
        TrustedProxies::new(&networks, field).client(peer.parse().expect("an address"), false, &headers).to_string()
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
        assert_eq!(client_of("::ffff:10.0.0.1", &[("x-forwarded-for", CLIENT)]), CLIENT);
    }

    #[test]
    fn forwarded_is_read_the_same_way() {
        for (field, wanted) in [
            ("for=192.0.2.1", CLIENT),
            ("For=\"192.0.2.1:4711\";proto=http;by=203.0.113.43", CLIENT),
            ("proto=https; for=192.0.2.1", CLIENT),
            ("for=6.6.6.6, for=192.0.2.1, for=10.0.0.2", CLIENT),
            ("for=\"[2001:db8::17]:4711\"", "2001:db8::17"),
            ("for=\", for=192.0.2.1", CLIENT),
            ("for=6.6.6.6;x=\", for=192.0.2.1", CLIENT),
            ("for=192.0.2.1;for=6.6.6.6", "10.0.0.1"),
            ("for=192.0.2.1, for=_hidden", "10.0.0.1"),
            ("for=192.0.2.1, for=unknown", "10.0.0.1"),
            ("for=192.0.2.1, proto=https", "10.0.0.1"),
            ("192.0.2.1", "10.0.0.1"),
        ] {
            let client = client_by(ForwardedField::Forwarded, "10.0.0.1", &[("forwarded", field)]);
            assert_eq!(client, wanted, "{field}");
        }
    }

    #[test]
    fn a_field_that_the_proxies_do_not_write_means_nothing() {
        let fields = [("x-forwarded-for", "192.0.2.1"), ("forwarded", "for=6.6.6.6")];
        assert_eq!(client(&fields), CLIENT);
        assert_eq!(client_by(ForwardedField::Forwarded, "10.0.0.1", &fields), "6.6.6.6");
        assert_eq!(client(&[("forwarded", "for=6.6.6.6")]), "10.0.0.1");
        assert_eq!(client_by(ForwardedField::Forwarded, "10.0.0.1", &[("x-forwarded-for", "6.6.6.6")]), "10.0.0.1");
    }
}
