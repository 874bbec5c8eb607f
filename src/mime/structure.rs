//! The parts of a message, and its body (RFC 2046 section 5.1, RFC 8621 section 4.1.4).
//!
//! One pass over the lines keeps a stack of the open multiparts, without recursion. Its time is linear in the size of
//! the message, and [`limits`](super::limits) bounds its memory. A message within the message is an attachment and is
//! not parsed.

use super::fields::{Line, Section};
use super::limits::{NESTING_MAX, PARTS_MAX};
use super::part::{Multipart, Part};

/// A part without parts of its own, with its encoded octets.
#[derive(Debug)]
pub(super) struct Leaf<'a> {
    pub(super) part: Part,
    /// Its number among all parts (RFC 9051 section 6.4.5.1), such as `1.2`; `0` if it is the whole message.
    pub(super) number: String,
    /// The position of its octets in the message.
    pub(super) start: usize,
    pub(super) octets: &'a [u8],
}

/// The leaves in their order, and the indexes of those in the body.
#[derive(Debug, Default)]
pub(super) struct Structure<'a> {
    pub(super) leaves: Vec<Leaf<'a>>,
    /// The body as HTML, which may also have plain text parts.
    pub(super) html: Vec<usize>,
    /// The body as plain text, which may also have HTML parts.
    pub(super) text: Vec<usize>,
}

impl<'a> Structure<'a> {
    /// The leaves outside the body, each with its position among them.
    pub(super) fn attachments(&self) -> impl Iterator<Item = (usize, &Leaf<'a>)> {
        let mut is_body = vec![false; self.leaves.len()];
        for &index in self.html.iter().chain(&self.text) {
            is_body[index] = true;
        }
        self.leaves.iter().zip(is_body).filter(|(_, is_body)| !is_body).map(|(leaf, _)| leaf).enumerate()
    }
}

/// A multipart whose end has not been read.
#[derive(Debug)]
struct Frame {
    boundary: Vec<u8>,
    kind: Multipart,
    /// The position of its content.
    start: usize,
    /// The number of its parts so far.
    children: usize,
    /// Whether it is an alternative, or is in one at any depth.
    in_alternative: bool,
    /// Whether further parts of it may belong to the body in this form.
    wants_html: bool,
    wants_text: bool,
    /// The lengths of the lists of [`Structure`] when it began.
    html_before: usize,
    text_before: usize,
}

#[derive(Debug)]
struct Walk<'a> {
    raw: &'a [u8],
    frames: Vec<Frame>,
    /// The leaf being read, and the position of its octets.
    open: Option<(Part, usize)>,
    structure: Structure<'a>,
}

/// Reads the structure of the message `raw` with the header section `section`.
pub(super) fn read<'a>(raw: &'a [u8], section: &Section<'a>) -> Structure<'a> {
    let mut walk = Walk { raw, frames: Vec::new(), open: None, structure: Structure::default() };
    walk.begin(Part::of(section, Multipart::Mixed), section.body_start);
    let mut parts = 1;
    // An open multipart ends with the message.
    let mut end = raw.len();
    let mut at = section.body_start;
    while let (false, Some(line)) = (walk.frames.is_empty(), Line::at(raw, at)) {
        at = line.next;
        let Some((depth, is_last)) = walk.delimiter(line.text) else { continue };
        walk.end_parts_within(depth, line.start);
        if is_last {
            walk.close_frame(line.start);
            continue;
        }
        if parts == PARTS_MAX {
            end = line.start;
            break;
        }
        parts += 1;
        let section = Section::read(raw, at, |text| walk.delimiter(text).is_some());
        at = section.body_start;
        let kind = walk.frames.last().map(|frame| frame.kind).unwrap_or_default();
        walk.begin(Part::of(&section, kind), section.body_start);
    }
    walk.end_parts_within(0, end);
    walk.close_frame(end);
    walk.structure
}

