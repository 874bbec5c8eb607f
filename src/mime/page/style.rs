//! How text looks, as far as elements, attributes and style sheets say: whether it is seen, and how much it stands out.

use std::borrow::Cow;
use std::collections::BTreeMap;

use cssparser::Parser;

use super::Look;
use super::hiding::{HIDING, SCALE_MIN, UNSEEN_PX, When, is_flat};
use super::sheet::Sheet;
use super::values::{Color, Declaration, PLAIN_PX, Rgba, Value, calls, color, declarations, is};
use crate::mime::markup;

/// What browsers do with elements that have no other style.
pub(super) const OF_BROWSERS: &str = "
    h1 { font-size: 32px } h2 { font-size: 24px } h3, big { font-size: 20px } h4, h5, h6 { font-size: 16px }
    h1, h2, h3, h4, h5, h6, big, b, strong, th, mark { font-weight: bold }
    pre { white-space: pre }
    a[href] { color: #00f }
    datalist, dialog, rp { display: none }
    dialog[open] { display: block }
    img { overflow: hidden }";
/// Properties that matter for text and do not hide it alone.
const OTHERS: [&str; 12] = [
    "visibility",
    "opacity",
    "filter",
    "color",
    "background-color",
    "background-clip",
    "border",
    "font-size",
    "font-weight",
    "letter-spacing",
    "line-height",
    "white-space",
];
/// Text of this size stands out.
const LARGE_PX: f32 = 20.0;
/// Signs with gaps of this size stand apart.
const SPACED_PX: f32 = 2.0;
/// Signs with gaps below this share of their size are upon one another.
const SQUEEZED: f32 = -0.4;

/// The property of this name that matters for text.
pub(super) fn known(name: &str) -> Option<&'static str> {
    HIDING.iter().map(|(known, ..)| *known).chain(OTHERS).find(|known| *known == name)
}

/// How the text of an element looks. Most of it is inherited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Style {
    /// Whether neither the element nor anything in it is seen.
    pub(super) is_hidden: bool,
    /// Whether only the summary of the element is seen.
    is_folded: bool,
    /// Whether its text is not seen. That of elements in it may be. So are the next two.
    is_invisible: bool,
    is_squeezed: bool,
    is_cut_flat: bool,
    /// Whether lines have no height.
    is_flat: bool,
    pub(super) look: Look,
    /// Whether line ends in the source count.
    pub(super) is_preformatted: bool,
    /// Whether the element has a background or a border of its own, as buttons have. Not inherited.
    pub(super) is_boxed: bool,
    /// Whether the element is a line of its own although its name is not that of a block. Not inherited.
    pub(super) is_block: bool,
    size_px: f32,
    opacity: f32,
    color: Color,
    background: Color,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            is_hidden: false,
            is_folded: false,
            is_invisible: false,
            is_squeezed: false,
            is_cut_flat: false,
            is_flat: false,
            look: Look::default(),
            is_preformatted: false,
            is_boxed: false,
            is_block: false,
            size_px: PLAIN_PX,
            opacity: 1.0,
            color: Color::Known(Rgba::BLACK),
            background: Color::Known(Rgba::WHITE),
        }
    }
}

impl Style {
    /// The style of plain text.
    pub(super) fn preformatted() -> Self {
        Self { is_preformatted: true, ..Self::default() }
    }

    /// Hides what is in folded details from now on.
    pub(super) fn hide_folded(&mut self) {
        self.is_hidden |= self.is_folded;
    }

    /// Whether a reader sees the text.
    pub(super) fn is_seen(&self) -> bool {
        let contrast = match (self.color, self.background) {
            (Color::Known(color), Color::Known(background)) => color.contrast(background),
            (Color::Known(color), Color::Unknown) => color.alpha,
            (Color::Unknown, _) => 1.0,
        };
        let is_any = self.is_hidden || self.is_folded || self.is_invisible || self.is_cut_flat || self.is_squeezed;
        !is_any && self.size_px > UNSEEN_PX && contrast * self.opacity >= Rgba::ALPHA_MIN
    }

