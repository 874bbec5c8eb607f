//! Writes the text of a page: with gaps between its pieces, and characters in the form that its readers need.

use super::style::Style;
use super::{Anchor, Page};
use crate::limits::ANCHORS_MAX;

/// The zeros of scripts, each before its other digits.
const ZEROS: [u32; 24] = [
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0xf20, 0x1040,
    0x17e0, 0x1810, 0xff10, 0x1_d7ce, 0x1_d7d8, 0x1_d7e2, 0x1_d7ec, 0x1_d7f6,
];

/// Whom a text is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// For the search of codes and links; see [`Page`].
    Searched,
    /// For people: characters as written, paragraphs, marks of list items, and targets of links.
    Shown,
}

/// What is between two pieces of text, the stronger the later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    Space,
    Cell,
    Line,
    Paragraph,
}

/// Writes the text of a page.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) page: Page,
    form: Form,
    /// What to write before the next character.
    gap: Option<Gap>,
}

impl Writer {
    pub(super) fn of(form: Form) -> Self {
        Self { page: Page::default(), form, gap: None }
    }

    /// Adds a gap, unless there is a stronger one.
    pub(super) fn separate(&mut self, gap: Gap) {
        self.gap = self.gap.max(Some(gap));
    }

    /// Ends a line, which leaves an empty one if nothing is in it.
    pub(super) fn end_line(&mut self) {
        self.separate(if self.gap < Some(Gap::Line) { Gap::Line } else { Gap::Paragraph });
    }

    pub(super) fn mark_item(&mut self) {
        if self.form == Form::Shown {
            self.push("- ", Style::default());
        }
    }

    pub(super) fn add_anchor(&mut self, mut anchor: Anchor) {
        anchor.end = self.page.text.len();
        match self.form {
            Form::Searched if self.page.anchors.len() < ANCHORS_MAX => self.page.anchors.push(anchor),
            Form::Searched => {}
            Form::Shown => {
                let target = anchor.target.split_whitespace().collect::<Vec<_>>().join(" ");
                let is_web = ["http://", "https://"].iter().any(|scheme| target.starts_with(scheme));
                if is_web && self.page.text[anchor.start..].trim() != target {
                    self.separate(Gap::Space);
                    self.push(&format!("<{target}>"), Style::default());
                }
                return;
            }
        }
        self.separate(Gap::Space);
    }

    pub(super) fn push(&mut self, content: &str, style: Style) {
        for c in content.chars() {
            super::step(1);
            match c {
                '!'..='~' => self.write(c, style),
                '\n' if style.is_preformatted => self.end_line(),
                c if c.is_whitespace() => self.separate(Gap::Space),
                c if self.form == Form::Searched && is_unseen(c) => {}
                c if self.form == Form::Searched => self.write(ascii_form(c), style),
                c => self.write(c, style),
            }
        }
    }

    fn write(&mut self, c: char, style: Style) {
        let Self { page, form, gap } = self;
        if let Some(gap) = gap.take().filter(|_| !page.text.is_empty()) {
            page.text.push_str(match (gap, &*form) {
                (Gap::Space, _) | (Gap::Cell, Form::Shown) => " ",
                (Gap::Cell, Form::Searched) => "\t",
                (Gap::Line, _) | (Gap::Paragraph, Form::Searched) => "\n",
                (Gap::Paragraph, Form::Shown) => "\n\n",
            });
        }
        if *form == Form::Searched && page.looks.last().is_none_or(|(_, last)| *last != style.look) {
            page.looks.push((page.text.len(), style.look));
        }
        page.text.push(c);
    }

    pub(super) fn finish(mut self) -> Page {
        if self.form == Form::Searched {
            self.page.lower = self.page.text.chars().map(lower).collect();
        }
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

/// Whether a character has no picture of its own: controls, marks of direction, joiners, selectors of variants,
/// fillers, tags, and what Unicode reserves for such (`Default_Ignorable_Code_Point`).
#[rustfmt::skip]
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(
            u32::from(c),
            0xad | 0x34f | 0x61c | 0x115f..=0x1160 | 0x17b4..=0x17b5 | 0x180b..=0x180f | 0x200b..=0x200f
                | 0x2028..=0x202e | 0x2060..=0x206f | 0x2800 | 0x3164 | 0xfe00..=0xfe0f | 0xfeff | 0xffa0
                | 0xfff0..=0xfffb | 0x1_bca0..=0x1_bca3 | 0x1_d173..=0x1_d17a | 0xe_0000..=0xe_0fff
        )
}

/// The character of ASCII that another one stands for: full-width letters, dashes, and digits of other scripts.
fn ascii_form(c: char) -> char {
    let code = u32::from(c);
    let zero = ZEROS[..ZEROS.partition_point(|zero| *zero <= code)].last().copied().unwrap_or_default();
    match code {
        // Punctuation stays: it separates sentences in Chinese, and would be part of a number in ASCII.
        0xff21..=0xff3a | 0xff41..=0xff5a => char::from_u32(code - 0xff01 + 0x21).unwrap_or(c),
        0x2010..=0x2015 | 0x2212 | 0xfe63 | 0xff0d => '-',
        _ => char::from_digit(code - zero, 10).unwrap_or(c),
    }
}
