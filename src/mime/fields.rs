//! Lines and header fields (RFC 5322 section 2.2).
//!
//! A line ends with LF, with or without a CR before it. Some programs send mail with bare LF, and SMTP accepts it as
//! content.

use std::borrow::Cow;

use mail_parser::DateTime;
use mail_parser::parsers::MessageStream;
use memchr::memmem;

use super::addresses::{self, NamedAddress};
use super::charset;
use super::limits::{FIELD_OCTETS_MAX, HEADER_SECTION_OCTETS_MAX};

/// A line without its end, with the positions of its start and of the next line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    pub(super) text: &'a [u8],
    pub(super) start: usize,
    pub(super) next: usize,
}

impl<'a> Line<'a> {
    /// The line of `raw` that begins at `start`; `None` at the end of `raw`.
    pub(super) fn at(raw: &'a [u8], start: usize) -> Option<Self> {
        let rest = raw.get(start..).filter(|rest| !rest.is_empty())?;
        let (length, next) = match memchr::memchr(b'\n', rest) {
            Some(position) => (position, start + position + 1),
            None => (rest.len(), raw.len()),
        };
        let text = &rest[..length];
        Some(Self { text: text.strip_suffix(b"\r").unwrap_or(text), start, next })
    }
}

/// A header field with its name and its folded value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field<'a> {
    pub(super) name: &'a str,
    pub(super) value: &'a [u8],
}

/// The header fields of a message or part, and the position of its body.
#[derive(Debug, Default)]
pub(super) struct Section<'a> {
    pub(super) fields: Vec<Field<'a>>,
    pub(super) body_start: usize,
}

impl<'a> Section<'a> {
    /// Reads the section that begins at `start`.
    ///
    /// The section ends with an empty line. It also ends before a line that `is_end` accepts, and before the first
    /// line that is not a field. So a message that begins with its text has no fields, as in Postfix.
    pub(super) fn read(raw: &'a [u8], start: usize, is_end: impl Fn(&[u8]) -> bool) -> Self {
        let mut fields: Vec<Field<'a>> = Vec::new();
        let mut is_in_field = false;
        let mut value_start = start;
        let mut at = start;
        while let Some(line) = Line::at(raw, at) {
            if line.text.is_empty() {
                return Self { fields, body_start: line.next };
            }
            if is_end(line.text) {
                break;
            }
            let end = line.start + line.text.len();
            // Fields beyond the limit are skipped. They do not belong to the body.
            let is_read = end - start <= HEADER_SECTION_OCTETS_MAX;
            if is_in_field && matches!(line.text[0], b' ' | b'\t') {
                if let (true, Some(field)) = (is_read, fields.last_mut()) {
                    field.value = &raw[value_start..end];
                }
            } else if let Some((name, value)) = split(line.text) {
                is_in_field = true;
                value_start = end - value.len();
                if is_read {
                    fields.push(Field { name, value });
                }
            } else if line.start != start || !line.text.starts_with(b"From ") {
                // Files in the format mbox have a first line that begins with `From `, which is skipped.
                break;
            }
            at = line.next;
        }
        Self { fields, body_start: at }
    }

    /// The fields with this name, ignoring case.
    pub(super) fn named(&self, name: &str) -> impl Iterator<Item = &Field<'a>> {
        self.fields.iter().filter(move |field| field.name.eq_ignore_ascii_case(name))
    }

    /// The first of them.
    pub(super) fn first(&self, name: &str) -> Option<&Field<'a>> {
        self.named(name).next()
    }
}

/// Splits the first line of a field into name and value. Spaces before the colon are obsolete syntax and allowed.
fn split(line: &[u8]) -> Option<(&str, &[u8])> {
    let colon = memchr::memchr(b':', line)?;
    let name = line[..colon].trim_ascii_end();
    if name.is_empty() || !name.iter().all(u8::is_ascii_graphic) {
        return None;
    }
    Some((str::from_utf8(name).ok()?, &line[colon + 1..]))
}

impl Field<'_> {
    /// The first `octets_max` octets of the value, on one line.
    pub(super) fn unfolded(&self, octets_max: usize) -> Cow<'_, [u8]> {
        if self.value.len() <= octets_max && memchr::memchr2(b'\r', b'\n', self.value).is_none() {
            return self.value.trim_ascii().into();
        }
        let mut line: Vec<u8> =
            self.value.iter().copied().filter(|octet| !matches!(octet, b'\r' | b'\n')).take(octets_max).collect();
        line.truncate(line.trim_ascii_end().len());
        line.drain(..line.len() - line.trim_ascii_start().len());
        line.into()
    }

    /// The value as text on one line, with encoded words decoded (RFC 2047) and control characters replaced by spaces.
    pub(super) fn text(&self) -> String {
        let value = self.unfolded(HEADER_SECTION_OCTETS_MAX);
        if value.len() <= FIELD_OCTETS_MAX {
            visible(decode_words(&value))
        } else {
            visible(charset::decode(&value, None).into_owned())
        }
    }

    /// The mailboxes in the value: the decoded display name, and the address.
    pub(super) fn mailboxes(&self) -> Vec<NamedAddress> {
        let value = self.unfolded(FIELD_OCTETS_MAX);
        let mailboxes = addresses::mailboxes(&charset::decode(&value, None)).into_iter();
        let named =
            mailboxes.map(|(name, address)| NamedAddress { name: visible(decode_words(name.as_bytes())), address });
        named.collect()
    }

    /// The point in time in the value (RFC 5322 section 3.3), in milliseconds since the Unix epoch; `None` if there is none.
    pub(super) fn date_millis(&self) -> Option<i64> {
        let value = terminated(self.unfolded(FIELD_OCTETS_MAX).into_owned());
        let date = MessageStream::new(&value).parse_date().into_datetime().filter(DateTime::is_valid)?;
        date.to_timestamp().checked_mul(1000)
    }
}

