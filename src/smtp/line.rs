//! Cuts octets into command lines.
//!
//! Only CRLF ends a line. A line that is too long or has a bare CR or LF is reported once, with its beginning, as soon
//! as this is known. The rest up to its CRLF is dropped, so each CRLF has one reply. BDAT after a bare CR or LF is the
//! exception: its client sends a chunk next, so the line is reported again.

use memchr::memchr2;

/// The longest command line in octets, CRLF included. RFC 5321 section 4.5.3.1.4 asks for 512, and more for extensions;
/// source routes need the rest.
pub(super) const LINE_OCTETS_MAX: usize = 2048;

/// The command before a chunk, whose octets are not lines (RFC 3030 section 2).
pub(super) const BDAT: &[u8] = b"BDAT";

/// The next line of the octets so far.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Framed<'a> {
    /// A complete line without its CRLF.
    Line(&'a [u8]),
    /// The line is too long; this is its beginning.
    TooLong(&'a [u8]),
    /// The line has a bare CR or LF behind this beginning; or before it, if this is [`BDAT`].
    BareEnd(&'a [u8]),
}

/// Cuts octets into command lines. It stores at most one line.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The beginning of an incomplete line.
    partial: Vec<u8>,
    /// `partial` was returned; the next call clears it.
    is_spent: bool,
    /// The last octet was a CR, which may be the first half of a CRLF.
    has_cr: bool,
    /// The line was reported as bad; its other octets are dropped.
    is_bad: bool,
    /// How much of [`BDAT`] follows the last bare CR or LF of the bad line; `None` if other octets follow.
    hidden: Option<usize>,
}

impl Lines {
    /// Whether a line has begun.
    pub(super) const fn has_begun(&self) -> bool {
        self.has_cr || self.is_bad || !(self.is_spent || self.partial.is_empty())
    }

    /// Returns the next line in `input`, and moves `input` behind it. `None`: it is not complete, and all octets are used
    /// up. A line may have `octets_max` octets, CRLF included;
    /// this bound may change between two lines only.
    pub(super) fn next<'line, 'input: 'line>(
        &'line mut self,
        input: &mut &'input [u8],
        octets_max: usize,
    ) -> Option<Framed<'line>> {
        if self.is_spent {
            self.partial.clear();
            self.is_spent = false;
        }
        if self.is_bad {
            match self.drop_line(input) {
                Dropped::Whole => {}
                Dropped::Part => return None,
                Dropped::UpToBdat => return Some(Framed::BareEnd(BDAT)),
            }
        }
        if self.has_cr {
            return self.after_cr(input);
        }
        let room = (octets_max - 2).saturating_sub(self.partial.len());
        let end = memchr2(b'\r', b'\n', input);
        if end.unwrap_or(input.len()) > room {
            self.store(&input[..room]);
            *input = &input[room + 1..];
            return Some(Framed::TooLong(self.bad(None)));
        }
        let Some(end) = end else {
            self.store(input);
            *input = &[];
            return None;
        };
        let (text, rest) = (&input[..end], &input[end + 1..]);
        if input[end] == b'\n' {
            self.store(text);
            *input = rest;
            return Some(Framed::BareEnd(self.bad(Some(0))));
        }
        // The common case: the whole line is in the input and is not copied.
        if let ([b'\n', rest @ ..], true) = (rest, self.partial.is_empty()) {
            *input = rest;
            return Some(Framed::Line(text));
        }
        self.store(text);
        self.has_cr = true;
        *input = rest;
        self.after_cr(input)
    }

    /// Decides whether the last CR belongs to a CRLF.
    fn after_cr(&mut self, input: &mut &[u8]) -> Option<Framed<'_>> {
        match **input {
            [] => None,
            [b'\n', ref rest @ ..] => {
                *input = rest;
                self.has_cr = false;
                self.is_spent = true;
                Some(Framed::Line(&self.partial))
            }
            [..] => {
                self.has_cr = false;
                Some(Framed::BareEnd(self.bad(Some(0))))
            }
        }
    }

    fn store(&mut self, text: &[u8]) {
        self.partial.extend_from_slice(text);
    }

    /// Marks the line as bad, so that the rest of it is dropped; its beginning.
    fn bad(&mut self, hidden: Option<usize>) -> &[u8] {
        self.is_bad = true;
        self.is_spent = true;
        self.hidden = hidden;
        &self.partial
    }

    /// Drops octets up to the bad line's CRLF.
    fn drop_line(&mut self, input: &mut &[u8]) -> Dropped {
        while let [octet, rest @ ..] = *input {
            if self.has_cr && *octet == b'\n' {
                *input = rest;
                self.has_cr = false;
                self.is_bad = false;
                return Dropped::Whole;
            }
            let is_end = matches!(octet, b'\r' | b'\n');
            self.has_cr = *octet == b'\r';
            self.hidden = match self.hidden {
                _ if is_end => Some(0),
                Some(0) if is_blank(*octet) => Some(0),
                Some(seen) if octet.eq_ignore_ascii_case(&BDAT[seen]) => Some(seen + 1),
                _ => None,
            };
            *input = match self.hidden {
                Some(_) => rest,
                None => &rest[memchr2(b'\r', b'\n', rest).unwrap_or(rest.len())..],
            };
            if self.hidden == Some(BDAT.len()) {
                self.hidden = None;
                return Dropped::UpToBdat;
            }
        }
        Dropped::Part
    }
}

