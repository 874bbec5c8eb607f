//! The text of a mail as its reader sees it: lines, what stands out in them, and what can be pressed.

use super::style::{Sheet, Style};
use crate::mime::html::{BLOCKS, PARAGRAPHS};
use crate::mime::markup::{self, Token, Tokens};

/// The most octets of HTML or text that are read. Large mail services show about as much of a mail.
pub(super) const OCTETS_MAX: usize = 128 * 1024;
/// The most open elements whose styles are known. Deeper ones look like their parents.
const DEPTH_MAX: usize = 200;
/// The most open elements among which the one of an end tag is searched.
const SEARCHED_MAX: usize = 32;
/// The most anchors that are kept.
const ANCHORS_MAX: usize = 1_000;
/// Elements without content and without an end tag.
const VOID: &str = " area base br col embed hr img input link meta param source track wbr ";

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
        let mut writer = Writer::default();
        writer.push(&line[..line.floor_char_boundary(OCTETS_MAX)], Style::default());
        writer.finish()
    }

    /// The page of plain text.
    pub(super) fn of_text(text: &str) -> Self {
        let mut writer = Writer::default();
        writer.push(&text[..text.floor_char_boundary(OCTETS_MAX)], Style::preformatted());
        writer.finish()
    }

    /// The page of HTML.
    pub(super) fn of_html(html: &str) -> Self {
        let html = &html[..html.floor_char_boundary(OCTETS_MAX)];
        let mut reader = Reader::default();
        for token in Tokens::of(html) {
            super::step(1);
            match token {
                Token::Text(text) => reader.text(text),
                Token::Reference(text) => reader.text(&text),
                Token::Open(name, attributes) => reader.open(name, attributes),
                Token::Close(name) => reader.close(&name),
                Token::Hidden(name, content) if name == "style" => reader.sheet.add(content),
                Token::Hidden(..) => {}
            }
        }
        reader.end_anchor();
        reader.writer.finish()
    }

    /// The look of the text at `position`.
    pub(super) fn look(&self, position: usize) -> Look {
        let after = self.looks.partition_point(|(start, _)| *start <= position);
        after.checked_sub(1).map(|index| self.looks[index].1).unwrap_or_default()
    }
}

/// An open element.
#[derive(Debug)]
struct Element {
    name: String,
    style: Style,
}

/// Reads HTML into a page.
#[derive(Debug, Default)]
struct Reader<'a> {
    writer: Writer,
    sheet: Sheet<'a>,
    open: Vec<Element>,
    /// Whether the last of the page's anchors is open.
    is_in_anchor: bool,
    /// Whether that anchor is seen even if no text is. Text in it can be seen although the anchor itself is not.
    is_anchor_seen: bool,
}

impl<'a> Reader<'a> {
    fn style(&self) -> Style {
        self.open.last().map(|element| element.style).unwrap_or_default()
    }

    fn text(&mut self, text: &str) {
        let style = self.style();
        if style.is_seen() {
            self.writer.push(text, style);
        }
    }

    fn open(&mut self, name: String, attributes: &'a str) {
        self.end_implied(&name);
        self.separate(&name);
        if name == "br" {
            return;
        }
        let style = self.style().within(&name, attributes, &self.sheet);
        if style.is_block {
            self.writer.separate('\n');
        }
        match name.as_str() {
            "img" if self.is_in_anchor && style.is_seen() => {
                let text = markup::attribute(attributes, "alt").map(markup::decoded).unwrap_or_default();
                self.writer.push(&text, style);
            }
            "a" => self.begin_anchor(attributes, style),
            _ => {}
        }
        if self.is_in_anchor
            && style.is_boxed
            && let Some(anchor) = self.writer.page.anchors.last_mut()
        {
            anchor.is_button = true;
        }
        if !VOID.contains(&format!(" {name} ")) && self.open.len() < DEPTH_MAX {
            self.open.push(Element { name, style });
        }
    }

