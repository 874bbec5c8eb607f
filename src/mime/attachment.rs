//! An attachment as readers see it.

use serde::Serialize;

use super::limits::FILENAME_OCTETS_MAX;
use super::structure::Leaf;

/// A part of a message that is not its body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    /// Its position among the attachments, from 0.
    pub index: usize,
    /// A safe file name of 1 to 255 octets, without separators and control characters, and never `.` or `..`.
    pub filename: String,
    /// The `type/subtype` that the mail declares, in lower case. It is not checked against the content.
    pub content_type: String,
    /// The length after decoding.
    #[serde(rename = "size")]
    pub size_octets: u64,
    /// Whether the mail declares it as an attachment, and not as a part that is shown in place (RFC 2183).
    #[serde(skip)]
    pub is_declared: bool,
    /// Its number among all parts (RFC 9051 section 6.4.5.1), such as `1.2`; `0` if it is the whole message.
    #[serde(skip)]
    pub part_number: String,
    /// The id by which the HTML of the mail names it (RFC 2392); `None` if it has none.
    #[serde(skip)]
    pub content_id: Option<String>,
}

impl Attachment {
    pub(super) fn of(leaf: &Leaf<'_>, index: usize) -> Self {
        let content_type = leaf.part.content_type.clone();
        let filename = leaf.part.filename.as_deref().map(safe_filename).filter(|name| !name.is_empty());
        Self {
            index,
            filename: filename.unwrap_or_else(|| format!("attachment-{index}{}", extension(&content_type))),
            content_type,
            size_octets: leaf.part.encoding.decode(leaf.octets).len() as u64,
            is_declared: leaf.part.is_attachment,
            part_number: leaf.number.clone(),
            content_id: leaf.part.content_id.clone(),
        }
    }
}

/// The name of a file, from a name that a stranger chose: at most [`FILENAME_OCTETS_MAX`] octets, possibly none.
///
/// Replaces characters of a name that could make it a path, hide its end, or break a line.
pub fn safe_filename(name: &str) -> String {
    let is_unsafe = |c: char| {
        // These change the direction of text, which could show `txt.exe` as `exe.txt`, or break a line.
        let turns =
            matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        matches!(c, '/' | '\\' | ':') || c.is_control() || turns
    };
    let replaced = name.replace(is_unsafe, "_");
    let trimmed = replaced.trim_matches(|c: char| c == '.' || c.is_whitespace());
    trimmed[..trimmed.floor_char_boundary(FILENAME_OCTETS_MAX)].to_owned()
}

fn extension(content_type: &str) -> &'static str {
    match content_type {
        "message/rfc822" => ".eml",
        "text/plain" => ".txt",
        "text/html" => ".html",
        "text/calendar" => ".ics",
        "application/pdf" => ".pdf",
        "image/png" => ".png",
        "image/jpeg" => ".jpg",
        "image/gif" => ".gif",
        _ => ".bin",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_never_a_path() {
        for (name, expected) in [
            ("report.pdf", "report.pdf"),
            ("../../etc/passwd", "_.._etc_passwd"),
            ("C:\\boot.ini", "C__boot.ini"),
            ("a\r\nb\0", "a__b_"),
            ("txt.\u{202e}exe", "txt._exe"),
            ("txt.\u{61c}\u{2028}exe", "txt.__exe"),
            ("...", ""),
            (" . ", ""),
            ("grün.txt", "grün.txt"),
        ] {
            assert_eq!(safe_filename(name), expected, "{name:?}");
        }
        assert_eq!(safe_filename(&"ü".repeat(200)).len(), 254);
    }
}