/// How much of a bad line was dropped.
enum Dropped {
    /// All of it, with its CRLF.
    Whole,
    /// A part; the rest has not arrived.
    Part,
    /// The part up to a [`BDAT`] behind a bare CR or LF.
    UpToBdat,
}

/// Whether an octet separates the words of a line. Form feed and other control characters do not.
pub(super) const fn is_blank(octet: u8) -> bool {
    matches!(octet, b' ' | b'\t')
}

/// A line without the blanks around it.
pub(super) fn trim_blanks(line: &[u8]) -> &[u8] {
    let end = line.iter().rposition(|&octet| !is_blank(octet)).map_or(0, |last| last + 1);
    trim_blanks_start(&line[..end])
}

/// A part of a line without the blanks before it.
pub(super) fn trim_blanks_start(text: &[u8]) -> &[u8] {
    &text[text.iter().position(|&octet| !is_blank(octet)).unwrap_or(text.len())..]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The lines of all cuts: complete lines as text, the others by name.
    fn frame(cuts: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        for cut in cuts {
            let mut input = *cut;
            while let Some(framed) = lines.next(&mut input, LINE_OCTETS_MAX) {
                match framed {
                    Framed::Line(line) => found.push(line.escape_ascii().to_string()),
                    Framed::TooLong(start) => found.push(format!("<too long> {}", start.escape_ascii())),
                    Framed::BareEnd(start) => found.push(format!("<bare> {}", start.escape_ascii())),
                }
            }
            assert!(input.is_empty());
            assert!(lines.partial.len() <= LINE_OCTETS_MAX);
        }
        found
    }

    #[test]
    fn only_crlf_ends_a_line() {
        for (octets, expected) in [
            ("NOOP\r\nQUIT\r\n", &["NOOP", "QUIT"][..]),
            ("\r\n", &[""]),
            ("NOOP", &[]),
            ("NOOP\r", &[]),
            ("NOOP\nQUIT\r\n", &["<bare> NOOP"]),
            ("NOOP\rQUIT\r\nRSET\r\n", &["<bare> NOOP", "RSET"]),
            ("NOOP\r\r\nRSET\r\n", &["<bare> NOOP", "RSET"]),
            ("NOOP\n\r\nRSET\r\n", &["<bare> NOOP", "RSET"]),
            ("a\nb\nc\rd\r\nRSET\r\n", &["<bare> a", "RSET"]),
            ("\n", &["<bare> "]),
            ("NOOP\nBDAT 2 LAST\r\nhi", &["<bare> NOOP", "<bare> BDAT"]),
            ("NOOP\r\r \tbdat\r\n", &["<bare> NOOP", "<bare> BDAT"]),
            ("NOOP\n\nB\nBDA\rBDATA", &["<bare> NOOP", "<bare> BDAT"]),
            ("NOOP\nBDA T\nXBDAT\nN BDAT\r\nRSET\r\n", &["<bare> NOOP", "RSET"]),
            ("\nBDA\r\nT\r\n", &["<bare> ", "T"]),
        ] {
            assert_eq!(frame(&[octets.as_bytes()]), expected, "{octets:?}");
        }
    }

    #[test]
    fn a_line_may_have_2048_octets() {
        let most = "x".repeat(LINE_OCTETS_MAX - 2);
        assert_eq!(frame(&[format!("{most}\r\n").as_bytes()]), [most.as_str()]);
        let too_long = format!("<too long> {most}");
        assert_eq!(frame(&[format!("{most}yBDAT\nBDAT 2\r\n").as_bytes()]), [&*too_long, "<bare> BDAT"]);
        assert_eq!(frame(&[format!("{most}y\r\nRSET\r\n").as_bytes()]), [&*too_long, "RSET"]);
        assert_eq!(frame(&[format!("{most}\r\n").as_bytes(), b"RSET\r\n"]), [most.as_str(), "RSET"]);
    }

    #[test]
    fn an_endless_line_is_reported_once_and_takes_no_memory() {
        let flood = [b'x'; 5000];
        let cuts = vec![&flood[..]; 100];
        assert_eq!(frame(&cuts), [format!("<too long> {}", "x".repeat(LINE_OCTETS_MAX - 2))]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn cuts_change_nothing(
            pieces in proptest::collection::vec(
                prop_oneof![
                    Just("\r".to_owned()), Just("\n".to_owned()), Just("\r\n".to_owned()), Just("ab".to_owned()),
                    Just("BD".to_owned()), Just("AT".to_owned()),
                    (2040usize..2050).prop_map(|n| "x".repeat(n)),
                ],
                0..12,
            ),
            cuts in proptest::collection::vec(0usize..6000, 0..6),
        ) {
            let octets = pieces.concat().into_bytes();
            let mut ends: Vec<usize> = cuts.into_iter().filter(|&cut| cut <= octets.len()).collect();
            ends.extend([0, octets.len()]);
            ends.sort_unstable();
            let cut: Vec<&[u8]> = ends.windows(2).map(|ends| &octets[ends[0]..ends[1]]).collect();
            let single: Vec<&[u8]> = octets.chunks(1).collect();
            let whole = frame(&[&octets]);
            prop_assert_eq!(&frame(&cut), &whole);
            prop_assert_eq!(&frame(&single), &whole);
        }
    }
}
