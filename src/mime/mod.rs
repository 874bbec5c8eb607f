//! MIME: turns the octets of a received message into the content that people read.
//!
//! ```text
//! structure   the parts of a message, and its body    limits    how much of a message is parsed
//! fields, part   the header fields of a message, and of a part
//! addresses   the mailboxes in a field                encoding, charset   octets to text
//! head        who wrote a message to whom, and when   attachment   the list of attachments
//! markup      HTML as tokens                          page     the text of HTML as its reader sees it
//! escape      text to HTML                            codes    one-time codes, and links that a reader would press
//! ```
//!
//! Parsing is pure and total: any octets give a [`Content`], in time and memory linear in their number. A [`Content`]
//! is never stored, and never decides whether a mail is accepted.
//!
//! The crate mail-parser reads fields, charsets and base64. Its parser of whole messages is not used, since nested
//! messages overflow its stack.

mod addresses;
mod attachment;
mod charset;
pub mod codes;
mod encoding;
mod escape;
mod fields;
mod head;
pub mod limits;
mod markup;
mod page;
mod part;
mod structure;

use std::borrow::Cow;

use fields::{Field, Section};
use structure::{Leaf, Structure};

pub use attachment::{Attachment, safe_filename};
pub use codes::{Findings, addresses, findings, visible_text};
pub use escape::from_text;
pub use head::{Head, NamedAddress};
pub use limits::VISIBLE_TEXT_OCTETS_MAX;
pub use page::to_text;

/// The parsed content of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// The first address of the header field From; `None` if there is none.
    pub from: Option<String>,
    /// The subject on one line; empty if there is none.
    pub subject: String,
    /// The body as HTML; empty if there is none. HTML parts are unchanged. Plain text parts are escaped, with `<br>`
    /// at line ends.
    pub message: String,
    /// Whether a part of the body is HTML.
    pub has_html: bool,
    /// The body as plain text with LF at line ends; empty if there is none. Text is rendered from HTML if there is no
    /// plain text.
    pub body_text: String,
    /// Whether the body has plain text of its own, so that `body_text` is not made of the HTML alone.
    pub has_plain_text: bool,
    /// Who wrote the message to whom, and when.
    pub head: Head,
    /// The header fields in their order, decoded, each on one line.
    pub headers: Vec<(String, String)>,
    /// The parts that are not the body.
    pub attachments: Vec<Attachment>,
}

/// Parses the message `raw`.
pub fn parse(raw: &[u8]) -> Content {
    let section = Section::read(raw, 0, |_| false);
    let structure = structure::read(raw, &section);
    let Structure { leaves, html, text } = &structure;
    Content {
        message: message(leaves, html),
        has_html: html.iter().any(|&index| leaves[index].part.is_html() == Some(true)),
        body_text: joined(text.iter().map(|&index| as_text(&leaves[index]))),
        has_plain_text: text
            .iter()
            .any(|&index| leaves[index].part.is_html() == Some(false) && !leaves[index].octets.is_empty()),
        head: Head::of(&section),
        headers: headers(&section),
        attachments: structure.attachments().map(|(index, leaf)| Attachment::of(leaf, index)).collect(),
        ..identity(&section)
    }
}

/// One attachment of `raw` with its decoded octets; `None` if there is none with this index.
pub fn attachment(raw: &[u8], index: usize) -> Option<(Attachment, Cow<'_, [u8]>)> {
    let structure = structure::read(raw, &Section::read(raw, 0, |_| false));
    let (_, leaf) = structure.attachments().nth(index)?;
    Some((Attachment::of(leaf, index), leaf.part.encoding.decode(leaf.octets)))
}

/// What a list shows of `raw`: [`Content::from`], [`Content::subject`] and [`Content::message`]. The rest is empty.
pub fn parse_for_list(raw: &[u8]) -> Content {
    let section = Section::read(raw, 0, |_| false);
    let Structure { leaves, html, .. } = structure::read(raw, &section);
    Content { message: message(&leaves, &html), ..identity(&section) }
}

/// Parses only the header section of `raw`. The rest of the [`Content`] is empty.
pub(crate) fn parse_headers(raw: &[u8]) -> Content {
    let section = Section::read(raw, 0, |_| false);
    Content { head: Head::of(&section), headers: headers(&section), ..identity(&section) }
}

/// The sender and the subject.
fn identity(section: &Section<'_>) -> Content {
    let from = section.fields.iter().filter(|field| field.name.eq_ignore_ascii_case("from")).find_map(Field::address);
    let subject = section.first("subject").map(Field::text).unwrap_or_default();
    Content { from, subject, ..Content::default() }
}

fn headers(section: &Section<'_>) -> Vec<(String, String)> {
    section.fields.iter().map(|field| (field.name.to_owned(), field.text())).collect()
}

fn message(leaves: &[Leaf<'_>], html: &[usize]) -> String {
    html.iter().map(|&index| as_html(&leaves[index])).collect()
}

fn decoded<'a>(leaf: &Leaf<'a>) -> Cow<'a, str> {
    match leaf.part.encoding.decode(leaf.octets) {
        Cow::Borrowed(octets) => charset::decode(octets, leaf.part.charset.as_deref()),
        Cow::Owned(octets) => charset::decode(&octets, leaf.part.charset.as_deref()).into_owned().into(),
    }
}

fn as_html(leaf: &Leaf<'_>) -> String {
    let text = decoded(leaf);
    if leaf.part.is_html() == Some(true) { text.into_owned() } else { from_text(&text) }
}

fn as_text(leaf: &Leaf<'_>) -> String {
    let text = decoded(leaf);
    if leaf.part.is_html() == Some(true) { to_text(&text) } else { unix_lines(&text) }
}

fn unix_lines(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// Joins texts so that each begins on a new line.
fn joined(texts: impl Iterator<Item = String>) -> String {
    let mut all = String::new();
    for text in texts {
        if !all.is_empty() && !all.ends_with('\n') {
            all.push('\n');
        }
        all.push_str(&text);
    }
    all
}

#[cfg(test)]
mod tests;
