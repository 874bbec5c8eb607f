//! How text looks, as far as elements, attributes and style sheets say: whether it is seen, and how much it stands out.
//!
//! What is not known counts as hiding where it may hide.

use std::borrow::Cow;
use std::collections::BTreeMap;

use cssparser::Parser;

use super::Look;
use super::sheet::Sheet;
use super::tree::is_block;
use super::values::{Colors, Declaration, PLAIN_PX, Value, calls, colors, declarations, distances_px, is, numbers};
use crate::mime::limits::SHEET_OCTETS_MAX;
use crate::mime::markup;

/// What browsers do with elements that have no other style.
pub(super) const OF_BROWSERS: &str = "
    h1 { font-size: 32px } h2 { font-size: 24px } h3, big { font-size: 20px } h4, h5, h6 { font-size: 16px }
    h1, h2, h3, h4, h5, h6, big, b, strong, th, mark { font-weight: bold }
    small, sub, sup { font-size: smaller }
    pre { white-space: pre }
    a[href] { color: #00f }
    datalist, dialog, rp { display: none }
    dialog[open] { display: block }
    img { overflow: hidden }";
/// Text that is moved farther than so many pixels to the left or to the top is not seen, nor farther to the other sides.
const MOVED_PX: std::ops::RangeInclusive<f32> = -120.0..=3_000.0;
/// What is moved so far is not where its surroundings are.
const LINE_PX: f32 = 16.0;
/// Nobody reads text in a box of this height or width, or in letters of this size.
const UNSEEN_PX: f32 = 4.0;
/// Nobody reads text that is made smaller than this share of its size.
const SCALE_MIN: f32 = 0.25;
/// Lines of less than this share of their letters' height have none.
const FLAT: f32 = 0.1;
/// Text of this size stands out.
const LARGE_PX: f32 = 20.0;
/// Signs with gaps of this size stand apart.
const SPACED_PX: f32 = 2.0;
/// Signs with gaps below this share of their size are upon one another.
const SQUEEZED: f32 = -0.4;
/// Nobody sees a colour that differs from the one behind it by less than this.
const CONTRAST_MIN: f32 = 1.0 / 16.0;

/// The words with which properties that may hide do not.
const HIDING_NOTHING: [&str; 10] =
    ["none", "auto", "normal", "initial", "inherit", "unset", "visible", "embed", "isolate", "\""];

/// When a property hides an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Always,
    /// If the element also cuts off what is outside its box.
    Cut,
    /// It is that property.
    IsCut,
}

/// When a property with these values hides an element with all that is in it; `None` if it does not.
pub(super) fn hides(property: &str, values: &[Value]) -> Option<When> {
    let (when, hides) = match property {
        "all" => (When::Always, true),
        "display" => (When::Always, is(values, &["none", "table-column", "table-column-group"])),
        "filter" => (When::Always, calls(values).any(|(name, _)| !matches!(name, "" | "alpha"))),
        "transform" => (When::Always, calls(values).any(|(name, _)| !is_flat_transform(name))),
        "rotate" => (When::Always, values.len() > 1),
        "text-indent" => (When::Always, distances_px(values).any(|px| !MOVED_PX.contains(&-px.abs()))),
        "z-index" => (When::Always, numbers(values).any(|level| level < 0.0)),
        "text-stroke" | "text-stroke-width" => (When::Always, numbers(values).any(|px| px > 1.0)),
        "color-scheme" => (When::Always, is(values, &["dark"]) || values.len() > 1 && !has(values, "light")),
        "width" | "height" | "max-width" | "max-height" => (When::Cut, distances_px(values).any(|px| px <= UNSEEN_PX)),
        // These hide too if they are not known.
        "line-height" => (When::Cut, false),
        "font-size" | "letter-spacing" | "opacity" | "scale" | "visibility" | "zoom" => (When::Always, false),
        _ if moves(property) => (When::Always, false),
        _ if property.starts_with("overflow") => (When::IsCut, !is(values, &["visible", "initial", "unset"])),
        _ if may_hide(property) => (When::Always, !is(values, &HIDING_NOTHING)),
        _ => return None,
    };
    (hides || values.contains(&Value::Unknown)).then_some(when)
}

