//! Which addresses belong to the public internet.
//!
//! Pure. The ranges that are not public come from IANA's special-purpose registries (RFC 6890). IPv6 ranges whose addresses
//! carry an IPv4 address are among them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 ranges that are not public: the first address and the prefix length.
const NOT_PUBLIC_V4: [(Ipv4Addr, u32); 15] = [
    (Ipv4Addr::UNSPECIFIED, 8),           // this network; 0.0.0.0 reaches the machine itself
    (Ipv4Addr::new(10, 0, 0, 0), 8),      // private
    (Ipv4Addr::new(100, 64, 0, 0), 10),   // shared by carriers
    (Ipv4Addr::new(127, 0, 0, 0), 8),     // loopback
    (Ipv4Addr::new(169, 254, 0, 0), 16),  // link-local, the clouds' metadata services
    (Ipv4Addr::new(172, 16, 0, 0), 12),   // private
    (Ipv4Addr::new(192, 0, 0, 0), 24),    // IETF protocols
    (Ipv4Addr::new(192, 0, 2, 0), 24),    // documentation
    (Ipv4Addr::new(192, 88, 99, 0), 24),  // 6to4 relays
    (Ipv4Addr::new(192, 168, 0, 0), 16),  // private
    (Ipv4Addr::new(198, 18, 0, 0), 15),   // benchmarks
    (Ipv4Addr::new(198, 51, 100, 0), 24), // documentation
    (Ipv4Addr::new(203, 0, 113, 0), 24),  // documentation
    (Ipv4Addr::new(224, 0, 0, 0), 4),     // multicast
    (Ipv4Addr::new(240, 0, 0, 0), 4),     // reserved, broadcast
];

/// IPv6 ranges that are not public. The last three entries alone cover everything outside `2000::/3`. The other ranges there
/// are listed so that readers can compare the list with the registry.
const NOT_PUBLIC_V6: [(Ipv6Addr, u32); 16] = [
    (v6(0, 0, 0), 96),          // unspecified, loopback, IPv4-compatible
    (v6(0x64, 0xff9b, 0), 96),  // NAT64
    (v6(0x64, 0xff9b, 1), 48),  // NAT64 within a site
    (v6(0x100, 0, 0), 64),      // discard
    (v6(0x2001, 0, 0), 23),     // IETF protocols, Teredo (2001::/32)
    (v6(0x2001, 0xdb8, 0), 32), // documentation
    (v6(0x2002, 0, 0), 16),     // 6to4
    (v6(0x3fff, 0, 0), 20),     // documentation
    (v6(0x5f00, 0, 0), 16),     // segment routing
    (v6(0xfc00, 0, 0), 7),      // unique local
    (v6(0xfe80, 0, 0), 10),     // link-local
    (v6(0xfec0, 0, 0), 10),     // site-local
    (v6(0xff00, 0, 0), 8),      // multicast
    (v6(0x4000, 0, 0), 2),      // not assigned
    (v6(0x8000, 0, 0), 1),      // not assigned
    (v6(0, 0, 0), 3),           // not assigned
];

const fn v6(first: u16, second: u16, third: u16) -> Ipv6Addr {
    Ipv6Addr::new(first, second, third, 0, 0, 0, 0, 0)
}

/// The address that is really dialled. An IPv4-mapped address (`::ffff:0:0/96`) is the IPv4 address in it.
pub fn canonical(address: IpAddr) -> IpAddr {
    address.to_canonical()
}

/// Whether `address` belongs to the public internet.
///
/// An IPv6 address that carries an IPv4 address is never public. An IPv4-mapped address counts as its IPv4 address.
pub fn is_public(address: IpAddr) -> bool {
    match canonical(address) {
        IpAddr::V4(v4) => !NOT_PUBLIC_V4.iter().any(|(first, length)| shares_prefix_v4(v4, *first, *length)),
        IpAddr::V6(v6) => {
            !is_isatap(v6) && !NOT_PUBLIC_V6.iter().any(|(first, length)| shares_prefix_v6(v6, *first, *length))
        }
    }
}

