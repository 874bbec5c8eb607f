//! Headers of the specification and broken ones, cut anywhere.

use proptest::prelude::*;

use super::*;

/// A header of version 2.
fn v2_of(version_command: u8, family_transport: u8, body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(body.len()).expect("a length");
    [V2_SIGNATURE, &[version_command, family_transport], &length.to_be_bytes(), body].concat()
}

fn tcp4(tail: &[u8]) -> Vec<u8> {
    let addresses = [192, 0, 2, 7, 198, 51, 100, 1, 0xc8, 0x22, 0, 25];
    v2_of(0x21, 0x11, &[&addresses, tail].concat())
}

fn tcp6(tail: &[u8]) -> Vec<u8> {
    let source: Ipv6Addr = "2001:db8::7".parse().expect("an address");
    let addresses = [&source.octets()[..], &[0; 16], &[0xc8, 0x22, 0, 25]].concat();
    v2_of(0x21, 0x21, &[&addresses, tail].concat())
}

fn at(ip: &str) -> SourceAddress {
    SourceAddress::Address(ip.parse().expect("an address"))
}

fn good() -> Vec<(Vec<u8>, SourceAddress)> {
    let longest =
        "PROXY UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535 and whatever else there is, up to 107 octets ..";
    assert_eq!(longest.len() + 2, V1_OCTETS_MAX);
    let mapped: Ipv6Addr = "::ffff:192.0.2.7".parse().expect("an address");
    vec![
        (b"PROXY TCP4 192.0.2.7 198.51.100.1 51234 25\r\n".to_vec(), at("192.0.2.7")),
        (b"PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n".to_vec(), at("255.255.255.255")),
        (b"PROXY TCP4 192.0.2.7 198.51.100.1 0 0\r\n".to_vec(), at("192.0.2.7")),
        (b"PROXY TCP6 2001:db8::7 2001:db8::1 51234 25\r\n".to_vec(), at("2001:db8::7")),
        (b"PROXY TCP6 ::ffff:192.0.2.7 ::1 1 25\r\n".to_vec(), at("192.0.2.7")),
        (b"PROXY UNKNOWN\r\n".to_vec(), SourceAddress::OfSocket),
        (b"PROXY UNKNOWN ffff:: ffff:: 65535 65535\r\n".to_vec(), SourceAddress::OfSocket),
        (format!("{longest}\r\n").into_bytes(), SourceAddress::OfSocket),
        (tcp4(b""), at("192.0.2.7")),
        (tcp4(b"\x03\0\x04abcd\x04\0\0"), at("192.0.2.7")),
        (tcp4(&[4; V2_OCTETS_MAX - 28]), at("192.0.2.7")),
        (tcp6(b""), at("2001:db8::7")),
        (tcp6(b"\x02\0\x04name"), at("2001:db8::7")),
        (v2_of(0x21, 0x21, &[&mapped.octets()[..], &[0; 20]].concat()), at("192.0.2.7")),
        (v2_of(0x21, 0x31, &[b'/'; 216]), SourceAddress::OfSocket),
        (v2_of(0x21, 0x00, b""), SourceAddress::OfSocket),
        (v2_of(0x21, 0x00, b"anything"), SourceAddress::OfSocket),
        (v2_of(0x20, 0x00, b""), SourceAddress::OfSocket),
        (v2_of(0x20, 0x11, &[192, 0, 2, 7, 198, 51, 100, 1, 0, 1, 0, 25]), SourceAddress::OfSocket),
        (v2_of(0x20, 0x99, b"whatever"), SourceAddress::OfSocket),
    ]
}