/// Decodes the encoded words in `value` (RFC 2047). Blanks between two of them are dropped, and nothing is added.
///
/// Against section 5, an encoded word may be a part of a longer word, since some programs write it so.
fn decode_words(value: &[u8]) -> String {
    let mut text = String::with_capacity(value.len());
    let (mut is_after_word, mut plain_start, mut at) = (false, 0, 0);
    while let Some(distance) = memmem::find(&value[at..], b"=?") {
        let start = at + distance;
        let mut stream = MessageStream::new(&value[start + 1..]);
        let Some(word) = stream.decode_rfc2047() else {
            at = start + 2;
            continue;
        };
        let plain = &value[plain_start..start];
        if !(is_after_word && plain.trim_ascii().is_empty()) {
            text.push_str(&charset::decode(plain, None));
        }
        text.push_str(&word);
        plain_start = start + 1 + stream.offset();
        (is_after_word, at) = (true, plain_start);
    }
    text.push_str(&charset::decode(&value[plain_start..], None));
    text
}

/// Adds the line end that mail-parser expects after a field.
pub(super) fn terminated(mut value: Vec<u8>) -> Vec<u8> {
    value.push(b'\n');
    value
}

/// Replaces each control character by a space. An encoded word can hold line ends, which are dangerous in a header or
/// on a terminal.
pub(super) fn visible(text: String) -> String {
    if !text.contains(char::is_control) {
        return text;
    }
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(raw: &[u8]) -> (Vec<(String, String)>, usize) {
        let section = Section::read(raw, 0, |_| false);
        let fields = section.fields.iter().map(|field| (field.name.to_owned(), field.text())).collect();
        (fields, section.body_start)
    }

    fn text(value: &str) -> String {
        read(format!("X: {value}\r\n\r\n").as_bytes()).0.remove(0).1
    }

    #[test]
    fn fields_come_unfolded_and_in_order() {
        let raw = b"From ann Thu Jan  1\nA: 1\r\nB :\r\n two\r\n\tthree \r\nA: 4\r\n\r\nbody";
        let (fields, body_start) = read(raw);
        let expected = [("A", "1"), ("B", "two three"), ("A", "4")];
        assert_eq!(fields, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(&raw[body_start..], b"body");
    }

    #[test]
    fn the_first_line_that_is_no_field_begins_the_body() {
        for (raw, body) in [
            (&b"hello world\r\nA: 1\r\n"[..], &b"hello world\r\nA: 1\r\n"[..]),
            (b"A: 1\nno field\n", b"no field\n"),
            (b" A: 1\n", b" A: 1\n"),
            (b"A: 1", b""),
            (b"\r\nA: 1", b"A: 1"),
            (b"", b""),
            (b"\xff\xfe: 1\n", b"\xff\xfe: 1\n"),
        ] {
            assert_eq!(&raw[read(raw).1..], body, "{}", String::from_utf8_lossy(raw));
        }
    }

    #[test]
    fn fields_beyond_the_bound_are_skipped_and_the_body_is_still_found() {
        let mut raw = b"A: 1\r\n".repeat(HEADER_SECTION_OCTETS_MAX / 6 + 1_000);
        raw.extend_from_slice(b" folded\r\n\r\nbody");
        let (fields, body_start) = read(&raw);
        assert_eq!(fields.len(), HEADER_SECTION_OCTETS_MAX.div_ceil(6));
        assert_eq!(&raw[body_start..], b"body");
    }

    #[test]
    fn encoded_words_and_raw_octets_become_text() {
        for (value, expected) in [
            ("=?utf-8?q?Gr=C3=BC=C3=9Fe?= an alle", "Grüße an alle"),
            ("=?utf-8?B?w6Q=?= =?utf-8?B?w7Y=?=", "äö"),
            ("=?shift_jis?B?g26DjYFb?=", "ハロー"),
            ("=?utf-8?q?a=0D=0ABcc:_x?=", "a  Bcc: x"),
            ("=?nonsense", "=?nonsense"),
            ("Gr=?utf-8?q?=C3=BC=C3=9Fe?=", "Grüße"),
            ("=?utf-8?q?Gr=C3=BC=C3=9Fe?=!  Bye", "Grüße!  Bye"),
            ("=?utf-8?q?=C3=A4?==?utf-8?q?=C3=B6?=", "äö"),
            ("a =?utf-8?q?b?=  =?utf-8?q?c?= d", "a bc d"),
            ("=?=?utf-8?q?=C3=A4?=", "=?ä"),
            ("=?utf-8?q?=C3=A4", "=?utf-8?q?=C3=A4"),
            ("grün", "grün"),
            ("", ""),
        ] {
            assert_eq!(text(value), expected, "{value}");
        }
        assert_eq!(read(b"X: gr\xfcn\n\n").0[0].1, "grün");
        let long = format!("=?utf-8?q?a?= {}", "x".repeat(FIELD_OCTETS_MAX));
        assert_eq!(text(&long), long);
    }
}
