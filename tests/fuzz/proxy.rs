//! Headers of the PROXY protocol beside the grammar of the specification, applied to the whole at once.
//! Promise: it outlives the code below it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseResult;
use tempmail::connections::proxy::{Malformed, Progress, SourceAddress, read};

use crate::corpus;
use crate::input::{self, Input};

const V1_OCTETS_MAX: usize = 107;
/// What a version 2 of this receiver may have.
const V2_OCTETS_MAX: usize = 4096;
const V2_SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";
const AFTER: &[u8] = b"EHLO client.test\r\n";

/// What became of a stream.
#[derive(Debug, PartialEq, Eq)]
enum Read {
    /// A client, and how many octets its header has.
    Client(SourceAddress, usize),
    Refused,
    /// The stream ended within what may become a header.
    Half,
}

/// Reads as a connection does: never more than was asked for, and each time no more than the next of `pieces` has.
fn play(stream: &[u8], mut pieces: impl Iterator<Item = usize>) -> Result<Read, TestCaseError> {
    let mut used = 0;
    loop {
        match read(&stream[..used]) {
            Ok(Progress::Whole(client)) => return Ok(Read::Client(client, used)),
            Err(Malformed) => return Ok(Read::Refused),
            Ok(Progress::Needs(octets)) => {
                prop_assert!(octets > 0, "nothing is asked for after {} octets", used);
                let is_v1 = stream[..used].starts_with(b"P");
                let octets_max = if is_v1 { V1_OCTETS_MAX } else { V2_OCTETS_MAX };
                prop_assert!(used + octets <= octets_max, "{} octets are asked for after {}", octets, used);
                let piece = octets.min(pieces.next().unwrap_or(octets)).min(stream.len() - used);
                if used == stream.len() {
                    return Ok(Read::Half);
                }
                used += piece;
            }
        }
    }
}

/// Section 2.1 of the specification; `None` for what is no header.
fn v1(stream: &[u8]) -> Option<(SourceAddress, usize)> {
    let end = memchr::memmem::find(stream, b"\r\n").filter(|end| end + 2 <= V1_OCTETS_MAX)?;
    let line = str::from_utf8(&stream[..end]).ok().filter(|line| !line.contains('\n'))?;
    if line == "PROXY UNKNOWN" || line.starts_with("PROXY UNKNOWN ") {
        return Some((SourceAddress::OfSocket, end + 2));
    }
    let [start, source, destination, from, to] = line
        .rsplitn(5, ' ')
        .collect::<Vec<_>>()
        .try_into()
        .ok()
        .map(|[to, from, destination, source, start]: [&str; 5]| [start, source, destination, from, to])?;
    let is_port = |text: &str| text.parse::<u16>().is_ok_and(|port| port.to_string() == text);
    let (source, destination): (IpAddr, IpAddr) = (source.parse().ok()?, destination.parse().ok()?);
    let is_family = match start {
        "PROXY TCP4" => source.is_ipv4() && destination.is_ipv4(),
        "PROXY TCP6" => source.is_ipv6() && destination.is_ipv6(),
        _ => false,
    };
    (is_family && is_port(from) && is_port(to)).then_some((SourceAddress::Address(source.to_canonical()), end + 2))
}

/// Section 2.2 of the specification.
fn v2(stream: &[u8]) -> Option<(SourceAddress, usize)> {
    let rest = stream.strip_prefix(V2_SIGNATURE)?;
    let (&[version_command, family, high, low], rest) = rest.split_first_chunk()?;
    let body = rest.get(..usize::from(u16::from_be_bytes([high, low])))?;
    let octets = V2_SIGNATURE.len() + 4 + body.len();
    let client = match (version_command, family) {
        (0x20, _) | (0x21, 0x00) => SourceAddress::OfSocket,
        (0x21, 0x11) if body.len() >= 12 => {
            SourceAddress::Address(IpAddr::from(<[u8; 4]>::try_from(&body[..4]).ok()?).to_canonical())
        }
        (0x21, 0x21) if body.len() >= 36 => {
            SourceAddress::Address(IpAddr::from(<[u8; 16]>::try_from(&body[..16]).ok()?).to_canonical())
        }
        (0x21, 0x31) if body.len() >= 216 => SourceAddress::OfSocket,
        _ => return None,
    };
    (octets <= V2_OCTETS_MAX).then_some((client, octets))
}

/// The shortest headers of both versions that mean the same.
fn encoded(client: SourceAddress) -> [Vec<u8>; 2] {
    let v2 = |command: u8, family: u8, addresses: &[u8]| {
        let length = u16::try_from(addresses.len()).expect("a length").to_be_bytes();
        [V2_SIGNATURE, &[command, family], &length, addresses].concat()
    };
    match client {
        SourceAddress::OfSocket => [b"PROXY UNKNOWN\r\n".to_vec(), v2(0x20, 0, b"")],
        SourceAddress::Address(IpAddr::V4(ip)) => {
            let addresses = [&ip.octets()[..], &[0; 8]].concat();
            [format!("PROXY TCP4 {ip} 0.0.0.0 0 0\r\n").into_bytes(), v2(0x21, 0x11, &addresses)]
        }
        SourceAddress::Address(IpAddr::V6(ip)) => {
            let addresses = [&ip.octets()[..], &[0; 20]].concat();
            [format!("PROXY TCP6 {ip} :: 0 0\r\n").into_bytes(), v2(0x21, 0x21, &addresses)]
        }
    }
}