    fn close(&mut self, name: &str) {
        if name == "a" {
            self.end_anchor();
        }
        let is_block = self.open.last().is_some_and(|element| element.style.is_block);
        if let Some(index) = self.position(name, |_| false) {
            self.open.truncate(index);
        }
        if is_block {
            self.writer.separate('\n');
        }
        self.separate(name);
    }

    /// The innermost open element of this name, not beyond one that `is_bound`.
    fn position(&mut self, name: &str, is_bound: impl Fn(&str) -> bool) -> Option<usize> {
        let lowest = self.open.len().saturating_sub(SEARCHED_MAX);
        for index in (lowest..self.open.len()).rev() {
            super::step(1);
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
            "p" => self.position("p", |found| found == "td" || found == "div"),
            _ => None,
        };
        if let Some(index) = index {
            self.open.truncate(index);
        }
    }

    fn separate(&mut self, name: &str) {
        if matches!(name, "td" | "th") {
            self.writer.separate('\t');
        } else if name == "br" || BLOCKS.contains(&name) || PARAGRAPHS.contains(&name) {
            self.writer.separate('\n');
        }
    }

    fn begin_anchor(&mut self, attributes: &str, style: Style) {
        self.end_anchor();
        let target = markup::attribute(attributes, "href").filter(|_| self.writer.page.anchors.len() < ANCHORS_MAX);
        let Some(target) = target else { return };
        // Two links side by side are two words.
        self.writer.separate(' ');
        let start = self.writer.page.text.len();
        let anchor = Anchor { target: markup::decoded(target), start, end: start, is_button: style.is_boxed };
        self.writer.page.anchors.push(anchor);
        self.is_in_anchor = true;
        self.is_anchor_seen = style.is_seen();
    }

    fn end_anchor(&mut self) {
        let end = self.writer.page.text.len();
        if let Some(anchor) = self.writer.page.anchors.last_mut().filter(|_| self.is_in_anchor) {
            anchor.end = end;
            let is_seen = self.is_anchor_seen || anchor.start < end;
            self.writer.separate(' ');
            if !is_seen {
                self.writer.page.anchors.pop();
            }
        }
        self.is_in_anchor = false;
    }
}

/// Writes the text of a page.
#[derive(Debug, Default)]
struct Writer {
    page: Page,
    /// What to write before the next character.
    separator: Option<char>,
}

impl Writer {
    /// Adds a separator. A line end displaces a tab, and a tab a space.
    fn separate(&mut self, separator: char) {
        let rank = |c: Option<char>| ['\n', '\t', ' '].iter().position(|it| Some(*it) == c).unwrap_or(3);
        if rank(Some(separator)) < rank(self.separator) {
            self.separator = Some(separator);
        }
    }

    fn push(&mut self, content: &str, style: Style) {
        for c in content.chars() {
            super::step(1);
            match c {
                '!'..='~' => self.write(c, style),
                '\n' | '\r' if style.is_preformatted => self.separate('\n'),
                c if is_unseen(c) => {}
                c if c.is_whitespace() => self.separate(' '),
                c => self.write(ascii_form(c), style),
            }
        }
    }

    fn write(&mut self, c: char, style: Style) {
        let page = &mut self.page;
        if let Some(separator) = self.separator.take().filter(|_| !page.text.is_empty()) {
            page.text.push(separator);
            page.lower.push(separator);
        }
        let look = Look {
            is_large: style.is_large(),
            is_bold: style.is_bold,
            is_spaced: style.is_spaced,
            is_quoted: style.is_quoted,
        };
        if page.looks.last().is_none_or(|(_, last)| *last != look) {
            page.looks.push((page.text.len(), look));
        }
        page.text.push(c);
        page.lower.push(lower(c));
    }

    fn finish(self) -> Page {
        self.page
    }
}

