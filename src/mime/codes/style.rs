//! How text looks, as far as elements, attributes and style sheets say: whether it is seen, and how much it stands out.

use std::collections::HashMap;

use super::declarations::{Declarations, PLAIN_PX, WHITE, color};
use crate::mime::markup;

/// The most octets of one `style` or `class` attribute that are read.
const ATTRIBUTE_OCTETS_MAX: usize = 1_000;
/// The most classes of style sheets that are known.
const CLASSES_MAX: usize = 500;
/// The most octets of style sheets that are read.
const SHEET_OCTETS_MAX: usize = 64 * 1024;
/// The most classes of an element that are looked up.
const CLASSES_OF_ELEMENT_MAX: usize = 8;
/// Text of this size or less is not seen.
const UNSEEN_PX: f32 = 2.0;
/// Text of this size stands out.
const LARGE_PX: f32 = 20.0;
/// Signs with gaps of this size stand apart.
const SPACED_PX: f32 = 2.0;

/// How the text of an element looks. Most of it is inherited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Style {
    pub(super) is_hidden: bool,
    /// Whether it belongs to an older mail that is quoted.
    pub(super) is_quoted: bool,
    pub(super) is_bold: bool,
    pub(super) is_spaced: bool,
    /// Whether line ends in the source count.
    pub(super) is_preformatted: bool,
    /// Whether the element has a background or a border of its own, as buttons have. Not inherited.
    pub(super) is_boxed: bool,
    /// Whether the element is a line of its own although its name is not that of a block. Not inherited.
    pub(super) is_block: bool,
    size_px: f32,
    color: Option<u32>,
    background: u32,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            is_hidden: false,
            is_quoted: false,
            is_bold: false,
            is_spaced: false,
            is_preformatted: false,
            is_boxed: false,
            is_block: false,
            size_px: PLAIN_PX,
            color: None,
            background: WHITE,
        }
    }
}

impl Style {
    /// The style of plain text.
    pub(super) fn preformatted() -> Self {
        Self { is_preformatted: true, ..Self::default() }
    }

    pub(super) fn is_large(&self) -> bool {
        self.size_px >= LARGE_PX
    }

    /// Whether a reader sees the text.
    pub(super) fn is_seen(&self) -> bool {
        !self.is_hidden && self.size_px > UNSEEN_PX && self.color != Some(self.background)
    }

    /// The style of an element within one of this style.
    pub(super) fn within(&self, name: &str, attributes: &str, sheet: &Sheet<'_>) -> Self {
        let mut style = Self { is_boxed: false, is_block: false, ..*self };
        style.element(name);
        if let Some(names) = markup::attribute(attributes, "class") {
            style.classes(cut(names), sheet);
        }
        for (attribute, value) in markup::attributes(attributes) {
            let value = cut(value);
            match attribute.to_ascii_lowercase().as_str() {
                "hidden" => style.is_hidden = true,
                "bgcolor" => style.background = color(value).unwrap_or(style.background),
                "color" if name == "font" => style.color = color(value),
                "size" if name == "font" => style.font_size(value),
                "type" if name == "blockquote" => style.is_quoted |= value.eq_ignore_ascii_case("cite"),
                "role" => style.is_boxed |= value.eq_ignore_ascii_case("button"),
                _ => {}
            }
        }
        if let Some(declarations) = markup::attribute(attributes, "style") {
            style.declare(&Declarations::of(cut(declarations)), self.size_px);
        }
        style
    }

    fn element(&mut self, name: &str) {
        let heading_px = match name {
            "h1" => Some(32.0),
            "h2" => Some(24.0),
            "h3" | "big" => Some(LARGE_PX),
            "h4" | "h5" | "h6" => Some(PLAIN_PX),
            _ => None,
        };
        self.size_px = heading_px.unwrap_or(self.size_px);
        self.is_bold |= heading_px.is_some() || matches!(name, "b" | "strong" | "th" | "mark");
        self.is_preformatted |= name == "pre";
        self.is_boxed |= name == "button";
    }

    fn classes(&mut self, names: &str, sheet: &Sheet<'_>) {
        for name in names.split_ascii_whitespace().take(CLASSES_OF_ELEMENT_MAX) {
            let lower = name.to_ascii_lowercase();
            self.is_quoted |= matches!(lower.as_str(), "gmail_quote" | "yahoo_quoted" | "moz-cite-prefix");
            self.is_boxed |= lower.contains("button") || lower.contains("btn");
            if let Some(declarations) = sheet.classes.get(name) {
                self.declare(declarations, self.size_px);
            }
        }
    }

    /// The sizes of `<font>`: 3 is plain, and a sign makes it relative.
    fn font_size(&mut self, value: &str) {
        let number: f32 = value.trim_start_matches('+').parse().unwrap_or(0.0);
        let step = if value.starts_with(['+', '-']) { number + 3.0 } else { number };
        self.size_px = match step {
            step if step >= 6.0 => 32.0,
            step if step >= 5.0 => 24.0,
            step if step >= 4.0 => 18.0,
            _ => self.size_px.min(PLAIN_PX),
        };
    }

