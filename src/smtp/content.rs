//! What the content of a message is refused for: long lines, and too many Received fields.
//!
//! Lines end with CRLF and with nothing else, as everywhere in a message.

use memchr::{memchr_iter, memmem};

/// Measures the lines of one message after DATA (RFC 5321 section 4.5.3.1.6), however its octets are cut. A chunk (RFC
/// 3030) has no lines.
#[derive(Debug)]
pub(super) struct TextLines {
    octets_max: u64,
    /// The octets of the current line.
    octets: u64,
    /// The last octet was a CR.
    has_cr: bool,
}

impl TextLines {
    /// Allows lines of at most so many octets, CRLF included.
    pub(super) const fn new(octets_max: u64) -> Self {
        Self { octets_max, octets: 0, has_cr: false }
    }

    /// The most octets of a line, CRLF included.
    pub(super) const fn octets_max(&self) -> u64 {
        self.octets_max
    }

    /// Takes the next octets; whether all lines so far are short enough.
    pub(super) fn take(&mut self, content: &[u8]) -> bool {
        let mut start = 0;
        for end in memchr_iter(b'\n', content) {
            let is_line_end = if end == 0 { self.has_cr } else { content[end - 1] == b'\r' };
            if is_line_end {
                if self.octets + (end + 1 - start) as u64 > self.octets_max {
                    return false;
                }
                start = end + 1;
                self.octets = 0;
            }
        }
        self.octets += (content.len() - start) as u64;
        self.has_cr = content.last().map_or(self.has_cr, |&last| last == b'\r');
        self.octets <= self.octets_max
    }
}

/// The number of Received fields in the header section: the servers that a message came through (RFC 5321 section 6.3).
/// Reads each octet of the section once and none behind it.
pub(super) fn count_hops(raw: &[u8]) -> usize {
    let mut rest = raw;
    let mut hops = 0;
    while !matches!(rest, [] | [b'\r', b'\n', ..]) {
        hops += usize::from(is_received(rest));
        rest = memmem::find(rest, b"\r\n").map_or(&[], |end| &rest[end + 2..]);
    }
    hops
}

/// Whether a line begins a Received field. Blanks before the colon are obsolete but allowed (RFC 5322 section 4.5).
fn is_received(line: &[u8]) -> bool {
    let Some((name, rest)) = line.split_at_checked(b"Received".len()) else { return false };
    let colon = rest.iter().find(|&&octet| !matches!(octet, b' ' | b'\t'));
    name.eq_ignore_ascii_case(b"Received") && colon == Some(&b':')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn are_short_enough(text: &[u8], cut: usize, octets_max: u64) -> bool {
        let mut lines = TextLines::new(octets_max);
        let (first, second) = text.split_at(cut);
        [first, b"", second].into_iter().all(|content| lines.take(content))
    }

    #[test]
    fn the_longest_line_counts_with_its_crlf_and_only_crlf_ends_it() {
        for (text, longest) in [
            ("", 0),
            ("abc", 3),
            ("abc\r\n", 5),
            ("abc\r\n\r\nabcd\r\nab", 6),
            ("ab\ncd\ref\r\ng", 10),
            ("a\r\r\nb\n\rc", 4),
            ("\n\n\n\r\n", 5),
            ("\r\nabc\r", 4),
        ] {
            for cut in 0..=text.len() {
                assert!(are_short_enough(text.as_bytes(), cut, longest), "{text:?} {cut}");
                assert!(longest == 0 || !are_short_enough(text.as_bytes(), cut, longest - 1), "{text:?} {cut}");
            }
        }
    }

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
            assert_eq!(count_hops(raw.as_bytes()), hops, "{raw:?}");
        }
    }
}
