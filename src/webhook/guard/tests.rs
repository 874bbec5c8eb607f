use proptest::prelude::*;

use super::*;

fn networks(texts: &[&str]) -> Vec<IpNet> {
    texts.iter().map(|text| text.parse().expect(text)).collect()
}

fn addresses(texts: &[&str]) -> Vec<SocketAddr> {
    texts.iter().map(|text| text.parse().expect(text)).collect()
}

fn guard(allow: &[&str], own: &[&str]) -> Guard {
    let settings = GuardSettings { allow: networks(allow), own: addresses(own) };
    let is_local = |address: IpAddr| address.is_loopback() || address == IpAddr::from([192, 168, 1, 5]);
    Guard { settings, is_local }
}

fn closed() -> Guard {
    guard(&[], &[])
}

/// Spellings of hosts, separated by blanks, that some parser of URLs, addresses or names takes for this machine or its
/// network.
const NOT_PUBLIC: [&str; 14] = [
    // Names of loopback.
    "localhost LOCALHOST localhost. LocalHost. a.localhost a.b.LOCALHOST. ｌｏｃａｌｈｏｓｔ %6cocalhost ⓛocalhost",
    "local\u{ad}host",
    // Loopback in dotted, decimal, octal, hexadecimal, mixed and short forms.
    "127.0.0.1 127.0.0.1. 127.255.255.254 2130706433 2130706433. 017700000001 0x7f000001 0X7F000001",
    "0x7f.0.0.1 0177.0.0.1 0177.0x0.0.01 127.1 127.0.1 127.65535 0x7f.1 00000177.1 %31%32%37.1",
    // Digits and dots of other scripts.
    "①②⑦.⓪.⓪.① １２７.０.０.１ 127。0。0。1 127．0．0．1 𝟏𝟐𝟕.𝟎.𝟎.𝟏",
    // This network.
    "0 0.0.0.0 0x0 00 0.1 0.0.0.0.",
    // Private, shared, link-local, special.
    "10.0.0.1 10.1 167772161 012.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 192.168.257 3232235777",
    "0xc0a80101 100.64.0.1 169.254.169.254 2852039166 0xa9fea9fe 0251.0376.0251.0376 169.254.43518",
    "192.0.0.1 192.0.2.1 192.88.99.1 198.18.0.1 198.51.100.7 203.0.113.9 224.0.0.1 240.0.0.1",
    "255.255.255.255 4294967295",
    // IPv6.
    "[::] [::1] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:a9fe:a9fe] [::127.0.0.1]",
    "[64:ff9b::8.8.8.8] [64:ff9b:1::1] [2002:7f00:1::] [2001::1] [2001:db8::1] [fe80::1] [fc00::1]",
    "[fd12:3456::1] [fec0::1] [ff02::1] [100::1] [3fff::1] [5f00::1] [4000::1] [2a00:1450::5efe:7f00:1]",
    "[2a00:1450::200:5efe:8.8.8.8] [0:0:0:0:0:FFFF:0a00:0001]",
];

const PUBLIC: [&str; 3] = [
    "8.8.8.8 8.8.8.8. 134744072 0x08080808 010.8.8.8 1.1 11.0.0.1 172.32.0.1 192.169.0.1 100.128.0.1",
    "[2a00:1450::1] [::ffff:8.8.8.8] hooks.example localhost.example 127.0.0.1.example notlocalhost",
    "1.0.0.127.in-addr.arpa metadata.google.internal intranet",
];

#[test]
fn no_spelling_of_an_address_that_is_not_public_is_registered() {
    for host in NOT_PUBLIC.iter().flat_map(|hosts| hosts.split(' ')) {
        for url in [format!("http://{host}/"), format!("HTTPS://{host}:8443/a?b"), format!("http://{host}#x")] {
            let answer = closed().check_url(&url);
            assert!(matches!(answer, Err(UrlError::Refused(Refused::NotPublic(_)))), "{url}: {answer:?}");
        }
    }
}

#[test]
fn public_addresses_and_names_are_registered() {
    for host in PUBLIC.iter().flat_map(|hosts| hosts.split(' ')) {
        let url = format!("http://{host}/");
        assert!(closed().check_url(&url).is_ok(), "{url}");
    }
}

#[test]
fn an_invalid_url_is_not_registered() {
    for url in ["ftp://8.8.8.8", "http://ann@8.8.8.8", "http://8.8.8.8:x", "http://127.0.0.1\\@8.8.8.8/"] {
        assert!(closed().check_url(url).is_err(), "{url}");
    }
}

