//! How text looks, as far as elements, attributes and style sheets say: whether it is seen, and how much it stands out.
//!
//! What is not known counts as hiding where it may hide.

use std::borrow::Cow;
use std::collections::BTreeMap;

use cssparser::Parser;

use super::Look;
use super::sheet::Sheet;
use super::values::{Color, Declaration, PLAIN_PX, Rgba, Value, calls, color, declarations, distances_px, is, numbers};
use crate::mime::limits::SHEET_OCTETS_MAX;
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
/// Text that is moved farther than so many pixels to the left or to the top is not seen, nor farther to the other sides.
const MOVED_PX: std::ops::RangeInclusive<f32> = -500.0..=3_000.0;
/// Nobody reads text in a box of this height or width, or in letters of this size.
const UNSEEN_PX: f32 = 2.0;
/// Nobody reads text that is made smaller than this share of its size.
const SCALE_MIN: f32 = 0.1;
/// Text of this size stands out.
const LARGE_PX: f32 = 20.0;
/// Signs with gaps of this size stand apart.
const SPACED_PX: f32 = 2.0;
/// Signs with gaps below this share of their size are upon one another.
const SQUEEZED: f32 = -0.4;

/// Properties that say how text looks and do not hide it by themselves, but by more than one of them.
const OTHER_PROPERTIES: [&str; 8] =
    ["background-clip", "background-color", "border", "color", "float", "font-weight", "position", "white-space"];

/// When a property hides an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Always,
    /// If the element also cuts off what is outside its box.
    Cut,
    /// It is that property.
    IsCut,
}

/// When a property with these values hides an element with all that is in it; `None` if it does not.
fn hides(property: &str, values: &[Value]) -> Option<When> {
    let is_moved = || distances_px(values).any(|px| !MOVED_PX.contains(&px));
    let is_none = || is(values, &["none", "auto", "normal", "initial", "inherit", "unset"]);
    let (when, hides) = match property {
        "display" => (When::Always, is(values, &["none", "table-column", "table-column-group"])),
        "content-visibility" => (When::Always, is(values, &["hidden"])),
        "clip" | "clip-path" | "mask" | "mask-image" => (When::Always, !is_none()),
        "filter" => (When::Always, calls(values).any(|(name, _)| !matches!(name, "" | "alpha"))),
        "transform" => {
            (When::Always, !is_none() && calls(values).any(|(name, arguments)| transforms_away(name, arguments)))
        }
        "scale" | "zoom" => (When::Always, is_tiny(values)),
        "rotate" => (When::Always, values.len() > 1),
        "text-indent" => (When::Always, distances_px(values).any(|px| !MOVED_PX.contains(&-px.abs()))),
        "left" | "right" | "top" | "bottom" | "translate" => (When::Always, is_moved()),
        "width" | "height" | "max-width" | "max-height" => (When::Cut, distances_px(values).any(|px| px <= UNSEEN_PX)),
        _ if property.starts_with("margin") || property.starts_with("inset") => (When::Always, is_moved()),
        _ if property.starts_with("overflow") => (When::IsCut, !is(values, &["visible", "initial", "unset"])),
        // These hide too if they are not known.
        "font-size" | "letter-spacing" | "opacity" | "visibility" => (When::Always, false),
        "line-height" => (When::Cut, false),
        _ => return None,
    };
    (hides || values.contains(&Value::Unknown)).then_some(when)
}

/// Whether a property counts here. There is a bounded number of them, so that an element has not more.
pub(super) fn is_known(property: &str) -> bool {
    let side = ["margin", "inset", "overflow"].iter().find_map(|it| property.strip_prefix(it));
    match side {
        Some(side) => {
            matches!(side, "" | "-left" | "-right" | "-top" | "-bottom" | "-x" | "-y" | "-block" | "-inline")
                || matches!(side, "-block-start" | "-block-end" | "-inline-start" | "-inline-end")
        }
        None => OTHER_PROPERTIES.contains(&property) || hides(property, &[Value::Unknown]).is_some(),
    }
}

fn is_tiny(values: &[Value]) -> bool {
    numbers(values).any(|share| share.abs() < SCALE_MIN)
}

/// Whether a function of the property `transform` may leave nothing to be seen.
fn transforms_away(name: &str, arguments: &[Value]) -> bool {
    match name {
        "rotate" | "rotatez" => false,
        _ if name.starts_with("scale") => is_tiny(arguments),
        _ => !name.starts_with("translate") || hides("translate", arguments).is_some(),
    }
}

