//! MIME: turns the octets of a received message into the content that people read. A crate of its own, which knows no other
//! room.
//!
//! ```text
//! structure   the parts of a message, and its body    limits    how much of a message is parsed
//! fields, part   the header fields of a message, and of a part
//! addresses   the mailboxes in a field                encoding, charset   octets to text
//! head        who wrote a message to whom, and when   attachment   the list of attachments
//! markup      HTML as tokens                          page     the text of HTML as its reader sees it
//! escape      text to HTML, and what JSON escapes     codes    one-time codes, and links that a reader would press
//! ```
//!
//! Reading is pure and total: any octets are a [`Message`], read in time and memory linear in their number. What is read
//! is never stored, and never decides whether a mail is accepted.
//!
//! The crate mail-parser reads fields, charsets and base64. Its parser of whole messages is not used, since nested
//! messages overflow its stack.

mod addresses;
mod attachment;
mod charset;
pub mod codes;
mod encoding;
pub mod escape;
mod fields;
mod head;
pub mod limits;
mod markup;
mod page;
mod part;
mod structure;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use encoding::Encoding;
use fields::{Field, Section};
use structure::{Leaf, Structure};

pub use addresses::NamedAddress;
pub use attachment::{Attachment, safe_filename};
pub use codes::{Findings, addresses, findings, visible_text};
pub use escape::from_text;
pub use head::Head;
pub use limits::VISIBLE_TEXT_OCTETS_MAX;
pub use page::{is_unseen, to_text};

/// A body that is a single part: where it is in the octets of its message, and what it takes to read it there.
#[derive(Clone, Debug)]
pub struct SingleBody {
    /// Where its octets are.
    pub range: Range<usize>,
    /// Whether it is HTML; otherwise it is plain text.
    pub is_html: bool,
    /// How its octets become text. `None` if they are that, in UTF-8.
    decoding: Option<(Encoding, Option<Box<str>>)>,
}

impl SingleBody {
    /// The octets of memory that the name of its charset takes. Whoever sends a mail chooses it.
    pub fn charset_octets(&self) -> usize {
        self.decoding.as_ref().and_then(|(_, charset)| charset.as_ref()).map_or(0, |charset| charset.len())
    }

    /// The text in UTF-8 of these octets, which are those that it had in its range.
    pub fn text<'a>(&self, octets: &'a [u8]) -> Cow<'a, [u8]> {
        let Some((encoding, charset)) = &self.decoding else { return octets.into() };
        match decoded(octets, *encoding, charset.as_deref()) {
            Cow::Borrowed(text) => text.as_bytes().into(),
            Cow::Owned(text) => text.into_bytes().into(),
        }
    }
}

/// A message. Each part of it is read when it is asked for, and only once.
#[derive(Debug, Default)]
pub struct Message<'a> {
    section: Section<'a>,
    raw: &'a [u8],
    structure: OnceCell<Structure<'a>>,
    head: OnceCell<Head>,
    from: OnceCell<Option<NamedAddress>>,
    subject: OnceCell<String>,
    headers: OnceCell<Vec<(String, String)>>,
    html: OnceCell<String>,
    text: OnceCell<String>,
    attachments: OnceCell<Vec<Attachment>>,
}

impl<'a> Message<'a> {
    /// The message with these octets.
    pub fn new(raw: &'a [u8]) -> Self {
        Self { section: Section::read(raw, 0, |_| false), raw, ..Self::default() }
    }

    /// The header fields of a message, without a body and attachments.
    pub fn without_body(raw: &'a [u8]) -> Self {
        Self { structure: Structure::default().into(), ..Self::new(raw) }
    }

    /// The first mailbox of the header field From; `None` if there is none.
    pub fn from(&self) -> Option<&NamedAddress> {
        self.from.get_or_init(|| self.section.named("from").flat_map(Field::mailboxes).next()).as_ref()
    }

    /// The subject on one line; empty if there is none.
    pub fn subject(&self) -> &str {
        self.subject.get_or_init(|| self.section.first("subject").map(Field::text).unwrap_or_default())
    }

    /// Who wrote the message to whom, and when.
    pub fn head(&self) -> &Head {
        self.head.get_or_init(|| Head::of(&self.section))
    }

    /// The header fields in their order, decoded, each on one line.
    pub fn headers(&self) -> &[(String, String)] {
        let fields = || self.section.fields.iter().map(|field| (field.name.to_owned(), field.text())).collect();
        self.headers.get_or_init(fields)
    }

    /// The header fields in their order as received: the names, and the values with their line ends.
    pub fn received_fields(&self) -> impl Iterator<Item = (&'a str, &'a [u8])> {
        self.section.fields.iter().map(|field| (field.name, field.value))
    }

