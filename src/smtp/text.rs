//! The lines of a message after DATA: how long one may be (RFC 5321 section 4.5.3.1.6).
//!
//! They end with CRLF and with nothing else, as commands do. A chunk (RFC 3030) has none.

use memchr::memchr_iter;

/// Measures the lines of one message, however its octets are cut.
#[derive(Debug)]
pub(super) struct TextLines {
    octets_max: u64,
    /// Of the line that has begun.
    octets: u64,
    /// The last octet was a CR.
    has_cr: bool,
}

impl TextLines {
    /// Lines of at most so many octets, CRLF included.
    pub(super) const fn new(octets_max: u64) -> Self {
        Self { octets_max, octets: 0, has_cr: false }
    }

    /// The most octets of a line.
    pub(super) const fn octets_max(&self) -> u64 {
        self.octets_max
    }

    /// Takes what follows of the message; whether all of its lines so far are short enough.
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
}
