//! The text of a mail as its reader sees it: lines, what stands out in them, and what can be pressed.
//!
//! ```text
//! style   how text looks, and whether it is seen    hiding   properties that hide an element
//! sheet   the rules of style sheets                 values   declarations, with lengths and colours
//! writer  lines and cells of text
//! ```

mod hiding;
mod sheet;
mod style;
#[cfg(test)]
mod tests;
mod values;
mod writer;

use sheet::Sheet;
use style::{Element, Style};
use writer::{Form, Gap, Writer};

pub use writer::is_unseen;

use super::limits::{DEPTH_MAX, SEARCHED_MAX, VISIBLE_TEXT_OCTETS_MAX};
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
    writer: Writer,
    sheet: Sheet,
    open: Vec<Element<'a>>,
    anchor: Option<Anchor>,
    /// Whether anything of the open anchor is seen.
    is_anchor_seen: bool,
}

impl<'a> Reader<'a> {
    fn read(html: &'a str, form: Form) -> Page {
        let mut reader = Self {
            writer: Writer::of(form),
            sheet: sheets(html),
            open: Vec::new(),
            anchor: None,
            is_anchor_seen: false,
        };
        for token in Tokens::of(html) {
            step(1);
            match token {
                Token::Text(text) => reader.text(text),
                Token::Reference(text) => reader.text(&text),
                Token::Open(name, attributes) => reader.open(name, attributes),
                Token::Close(name) => reader.close(&name),
                Token::Hidden { .. } => {}
            }
        }
        reader.end_anchor();
        reader.writer.finish()
    }

    fn style(&self) -> Style {
        self.open.last().map(|element| element.style).unwrap_or_default()
    }

    fn text(&mut self, text: &str) {
        let style = self.style();
        if style.is_seen() {
            self.writer.push(text, style);
            self.is_anchor_seen |= !text.trim_ascii().is_empty();
        }
    }

    fn open(&mut self, name: String, attributes: &'a str) {
        self.end_implied(&name);
        self.separate(&name);
        if name == "br" {
            return;
        }
        let element = Element::within(&self.open, name, attributes, &mut self.sheet);
        let (name, style) = (element.name.as_str(), element.style);
        if style.is_block {
            self.writer.separate(Gap::Line);
        }
        match name {
            "img" if self.anchor.is_some() && !style.is_hidden => {
                self.is_anchor_seen = true;
                let text = markup::attribute(attributes, "alt").filter(|_| style.is_seen()).map(markup::decoded);
                self.writer.push(&text.unwrap_or_default(), style);
            }
            "a" => self.begin_anchor(attributes, style),
            "li" if style.is_seen() => self.writer.mark_item(),
            // Only the first summary of folded details is seen.
            "summary" => self.open.last_mut().into_iter().for_each(|around| around.style.hide_folded()),
            _ => {}
        }
        if let Some(anchor) = &mut self.anchor {
            anchor.is_button |= style.is_boxed;
        }
        if !is_void(name) {
            // As in browsers, what is nested too deep is beside what it is in.
            self.open.truncate(DEPTH_MAX - 1);
            self.open.push(element);
        }
    }

    fn close(&mut self, name: &str) {
        if name == "a" {
            self.end_anchor();
        }
        let is_block = self.open.last().is_some_and(|element| element.style.is_block);
        // Text after these is still in them.
        let index = if matches!(name, "body" | "html") { None } else { self.position(name, |it| bounds(name, it)) };
        if let Some(index) = index {
            self.open.truncate(index);
        }
        if is_block {
            self.writer.separate(Gap::Line);
        }
        self.separate(name);
    }

    /// The innermost open element of this name, not beyond one that `is_bound`.
    fn position(&mut self, name: &str, is_bound: impl Fn(&str) -> bool) -> Option<usize> {
        let lowest = self.open.len().saturating_sub(SEARCHED_MAX);
        for index in (lowest..self.open.len()).rev() {
            step(1);
            let found = self.open[index].name.as_str();
            if found == name {
                return Some(index);
            }
            if is_bound(found) {
                return None;
            }
        }
        None
    }

    /// Ends the elements that a start tag ends without an end tag.
    fn end_implied(&mut self, name: &str) {
        let index = match name {
            "td" | "th" => self
                .position("td", |found| found == "table" || found == "th")
                .or_else(|| self.position("th", |found| found == "table" || found == "td")),
            "tr" => self.position("tr", |found| found == "table"),
            "li" => self.position("li", |found| found == "ul" || found == "ol"),
            _ if is_block(name) => self.position("p", |found| matches!(found, "td" | "th" | "table" | "div")),
            _ => None,
        };
        if let Some(index) = index {
            self.open.truncate(index);
        }
    }

    fn separate(&mut self, name: &str) {
        match name {
            "td" | "th" => self.writer.separate(Gap::Cell),
            "br" => self.writer.end_line(),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "p" => self.writer.separate(Gap::Paragraph),
            name if is_block(name) => self.writer.separate(Gap::Line),
            _ => {}
        }
    }

    fn begin_anchor(&mut self, attributes: &str, style: Style) {
        self.end_anchor();
        let target = markup::attribute(attributes, "href").filter(|_| !style.is_hidden);
        let Some(target) = target.map(markup::decoded) else { return };
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
    if html.as_bytes().windows(6).any(|octets| octets.eq_ignore_ascii_case(b"<style")) {
        for token in Tokens::of(html) {
            if let Token::Hidden { name, attributes, content } = token
                && name == "style"
            {
                sheet.add(attributes, content);
            }
        }
    }
    sheet
}

/// Whether the end tag of an element does not end what is around an open element of another name.
fn bounds(name: &str, open: &str) -> bool {
    match name {
        "table" => false,
        "td" | "th" | "tr" | "tbody" | "thead" | "tfoot" => open == "table",
        "a" | "b" | "big" | "em" | "font" | "i" | "s" | "small" | "strong" | "u" => {
            matches!(open, "table" | "td" | "th")
        }
        _ => matches!(open, "table" | "td" | "th") || !is_block(name) && is_block(open),
    }
}

/// Whether an element has line breaks before and after it.
#[rustfmt::skip]
fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address" | "article" | "aside" | "blockquote" | "body" | "caption" | "center" | "dd" | "details" | "dialog"
            | "div" | "dl" | "dt" | "fieldset" | "figcaption" | "figure" | "footer" | "form" | "h1" | "h2" | "h3"
            | "h4" | "h5" | "h6" | "header" | "hr" | "html" | "legend" | "li" | "main" | "nav" | "ol" | "p" | "pre"
            | "section" | "summary" | "table" | "tbody" | "tfoot" | "thead" | "tr" | "ul"
    )
}

/// Whether an element has no content and no end tag.
fn is_void(name: &str) -> bool {
    " area base br col embed hr img input link meta param source track wbr ".split(' ').any(|it| it == name)
}
