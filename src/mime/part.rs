//! The header fields of a part (RFC 2045, RFC 2183).

use mail_parser::parsers::MessageStream;
use mail_parser::{ContentType, HeaderValue};

use super::encoding::Encoding;
use super::fields::{Field, Section, terminated};
use super::limits::{BOUNDARY_OCTETS_MAX, CONTENT_TYPE_OCTETS_MAX, PART_FIELD_OCTETS_MAX};

/// The kind of a multipart (RFC 2046 section 5.1, RFC 2387). Other kinds count as `mixed`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Multipart {
    #[default]
    Mixed,
    Alternative,
    Related,
    Digest,
}

/// A part as its header fields describe it.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// `type/subtype` in lower case.
    pub(super) content_type: String,
    pub(super) charset: Option<String>,
    /// The boundary; only for a multipart, and only within the limit of its length.
    pub(super) boundary: Option<Vec<u8>>,
    pub(super) encoding: Encoding,
    /// Whether the disposition is `attachment`.
    pub(super) is_attachment: bool,
    /// The attribute `filename` or `name`, as written.
    pub(super) filename: Option<String>,
    /// The field Content-ID without its angle brackets (RFC 2392).
    pub(super) content_id: Option<String>,
}

impl Part {
    /// Reads the fields of a part within a multipart of the kind `parent`.
    pub(super) fn of(section: &Section<'_>, parent: Multipart) -> Self {
        let content_type = structured(section, "content-type");
        let disposition = structured(section, "content-disposition");
        let attribute = |value: &Option<ContentType<'static>>, name: &str| {
            value.as_ref().and_then(|value| value.attribute(name)).map(str::to_owned).filter(|text| !text.is_empty())
        };
        let name = match &content_type {
            Some(value) => type_name(value),
            None if parent == Multipart::Digest => "message/rfc822".to_owned(),
            None => "text/plain".to_owned(),
        };
        let boundary = attribute(&content_type, "boundary")
            .map(String::into_bytes)
            .filter(|boundary| name.starts_with("multipart/") && boundary.len() <= BOUNDARY_OCTETS_MAX);
        let encoding = section.first("content-transfer-encoding");
        Self {
            charset: attribute(&content_type, "charset"),
            boundary,
            encoding: encoding
                .map(|field| Encoding::of_field(&field.unfolded(PART_FIELD_OCTETS_MAX)))
                .unwrap_or_default(),
            is_attachment: disposition.as_ref().is_some_and(|value| value.ctype().eq_ignore_ascii_case("attachment")),
            filename: attribute(&disposition, "filename").or_else(|| attribute(&content_type, "name")),
            content_type: name,
            content_id: section.first("content-id").and_then(content_id),
        }
    }

    /// A multipart that can't be parsed, which is shown as plain text.
    pub(super) fn plain_text() -> Self {
        Self { content_type: "text/plain".to_owned(), ..Self::default() }
    }

    /// The kind of multipart; `None` for other types.
    pub(super) fn multipart(&self) -> Option<Multipart> {
        Some(match self.content_type.strip_prefix("multipart/")? {
            "alternative" => Multipart::Alternative,
            "related" => Multipart::Related,
            "digest" => Multipart::Digest,
            _ => Multipart::Mixed,
        })
    }

    /// Whether this is HTML (`true`) or plain text (`false`); `None` for other types.
    pub(super) fn is_html(&self) -> Option<bool> {
        match self.content_type.as_str() {
            "text/html" => Some(true),
            "text/plain" => Some(false),
            _ => None,
        }
    }
}

fn content_id(field: &Field<'_>) -> Option<String> {
    let value = field.unfolded(PART_FIELD_OCTETS_MAX);
    let id = str::from_utf8(&value).ok()?;
    Some(id.strip_prefix('<')?.strip_suffix('>')?.to_owned())
}

/// Parses a field of the form `value; attribute=value`.
fn structured(section: &Section<'_>, name: &str) -> Option<ContentType<'static>> {
    let value = terminated(section.first(name)?.unfolded(PART_FIELD_OCTETS_MAX).into_owned());
    match MessageStream::new(&value).parse_content_type().into_owned() {
        HeaderValue::ContentType(value) => Some(value),
        _ => None,
    }
}

/// The `type/subtype` of a field, or `application/octet-stream` if it is invalid. Mail from before MIME has `text`
/// alone for plain text.
fn type_name(value: &ContentType<'_>) -> String {
    let is_token = |text: &str| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?=".contains(&b))
    };
    let name = match value.subtype() {
        Some(subtype) if is_token(value.ctype()) && is_token(subtype) => format!("{}/{subtype}", value.ctype()),
        None if value.ctype().eq_ignore_ascii_case("text") => "text/plain".to_owned(),
        _ => String::new(),
    };
    if name.is_empty() || name.len() > CONTENT_TYPE_OCTETS_MAX {
        return "application/octet-stream".to_owned();
    }
    name.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(head: &str) -> Part {
        let raw = format!("{head}\r\n\r\n");
        Part::of(&Section::read(raw.as_bytes(), 0, |_| false), Multipart::Mixed)
    }

    #[test]
    fn the_fields_say_what_a_part_is() {
        let part = part(
            "Content-Type: Text/HTML; charset=\"ISO-8859-1\"; name=a.html\r\n\
             Content-Transfer-Encoding: Quoted-Printable\r\n\
             Content-ID: <image.1@x.test>\r\n\
             Content-Disposition: ATTACHMENT;\r\n filename*=utf-8''gr%C3%BCn.html",
        );
        assert_eq!(part.content_type, "text/html");
        assert_eq!(part.is_html(), Some(true));
        assert_eq!(part.charset.as_deref(), Some("ISO-8859-1"));
        assert_eq!(part.encoding, Encoding::QuotedPrintable);
        assert!(part.is_attachment);
        assert_eq!(part.filename.as_deref(), Some("grün.html"));
        assert_eq!(part.content_id.as_deref(), Some("image.1@x.test"));
    }

    #[test]
    fn what_is_no_type_is_octets_and_what_is_missing_is_text() {
        for (head, expected) in [
            ("Subject: x", "text/plain"),
            ("Content-Type: text", "text/plain"),
            ("Content-Type:", "text/plain"),
            ("Content-Type: nonsense", "application/octet-stream"),
            ("Content-Type: a/b/c", "application/octet-stream"),
            ("Content-Type: a/\u{fc}", "application/octet-stream"),
        ] {
            assert_eq!(part(head).content_type, expected, "{head}");
        }
        let long = format!("Content-Type: a/{}", "b".repeat(300));
        assert_eq!(part(&long).content_type, "application/octet-stream");
    }

    #[test]
    fn only_a_multipart_has_a_boundary() {
        assert_eq!(part("Content-Type: multipart/mixed; boundary=\"a b\"").boundary.as_deref(), Some(&b"a b"[..]));
        assert_eq!(part("Content-Type: text/plain; boundary=a").boundary, None);
        assert_eq!(part("Content-Type: multipart/mixed; boundary=\"\"").boundary, None);
        assert_eq!(part(&format!("Content-Type: multipart/mixed; boundary={}", "a".repeat(201))).boundary, None);
    }

    #[test]
    fn an_endless_field_is_read_up_to_the_bound() {
        let head = format!("Content-Type: text/html{}", "; a*1=b".repeat(10_000));
        assert_eq!(part(&head).content_type, "text/html");
    }
}