    /// What the name of an element and one of its attributes say that no style sheet can say.
    fn attribute(&mut self, element: &str, name: &str, value: &str) {
        match (name, element) {
            ("open", "details") => self.is_folded = false,
            ("type", "blockquote") => self.look.is_quoted |= value.eq_ignore_ascii_case("cite"),
            ("role", _) => self.is_boxed |= value.eq_ignore_ascii_case("button"),
            ("class", _) => {
                let lower = value.to_ascii_lowercase();
                let mut names = lower.split_ascii_whitespace();
                self.look.is_quoted |=
                    names.any(|name| matches!(name, "gmail_quote" | "yahoo_quoted" | "moz-cite-prefix"));
                self.is_boxed |= lower.contains("button") || lower.contains("btn");
            }
            _ => {}
        }
    }

    /// Applies what is declared, within text of this size.
    fn declare(&mut self, own: &BTreeMap<&str, &[Value]>, around_px: f32) {
        let found = HIDING.iter().filter(|(property, _, hides)| own.get(property).is_some_and(|values| hides(values)));
        let found: Vec<When> = found.map(|(_, when, _)| *when).collect();
        let hides = |when| found.contains(&when);
        let first = |property| own.get(property).and_then(|values| values.first());
        self.is_hidden |= hides(When::Always)
            || hides(When::IsCut) && hides(When::Cut)
            || hides(When::IsPlaced) && hides(When::Placed);
        if let Some(display) = own.get("display") {
            self.is_block = is(display, &["block", "table", "flex"]);
        }
        if let Some(visibility) = own.get("visibility") {
            self.is_invisible = is(visibility, &["hidden", "collapse"]);
        }
        if let Some(Value::Word(word)) = first("white-space") {
            self.is_preformatted = word.starts_with("pre");
        }
        if let Some(height) = own.get("line-height") {
            self.is_flat = if let [Value::Number(share)] = height { *share < SCALE_MIN } else { is_flat(height) };
        }
        self.is_cut_flat = self.is_flat && (self.is_cut_flat || hides(When::IsCut));
        self.size_px = first("font-size").and_then(|size| size.px_of_text(around_px)).unwrap_or(self.size_px);
        self.look.is_large = self.size_px >= LARGE_PX;
        self.look.is_bold = first("font-weight").map_or(self.look.is_bold, Value::is_bold);
        if let Some(spacing) = first("letter-spacing").map(|it| it.px_of_text(self.size_px).unwrap_or_default()) {
            self.look.is_spaced = spacing >= SPACED_PX;
            self.is_squeezed = spacing < SQUEEZED * self.size_px;
        }
        self.declare_colors(own);
    }

    fn declare_colors(&mut self, own: &BTreeMap<&str, &[Value]>) {
        let share = |values: &[Value]| values.first().and_then(Value::share);
        self.opacity *= own.get("opacity").and_then(|values| share(values)).unwrap_or(1.0);
        for (name, arguments) in own.get("filter").into_iter().flat_map(|values| calls(values)) {
            self.opacity *= share(arguments).filter(|_| name == "opacity").unwrap_or(1.0);
        }
        self.color = own.get("color").and_then(|values| color(values)).unwrap_or(self.color);
        self.is_boxed |= own.contains_key("background-color");
        self.is_boxed |= own.get("border").is_some_and(|it| !is(it, &["none"]) && it[0].number() != Some(0.0));
        let Some(background) = own.get("background-color").and_then(|values| color(values)) else { return };
        if own.get("background-clip").is_some_and(|values| is(values, &["text"])) {
            // It is seen through the letters only.
            self.color = background;
            return;
        }
        self.background = match (background, self.background) {
            (Color::Known(color), Color::Known(behind)) => Color::Known(color.over(behind)),
            (Color::Known(color), Color::Unknown) if color.alpha < 1.0 => Color::Unknown,
            (background, _) => background,
        };
    }
}

