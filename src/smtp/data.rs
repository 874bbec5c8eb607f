//! The octets between DATA and the final dot (RFC 5321 section 4.5.2).
//!
//! Only CRLF.CRLF ends a message, and only a dot right after CRLF is removed. Every other octet is content and
//! unchanged, including bare CR, bare LF and NUL. If a server accepts other line ends than the sender, an attacker can
//! hide a second message in the first.

use memchr::memchr_iter;

/// Removes the dot-stuffing from one message, which arrives in pieces of any size.
#[derive(Debug, Default)]
pub struct Decoder {
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// The start of a line, which is also the state after DATA.
    #[default]
    LineStart,
    /// After a dot at the start of a line.
    Dot,
    /// After a CR that follows such a dot. The CR is content unless LF follows.
    DotCr,
    /// After a CR within a line, which was passed on.
    Cr,
    /// Within a line.
    Text,
}

impl Decoder {
    /// Passes the content of `input` on to `sink`, and advances `input`.
    ///
    /// Returns `true` if the message has ended; `input` then begins after it. Returns `false` if all of `input` was
    /// read.
    pub fn decode(&mut self, input: &mut &[u8], mut sink: impl FnMut(&[u8])) -> bool {
        while let Some((&first, rest)) = input.split_first() {
            (self.state, *input) = match (self.state, first) {
                (State::LineStart, b'.') => (State::Dot, rest),
                (State::Dot, b'\r') => (State::DotCr, rest),
                (State::DotCr, b'\n') => {
                    *input = rest;
                    self.state = State::LineStart;
                    return true;
                }
                (State::DotCr, _) => {
                    sink(b"\r");
                    (State::Cr, *input)
                }
                (State::Cr, b'\n') => {
                    sink(b"\n");
                    (State::LineStart, rest)
                }
                (State::LineStart | State::Dot | State::Cr | State::Text, _) => text(input, &mut sink),
            };
        }
        false
    }
}