/// Whether a property may hide whatever it says, but for some words.
#[rustfmt::skip]
fn may_hide(property: &str) -> bool {
    matches!(
        property,
        "animation" | "animation-name" | "clip" | "clip-path" | "contain" | "container-type" | "content"
            | "content-visibility" | "font-size-adjust" | "line-clamp" | "mask" | "mask-border" | "mask-box-image"
            | "mask-image" | "mix-blend-mode" | "offset" | "offset-path" | "text-security" | "unicode-bidi"
    )
}

/// Whether a property says how text looks and does not hide it by itself, but with others.
fn is_of_look(property: &str) -> bool {
    matches!(property, "background-clip" | "background-color" | "background-image" | "background-size" | "border")
        || matches!(property, "color" | "float" | "font-weight" | "position" | "text-fill-color" | "white-space")
}

fn has(values: &[Value], word: &str) -> bool {
    values.iter().any(|it| matches!(it, Value::Word(found) if found == word))
}

/// Whether a property moves an element or what is in it.
fn moves(property: &str) -> bool {
    matches!(property, "left" | "right" | "top" | "bottom" | "translate")
        || ["margin", "padding", "inset"].iter().any(|it| property.starts_with(it))
}

/// Whether a property counts here. There is a bounded number of them, so that an element has not more.
pub(super) fn is_known(property: &str) -> bool {
    let side = ["margin", "padding", "inset", "overflow"].iter().find_map(|it| property.strip_prefix(it));
    match side {
        Some(side) => {
            matches!(side, "" | "-left" | "-right" | "-top" | "-bottom" | "-x" | "-y" | "-block" | "-inline")
                || matches!(side, "-block-start" | "-block-end" | "-inline-start" | "-inline-end")
        }
        None => is_of_look(property) || hides(property, &[Value::Unknown]).is_some(),
    }
}

/// Whether a function of the property `transform` only turns, moves or scales on the page.
fn is_flat_transform(name: &str) -> bool {
    matches!(name, "" | "rotate" | "rotatez") || name.starts_with("scale") || name.starts_with("translate")
}