fn check(input: &Input) -> TestCaseResult {
    let stream = &input.octets;
    let whole = play(stream, std::iter::empty())?;
    let pieces: Vec<usize> = input.pieces().iter().map(|piece| piece.len()).filter(|&octets| octets > 0).collect();
    prop_assert_eq!(&play(stream, pieces.into_iter())?, &whole, "cuts changed something");
    prop_assert_eq!(&play(stream, std::iter::repeat(1))?, &whole, "octets one by one changed something");

    let expected = v1(stream).or_else(|| v2(stream));
    match (&whole, expected) {
        (Read::Client(client, used), Some(expected)) => {
            prop_assert_eq!((*client, *used), expected);
            for header in encoded(*client) {
                let stream = [&header, AFTER].concat();
                prop_assert_eq!(
                    play(&stream, std::iter::empty())?,
                    Read::Client(*client, header.len()),
                    "there and back"
                );
            }
        }
        (Read::Refused | Read::Half, None) => {}
        _ => return Err(TestCaseError::fail(format!("{whole:?} where {expected:?} is meant"))),
    }
    Ok(())
}

fn address() -> impl Strategy<Value = String> {
    let v6 = any::<[u16; 8]>().prop_map(|groups| Ipv6Addr::from(groups).to_string());
    let v4 = any::<[u8; 4]>().prop_map(|octets| Ipv4Addr::from(octets).to_string());
    let mapped = any::<[u8; 4]>().prop_map(|octets| format!("::ffff:{}", Ipv4Addr::from(octets)));
    prop_oneof![
        4 => v4, 3 => v6, 1 => mapped,
        1 => select(vec!["01.2.3.4", "1.2.3", "::1%lo", "", "[::1]", "0x7f.0.0.1", "2130706433", "UNKNOWN"]).prop_map(str::to_owned),
    ]
}

fn port() -> impl Strategy<Value = String> {
    prop_oneof![4 => any::<u16>().prop_map(|port| port.to_string()),
        1 => select(vec!["65536", "00", "+1", "-1", "", "025", " 25"]).prop_map(str::to_owned)]
}

fn v1_header() -> impl Strategy<Value = Vec<u8>> {
    let start = select(vec![
        "PROXY TCP4",
        "PROXY TCP4",
        "PROXY TCP6",
        "PROXY TCP6",
        "PROXY UNKNOWN",
        "PROXY TCP5",
        "proxy TCP4",
    ]);
    let end = prop_oneof![6 => Just("\r\n".to_owned()), 1 => Just("\n".to_owned()), 1 => " {0,60}\r\n"];
    (start, address(), address(), port(), port(), end).prop_map(|(start, source, destination, from, to, end)| {
        format!("{start} {source} {destination} {from} {to}{end}").into_bytes()
    })
}

fn v2_header() -> impl Strategy<Value = Vec<u8>> {
    let command = prop_oneof![6 => Just(0x21_u8), 2 => Just(0x20), 1 => any::<u8>()];
    let family = prop_oneof![6 => select(vec![0x11_u8, 0x21, 0x31, 0x00]), 1 => any::<u8>()];
    let body = prop_oneof![
        4 => proptest::collection::vec(any::<u8>(), 10..40),
        1 => proptest::collection::vec(any::<u8>(), 210..300),
        1 => (4070..4090_usize).prop_map(|octets| vec![0x7f; octets]),
    ];
    let off_by = prop_oneof![8 => Just(0_isize), 1 => -30..30_isize];
    (command, family, body, off_by).prop_map(|(command, family, body, off_by)| {
        let length = u16::try_from(body.len().saturating_add_signed(off_by)).expect("a length").to_be_bytes();
        [V2_SIGNATURE, &[command, family], &length, &body].concat()
    })
}

#[test]
fn a_header_is_read_as_the_specification_says_and_not_an_octet_more() {
    let seeds: Vec<Vec<u8>> = corpus::seeds("proxy").into_iter().map(|(_, octets)| octets).collect();
    let header = prop_oneof![3 => v1_header(), 3 => v2_header(), 3 => input::mutated(seeds), 1 => proptest::collection::vec(any::<u8>(), 0..200)];
    let streams = (header, any::<bool>())
        .prop_map(|(header, is_followed)| if is_followed { [&header, AFTER].concat() } else { header });
    corpus::run("proxy", input::cut(streams), check, Input::whole);
}