#[test]
fn mail_ports_are_refused_even_in_allowed_networks() {
    let guard = guard(&["127.0.0.0/8"], &[]);
    for port in [0, 25, 465, 587] {
        let refused = UrlError::Refused(Refused::Port(port));
        for host in ["8.8.8.8", "hooks.example", "127.0.0.1"] {
            assert_eq!(guard.check_url(&format!("http://{host}:{port}/")), Err(refused.clone()), "{host}");
        }
        assert_eq!(guard.check_dialled(SocketAddr::from(([8, 8, 8, 8], port))), Err(Refused::Port(port)));
    }
    assert!(guard.check_url("http://hooks.example:2525/").is_ok());
}

#[test]
fn an_allowed_network_permits_its_own_addresses_only() {
    let guard = guard(&["127.0.0.0/8", "10.1.0.0/16", "fd00::/8"], &[]);
    for host in ["127.0.0.1", "127.1", "[::ffff:127.0.0.1]", "localhost", "a.localhost.", "10.1.2.3", "[fd12::1]"] {
        assert!(guard.check_url(&format!("http://{host}/")).is_ok(), "{host}");
    }
    for host in ["10.2.0.1", "192.168.1.1", "[::1]", "[fc00::1]", "[::127.0.0.1]", "[64:ff9b::127.0.0.1]"] {
        assert!(guard.check_url(&format!("http://{host}/")).is_err(), "{host}");
    }
}

#[test]
fn localhost_is_permitted_if_one_of_its_two_addresses_is() {
    assert!(guard(&["::1/128"], &[]).check_url("http://localhost/").is_ok());
    assert!(guard(&["10.0.0.0/8"], &[]).check_url("http://localhost/").is_err());
}

#[test]
fn behind_an_allowed_translator_each_address_must_be_permitted_too() {
    let dialled = |guard: &Guard, text: &str| guard.check_dialled(text.parse().expect(text)).is_ok();
    let translator = guard(&["64:ff9b::/96"], &[]);
    assert!(dialled(&translator, "[64:ff9b::8.8.8.8]:80"));
    assert!(!dialled(&translator, "[64:ff9b::10.0.0.1]:80"));
    assert!(!dialled(&translator, "[64:ff9b::169.254.169.254]:80"));
    let both = guard(&["64:ff9b::/96", "10.0.0.0/8"], &[]);
    assert!(dialled(&both, "[64:ff9b::10.0.0.1]:80"));
}

#[test]
fn our_own_listeners_are_refused_even_in_allowed_networks() {
    let guard = guard(&["0.0.0.0/0", "::/0"], &["127.0.0.1:8080", "203.0.113.9:8080", "[::]:2525"]);
    for (text, is_own) in [
        ("127.0.0.1:8080", true),
        ("[::ffff:127.0.0.1]:8080", true),
        ("[64:ff9b::127.0.0.1]:8080", true),
        ("0.0.0.0:8080", true),
        ("[::]:8080", true),
        ("203.0.113.9:8080", true),
        ("127.0.0.1:8081", false),
        ("127.0.0.2:8080", false),
        ("192.168.1.5:8080", false),
        ("203.0.113.10:8080", false),
        ("127.0.0.1:2525", true),
        ("127.0.0.2:2525", true),
        ("[::1]:2525", true),
        ("192.168.1.5:2525", true),
        ("[2002:c0a8:105::1]:2525", true),
        ("192.168.1.6:2525", false),
        ("8.8.8.8:2525", false),
    ] {
        let address: SocketAddr = text.parse().expect(text);
        let expected = if is_own { Err(Refused::Own(address)) } else { Ok(()) };
        assert_eq!(guard.check_dialled(address), expected, "{text}");
        let registered = guard.check_url(&format!("http://{text}/"));
        assert_eq!(registered.is_err(), is_own, "{text}: {registered:?}");
    }
    assert!(guard.check_url("http://localhost:2525/").is_err());
    assert!(guard.check_url("http://localhost:8080/").is_ok(), "[::1]:8080 is not a listener of this daemon");
}

/// `NotPublic` would be misleading for loopback. `Own` for a private address would help strangers to map a network.
#[test]
fn a_listener_is_called_our_own_only_at_addresses_that_every_machine_has() {
    let guard = guard(&[], &["0.0.0.0:2525", "[::]:2525"]);
    for (text, is_own) in [
        ("127.0.0.1:2525", true),
        ("[::1]:2525", true),
        ("[::ffff:127.0.0.2]:2525", true),
        ("127.0.0.1:2526", false),
        ("192.168.1.5:2525", false),
        ("192.168.1.6:2525", false),
        ("0.0.0.0:2525", true),
        ("0.0.0.0:2526", false),
    ] {
        let address: SocketAddr = text.parse().expect(text);
        let expected = if is_own { Refused::Own(address) } else { Refused::NotPublic(address.ip()) };
        assert_eq!(guard.check_dialled(address), Err(expected), "{text}");
    }
    let loopback = Refused::Own("127.0.0.1:2525".parse().expect("an address"));
    assert_eq!(guard.check_url("http://localhost:2525/x"), Err(UrlError::Refused(loopback)));
}