    /// Applies declarations within text of this size.
    fn declare(&mut self, declarations: &Declarations, around_px: f32) {
        self.is_hidden |= declarations.is_hidden;
        self.is_boxed |= declarations.is_boxed;
        self.is_block = declarations.is_block.unwrap_or(self.is_block);
        self.is_bold = declarations.is_bold.unwrap_or(self.is_bold);
        self.is_preformatted = declarations.is_preformatted.unwrap_or(self.is_preformatted);
        self.size_px = declarations.font_size.map_or(self.size_px, |size| size.px(around_px));
        let spacing = declarations.letter_spacing.map(|spacing| spacing.px(self.size_px));
        self.is_spaced = spacing.map_or(self.is_spaced, |px| px >= SPACED_PX);
        self.color = declarations.color.or(self.color);
        self.background = declarations.background.unwrap_or(self.background);
    }
}

fn cut(value: &str) -> &str {
    &value[..value.floor_char_boundary(ATTRIBUTE_OCTETS_MAX)]
}

/// The rules of style sheets for one class each. Other rules are not read.
#[derive(Debug, Default)]
pub(super) struct Sheet<'a> {
    classes: HashMap<&'a str, Declarations>,
    octets: usize,
}

impl<'a> Sheet<'a> {
    /// Adds the rules of a sheet. Those within `@media` and its like are left out.
    pub(super) fn add(&mut self, css: &'a str) {
        let left = SHEET_OCTETS_MAX.saturating_sub(self.octets);
        let mut rest = &css[..css.floor_char_boundary(left)];
        self.octets += rest.len();
        while let Some((selectors, after)) = rest.split_once('{') {
            if selectors.trim_start().starts_with('@') {
                rest = after_block(after);
                continue;
            }
            let Some((declarations, next)) = after.split_once('}') else { return };
            let declarations = Declarations::of(cut(declarations));
            for selector in selectors.split(',') {
                let selector = selector.rsplit("*/").next().unwrap_or(selector).trim();
                let name = selector.split_once('.').filter(|(element, _)| !element.contains([' ', '#', ':', '>']));
                let is_name = |name: &&str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
                if let Some(name) = name.map(|(_, name)| name).filter(is_name)
                    && self.classes.len() < CLASSES_MAX
                {
                    self.classes.insert(name, declarations);
                }
            }
            rest = next;
        }
    }
}

/// The text after the block that has just begun.
fn after_block(text: &str) -> &str {
    let mut depth = 1_usize;
    for (position, octet) in text.bytes().enumerate() {
        match octet {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[position + 1..];
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(attributes: &str) -> Style {
        Style::default().within("p", attributes, &Sheet::default())
    }

    #[test]
    fn what_is_not_seen_is_known() {
        for hidden in [
            " style=\"display:none\"",
            " style='DISPLAY : None !important'",
            " style=\"font-size:0\"",
            " style=\"font-size:1px;line-height:1px\"",
            " style=\"max-height:0px;overflow:hidden\"",
            " style=\"color:#fff\"",
            " style=\"color:#222222;background:#222\"",
            " style=\"color:rgb(1, 2, 3);background-color:rgb(1,2,3)\"",
            " style=\"color:transparent\"",
            " style=\"opacity:0\"",
            " style=\"position:absolute;left:-9999px\"",
            " style=\"margin-top:-10000px\"",
            " style=\"position:absolute;clip:rect(0,0,0,0)\"",
            " hidden",
        ] {
            assert!(!style(hidden).is_seen(), "{hidden}");
        }
        for seen in [
            "",
            " style=\"opacity:0.9\"",
            " style=\"color:#fff;background:#06c\"",
            " style=\"display:\"",
            " style=\"height:100%\"",
        ] {
            assert!(style(seen).is_seen(), "{seen}");
        }
    }

    #[test]
    fn what_stands_out_is_known() {
        for large in
            ["font-size:24px", "font-size:18pt", "font-size:2em", "font-size:150%", "font:bold 30px/40px Arial"]
        {
            assert!(style(&format!(" style=\"{large}\"")).is_large(), "{large}");
        }
        assert!(style(" style=\"letter-spacing:.3em\"").is_spaced);
        assert!(Style::default().within("h1", "", &Sheet::default()).is_large());
        assert!(Style::default().within("font", " size=6", &Sheet::default()).is_large());
    }

    #[test]
    fn classes_of_a_sheet_count_and_those_of_media_do_not() {
        let mut sheet = Sheet::default();
        sheet.add("/* .a{} */ td.otp, .code {font-size:30px} @media print{.p{display:none}} .q{display:none}");
        let style = |class: &str| Style::default().within("td", &format!(" class=\"x {class}\""), &sheet);
        assert!(style("otp").is_large() && style("code").is_large());
        assert!(style("p").is_seen() && !style("q").is_seen());
    }
}
