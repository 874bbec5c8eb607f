//! The text of a mail as its reader sees it: lines, what stands out in them, and what can be pressed.
//!
//! ```text
//! tree    which elements are in which ones           kind, tag       what each is by its name, and its attributes
//! sheet   the rules of style sheets                  declarations    what each says of an element
//! style   how text looks, and whether it is seen     values, colors  words, lengths and colours of declarations
//! writer  lines and cells of text
//! ```

mod colors;
mod declarations;
mod kind;
mod sheet;
mod style;
mod tag;
#[cfg(test)]
mod tests;
mod tree;
mod values;
mod writer;

use std::borrow::Cow;

use kind::Kind;
use sheet::Sheet;
use style::Style;
use tree::{Tree, is_self_closed};
use writer::{Form, Gap, Writer};

pub use writer::is_unseen;

use super::limits::VISIBLE_TEXT_OCTETS_MAX;
use super::markup::{self, Token, Tokens};
use super::step;

/// A text without markup.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// Lines end with LF, and cells of a row with a tab. No line is empty. Digits and letters of ASCII that were written
    /// in another form are in ASCII.
    pub(super) text: String,
    /// The text in lower case. Each character has as many octets as in `text`.
    pub(super) lower: String,
    /// Where the look of the text changes, in order.
    looks: Vec<(usize, Look)>,
    pub(super) anchors: Vec<Anchor>,
}

/// How a piece of text stands out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) is_large: bool,
    pub(super) is_bold: bool,
    pub(super) is_spaced: bool,
    pub(super) is_quoted: bool,
}

/// A link with a text. Its text is the part of the page from `start` to `end`.
#[derive(Debug)]
pub(super) struct Anchor {
    /// The target with its character references decoded.
    pub(super) target: String,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) is_button: bool,
}

impl Page {
    /// The page of one line, such as a subject.
    pub(super) fn of_line(line: &str) -> Self {
        Self::of_styled(line, Style::default())
    }

    /// The page of plain text.
    pub(super) fn of_text(text: &str) -> Self {
        Self::of_styled(text, Style::preformatted())
    }

    fn of_styled(text: &str, style: Style) -> Self {
        let mut writer = Writer::of(Form::Searched);
        writer.push(&text[..text.floor_char_boundary(VISIBLE_TEXT_OCTETS_MAX)], style);
        writer.finish()
    }

    /// The page of HTML.
    pub(super) fn of_html(html: &str) -> Self {
        Reader::read(&html[..html.floor_char_boundary(VISIBLE_TEXT_OCTETS_MAX)], Form::Searched)
    }

    /// The look of the text at `position`.
    pub(super) fn look(&self, position: usize) -> Look {
        let after = self.looks.partition_point(|(start, _)| *start <= position);
        after.checked_sub(1).map(|index| self.looks[index].1).unwrap_or_default()
    }
}

/// The text of HTML as its reader sees it. Blocks end with a line end, list items are marked, and the target of a link
/// follows its text. What the mail's own styles hide is left out.
pub fn to_text(html: &str) -> String {
    Reader::read(html, Form::Shown).text
}

/// Reads HTML into a page.
#[derive(Debug)]
struct Reader<'a> {
    form: Form,
    writer: Writer,
    tree: Tree<'a>,
    anchor: Option<Anchor>,
    /// Whether anything of the open anchor is seen.
    is_anchor_seen: bool,
}

impl<'a> Reader<'a> {
    fn read(html: &'a str, form: Form) -> Page {
        let tree = Tree::of(sheets(html), html.len());
        let mut reader = Self { form, writer: Writer::of(form), tree, anchor: None, is_anchor_seen: false };
        for token in Tokens::of(html) {
            step(1);
            match token {
                Token::Text(text) => reader.text(&markup::decoded(text)),
                Token::Open(name, attributes) => reader.open(name, attributes),
                Token::Close(name) => reader.close(&name),
                Token::Raw { name, attributes, content } if matches!(&*name, "textarea" | "xmp") => {
                    let text = if name == "textarea" { markup::decoded(content) } else { content.into() };
                    reader.open(name.clone(), attributes);
                    reader.text(&text);
                    reader.close(&name);
                }
                // Others are not seen.
                Token::Raw { content, .. } => reader.tree.pass_over(content),
            }
            // People see the rest of what is lost as well. Nothing in it is found.
            if reader.tree.is_spent() || reader.tree.is_lost() && form == Form::Searched {
                break;
            }
        }
        reader.end_anchor();
        reader.writer.finish()
    }