/// The character in lower case, if that takes as many octets.
fn lower(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let mut lower = c.to_lowercase();
    let first = lower.next().filter(|it| it.len_utf8() == c.len_utf8());
    first.filter(|_| lower.next().is_none()).unwrap_or(c)
}

/// Whether a character has no width: joiners, marks of direction, and hyphens that only show at line ends.
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{feff}')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}')
}

/// The zeros of the scripts whose digits people type as those of ASCII. The other nine follow each.
const ZEROS: [u32; 20] = [
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0xf20, 0x1040,
    0x17e0, 0x1810, 0x1946, 0xff10,
];

/// The character of ASCII that another one stands for: full-width forms, dashes, and digits of other scripts.
fn ascii_form(c: char) -> char {
    let code = u32::from(c);
    if let Some(zero) = ZEROS.iter().find(|zero| (**zero..**zero + 10).contains(&code)) {
        return char::from_digit(code - zero, 10).unwrap_or(c);
    }
    match code {
        // Punctuation stays: it separates sentences in Chinese, and would be part of a number in ASCII.
        0xff21..=0xff3a | 0xff41..=0xff5a => char::from_u32(code - 0xff01 + 0x21).unwrap_or(c),
        0x1_d7ce..=0x1_d7ff => char::from_digit((code - 0x1_d7ce) % 10, 10).unwrap_or(c),
        0x2010..=0x2015 | 0x2212 | 0xfe63 | 0xff0d => '-',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_cells_are_those_that_a_reader_sees() {
        for (html, text) in [
            ("<p>a</p><p>b<br><br>c</p>", "a\nb\nc"),
            ("<table><tr><td>a<td>b</tr><tr><td>c</table>d", "a\tb\nc\nd"),
            ("a<span style=display:none>x</span>b", "ab"),
            ("<div style=\"display:none\"><b>x</div>y", "y"),
            ("<td style=display:none>x<td>y", "y"),
            ("<span style=display:block>x</span>y", "x\ny"),
            ("<pre>a\nb</pre>", "a\nb"),
            ("a\nb", "a b"),
            ("４８２９１３ ٤٨٢ १२३", "482913 482 123"),
            ("4\u{200b}8\u{feff}2", "482"),
            ("<!-- x -->a<style>.x{}</style>", "a"),
        ] {
            assert_eq!(Page::of_html(html).text, text, "{html}");
        }
        assert_eq!(Page::of_text(" a\r\n\r\n b\tc").text, "a\nb c");
    }

    #[test]
    fn what_stands_out_is_found_by_its_position() {
        let page = Page::of_html("<p>a<b>b</b></p><h1>c</h1>");
        let looks: Vec<_> = [0, 1, 3].map(|at| (page.look(at).is_bold, page.look(at).is_large)).into();
        assert_eq!(looks, [(false, false), (true, false), (true, true)]);
    }

    #[test]
    fn an_anchor_has_its_text() {
        let page = Page::of_html(
            "x <a href=\"https://a.test/?a=1&amp;b=2\"><b style='background:#06c'>Go</b> on</a> y <a>z</a>",
        );
        let [anchor] = &page.anchors[..] else { panic!("{page:?}") };
        assert_eq!(anchor.target, "https://a.test/?a=1&b=2");
        assert_eq!((page.text[anchor.start..anchor.end].trim(), anchor.is_button), ("Go on", true));
        let anchors = |html: &str| Page::of_html(html).anchors.len();
        let small = "<td style=font-size:0><a href=x>";
        assert_eq!(anchors(&format!("{small}<b style=font-size:15px>seen</b></a>")), 1);
        assert_eq!(anchors(&format!("{small}unseen</a>")), 0);
    }

    #[test]
    fn lower_case_keeps_positions() {
        let page = Page::of_line("İSTANBUL ÇĞ Код ẞ");
        assert_eq!(page.text.len(), page.lower.len());
        assert!(page.lower.contains("код") && page.lower.contains("stanbul çğ"));
    }
}