fn bad() -> Vec<Vec<u8>> {
    let mut bad: Vec<Vec<u8>> = [
        "EHLO client.test\r\n",
        "proxy TCP4 192.0.2.7 198.51.100.1 51234 25\r\n",
        "PROXY  TCP4 192.0.2.7 198.51.100.1 51234 25\r\n",
        "PROXY TCP4  192.0.2.7 198.51.100.1 51234 25\r\n",
        "PROXY TCP4 192.0.2.7 198.51.100.1 51234 25 \r\n",
        "PROXY TCP4 192.0.2.7 198.51.100.1 51234\r\n",
        "PROXY TCP4 192.0.2.7 198.51.100.1 51234 25 9\r\n",
        "PROXY TCP4 192.0.2.07 198.51.100.1 51234 25\r\n",
        "PROXY TCP4 192.0.2.256 198.51.100.1 51234 25\r\n",
        "PROXY TCP4 192.0.2.7 2001:db8::1 51234 25\r\n",
        "PROXY TCP4 2001:db8::7 2001:db8::1 51234 25\r\n",
        "PROXY TCP4 192.0.2.7 198.51.100.1 65536 25\r\n",
        "PROXY TCP4 192.0.2.7 198.51.100.1 051 25\r\n",
        "PROXY TCP4 192.0.2.7 198.51.100.1 +51 25\r\n",
        "PROXY TCP4 192.0.2.7 198.51.100.1  25\r\n",
        "PROXY TCP4 192.0.2.7 198.51.100.1 51234 25\n",
        "PROXY TCP6 192.0.2.7 198.51.100.1 51234 25\r\n",
        "PROXY TCP6 fe80::1%eth0 ::1 51234 25\r\n",
        "PROXY TCP5 192.0.2.7 198.51.100.1 51234 25\r\n",
        "PROXY UNKNOWNX 192.0.2.7 198.51.100.1\r\n",
        "PROXY\r\n",
        "\r\n\r\n\0\r\nQUIX\n",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect();
    bad.extend([
        b"PROXY TCP4 192.0.2.7 198.51.100.1 51234 2\xb5\r\n".to_vec(),
        format!("PROXY UNKNOWN {}\r\n", "x".repeat(92)).into_bytes(),
        v2_of(0x11, 0x11, &[0; 12]),
        v2_of(0x31, 0x11, &[0; 12]),
        v2_of(0x22, 0x11, &[0; 12]),
        v2_of(0x2f, 0x11, &[0; 12]),
        v2_of(0x21, 0x11, &[0; 11]),
        v2_of(0x21, 0x21, &[0; 35]),
        v2_of(0x21, 0x31, &[0; 215]),
        v2_of(0x21, 0x12, &[0; 12]),
        v2_of(0x21, 0x22, &[0; 36]),
        v2_of(0x21, 0x01, &[0; 12]),
        v2_of(0x21, 0x10, &[0; 12]),
        v2_of(0x21, 0x41, &[0; 12]),
        tcp4(&[0; V2_OCTETS_MAX - 27]),
        v2_of(0x20, 0x00, &vec![0; 65_535]),
    ]);
    bad
}

/// Reads as a connection does: each time at most as many octets as are missing and as `cut` gives. The octets used.
fn play(stream: &[u8], mut cut: impl FnMut(usize) -> usize) -> (Result<Progress, Malformed>, usize) {
    let mut used = 0;
    loop {
        match read(&stream[..used]) {
            Ok(Progress::Needs(octets)) => {
                assert!(octets > 0 && used + octets <= V2_OCTETS_MAX, "{octets} after {used}");
                let octets = cut(octets).min(stream.len() - used);
                if octets == 0 {
                    return (Ok(Progress::Needs(1)), used);
                }
                used += octets;
            }
            ended => return (ended, used),
        }
    }
}

#[test]
fn each_header_gives_its_client_and_reads_no_octet_more() {
    for (header, client) in good() {
        let stream = [&header, &b"EHLO client.test\r\n"[..]].concat();
        let shown = header.escape_ascii().to_string();
        assert_eq!(play(&stream, |octets| octets), (Ok(Progress::Whole(client)), header.len()), "{shown}");
        assert_eq!(play(&stream, |_| 1), (Ok(Progress::Whole(client)), header.len()), "{shown}");
    }
}

#[test]
fn a_broken_header_is_refused_within_bounds() {
    for header in bad() {
        let stream = [&header, &b"EHLO client.test\r\nMAIL FROM:<>\r\n"[..]].concat();
        let (ended, used) = play(&stream, |octets| octets);
        assert_eq!(ended, Err(Malformed), "{}", header.escape_ascii());
        assert!(used <= header.len().max(V1_OCTETS_MIN), "{used} octets of {}", header.escape_ascii());
    }
}

#[test]
fn octets_that_cannot_become_a_header_are_refused_at_the_first_wrong_one() {
    for start in [&b"E"[..], b"\x16", b"P\x00", b"PROXYX", b"\r\n\n", b"\n"] {
        assert_eq!(read(start), Err(Malformed), "{}", start.escape_ascii());
    }
    assert_eq!(read(b""), Ok(Progress::Needs(15)));
}

#[test]
fn an_incomplete_header_needs_more_octets() {
    for (header, _) in good() {
        for end in 0..header.len().min(300) {
            assert!(matches!(read(&header[..end]), Ok(Progress::Needs(_))), "{}", header[..end].escape_ascii());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cuts_change_nothing(which in any::<prop::sample::Index>(), cuts in prop::collection::vec(1_usize..40, 1..60)) {
        let streams: Vec<Vec<u8>> = good().into_iter().map(|(header, _)| header).chain(bad()).collect();
        let stream = [which.get(&streams), &b"EHLO client.test\r\n"[..]].concat();
        let mut cuts = cuts.into_iter().cycle();
        let cut = play(&stream, |octets| octets.min(cuts.next().unwrap_or(1)));
        let whole = play(&stream, |octets| octets);
        prop_assert_eq!(cut.0, whole.0);
        if cut.0.is_ok() {
            prop_assert_eq!(cut.1, whole.1);
        }
    }

    #[test]
    fn any_octets_are_a_header_or_refused_within_bounds(
        start in prop_oneof![
            Just(b"".to_vec()), Just(b"PROXY TCP4 ".to_vec()), Just(b"PROXY ".to_vec()), Just(V2_SIGNATURE.to_vec()),
            Just([V2_SIGNATURE, b"\x21\x11\0"].concat()), Just([V2_SIGNATURE, b"\x20"].concat()),
        ],
        rest in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let (_, used) = play(&[start, rest].concat(), |octets| octets);
        prop_assert!(used <= V2_OCTETS_MAX);
    }
}