/// How far a declaration moves an element to the left or to the top, and to the other sides, and what share of its size
/// is left.
pub(super) fn place(property: &str, values: &[Value]) -> ([f32; 2], f32) {
    let ([mut least, mut most], mut scale) = ([0.0_f32; 2], 1.0_f32);
    let mut add = |(name, arguments): (&str, &[Value])| {
        if moves(name) || name.starts_with("translate") {
            least = distances_px(arguments).fold(least, f32::min);
            most = distances_px(arguments).fold(most, f32::max);
        } else if name.starts_with("scale") || name == "zoom" {
            scale = numbers(arguments).map(f32::abs).fold(scale, f32::min);
        }
    };
    if property == "transform" {
        calls(values).for_each(add);
    } else {
        add((property, values));
    }
    ([least, most], scale)
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
    /// Whether the box has nearly no height or width, or its size is a share of one that has none.
    is_low: bool,
    pub(super) look: Look,
    /// Whether line ends in the source count.
    pub(super) is_preformatted: bool,
    /// Whether the element has a background or a border of its own, as buttons have. Not inherited.
    pub(super) is_boxed: bool,
    /// Whether the element is a line of its own although its name is not that of a block. Not inherited.
    pub(super) is_block: bool,
    /// Whether the element is a box around the blocks in it. Not inherited.
    is_box: bool,
    /// Whether a declaration says how the element is laid out, whatever its name is. Not inherited.
    has_display: bool,
    size_px: f32,
    /// How large it is, as a share of what its surroundings say.
    scale: f32,
    /// How far it is moved to the left or to the top, and to the other sides.
    moved_px: [f32; 2],
    opacity: f32,
    color: Colors,
    /// Colours that the text may have in place of `color`: by rules that may count, and as the filling of letters.
    other_colors: [Option<Colors>; 2],
    background: Colors,
    /// The background of the innermost box, without those of inline elements in it.
    box_background: Colors,
    /// What may be behind the text if it is not where it seems to be.
    behind: Colors,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            is_hidden: false,
            is_invisible: false,
            is_squeezed: false,
            is_flat: false,
            is_low: false,
            look: Look::default(),
            is_preformatted: false,
            is_boxed: false,
            is_block: false,
            is_box: true,
            has_display: false,
            size_px: PLAIN_PX,
            scale: 1.0,
            moved_px: [0.0; 2],
            opacity: 1.0,
            color: Colors::BLACK,
            other_colors: [None; 2],
            background: Colors::WHITE,
            box_background: Colors::WHITE,
            behind: Colors::WHITE,
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
        let is_any = self.is_hidden || self.is_invisible || self.is_squeezed;
        let mut colors = std::iter::once(self.color).chain(self.other_colors.into_iter().flatten());
        let is_clear = |color: Colors| color.contrast(self.background) * self.opacity >= CONTRAST_MIN;
        !is_any && self.size_px > UNSEEN_PX && colors.all(is_clear)
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
        let is_cell = matches!(element, "td" | "th");
        self.declare_layout(own, element, is_cell, outer);
        let is_outside = !outer.is_box && (self.is_block || is_block(element));
        if own.0.is_empty() && !is_outside {
            return;
        }
        self.declare_place(own, outer);
        self.declare_text(own, outer);
        let is_lifted = self.moved_px[0] < outer.moved_px[0] - LINE_PX
            || own.get("position").any(false, |it| !is(it, &["static", "relative"]));
        if is_lifted || is_outside {
            self.background = outer.background.or(if is_lifted { outer.behind } else { outer.box_background });
        }
        self.declare_colors(own, outer);
        self.box_background = if self.is_box { self.background } else { outer.box_background };
        self.behind = outer.behind.or(self.background);
    }

    fn declare_layout(&mut self, own: &Own<'_>, element: &str, is_cell: bool, outer: &Self) {
        let display = own.get("display");
        let is_block_of = |it: &[Value]| is(it, &["block", "table", "flex", "grid"]);
        self.has_display = display.last().is_some();
        self.is_block = display.last().is_some_and(is_block_of);
        let is_plain_box = is_cell || is_block(element) || element == "button";
        let is_inline =
            |it: &[Value]| !is_block_of(it) && !is(it, &["inline-block", "table-cell", "list-item", "none"]);
        self.is_box = !display.any(!is_plain_box, is_inline);
        let found: Vec<When> = own.all().filter_map(|it| it.hides).collect();
        // Cells grow with what is in them, and a width of nothing cuts off long lines alone.
        let grows = (is_cell || matches!(element, "table" | "tr"))
            && !outer.has_display
            && !self.has_display
            && !["position", "float"].iter().any(|property| own.get(property).last().is_some());
        let is_small = |property| own.get(property).any(true, |it| !matches!(it, [Value::Px(px)] if *px > UNSEEN_PX));
        self.is_low = !grows && (found.contains(&When::Cut) || outer.is_low && is_small("width") && is_small("height"));
        self.is_flat = own.get("line-height").any(outer.is_flat, |it| {
            let least = if matches!(it, [Value::Px(_)]) { UNSEEN_PX } else { FLAT };
            numbers(it).any(|height| height <= least)
        });
        let is_cut = !grows && found.contains(&When::IsCut) && (self.is_flat || self.is_low);
        self.is_hidden |= is_cut || found.contains(&When::Always);
    }

    /// Where the element is, and how large.
    fn declare_place(&mut self, own: &Own<'_>, outer: &Self) {
        let [least, most] = own
            .all()
            .fold([0.0, 0.0], |[least, most], it| [f32::min(least, it.moved_px[0]), f32::max(most, it.moved_px[1])]);
        self.scale = own.all().fold(1.0, |scale, it| f32::min(scale, it.scale)) * outer.scale;
        self.moved_px = [outer.moved_px[0] + least, outer.moved_px[1] + most];
        self.is_hidden |= self.scale < SCALE_MIN || self.moved_px.iter().any(|px| !MOVED_PX.contains(px));
    }

    fn declare_text(&mut self, own: &Own<'_>, outer: &Self) {
        self.is_invisible = own.get("visibility").any(outer.is_invisible, |it| match it {
            [Value::Word(word)] if word == "inherit" || word == "unset" => outer.is_invisible,
            _ => !is(it, &["visible", "initial"]),
        });
        if let Some([Value::Word(word), ..]) = own.get("white-space").last() {
            self.is_preformatted = word.starts_with("pre");
        }
        let px_of = |values: &[Value], px| values.iter().filter_map(|it| it.px_of_text(px)).reduce(f32::min);
        let sizes = own.get("font-size");
        if let Some(px) = sizes.last().and_then(|it| px_of(it, outer.size_px)) {
            self.look.is_large = px >= LARGE_PX;
        }
        let size_px = sizes.least(|it| px_of(it, outer.size_px)).unwrap_or(outer.size_px);
        self.size_px = if sizes.is_certain { size_px } else { size_px.min(outer.size_px) };
        self.look.is_bold = own.get("font-weight").last().map_or(self.look.is_bold, |it| it[0].is_bold());
        let spacing = own.get("letter-spacing");
        let spacing_px = |it: &[Value]| px_of(it, self.size_px).unwrap_or_default();
        self.look.is_spaced = spacing.last().map_or(self.look.is_spaced, |it| spacing_px(it) >= SPACED_PX);
        self.is_squeezed = spacing.any(outer.is_squeezed, |it| spacing_px(it) < SQUEEZED * self.size_px);
        self.is_boxed |= own.get("border").last().is_some_and(|it| !is(it, &["none"]) && it[0].number() != Some(0.0));
    }

    fn declare_colors(&mut self, own: &Own<'_>, outer: &Self) {
        let opacity = own.get("opacity").least(|values| numbers(values).reduce(f32::min));
        self.opacity *= opacity.unwrap_or(1.0).clamp(0.0, 1.0);
        let of_text = |values: &[Value], inherited: Colors| match values {
            [Value::Word(word)] if matches!(&**word, "inherit" | "unset" | "currentcolor") => Some(inherited),
            [Value::Word(word)] if word == "initial" => Some(Colors::BLACK),
            _ => colors(values).reduce(Colors::or),
        };
        let (own_colors, fills) = (own.get("color"), own.get("text-fill-color"));
        let mut others = own_colors.values().filter_map(|it| of_text(it, outer.color));
        if own_colors.is_certain {
            self.color = others.next().unwrap_or(self.color);
            self.other_colors[0] = None;
        }
        self.other_colors[0] = others.chain(self.other_colors[0]).reduce(Colors::or);
        let before = self.other_colors[1].filter(|_| !fills.is_certain);
        self.other_colors[1] = fills.values().filter_map(|it| of_text(it, self.color)).chain(before).reduce(Colors::or);
        self.is_boxed |= own.get("background-color").values().any(|it| colors(it).next().is_some());
        let around = self.background;
        let has_none = own.get("display").any(false, |it| is(it, &["contents", "inherit"]));
        let is_whole = !has_none && !self.is_low && !self.is_invisible;
        let background = painted(own.get("background-color"), around, is_whole);
        let is_sized = own.get("background-size").last().is_some();
        let background = painted(own.get("background-image"), background, is_whole && !is_sized);
        if own.get("background-clip").last().is_some_and(|it| is(it, &["text"])) {
            // It is seen through the letters only.
            self.color = self.color.over(background);
            self.other_colors = self.other_colors.map(|it| it.map(|color| color.over(background)));
        } else {
            self.background = background;
        }
    }
}

