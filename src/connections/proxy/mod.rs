//! The PROXY protocol, versions 1 and 2: a proxy names its client before the client's first octet.
//!
//! The specification is `doc/proxy-protocol.txt` of `HAProxy`. Pure: octets in, an answer or the octets to read next out.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The longest header of version 1 in octets, CRLF included (section 2.1).
const V1_OCTETS_MAX: usize = 107;
/// The shortest header of version 1: `PROXY UNKNOWN` and CRLF.
const V1_OCTETS_MIN: usize = 15;
const V1_START: &[u8] = b"PROXY ";
/// The beginning of a header of version 2 (section 2.2).
const V2_SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";
/// The octets of a header of version 2 up to the end of its length field.
const V2_FIXED_OCTETS: usize = 16;
/// The longest header of version 2 that is accepted. Proxies add fields about TLS; the format allows 64 KB.
const V2_OCTETS_MAX: usize = 4096;

/// How far a header has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// At least so many octets are missing; all of them belong to the header.
    Needs(usize),
    /// The header is complete.
    Whole(SourceAddress),
}

/// The client for which a proxy has made the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceAddress {
    /// A client with this address.
    Address(IpAddr),
    /// The proxy itself (a health check), or a client without an IP address. The address of the socket counts.
    OfSocket,
}

/// The octets are not a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a header of the PROXY protocol")]
pub struct Malformed;

/// Reads `octets`, which are all octets so far. A caller that reads only as many as are missing reads no octet behind the
/// header.
pub fn read(octets: &[u8]) -> Result<Progress, Malformed> {
    if is_beginning(octets, V1_START) {
        v1(octets)
    } else if is_beginning(octets, V2_SIGNATURE) {
        v2(octets)
    } else {
        Err(Malformed)
    }
}

/// Whether one of them is the beginning of the other.
fn is_beginning(octets: &[u8], start: &[u8]) -> bool {
    octets.iter().zip(start).all(|(a, b)| a == b)
}

fn v1(octets: &[u8]) -> Result<Progress, Malformed> {
    let Some(end) = octets.iter().position(|&octet| octet == b'\n') else {
        let missing = if octets.last() == Some(&b'\r') { 1 } else { 2 };
        let missing = missing.max(V1_OCTETS_MIN.saturating_sub(octets.len()));
        return if octets.len() + missing > V1_OCTETS_MAX { Err(Malformed) } else { Ok(Progress::Needs(missing)) };
    };
    if end + 1 != octets.len() {
        return Err(Malformed);
    }
    let line = octets[..end].strip_suffix(b"\r").and_then(|line| line.strip_prefix(V1_START)).ok_or(Malformed)?;
    let line = std::str::from_utf8(line).map_err(|_| Malformed)?;
    let fields: Vec<&str> = line.split(' ').collect();
    match fields[..] {
        // The rest of the line must be ignored.
        ["UNKNOWN", ..] => Ok(Progress::Whole(SourceAddress::OfSocket)),
        ["TCP4", source, destination, from, to] => {
            let source: Ipv4Addr = source.parse().map_err(|_| Malformed)?;
            destination.parse::<Ipv4Addr>().map_err(|_| Malformed)?;
            whole(source.into(), &[from, to])
        }
        ["TCP6", source, destination, from, to] => {
            let source: Ipv6Addr = source.parse().map_err(|_| Malformed)?;
            destination.parse::<Ipv6Addr>().map_err(|_| Malformed)?;
            whole(source.into(), &[from, to])
        }
        _ => Err(Malformed),
    }
}

fn whole(source: IpAddr, ports: &[&str]) -> Result<Progress, Malformed> {
    let is_port = |text: &&str| {
        let is_decimal = text.bytes().all(|octet| octet.is_ascii_digit()) && (*text == "0" || !text.starts_with('0'));
        is_decimal && text.parse::<u16>().is_ok()
    };
    if ports.iter().all(is_port) {
        Ok(Progress::Whole(SourceAddress::Address(source.to_canonical())))
    } else {
        Err(Malformed)
    }
}

fn v2(octets: &[u8]) -> Result<Progress, Malformed> {
    let Some((fixed, rest)) = octets.split_at_checked(V2_FIXED_OCTETS) else {
        return Ok(Progress::Needs(V2_FIXED_OCTETS - octets.len()));
    };
    let [.., version_command, family_transport, high, low] = *fixed else { return Err(Malformed) };
    let length = usize::from(u16::from_be_bytes([high, low]));
    if version_command >> 4 != 2 || V2_FIXED_OCTETS + length > V2_OCTETS_MAX {
        return Err(Malformed);
    }
    if rest.len() < length {
        return Ok(Progress::Needs(length - rest.len()));
    }
    if rest.len() > length {
        return Err(Malformed);
    }
    let client = match (version_command & 0xf, family_transport >> 4, family_transport & 0xf) {
        // LOCAL, whose addresses must be ignored; and unspecified addresses.
        (0, ..) | (1, 0, 0) => SourceAddress::OfSocket,
        // Two addresses and two ports. More fields may follow; none of them is used.
        (1, 1, 1) if length >= 12 => SourceAddress::Address(Ipv4Addr::from(first(rest)?).into()),
        (1, 2, 1) if length >= 36 => SourceAddress::Address(IpAddr::from(Ipv6Addr::from(first(rest)?)).to_canonical()),
        (1, 3, 1) if length >= 216 => SourceAddress::OfSocket,
        // What is proxied here does not come in datagrams, and the other values are not defined.
        _ => return Err(Malformed),
    };
    Ok(Progress::Whole(client))
}

fn first<const N: usize>(octets: &[u8]) -> Result<[u8; N], Malformed> {
    octets.first_chunk().copied().ok_or(Malformed)
}

#[cfg(test)]
mod tests;
