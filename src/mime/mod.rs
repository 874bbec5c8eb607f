//! MIME: from the octets of a received message to the content that people read.
//!
//! ```text
//! structure   the parts, and which of them are the body   limits    what bounds a message
//! fields, part   the header fields of a message and of a part
//! sender      the first address of From               encoding, charset   octets to text
//! html        HTML to text, and text to HTML          attachment   the list of attachments
//! ```
//!
//! Pure and total: any octets give a [`Content`], in time and memory linear in their number. The octets stay the truth;
//! nothing here is stored, and nothing here decides whether a mail is accepted. The structure of a message is read by
//! `structure`, which bounds it; the grammar of fields, charsets and base64 is mail-parser's. That crate's own reader of
//! whole messages is not used: it follows messages within messages as deep as they go and overflows the stack.

mod attachment;
mod charset;
mod encoding;
mod fields;
mod html;
pub mod limits;
mod part;
mod sender;
mod structure;

use std::borrow::Cow;

use fields::{Field, Section};
use structure::{Leaf, Structure};

pub use attachment::Attachment;

/// What a message says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// The first address of the header field From; `None` if there is none.
    pub from: Option<String>,
    /// The subject on one line; empty if there is none.
    pub subject: String,
    /// The body as HTML: the HTML part unchanged, or the plain text escaped with `<br>` at its line ends; several parts
    /// in their order; empty if there is neither.
    pub message: String,
    /// The body as plain text with LF at line ends: the plain text part, or text rendered from the HTML; empty if there
    /// is neither.
    pub body_text: String,
    /// The header fields in their order, each on one line, decoded.
    pub headers: Vec<(String, String)>,
    /// The parts that are not the body.
    pub attachments: Vec<Attachment>,
}

/// What `raw` says.
pub fn parse(raw: &[u8]) -> Content {
    let section = Section::read(raw, 0, |_| false);
    let Structure { leaves, html, text } = structure::read(raw, &section);
    let mut is_body = vec![false; leaves.len()];
    for &index in html.iter().chain(&text) {
        is_body[index] = true;
    }
    let attachments = leaves.iter().zip(is_body).filter(|(_, is_body)| !is_body).map(|(leaf, _)| leaf);
    Content {
        message: message(&leaves, &html),
        body_text: joined(text.iter().map(|&index| as_text(&leaves[index]))),
        headers: headers(&section),
        attachments: attachments.enumerate().map(|(index, leaf)| Attachment::of(leaf, index)).collect(),
        ..identity(&section)
    }
}

/// What a list shows of `raw`: [`Content::from`], [`Content::subject`] and [`Content::message`]. The rest is empty.
pub fn parse_for_list(raw: &[u8]) -> Content {
    let section = Section::read(raw, 0, |_| false);
    let Structure { leaves, html, .. } = structure::read(raw, &section);
    Content { message: message(&leaves, &html), ..identity(&section) }
}

/// What the header section of `raw` says. The rest of the [`Content`] is empty.
pub(crate) fn parse_headers(raw: &[u8]) -> Content {
    let section = Section::read(raw, 0, |_| false);
    Content { headers: headers(&section), ..identity(&section) }
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
    if leaf.part.is_html() == Some(true) { text.into_owned() } else { html::from_text(&text) }
}

fn as_text(leaf: &Leaf<'_>) -> String {
    let text = decoded(leaf);
    if leaf.part.is_html() == Some(true) { html::to_text(&text) } else { unix_lines(&text) }
}

fn unix_lines(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// The texts one after another, each beginning on a line of its own.
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