/// The declarations that an attribute other than `style` stands for.
fn of_attribute(element: &str, name: &str, value: &str) -> Option<String> {
    let color = || if value.bytes().all(|b| b.is_ascii_hexdigit()) { format!("#{value}") } else { value.to_owned() };
    Some(match (name, element) {
        ("hidden" | "popover", _) => "display: none".to_owned(),
        ("bgcolor", _) => format!("background-color: {}", color()),
        ("color", "font") | ("text", "body") => format!("color: {}", color()),
        // Images of nearly no size are there to be loaded and not to be seen.
        ("width" | "height", "img") => format!("{name}: {value}px"),
        ("size", "font") => {
            let number: i8 = value.trim_start_matches('+').parse().ok()?;
            let step = if value.starts_with(['+', '-']) { number.saturating_add(3) } else { number };
            let sizes_px = [10, 13, 16, 18, 24, 32, 48];
            format!("font-size: {}px", sizes_px[usize::try_from(step - 1).unwrap_or(0).min(6)])
        }
        _ => return None,
    })
}

/// An open element.
#[derive(Debug)]
pub(super) struct Element<'a> {
    /// In lower case.
    pub(super) name: String,
    pub(super) id: Cow<'a, str>,
    pub(super) class: Cow<'a, str>,
    /// As written.
    pub(super) attributes: &'a str,
    pub(super) style: Style,
}

impl<'a> Element<'a> {
    /// The element with this name in lower case and these attributes within others, the outermost first.
    pub(super) fn within(around: &[Self], name: String, attributes: &'a str, sheet: &mut Sheet) -> Self {
        let outer = around.last().map(|element| element.style).unwrap_or_default();
        let mut style = Style {
            // Browsers show what is in these to nobody, or only in place of what they can't show.
            is_hidden: outer.is_hidden
                || outer.is_folded && name != "summary"
                || matches!(
                    &*name,
                    "applet"
                        | "audio"
                        | "canvas"
                        | "meter"
                        | "object"
                        | "progress"
                        | "select"
                        | "svg"
                        | "template"
                        | "video"
                ),
            is_folded: name == "details",
            is_boxed: name == "button",
            is_block: false,
            ..outer
        };
        let mut element = Self { name, id: "".into(), class: "".into(), attributes, style };
        let (mut hints, mut css) = (String::new(), "".into());
        // Of attributes of one name the first counts, so it is read last.
        let all: Vec<_> = markup::attributes(attributes).collect();
        for (name, value) in all.into_iter().rev() {
            let (name, value) = (name.to_ascii_lowercase(), markup::decoded(value));
            style.attribute(&element.name, &name, &value);
            if let Some(hint) = of_attribute(&element.name, &name, value.trim()) {
                hints = hints + &hint + ";";
            }
            match name.as_str() {
                "id" => element.id = value,
                "class" => element.class = value,
                "style" => css = value,
                _ => {}
            }
        }
        let [hints, css] = [hints.as_str(), &css].map(|css| declarations(&mut Parser::new(css), known));
        let all: Vec<&Declaration> = hints.iter().chain(sheet.declared(&element, around)).chain(&css).collect();
        let (important, plain): (Vec<_>, Vec<_>) = all.into_iter().partition(|it| it.is_important);
        let mut own: BTreeMap<_, _> =
            plain.into_iter().chain(important).map(|it| (it.property, &it.values[..])).collect();
        match element.name.as_str() {
            // Word alone hides what has this property. It stands for a button that Word makes from something else.
            "a" => _ = own.remove("mso-hide"),
            // Cells grow with what is in them, and a width of nothing cuts off long lines alone.
            "td" | "th" | "tr" | "table" if !own.contains_key("display") => _ = own.remove("overflow"),
            _ => {}
        }
        if !own.is_empty() {
            style.declare(&own, outer.size_px);
        }
        Self { style, ..element }
    }
}