    fn text(&mut self, text: &str) {
        let is_blank = text.trim_ascii().is_empty();
        if !is_blank && !self.tree.is_lost() {
            self.tree.resume();
        }
        let style = self.tree.style();
        if style.is_seen() && (self.form == Form::Shown || !self.tree.is_lost()) {
            self.writer.push(text, style);
            self.is_anchor_seen |= !is_blank;
        }
    }

    fn open(&mut self, name: Cow<'a, str>, attributes: &'a str) {
        let tag = self.tree.tag(name, attributes);
        self.separate(&tag.name, tag.kind);
        if self.tree.is_lost() {
            return self.tree.hide_within(tag);
        }
        if tag.name == "br" || !self.tree.begin(&tag) {
            return;
        }
        let element = self.tree.element(tag);
        let (tag, style) = (&*element.tag, element.style);
        if style.is_block() {
            self.writer.separate(Gap::Line);
        }
        match &*tag.name {
            "img" if self.anchor.is_some() && !style.is_hidden => {
                self.is_anchor_seen = true;
                let text = markup::attribute(attributes, "alt").filter(|_| style.is_seen());
                self.writer.push(&text.unwrap_or_default(), style);
            }
            "a" => self.begin_anchor(attributes, style),
            "li" if style.is_seen() => self.writer.mark_item(),
            _ => {}
        }
        if let Some(anchor) = &mut self.anchor {
            anchor.is_button |= style.is_boxed();
        }
        let is_empty = tag.kind == Kind::Drawing && is_self_closed(attributes);
        if tag.kind != Kind::Void && !is_empty {
            self.tree.push(element);
        }
    }

    fn close(&mut self, name: &str) {
        if name == "a" {
            self.end_anchor();
        }
        if !self.tree.is_lost() {
            let is_block = self.tree.style().is_block();
            self.tree.close(name);
            if is_block {
                self.writer.separate(Gap::Line);
            }
        }
        self.separate(name, Kind::of(name));
    }

    fn separate(&mut self, name: &str, kind: Kind) {
        match kind {
            Kind::Cell => self.writer.separate(Gap::Cell),
            Kind::Paragraph => self.writer.separate(Gap::Paragraph),
            _ if name == "br" => self.writer.end_line(),
            kind if kind.is_block() || name == "hr" => self.writer.separate(Gap::Line),
            _ => {}
        }
    }

    fn begin_anchor(&mut self, attributes: &str, style: Style) {
        self.end_anchor();
        let target = markup::attribute(attributes, "href").filter(|_| !style.is_hidden);
        let Some(target) = target else { return };
        // Two links side by side are two words.
        self.writer.separate(Gap::Space);
        let start = self.writer.page.text.len();
        self.anchor = Some(Anchor { target: target.into_owned(), start, end: start, is_button: false });
        self.is_anchor_seen = style.is_seen();
    }

    fn end_anchor(&mut self) {
        if let Some(anchor) = self.anchor.take().filter(|_| self.is_anchor_seen) {
            self.writer.add_anchor(anchor);
        }
    }
}

/// The style sheets of a mail, wherever they are in it.
fn sheets(html: &str) -> Sheet {
    let mut sheet = Sheet::for_octets(html.len());
    for token in Tokens::of(html) {
        match token {
            Token::Raw { name, attributes, content } if name == "style" => sheet.add(attributes, content),
            // Sheets in some of these do not count, and what is in them is not known here.
            Token::Open(name, attributes) if Kind::of(&name).is_unshown() && !is_self_closed(attributes) => {
                sheet.is_doubtful = true;
            }
            _ => {}
        }
    }
    sheet
}