#[test]
fn a_guard_knows_the_addresses_of_this_machine() {
    let settings = GuardSettings { allow: networks(&["0.0.0.0/0"]), own: addresses(&["0.0.0.0:8080"]) };
    let guard = Guard::new(settings);
    let ours: SocketAddr = "127.0.0.3:8080".parse().expect("address");
    assert_eq!(guard.check_dialled(ours), Err(Refused::Own(ours)));
    // An address of TEST-NET-1, which no machine has.
    assert_eq!(guard.check_dialled("192.0.2.77:8080".parse().expect("address")), Ok(()));
}

proptest! {
    #[test]
    fn any_text_has_an_answer(text in "(https?://)?\\PC{0,40}") {
        let _ = closed().check_url(&text);
    }

    #[test]
    fn each_spelling_of_an_address_gets_the_same_answer(bits in any::<u32>()) {
        let address = Ipv4Addr::from_bits(bits);
        let [a, b, c, d] = address.octets();
        let is_public = ranges::is_public(address.into());
        for host in [
            address.to_string(),
            format!("{address}."),
            format!("{bits}"),
            format!("{bits:#x}"),
            format!("0{bits:o}"),
            format!("{a:#x}.{b}.0{c:o}.{d}"),
            format!("{a}.{}", bits & 0x00ff_ffff),
            format!("{a}.{b}.{}", bits & 0xffff),
            format!("[::ffff:{address}]"),
        ] {
            prop_assert_eq!(closed().check_url(&format!("http://{host}/")).is_ok(), is_public, "{}", host);
        }
        let inside = [
            Ipv6Addr::from_bits(u128::from(bits)),
            Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, (bits >> 16) as u16, (bits & 0xffff) as u16),
        ];
        for address in inside {
            prop_assert!(closed().check_dialled(SocketAddr::from((address, 80))).is_err(), "{}", address);
        }
    }
}

#[test]
fn no_address_of_this_machine_is_called_unless_its_network_is_allowed() {
    let of_machine = |address: IpAddr| address == IpAddr::from([8, 8, 4, 4]) || address.to_string() == "2a00:1450::7";
    let machine = |allow: &[&str]| Guard { is_local: of_machine, ..guard(allow, &[]) };
    for text in ["8.8.4.4:6379", "[2a00:1450::7]:6379", "[::ffff:8.8.4.4]:443"] {
        let address: SocketAddr = text.parse().expect(text);
        let refused = machine(&[]).check_dialled(address);
        assert!(matches!(refused, Err(Refused::OfMachine(_))), "{text}: {refused:?}");
        assert!(machine(&[]).check_url(&format!("http://{text}/")).is_err(), "{text}");
        assert_eq!(closed().check_dialled(address), Ok(()), "another machine's");
    }
    let allowed = machine(&["8.8.4.4/32"]);
    assert_eq!(allowed.check_dialled("8.8.4.4:6379".parse().expect("address")), Ok(()));
    assert!(allowed.check_dialled("[2a00:1450::7]:6379".parse().expect("address")).is_err());
}

#[test]
fn the_addresses_of_this_machines_interfaces_are_known() {
    // Who dials the unspecified address reaches this machine.
    for local in ["127.0.0.1", "127.8.9.10", "::1", "0.0.0.0", "::"] {
        assert!(is_local(local.parse().expect(local)), "{local}");
    }
    for other in ["192.0.2.1", "8.8.8.8", "2001:db8::1"] {
        assert!(!is_local(other.parse().expect(other)), "{other}");
    }
    // This includes second addresses of an interface, which the system does not use as sources.
    let routes = std::fs::read_to_string("/proc/net/fib_trie").expect("the routes of IPv4");
    let lines: Vec<&str> = routes.lines().collect();
    let own = lines.windows(2).filter(|pair| pair[1].contains("/32 host LOCAL"));
    let own: Vec<&str> = own.filter_map(|pair| pair[0].split("|-- ").nth(1)).collect();
    assert!(own.contains(&"127.0.0.1"), "{own:?}");
    for own in own {
        assert!(is_local(own.parse().expect(own)), "{own}");
    }
}