/// What is seen where a background may be above what is behind it.
fn painted(own: &Candidates<'_>, behind: Colors, is_whole: bool) -> Colors {
    let own_colors = own.values().flat_map(colors).map(|color| color.over(behind)).reduce(Colors::or);
    own_colors.map_or(behind, |colors| if is_whole && own.is_certain { colors } else { colors.or(behind) })
}

/// The values that a property may have: those of the strongest declaration that counts for certain, and of each one that
/// may count in its place.
#[derive(Debug, Default)]
struct Candidates<'a> {
    /// The strongest is the last.
    all: Vec<&'a Declaration>,
    /// Whether any counts for certain.
    is_certain: bool,
}

impl<'a> Candidates<'a> {
    const NONE: Self = Self { all: Vec::new(), is_certain: false };

    fn values(&self) -> impl Iterator<Item = &'a [Value]> {
        self.all.iter().map(|it| &it.values[..])
    }

    fn last(&self) -> Option<&'a [Value]> {
        self.all.last().map(|it| &it.values[..])
    }

    /// Whether any of them is so, or what counts without them.
    fn any(&self, otherwise: bool, is: impl Fn(&[Value]) -> bool) -> bool {
        !self.is_certain && otherwise || self.values().any(is)
    }

    fn least(&self, of: impl Fn(&[Value]) -> Option<f32>) -> Option<f32> {
        self.values().filter_map(of).reduce(f32::min)
    }
}