/// How the text of an element looks. Most of it is inherited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Style {
    /// Whether neither the element nor anything in it is seen.
    pub(super) is_hidden: bool,
    /// Whether its text is not seen. That of elements in it may be. So is the next one.
    is_invisible: bool,
    is_squeezed: bool,
    /// Whether lines have no height.
    is_flat: bool,
    pub(super) look: Look,
    /// Whether line ends in the source count.
    pub(super) is_preformatted: bool,
    /// Whether the element has a background or a border of its own, as buttons have. Not inherited.
    pub(super) is_boxed: bool,
    /// Whether the element is a line of its own although its name is not that of a block. Not inherited.
    pub(super) is_block: bool,
    /// Whether a declaration says how the element is laid out, whatever its name is. Not inherited.
    has_display: bool,
    size_px: f32,
    opacity: f32,
    color: Color,
    background: Color,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            is_hidden: false,
            is_invisible: false,
            is_squeezed: false,
            is_flat: false,
            look: Look::default(),
            is_preformatted: false,
            is_boxed: false,
            is_block: false,
            has_display: false,
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

    /// Whether a reader sees the text.
    pub(super) fn is_seen(&self) -> bool {
        let contrast = match (self.color, self.background) {
            (Color::Known(color), Color::Known(background)) => color.contrast(background),
            (Color::Known(color), Color::Unknown) => color.alpha,
            (Color::Unknown, _) => 1.0,
        };
        let is_any = self.is_hidden || self.is_invisible || self.is_squeezed;
        !is_any && self.size_px > UNSEEN_PX && contrast * self.opacity >= Rgba::ALPHA_MIN
    }

    /// Whether a reader sees the text even if it is in another element in place of its own.
    pub(super) fn is_seen_in(&self, around: &Self) -> bool {
        self.is_seen() && around.is_seen() && self.background == around.background
    }

    /// What the name of an element and one of its attributes say that no style sheet can say.
    fn attribute(&mut self, element: &str, name: &str, value: &str) {
        match (name, element) {
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

    /// Applies what is declared for an element with this name within text of this style.
    fn declare(&mut self, own: &Own<'_>, element: &str, outer: &Self) {
        let get = |property| own.get(property).map(|it| &it.values[..]);
        let first = |property| get(property).and_then(|values| values.first());
        let px_of_text =
            |property, px| get(property).and_then(|it| it.iter().filter_map(|it| it.px_of_text(px)).reduce(f32::min));
        if let Some(display) = get("display") {
            self.has_display = true;
            self.is_block = is(display, &["block", "table", "flex", "grid"]);
        }
        if let Some(height) = first("line-height") {
            let least = if let Value::Px(_) = height { UNSEEN_PX } else { SCALE_MIN };
            self.is_flat = height.number().is_some_and(|height| height <= least);
        }
        let found: Vec<When> = own.values().filter_map(|it| hides(&it.property, &it.values)).collect();
        // Cells grow with what is in them, and a width of nothing cuts off long lines alone.
        let grows = matches!(element, "table" | "tr" | "td" | "th")
            && !outer.has_display
            && !["display", "position", "float"].iter().any(|property| own.contains_key(property));
        let is_cut = !grows && found.contains(&When::IsCut);
        self.is_hidden |= found.contains(&When::Always) || is_cut && (self.is_flat || found.contains(&When::Cut));
        if let Some(visibility) = get("visibility").filter(|values| !is(values, &["inherit", "unset"])) {
            self.is_invisible = !is(visibility, &["visible", "initial"]);
        }
        if let Some(Value::Word(word)) = first("white-space") {
            self.is_preformatted = word.starts_with("pre");
        }
        self.size_px = px_of_text("font-size", outer.size_px).unwrap_or(self.size_px);
        self.look.is_large = self.size_px >= LARGE_PX;
        self.look.is_bold = first("font-weight").map_or(self.look.is_bold, Value::is_bold);
        if own.contains_key("letter-spacing") {
            let spacing = px_of_text("letter-spacing", self.size_px).unwrap_or_default();
            self.look.is_spaced = spacing >= SPACED_PX;
            self.is_squeezed = spacing < SQUEEZED * self.size_px;
        }
        self.is_boxed |= get("border").is_some_and(|it| !is(it, &["none"]) && it[0].number() != Some(0.0));
        self.declare_colors(own);
    }

    fn declare_colors(&mut self, own: &Own<'_>) {
        let get = |property| own.get(property).map(|it| &it.values[..]);
        let opacity = get("opacity").and_then(|values| numbers(values).reduce(f32::min));
        self.opacity *= opacity.unwrap_or(1.0).clamp(0.0, 1.0);
        if let Some(values) = get("color") {
            // Few know other functions than the oldest.
            let is_called = values.iter().any(|value| matches!(value, Value::Function(_)));
            let unseen = Some(Color::Known(Rgba::TRANSPARENT)).filter(|_| is_called);
            self.color = unseen.or_else(|| color(values)).unwrap_or(self.color);
        }
        self.is_boxed |= own.contains_key("background-color");
        let Some(background) = get("background-color").and_then(color) else { return };
        if get("background-clip").is_some_and(|values| is(values, &["text"])) {
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

/// What is declared for an element, by property.
type Own<'a> = BTreeMap<&'a str, &'a Declaration>;

/// Adds a declaration that is stronger than those before, except for important ones.
fn add<'a>(own: &mut Own<'a>, declaration: &'a Declaration) {
    let before = own.get(declaration.property.as_str());
    if declaration.is_important || before.is_none_or(|before| !before.is_important) {
        own.insert(&declaration.property, declaration);
    }
}

/// Whether browsers show what is in an element to nobody, or only in place of what they can't show.
pub(super) fn is_unshown(name: &str) -> bool {
    matches!(name, "applet" | "audio" | "canvas" | "math" | "meter" | "object" | "progress")
        || matches!(name, "select" | "svg" | "template" | "video")
}

/// The declarations that an attribute other than `style` stands for.
fn of_attribute(element: &str, name: &str, value: &str) -> Option<String> {
    let color =
        || if value.bytes().all(|b| b.is_ascii_hexdigit()) { format!("#{value};") } else { format!("{value};") };
    Some(match (name, element) {
        ("hidden" | "popover", _) => "display: none;".to_owned(),
        ("bgcolor", _) => "background-color:".to_owned() + &color(),
        ("color", "font") | ("text", "body") => "color:".to_owned() + &color(),
        // Images of nearly no size are there to be loaded and not to be seen.
        ("width" | "height", "img") => format!("{name}: {value}px;"),
        ("size", "font") => {
            let number: i8 = value.trim_start_matches('+').parse().ok()?;
            let step = if value.starts_with(['+', '-']) { number.saturating_add(3) } else { number };
            let sizes_px = [10, 13, 16, 18, 24, 32, 48];
            format!("font-size: {}px;", sizes_px[usize::try_from(step - 1).unwrap_or(0).min(6)])
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
        // Browsers show nothing but the heading of folded details.
        let is_folded = name == "details" && markup::attribute(attributes, "open").is_none();
        let is_hidden = outer.is_hidden || is_unshown(&name) || is_folded;
        let style = Style { is_hidden, is_boxed: name == "button", is_block: false, has_display: false, ..outer };
        let mut element = Self { name, id: "".into(), class: "".into(), attributes, style };
        let (mut hints, mut css) = (String::new(), "".into());
        // Of attributes of one name the first counts, so it is read last.
        let all: Vec<_> = markup::attributes(attributes).collect();
        for (name, value) in all.into_iter().rev() {
            let (name, value) = (name.to_ascii_lowercase(), markup::decoded(value));
            element.style.attribute(&element.name, &name, &value);
            hints += &of_attribute(&element.name, &name, value.trim()).unwrap_or_default();
            match name.as_str() {
                "id" => element.id = value,
                "class" => element.class = value,
                "style" => css = value,
                _ => {}
            }
        }
        element.style.is_hidden |= css.len() > SHEET_OCTETS_MAX;
        let css = &css[..css.floor_char_boundary(SHEET_OCTETS_MAX)];
        let [hints, css] = [hints.as_str(), css].map(|css| declarations(&mut Parser::new(css)));
        let [certain, doubtful] = sheet.declared(&element, around);
        let mut own = Own::new();
        hints.iter().chain(certain.into_iter().flatten()).chain(&css).for_each(|it| add(&mut own, it));
        let plain = element.style;
        element.style.declare(&own, &element.name, &outer);
        // What rules may declare can hide, and shows nothing that is hidden without it.
        for rule in doubtful {
            for it in rule {
                add(&mut own, it);
            }
            let mut style = plain;
            style.declare(&own, &element.name, &outer);
            element.style.is_hidden |= !style.is_seen() && element.style.is_seen();
        }
        element.style.is_hidden |= sheet.is_spent();
        element
    }
}