/// The IPv4 address to which a translator or tunnel may lead: NAT64, 6to4, Teredo, ISATAP or the IPv4-compatible form.
pub fn carried(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let octets = address.octets();
    let at = |index: usize| Ipv4Addr::new(octets[index], octets[index + 1], octets[index + 2], octets[index + 3]);
    match address.segments() {
        // Unspecified and loopback.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        // In 64:ff9b:1::/48 each site chooses the position of the IPv4 address. Most choose the end.
        [0, 0, 0, 0, 0, 0, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] | [0x64, 0xff9b, 1, ..] => Some(at(12)),
        [0x2002, ..] => Some(at(2)),
        // The client's address with all bits inverted (RFC 4380 section 4).
        [0x2001, 0, ..] => Some(Ipv4Addr::from_bits(!at(12).to_bits())),
        _ if is_isatap(address) => Some(at(12)),
        _ => None,
    }
}

/// Whether the address has an interface identifier of ISATAP, with any prefix (RFC 5214 section 6.1).
fn is_isatap(address: Ipv6Addr) -> bool {
    let [.., high, low, _, _] = address.segments();
    high & !0x0300 == 0 && low == 0x5efe
}

fn shares_prefix_v4(address: Ipv4Addr, first: Ipv4Addr, length: u32) -> bool {
    (address.to_bits() ^ first.to_bits()).leading_zeros() >= length
}

fn shares_prefix_v6(address: Ipv6Addr, first: Ipv6Addr, length: u32) -> bool {
    (address.to_bits() ^ first.to_bits()).leading_zeros() >= length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_range_reaches_from_its_first_address_to_its_last() {
        for (first, last, before, after) in [
            ("0.0.0.0", "0.255.255.255", "", "1.0.0.0"),
            ("10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"),
            ("100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"),
            ("127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"),
            ("169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"),
            ("172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"),
            ("192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"),
            ("192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"),
            ("192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"),
            ("192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"),
            ("198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"),
            ("198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"),
            ("203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"),
            ("224.0.0.0", "255.255.255.255", "223.255.255.255", ""),
            ("::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "", "2000::"),
            ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2000:ffff::", "2001:200::"),
            ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db7:ffff::", "2001:db9::"),
            ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:ffff::", "2003::"),
            ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3ffe:ffff::", "3fff:1000::"),
            ("4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:ffff::", ""),
        ] {
            let is_public = |text: &str| is_public(text.parse().expect(text));
            assert!(!is_public(first), "{first}");
            assert!(!is_public(last), "{last}");
            assert!(before.is_empty() || is_public(before), "{before}");
            assert!(after.is_empty() || is_public(after), "{after}");
        }
    }

    #[test]
    fn addresses_that_carry_ipv4_addresses() {
        for (text, inner, is_public_itself) in [
            ("::127.0.0.1", Some("127.0.0.1"), false),
            ("64:ff9b::8.8.8.8", Some("8.8.8.8"), false),
            ("64:ff9b:1::10.0.0.1", Some("10.0.0.1"), false),
            ("2002:a9fe:a9fe::1", Some("169.254.169.254"), false),
            ("2001:0:4136:e378:8000:63bf:3fff:fdd2", Some("192.0.2.45"), false),
            ("2a00:1450::5efe:10.0.0.1", Some("10.0.0.1"), false),
            ("2a00:1450::200:5efe:8.8.8.8", Some("8.8.8.8"), false),
            ("2a00:1450::300:5efe:8.8.8.8", Some("8.8.8.8"), false),
            ("2a00:1450::400:5efe:8.8.8.8", None, true),
            ("2a00:1450:4001:830::200e", None, true),
            ("::1", None, false),
            ("::", None, false),
        ] {
            let address: Ipv6Addr = text.parse().expect(text);
            assert_eq!(carried(address), inner.map(|inner| inner.parse().expect(inner)), "{text}");
            assert_eq!(is_public(address.into()), is_public_itself, "{text}");
        }
        assert!(is_public("::ffff:8.8.8.8".parse().expect("address")));
        assert!(!is_public("::ffff:127.0.0.1".parse().expect("address")));
    }
}