/// What is declared for an element, by property.
#[derive(Debug, Default)]
struct Own<'a>(BTreeMap<&'a str, Candidates<'a>>);

impl<'a> Own<'a> {
    /// Of declarations, the weakest first but for important ones, with whether each counts for certain.
    fn of(all: &[(&'a Declaration, bool)]) -> Self {
        let mut own = Self::default();
        for is_important in [false, true] {
            for (it, is_certain) in all.iter().filter(|(it, _)| it.is_important == is_important) {
                let candidates = own.0.entry(&it.property).or_default();
                if *is_certain && it.is_certain {
                    *candidates = Candidates { is_certain: true, ..Candidates::NONE };
                }
                candidates.all.push(it);
            }
        }
        own
    }

    fn get(&self, property: &str) -> &Candidates<'a> {
        self.0.get(property).unwrap_or(const { &Candidates::NONE })
    }

    fn all(&self) -> impl Iterator<Item = &'a Declaration> {
        self.0.values().flat_map(|candidates| candidates.all.iter().copied())
    }
}

/// Whether browsers show what is in an element to nobody, or only in place of what they can't show.
pub(super) fn is_unshown(name: &str) -> bool {
    matches!(name, "applet" | "audio" | "canvas" | "math" | "meter" | "object" | "progress")
        || matches!(name, "select" | "svg" | "template" | "video")
}

/// The declarations that an attribute other than `style` stands for.
fn of_attribute(element: &str, name: &str, value: &str) -> Option<String> {
    Some(match (name, element) {
        ("hidden", _) if value.eq_ignore_ascii_case("until-found") => "content-visibility: hidden;".to_owned(),
        ("hidden" | "popover", _) => "display: none;".to_owned(),
        ("bgcolor", "body" | "table" | "tbody" | "thead" | "tfoot" | "tr" | "td" | "th") => {
            format!("background-color: {};", color_of_attribute(value))
        }
        ("color", "font") | ("text", "body") => format!("color: {};", color_of_attribute(value)),
        ("dir", "bdo") if !value.eq_ignore_ascii_case("ltr") => "unicode-bidi: bidi-override;".to_owned(),
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
    /// A bit for the name of the element, and of each one around it.
    names: u64,
}

/// The bit of a name. Several names have the same.
fn bit(name: &str) -> u64 {
    1 << (name.bytes().fold(0, |sum: u64, octet| (sum * 5 + u64::from(octet)) % 64))
}

impl<'a> Element<'a> {
    /// Whether an element of this name may be around this one, or it may be that.
    pub(super) fn may_be_in(&self, name: &str) -> bool {
        self.names & bit(name) != 0
    }

    /// The element with this name in lower case and these attributes within others, the outermost first.
    pub(super) fn within(around: &[Self], name: String, attributes: &'a str, sheet: &mut Sheet) -> Self {
        let outer = around.last().map(|element| element.style).unwrap_or_default();
        // Browsers show nothing but the heading of folded details.
        let is_folded = name == "details" && markup::attribute(attributes, "open").is_none();
        let is_hidden = outer.is_hidden || is_unshown(&name) || is_folded;
        let style = Style { is_hidden, is_boxed: name == "button", is_block: false, has_display: false, ..outer };
        let names = bit(&name) | around.last().map_or(0, |element| element.names);
        let mut element = Self { name, id: "".into(), class: "".into(), attributes, style, names };
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
        // What is nested too deep is not known.
        element.style.is_hidden |= css.is_err();
        let (hints, css) = (hints.unwrap_or_default(), css.unwrap_or_default());
        let of_rules = sheet.declared(&element, around);
        let all: Vec<_> = certain(&hints).chain(of_rules).chain(certain(&css)).collect();
        element.style.declare(&Own::of(&all), &element.name, &outer);
        element.style.is_hidden |= sheet.is_spent();
        element
    }
}

fn certain(all: &[Declaration]) -> impl Iterator<Item = (&Declaration, bool)> {
    all.iter().map(|it| (it, true))
}
