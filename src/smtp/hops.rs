//! How many servers a message has come through: its Received fields (RFC 5321 section 6.3).

use memchr::memmem;

/// How many lines of the header section begin a Received field. Reads each octet of that section once and none behind it.
/// Lines end with CRLF and with nothing else, as everywhere in a message; who takes one in adds its field with CRLF.
pub(super) fn count(raw: &[u8]) -> usize {
    let mut rest = raw;
    let mut hops = 0;
    while !matches!(rest, [] | [b'\r', b'\n', ..]) {
        hops += usize::from(is_received(rest));
        rest = memmem::find(rest, b"\r\n").map_or(&[], |end| &rest[end + 2..]);
    }
    hops
}

/// Blanks before the colon are obsolete and still read (RFC 5322 section 4.5).
fn is_received(line: &[u8]) -> bool {
    let Some((name, rest)) = line.split_at_checked(b"Received".len()) else { return false };
    let colon = rest.iter().find(|&&octet| !matches!(octet, b' ' | b'\t'));
    name.eq_ignore_ascii_case(b"Received") && colon == Some(&b':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn received_fields_of_the_header_section_are_hops() {
        for (raw, hops) in [
            ("", 0),
            ("Received: a", 1),
            ("Received: a\r\nRECEIVED: b\r\nreceived : c\r\n\r\n", 3),
            ("Received: a\r\n\tby b\r\n Received: c\r\nX: Received: d\r\n", 1),
            ("Received-SPF: a\r\nReceive: b\r\nReceived\r\n", 0),
            ("\r\nReceived: a\r\n", 0),
            ("Received: a\r\n\r\nReceived: b\r\n", 1),
            ("Received: a\n\nReceived: b\n", 1),
            ("Received: a\nReceived: b\n", 1),
            ("X: a\n\nb\r\nReceived: c\r\n", 1),
            ("\nReceived: a\r\nReceived: b\r\n", 1),
            ("X: a\rReceived: b\r\n", 0),
        ] {
            assert_eq!(count(raw.as_bytes()), hops, "{raw:?}");
        }
    }
}