    /// The body as HTML; empty if there is none. HTML parts are unchanged. Plain text parts are escaped, with `<br>` at
    /// line ends.
    pub fn html(&self) -> &str {
        let as_html =
            |(text, is_html): (Cow<'_, str>, bool)| if is_html { text.into_owned() } else { from_text(&text) };
        self.html.get_or_init(|| self.html_parts().map(as_html).collect())
    }

    /// The parts of the body as HTML, each as text, and whether that is HTML already. [`Message::html`] is all of them.
    pub fn html_parts(&self) -> impl Iterator<Item = (Cow<'a, str>, bool)> {
        let Structure { leaves, html, .. } = self.structure();
        html.iter().map(|&index| (leaves[index].text(), leaves[index].part.is_html() == Some(true)))
    }

    /// The only part of the body as HTML. `None` if there are several, or none.
    pub fn single_body(&self) -> Option<SingleBody> {
        let Structure { leaves, html, .. } = self.structure();
        let &[index] = html.as_slice() else { return None };
        let leaf @ Leaf { part, start, octets, .. } = &leaves[index];
        let is_text = part.encoding == Encoding::Identity && leaf.text().as_bytes() == *octets;
        let decoding = (!is_text).then(|| (part.encoding, part.charset.as_deref().map(Into::into)));
        Some(SingleBody { range: *start..start + octets.len(), is_html: part.is_html() == Some(true), decoding })
    }

    /// Whether a part of the body is HTML.
    pub fn has_html(&self) -> bool {
        let Structure { leaves, html, .. } = self.structure();
        html.iter().any(|&index| leaves[index].part.is_html() == Some(true))
    }

    /// The body as plain text with LF at line ends; empty if there is none. If there is no plain text, it is what a
    /// reader of the HTML sees.
    pub fn text(&self) -> &str {
        let Structure { leaves, text, .. } = self.structure();
        self.text.get_or_init(|| text.iter().map(|&index| as_text(&leaves[index])).fold(String::new(), joined))
    }

    /// [`Message::text`] with the line ends that plain text was sent with.
    pub fn text_as_sent(&self) -> String {
        let Structure { leaves, text, .. } = self.structure();
        text.iter().map(|&index| as_sent(&leaves[index])).fold(String::new(), joined)
    }

    /// The body's own plain text, without what [`Message::text`] makes of HTML.
    fn plain_text(&self) -> String {
        let Structure { leaves, text, .. } = self.structure();
        let plain = text.iter().map(|&index| &leaves[index]).filter(|leaf| leaf.part.is_html() == Some(false));
        plain.map(as_text).fold(String::new(), joined)
    }

    /// The parts that are not the body.
    pub fn attachments(&self) -> &[Attachment] {
        let all = || self.structure().attachments().map(|(index, leaf)| Attachment::of(leaf, index)).collect();
        self.attachments.get_or_init(all)
    }

    /// One attachment with its decoded octets; `None` if there is none with this index.
    pub fn attachment(&self, index: usize) -> Option<(Attachment, Cow<'a, [u8]>)> {
        let (_, leaf) = self.structure().attachments().nth(index)?;
        Some((Attachment::of(leaf, index), leaf.part.encoding.decode(leaf.octets)))
    }

    /// The index of the attachment with this number among all parts; `None` if there is none.
    pub fn attachment_index(&self, part_number: &str) -> Option<usize> {
        let mut attachments = self.structure().attachments();
        attachments.find(|(_, leaf)| leaf.number == part_number).map(|(index, _)| index)
    }

    fn structure(&self) -> &Structure<'a> {
        self.structure.get_or_init(|| structure::read(self.raw, &self.section))
    }
}

impl<'a> Leaf<'a> {
    fn text(&self) -> Cow<'a, str> {
        decoded(self.octets, self.part.encoding, self.part.charset.as_deref())
    }
}

fn decoded<'a>(octets: &'a [u8], encoding: Encoding, charset: Option<&str>) -> Cow<'a, str> {
    match encoding.decode(octets) {
        Cow::Borrowed(octets) => charset::decode(octets, charset),
        Cow::Owned(octets) => charset::decode(&octets, charset).into_owned().into(),
    }
}

fn as_sent(leaf: &Leaf<'_>) -> String {
    let text = leaf.text();
    if leaf.part.is_html() == Some(true) { to_text(&text) } else { text.into_owned() }
}

fn as_text(leaf: &Leaf<'_>) -> String {
    as_sent(leaf).replace("\r\n", "\n")
}

/// Joins texts so that each begins on a new line.
fn joined(mut all: String, text: String) -> String {
    if !all.is_empty() && !all.ends_with('\n') {
        all.push('\n');
    }
    all + &text
}

/// Counts steps of readers, so that tests can assert without a clock that they are linear.
fn step(count: usize) {
    #[cfg(test)]
    STEPS.set(STEPS.get() + count);
    #[cfg(not(test))]
    let _ = count;
}

#[cfg(test)]
thread_local! {
    /// The steps of this thread.
    static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
mod tests;