impl Walk<'_> {
    /// The depth of the innermost open multipart that the line delimits, and whether it is the last delimiter.
    fn delimiter(&self, line: &[u8]) -> Option<(usize, bool)> {
        let rest = line.strip_prefix(b"--")?;
        self.frames.iter().enumerate().rev().find_map(|(depth, frame)| {
            match rest.strip_prefix(frame.boundary.as_slice())?.trim_ascii_end() {
                b"" => Some((depth, false)),
                b"--" => Some((depth, true)),
                _ => None,
            }
        })
    }

    /// Begins a part with its content at `start`.
    fn begin(&mut self, mut part: Part, start: usize) {
        if let Some(frame) = self.frames.last_mut() {
            frame.children += 1;
        }
        let Some(kind) = part.multipart() else {
            self.open = Some((part, start));
            return;
        };
        let Some(boundary) = part.boundary.take().filter(|_| self.frames.len() < NESTING_MAX) else {
            self.open = Some((Part::plain_text(), start));
            return;
        };
        let parent = self.frames.last();
        self.frames.push(Frame {
            boundary,
            kind,
            start,
            children: 0,
            in_alternative: kind == Multipart::Alternative || parent.is_some_and(|parent| parent.in_alternative),
            wants_html: parent.is_none_or(|parent| parent.wants_html),
            wants_text: parent.is_none_or(|parent| parent.wants_text),
            html_before: self.structure.html.len(),
            text_before: self.structure.text.len(),
        });
    }

    /// Ends all open parts within the multipart at `depth`. Their content ends at `end`.
    fn end_parts_within(&mut self, depth: usize, end: usize) {
        if let Some((part, start)) = self.open.take() {
            self.add(part, start, end);
        }
        while self.frames.len() > depth + 1 {
            self.close_frame(end);
        }
    }

    /// Closes the innermost multipart.
    fn close_frame(&mut self, end: usize) {
        let Some(frame) = self.frames.pop() else { return };
        if frame.children == 0 {
            // Without any delimiter it has no parts, so it is shown as text.
            self.add(Part::plain_text(), frame.start, end);
        } else if frame.kind == Multipart::Alternative && frame.wants_html && frame.wants_text {
            let Structure { html, text, .. } = &mut self.structure;
            if html.len() == frame.html_before {
                html.extend_from_slice(&text[frame.text_before..]);
            } else if text.len() == frame.text_before {
                text.extend_from_slice(&html[frame.html_before..]);
            }
        }
    }

    /// Adds a leaf, and decides whether it belongs to the body (RFC 8621 section 4.1.4).
    fn add(&mut self, part: Part, start: usize, end: usize) {
        let Structure { leaves, html, text } = &mut self.structure;
        let index = leaves.len();
        let is_html = part.is_html().filter(|_| !part.is_attachment);
        match (self.frames.last_mut(), is_html) {
            (_, None) => {}
            (None, Some(_)) => {
                html.push(index);
                text.push(index);
            }
            (Some(Frame { kind: Multipart::Alternative, .. }), Some(is_html)) => {
                if is_html { &mut *html } else { &mut *text }.push(index);
            }
            (Some(frame), Some(is_html)) => {
                if frame.children <= 1 || (frame.kind != Multipart::Related && part.filename.is_none()) {
                    if frame.in_alternative {
                        *(if is_html { &mut frame.wants_text } else { &mut frame.wants_html }) = false;
                    }
                    if frame.wants_html {
                        html.push(index);
                    }
                    if frame.wants_text {
                        text.push(index);
                    }
                }
            }
        }
        let number = match self.frames.as_slice() {
            [] => "0".to_owned(),
            frames => frames.iter().map(|frame| frame.children.to_string()).collect::<Vec<_>>().join("."),
        };
        leaves.push(Leaf { part, number, start, octets: content(self.raw, start, end) });
    }
}

