//! The header fields, the body and the parts of a message as MailHog splits them: nothing is decoded.

use std::borrow::Cow;
use std::collections::BTreeMap;

use memchr::memmem;
use serde::Serialize;

use crate::http::compat::fields;

/// How deep parts within parts are split. Each level repeats the octets of the one above.
const NESTING_MAX: usize = 4;
/// The most parts of a multipart. The rest is left out.
const PARTS_MAX: usize = 200;

/// A message, or a part of one.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Content<'a> {
    headers: BTreeMap<String, Vec<String>>,
    body: Cow<'a, str>,
    /// The octets of header and body.
    size: usize,
    /// The parts of a part; null if it has none. Those of the message are beside its content.
    #[serde(rename = "MIME")]
    mime: Option<Parts<'a>>,
    #[serde(skip)]
    body_octets: &'a [u8],
}

/// The parts of a multipart.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Parts<'a> {
    parts: Vec<Content<'a>>,
}

impl<'a> Content<'a> {
    /// The content of a whole message, without its parts.
    pub(super) fn of(octets: &'a [u8]) -> Self {
        let (head, body_octets) = split(octets);
        let headers = fields::by_name(head, str::to_owned);
        Self { headers, body: String::from_utf8_lossy(body_octets), size: octets.len(), mime: None, body_octets }
    }

    /// The parts of the message, if it is a multipart.
    pub(super) fn parts(&self) -> Option<Parts<'a>> {
        self.parts_at(NESTING_MAX)
    }

    /// Adds a field after those with the same name.
    pub(super) fn add(&mut self, name: &str, value: String) {
        self.headers.entry(name.to_owned()).or_default().push(value);
    }

    /// Adds a field unless there is one with this name.
    pub(super) fn add_missing(&mut self, name: &str, value: &str) {
        if !self.headers.keys().any(|known| known.eq_ignore_ascii_case(name)) {
            self.add(name, value.to_owned());
        }
    }

    fn parts_at(&self, depth: usize) -> Option<Parts<'a>> {
        let is_type = |name: &&String| name.eq_ignore_ascii_case("content-type");
        let field = self.headers.get(self.headers.keys().find(is_type)?)?.first()?;
        let delimiter = format!("--{}", boundary(field)?);
        if depth == 0 {
            return None;
        }
        let mut starts = memmem::find_iter(self.body_octets, &delimiter).map(|at| (at, at + delimiter.len()));
        let mut start = starts.next()?.1;
        let mut parts = Vec::new();
        for (end, next) in starts.take(PARTS_MAX) {
            let part = trimmed(self.body_octets.get(start..end).unwrap_or_default());
            if !part.is_empty() {
                let mut content = Content::of(part);
                content.mime = content.parts_at(depth - 1);
                parts.push(content);
            }
            start = next;
        }
        Some(Parts { parts })
    }
}

/// The header section and the body. Without an empty line there is only a body.
fn split(octets: &[u8]) -> (&[u8], &[u8]) {
    let at = |line: &[u8]| memmem::find(octets, line).map(|at| (&octets[..at], &octets[at + line.len()..]));
    at(b"\r\n\r\n").or_else(|| at(b"\n\n")).unwrap_or((b"", octets))
}

/// The octets without line ends around them.
fn trimmed(octets: &[u8]) -> &[u8] {
    let is_text = |octet: &u8| !matches!(octet, b'\r' | b'\n');
    let start = octets.iter().position(is_text).unwrap_or(octets.len());
    let end = octets.iter().rposition(is_text).map_or(start, |last| last + 1);
    &octets[start..end]
}

/// The boundary in the field Content-Type of a multipart.
fn boundary(field: &str) -> Option<&str> {
    let lower = field.to_ascii_lowercase();
    let at = lower.find("boundary=").filter(|_| lower.starts_with("multipart/"))? + "boundary=".len();
    let value = field.get(at..)?;
    let boundary = match value.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?.0,
        None => value.split([';', ' ', '\t']).next()?,
    };
    Some(boundary).filter(|boundary| !boundary.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_multipart_is_split_at_its_boundaries() {
        let raw = b"Content-Type: multipart/mixed; boundary=\"m\"\r\n\r\npreamble\r\n--m\r\n\
            Content-Type: multipart/alternative; boundary=a\r\n\r\n--a\r\nContent-Type: text/plain\r\n\r\none\r\n\
            --a\r\nContent-Type: text/html\r\n\r\n<b>two</b>\r\n--a--\r\n--m\r\nX-Y: z\r\n\r\nthree=\r\n--m--\r\n";
        let content = Content::of(raw);
        assert_eq!((content.size, content.headers.len()), (raw.len(), 1));
        let parts = content.parts().expect("parts").parts;
        let [alternative, other] = &parts[..] else { panic!("{parts:?}") };
        assert_eq!((other.body.as_ref(), other.headers["X-Y"].as_slice()), ("three=", &["z".to_owned()][..]));
        let nested = &alternative.mime.as_ref().expect("parts").parts;
        let bodies: Vec<&str> = nested.iter().map(|part| part.body.as_ref()).collect();
        assert_eq!(bodies, ["one", "<b>two</b>"]);
    }

    #[test]
    fn what_is_no_multipart_has_no_parts() {
        for raw in [
            "",
            "Subject: x\r\n\r\nbody",
            "Content-Type: multipart/mixed\r\n\r\nx",
            "Content-Type: text/plain; boundary=x\r\n\r\n--x",
        ] {
            assert_eq!(Content::of(raw.as_bytes()).parts(), None, "{raw}");
        }
        assert_eq!(Content::of(b"no header").body, "no header");
    }

    #[test]
    fn nesting_and_parts_are_bounded() {
        let field = "Content-Type: multipart/mixed; boundary=b\r\n\r\n";
        let raw = format!("{field}{}", "--b\r\nx\r\n".repeat(2 * PARTS_MAX));
        assert_eq!(Content::of(raw.as_bytes()).parts().expect("parts").parts.len(), PARTS_MAX);
        let begin = |n| format!("Content-Type: multipart/mixed; boundary=b{n}x\r\n\r\n--b{n}x\r\n");
        let end = |n| format!("--b{n}x--\r\n");
        let raw = (0..50).map(begin).chain((0..50).rev().map(end)).collect::<Vec<_>>().concat();
        let (mut depth, mut parts) = (0, Content::of(raw.as_bytes()).parts());
        while let Some(Parts { parts: mut inner }) = parts {
            depth += 1;
            parts = inner.pop().and_then(|part| part.mime);
        }
        assert_eq!(depth, NESTING_MAX);
    }
}