/// Passes on all octets before the next dot at the start of a line.
fn text<'a>(input: &'a [u8], sink: &mut impl FnMut(&[u8])) -> (State, &'a [u8]) {
    let is_dotted = |&at: &usize| at > 0 && input[at - 1] == b'\r' && input.get(at + 1) == Some(&b'.');
    if let Some(at) = memchr_iter(b'\n', input).find(is_dotted) {
        let (content, rest) = input.split_at(at + 1);
        sink(content);
        return (State::LineStart, rest);
    }
    sink(input);
    let state = match input {
        [.., b'\r', b'\n'] => State::LineStart,
        [.., b'\r'] => State::Cr,
        _ => State::Text,
    };
    (state, &[])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The content, with the octets after the end; `None` instead of them if there is no end.
    fn decode(cuts: &[&[u8]]) -> (Vec<u8>, Option<Vec<u8>>) {
        let mut decoder = Decoder::default();
        let mut content = Vec::new();
        for (index, cut) in cuts.iter().enumerate() {
            let mut input = *cut;
            if decoder.decode(&mut input, |octets| content.extend_from_slice(octets)) {
                let rest = [input, &cuts[index + 1..].concat()].concat();
                return (content, Some(rest));
            }
            assert!(input.is_empty());
        }
        (content, None)
    }

    /// The rules of RFC 5321 section 4.5.2, applied to a whole message one octet at a time.
    fn reference(wire: &[u8]) -> (Vec<u8>, Option<Vec<u8>>) {
        let mut content = Vec::new();
        let mut at = 0;
        let mut is_line_start = true;
        while at < wire.len() {
            let rest = &wire[at..];
            if is_line_start && rest.starts_with(b".\r\n") {
                return (content, Some(rest[3..].to_vec()));
            }
            // These octets may be the beginning of the end.
            if is_line_start && (rest == b"." || rest == b".\r") {
                return (content, None);
            }
            if is_line_start && rest[0] == b'.' {
                at += 1;
                is_line_start = false;
                continue;
            }
            content.push(rest[0]);
            at += 1;
            // The CR of this CRLF may be the octet after a removed dot, but never the octet before the message.
            is_line_start = wire[..at].ends_with(b"\r\n");
        }
        (content, None)
    }

    #[test]
    fn dots_are_unstuffed_and_the_final_one_ends() {
        for (wire, content, rest) in [
            (&b".\r\n"[..], &b""[..], &b""[..]),
            (b".\r\nQUIT\r\n", b"", b"QUIT\r\n"),
            (b"a\r\n.\r\nRSET\r\n", b"a\r\n", b"RSET\r\n"),
            (b"..\r\n.\r\n", b".\r\n", b""),
            (b"...a\r\n.b\r\n.\r\n", b"..a\r\nb\r\n", b""),
            (b"\r\n\r\n.\r\n", b"\r\n\r\n", b""),
            (b"\r\r\n.\r\n", b"\r\r\n", b""),
        ] {
            assert_eq!(
                decode(&[wire]),
                (content.to_vec(), Some(rest.to_vec())),
                "{:?}",
                wire.escape_ascii().to_string()
            );
        }
    }

    /// Each of these sequences ends a message for some other server. Here it is content.
    #[test]
    fn nothing_but_crlf_dot_crlf_ends_a_message() {
        for sequence in [
            "\n.\r\n",
            "\n.\n",
            "\r\n.\n",
            "\r.\r",
            "\r\n.\r",
            "\r.\r\n",
            "\n.\r",
            "\n\n.\r\n",
            "\r\r.\r\n",
            "\r\n.\r\r\n",
            "\r\n\0.\r\n",
            "\r\n.\0\r\n",
            "\r\0\n.\r\n",
            "\r\n.\r\0\n",
            "\r\n. \r\n",
            "\r\n .\r\n",
            "\0\r\n.\n",
            "\r\n..\r\n",
            "\r\n.\n.\n",
            "\n.\n\r\n.\n",
            "\u{85}.\u{85}",
            "\u{2028}.\u{2028}",
        ] {
            let wire = format!("a{sequence}MAIL FROM:<x@example.test>\r\n");
            let (content, rest) = decode(&[wire.as_bytes()]);
            assert_eq!(rest, None, "{sequence:?}");
            // Only a dot after a true CRLF is dot-stuffing and is removed.
            assert_eq!(content, wire.replace("\r\n.", "\r\n").into_bytes(), "{sequence:?}");
        }
    }

    #[test]
    fn other_line_ends_stay_octet_for_octet() {
        let wire = b"a\nb\rc\0d\xff\n.\ne\r.\r\r\n.\r\n";
        assert_eq!(decode(&[wire]), (b"a\nb\rc\0d\xff\n.\ne\r.\r\r\n".to_vec(), Some(Vec::new())));
    }

    /// Octets that nearly always belong to a line end.
    fn wire() -> impl Strategy<Value = Vec<u8>> {
        let octet = prop_oneof![4 => Just(b'\r'), 4 => Just(b'\n'), 4 => Just(b'.'), 1 => Just(0), 1 => Just(b'a')];
        proptest::collection::vec(octet, 0..40)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_octets_in_any_cut_decode_as_the_rules_say(wire in wire(), cuts in proptest::collection::vec(0usize..40, 0..6)) {
            let mut ends: Vec<usize> = cuts.into_iter().filter(|&cut| cut <= wire.len()).collect();
            ends.extend([0, wire.len()]);
            ends.sort_unstable();
            let pieces: Vec<&[u8]> = ends.windows(2).map(|ends| &wire[ends[0]..ends[1]]).collect();
            prop_assert_eq!(decode(&pieces), reference(&wire));
        }

        #[test]
        fn stuffed_content_is_decoded_to_the_original(content in wire()) {
            let mut stuffed = Vec::new();
            for line in content.split_inclusive(|&octet| octet == b'\n') {
                let is_after_crlf = stuffed.is_empty() || stuffed.ends_with(b"\r\n");
                stuffed.extend_from_slice(if is_after_crlf && line[0] == b'.' { b"." } else { b"" });
                stuffed.extend_from_slice(line);
            }
            let mut sent = content.clone();
            if !sent.is_empty() && !sent.ends_with(b"\r\n") {
                sent.extend_from_slice(b"\r\n");
                stuffed.extend_from_slice(b"\r\n");
            }
            stuffed.extend_from_slice(b".\r\nNOOP\r\n");
            prop_assert_eq!(decode(&[&stuffed]), (sent, Some(b"NOOP\r\n".to_vec())));
        }
    }
}