/// The octets from `start` to `end`, without a line end before a delimiter. It belongs to the delimiter (RFC 2046
/// section 5.1.1).
fn content(raw: &[u8], start: usize, end: usize) -> &[u8] {
    let octets = raw.get(start..end).unwrap_or_default();
    if end == raw.len() {
        return octets;
    }
    let octets = octets.strip_suffix(b"\n").unwrap_or(octets);
    octets.strip_suffix(b"\r").unwrap_or(octets)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    /// The leaves as `type=octets`, and the two lists.
    fn structure(raw: &str) -> (Vec<String>, Vec<usize>, Vec<usize>) {
        let section = Section::read(raw.as_bytes(), 0, |_| false);
        let Structure { leaves, html, text } = read(raw.as_bytes(), &section);
        let show = |leaf: &Leaf<'_>| format!("{}={}", leaf.part.content_type, String::from_utf8_lossy(leaf.octets));
        (leaves.iter().map(show).collect(), html, text)
    }

    /// A multipart of `parts`, each with its header section.
    fn multipart(kind: &str, boundary: &str, parts: &[&str]) -> String {
        let mut text = format!("Content-Type: multipart/{kind}; boundary={boundary}\n\npreamble\n");
        for part in parts {
            let _ = write!(text, "--{boundary}\n{part}\n");
        }
        text + &format!("--{boundary}--\n")
    }

    const TEXT: &str = "Content-Type: text/plain\n\ntext";
    const HTML: &str = "Content-Type: text/html\n\n<b>";
    const IMAGE: &str = "Content-Type: image/png\n\npng";

    #[test]
    fn a_message_without_parts_is_one_leaf() {
        assert_eq!(structure("A: 1\r\n\r\nbody\r\n"), (vec!["text/plain=body\r\n".into()], vec![0], vec![0]));
        assert_eq!(structure(""), (vec!["text/plain=".into()], vec![0], vec![0]));
        assert_eq!(structure("Content-Type: image/png\n\npng").1, Vec::<usize>::new());
        assert_eq!(structure("Content-Disposition: attachment\n\ntext").1, Vec::<usize>::new());
    }

    #[test]
    fn the_body_is_chosen_as_rfc_8621_says() {
        let related = multipart("related", "r", &[HTML, IMAGE]);
        let alternative = multipart("alternative", "a", &[TEXT, &related]);
        let named = "Content-Type: text/plain; name=a.txt\n\nattached";
        for (raw, leaves, html, text) in [
            (multipart("alternative", "a", &[TEXT, HTML]), 2, vec![1], vec![0]),
            (multipart("alternative", "a", &[TEXT]), 1, vec![0], vec![0]),
            (multipart("alternative", "a", &[HTML]), 1, vec![0], vec![0]),
            (multipart("mixed", "m", &[&alternative, IMAGE, TEXT]), 5, vec![1, 4], vec![0, 4]),
            (multipart("mixed", "m", &[TEXT, named, IMAGE]), 3, vec![0], vec![0]),
            (multipart("mixed", "m", &[named]), 1, vec![0], vec![0]),
            (multipart("related", "r", &[HTML, TEXT]), 2, vec![0], vec![0]),
            (multipart("mixed", "m", &[HTML, TEXT]), 2, vec![0, 1], vec![0, 1]),
            (multipart("mixed", "m", &[]), 1, vec![0], vec![0]),
        ] {
            let (found, found_html, found_text) = structure(&raw);
            assert_eq!((found.len(), found_html, found_text), (leaves, html, text), "{raw}");
        }
    }

    #[test]
    fn leaves_have_the_numbers_of_rfc_9051() {
        let related = multipart("related", "r", &[HTML, IMAGE]);
        let alternative = multipart("alternative", "a", &[TEXT, &related]);
        for (raw, expected) in [
            (multipart("mixed", "m", &[&alternative, IMAGE, &multipart("mixed", "e", &[])]), "1.1 1.2.1 1.2.2 2 3"),
            (multipart("mixed", "m", &[TEXT, &format!("Content-Type: message/rfc822\n\n{related}")]), "1 2"),
            // It ends with the one around it.
            (multipart("mixed", "m", &["Content-Type: multipart/mixed; boundary=b\n\n--b\n\none", TEXT]), "1.1 2"),
            (TEXT.to_owned(), "0"),
        ] {
            let structure = read(raw.as_bytes(), &Section::read(raw.as_bytes(), 0, |_| false));
            let numbers: Vec<_> = structure.leaves.iter().map(|leaf| leaf.number.as_str()).collect();
            assert_eq!(numbers.join(" "), expected, "{raw}");
        }
    }

    #[test]
    fn boundaries_that_begin_alike_are_distinguished() {
        let inner = multipart("mixed", "ab", &[TEXT, "\n--abc\n--a b\nx"]);
        let (leaves, ..) = structure(&multipart("mixed", "a", &[&inner, IMAGE]));
        assert_eq!(leaves, ["text/plain=text", "text/plain=--abc\n--a b\nx", "image/png=png"]);
    }

    #[test]
    fn what_is_not_closed_ends_where_the_outer_part_does() {
        let inner = "Content-Type: multipart/mixed; boundary=b\n\n--b\n\none\n--b\n\ntwo";
        let (leaves, ..) = structure(&multipart("mixed", "a", &[inner, TEXT]));
        assert_eq!(leaves, ["text/plain=one", "text/plain=two", "text/plain=text"]);
        assert_eq!(structure(&format!("{inner}\n")).0, ["text/plain=one", "text/plain=two\n"]);
        assert_eq!(structure("Content-Type: multipart/mixed; boundary=b\n\n--b\nA: 1").0, ["text/plain="]);
        assert_eq!(structure("Content-Type: multipart/mixed; boundary=b\n\n--b\nA: 1\n--b--\n").0, ["text/plain="]);
    }

    #[test]
    fn a_multipart_that_cannot_be_taken_apart_is_text() {
        for raw in [
            "Content-Type: multipart/mixed\n\nall of it",
            "Content-Type: multipart/mixed; boundary=b\n\nall of it",
            "Content-Type: multipart/mixed; boundary=b\nContent-Transfer-Encoding: base64\n\nall of it",
        ] {
            assert_eq!(structure(raw), (vec!["text/plain=all of it".into()], vec![0], vec![0]));
        }
    }

    #[test]
    fn a_message_within_is_not_opened() {
        let within = format!("Content-Type: message/rfc822\n\n{}", multipart("mixed", "z", &[TEXT]));
        let (leaves, html, _) = structure(&multipart("mixed", "a", &[TEXT, &within]));
        assert_eq!((leaves.len(), html), (2, vec![0]));
        assert_eq!(structure(&multipart("digest", "a", &["\nA: 1\n\nx"])).0, ["message/rfc822=A: 1\n\nx"]);
    }

    #[test]
    fn parts_and_nesting_are_bounded() {
        let raw = format!("Content-Type: multipart/mixed; boundary=b\n\n{}", "--b\n\nx\n".repeat(3 * PARTS_MAX));
        assert_eq!(structure(&raw).0.len(), PARTS_MAX - 1);
        let mut raw = String::new();
        for depth in 0..3 * NESTING_MAX {
            let _ = write!(raw, "Content-Type: multipart/mixed; boundary=b{depth}\n\n--b{depth}\n");
        }
        let (leaves, html, _) = structure(&raw);
        assert_eq!((leaves.len(), html), (1, vec![0]));
        assert!(leaves[0].contains(&format!("--b{}\n", 3 * NESTING_MAX - 1)), "the rest is shown as text");
    }
}
