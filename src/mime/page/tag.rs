//! Start tags with all that they say of an element by themselves.

use std::borrow::Cow;

use cssparser::Parser;

use super::declarations::{Declaration, declarations};
use super::kind::Kind;
use crate::limits::SHEET_OCTETS_MAX;
use crate::markup;

/// A start tag as read. Elements with the same tag share it.
#[derive(Debug, Default)]
pub(super) struct Tag<'a> {
    /// In lower case.
    pub(super) name: Cow<'a, str>,
    pub(super) kind: Kind,
    pub(super) id: Cow<'a, str>,
    pub(super) class: Cow<'a, str>,
    /// As written.
    pub(super) attributes: &'a str,
    /// Whether nothing in the element is seen, whatever styles say.
    pub(super) is_hidden: bool,
    /// Whether the element is that of a button.
    pub(super) is_button: bool,
    /// Whether the element has the text of an older mail.
    pub(super) is_quoted: bool,
    /// What attributes other than `style` declare. Rules are stronger.
    pub(super) hints: Vec<Declaration>,
    /// What the attribute `style` declares.
    pub(super) style: Vec<Declaration>,
    /// The indexes of the rules' selectors that fit the element, the weakest first. Those around it may not fit.
    pub(super) selectors: Vec<usize>,
}

impl<'a> Tag<'a> {
    /// The tag with this name in lower case and these attributes, without what rules say.
    pub(super) fn read(name: Cow<'a, str>, attributes: &'a str) -> Self {
        let kind = Kind::of(&name);
        let is_button = name == "button";
        // Browsers show nothing but the heading of folded details.
        let is_folded = name == "details" && markup::attribute(attributes, "open").is_none();
        let is_hidden = kind.is_unshown() || is_folded;
        let mut tag = Self { name, kind, attributes, is_hidden, is_button, ..Self::default() };
        // Of attributes of one name the first counts, so it is read last.
        let all: Vec<_> = markup::attributes(attributes).collect();
        let mut hints = String::new();
        for (name, value) in all.into_iter().rev() {
            tag.read_attribute(&name.to_ascii_lowercase(), markup::decoded(value), &mut hints);
        }
        tag.hints = tag.declared(&hints);
        tag
    }

    fn read_attribute(&mut self, name: &str, value: Cow<'a, str>, hints: &mut String) {
        let hint = match name {
            "id" => return self.id = value,
            "style" => return self.style = self.declared(&value),
            "class" => {
                let lower = value.to_ascii_lowercase();
                let mut names = lower.split_ascii_whitespace();
                self.is_quoted |= names.any(|name| matches!(name, "gmail_quote" | "yahoo_quoted" | "moz-cite-prefix"));
                self.is_button |= lower.contains("button") || lower.contains("btn");
                return self.class = value;
            }
            "type" => return self.is_quoted |= self.name == "blockquote" && value.eq_ignore_ascii_case("cite"),
            "role" => return self.is_button |= value.eq_ignore_ascii_case("button"),
            "hidden" if value.eq_ignore_ascii_case("until-found") => "content-visibility: hidden".to_owned(),
            "hidden" | "popover" => "display: none".to_owned(),
            "bgcolor" if self.name == "body" || self.kind.level().is_some() => {
                format!("background-color: {}", color_of_attribute(value.trim()))
            }
            "color" if self.name == "font" => format!("color: {}", color_of_attribute(value.trim())),
            "text" if self.name == "body" => format!("color: {}", color_of_attribute(value.trim())),
            "dir" if self.name == "bdo" && !value.eq_ignore_ascii_case("ltr") => "unicode-bidi: plaintext".to_owned(),
            // Images of nearly no size are there to be loaded and not to be seen.
            "width" | "height" if self.name == "img" => {
                let value = value.trim();
                let end = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
                format!("{name}: {}px", &value[..end])
            }
            "size" if self.name == "font" => format!("font-size: {}px", size_px(value.trim())),
            _ => return,
        };
        *hints += &(hint + ";");
    }

    /// The declarations in CSS. If they are not all known, nothing in the element is seen.
    fn declared(&mut self, css: &str) -> Vec<Declaration> {
        let read = &css[..css.floor_char_boundary(SHEET_OCTETS_MAX)];
        let declared = declarations(&mut Parser::new(read));
        self.is_hidden |= read.len() < css.len() || declared.is_err();
        declared.unwrap_or_default()
    }
}

/// The size of text in pixels that is written as a number from 1 to 7, or as a number of steps from 3.
fn size_px(value: &str) -> u8 {
    let number: i8 = value.trim_start_matches('+').parse().unwrap_or(3);
    let step = if value.starts_with(['+', '-']) { number.saturating_add(3) } else { number };
    [10, 13, 16, 18, 24, 32, 48][usize::try_from(step - 1).unwrap_or(0).min(6)]
}

/// A colour of an attribute in CSS. Browsers make one of any text; other than by these rules it is not known.
fn color_of_attribute(value: &str) -> String {
    let digits = value.strip_prefix('#').unwrap_or(value);
    let is_hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
    match (digits.len(), is_hex) {
        (3, true) if digits.len() == value.len() => {
            digits.chars().fold("#".to_owned(), |color, digit| color + "0" + digit.encode_utf8(&mut [0; 4]))
        }
        (3 | 6, true) => format!("#{digits}"),
        _ if value.bytes().all(|b| b.is_ascii_alphabetic()) => value.to_owned(),
        _ => "attr(color)".to_owned(),
    }
}
