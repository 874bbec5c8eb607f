//! Declarations of style sheets, and what each says of an element.
//!
//! What is not known counts as hiding where it may hide.

use cssparser::{Delimiter, ParseError, Parser, Token};

use super::colors::Colors;
use super::values::{Length, Value, calls, colors, distances_px, is, numbers, values};

/// The most values of a declaration. What has more is not known.
const VALUES_MAX: usize = 64;
/// Text that is indented farther than so many pixels to either side is not seen.
const INDENTED_PX: f32 = 120.0;
/// Nobody reads text in a box of this height or width, or in letters of this size.
pub(super) const UNSEEN_PX: f32 = 4.0;
/// Lines of less than this share of their letters' height have none.
const FLAT: f32 = 0.1;
/// The words with which every property is that of the surroundings or the plain one.
const KEPT: [&str; 3] = ["inherit", "initial", "unset"];
/// The words with which properties that may hide do not.
const HIDING_NOTHING: [&str; 10] =
    ["none", "auto", "normal", "initial", "inherit", "unset", "visible", "embed", "isolate", "\""];

/// A declaration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Declaration {
    pub(super) effect: Effect,
    pub(super) is_important: bool,
    /// Whether every browser takes it in place of a weaker one. What is not known may count, and the weaker one too.
    pub(super) is_certain: bool,
}

/// What a declaration says of an element.
#[derive(Clone, Copy, Debug)]
pub(super) enum Effect {
    /// Nothing in it is seen.
    Hidden,
    /// It is moved so far to the left or to the top, and to the other sides, and has this share of its size.
    Placed { moved_px: [f32; 2], scale: f32 },
    /// It is not where its surroundings are, or may be.
    Position { is_lifted: bool },
    Display(Display),
    /// `None` is that of its surroundings.
    Visible(Option<bool>),
    /// It has a height or a width: nearly none, or more than that for certain.
    Size { is_low: bool, is_plain: bool },
    /// What is outside its box is cut off.
    Cut,
    /// Whether lines have no height.
    Flat(bool),
    /// Whether line ends in the source count.
    Preformatted(bool),
    FontSize(Length),
    Bold(bool),
    Spacing(Length),
    Opacity(f32),
    Border(bool),
    /// `None` is that of its surroundings.
    Color(Option<Colors>),
    /// The filling of letters, in place of their colour.
    Fill(Colors),
    /// The layers of the background; `None` if there is none.
    Background(Option<Colors>),
    Image(Option<Colors>),
    /// The image is not all of the background for certain.
    ImageSize,
    /// Whether the background is only in the letters.
    InLetters(bool),
}

/// How an element is laid out. Each is a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Display {
    None = 1,
    /// A line of its own.
    Block = 2,
    /// Another box around the blocks in it.
    Box = 4,
    Inline = 8,
    /// As if only its content were there.
    Contents = 16,
}

impl Display {
    fn of(values: &[Value<'_>]) -> Self {
        match values {
            [Value::Word(word)] => match &**word {
                "none" | "table-column" | "table-column-group" => Self::None,
                "block" | "table" | "flex" | "grid" => Self::Block,
                "inline-block" | "table-cell" | "list-item" => Self::Box,
                "contents" | "inherit" => Self::Contents,
                _ => Self::Inline,
            },
            _ if values.contains(&Value::Unknown) => Self::None,
            _ => Self::Inline,
        }
    }
}

/// The declarations that are left. Those of rules in this one may be of all that is in the element.
pub(super) fn declarations(parser: &mut Parser<'_>) -> Result<Vec<Declaration>, ParseError<()>> {
    let mut all = Vec::new();
    let mut has_block = false;
    while !parser.is_exhausted() {
        let (start, position) = (all.len(), parser.position());
        let ends = Delimiter::Semicolon | Delimiter::CurlyBracketBlock;
        // What is no declaration is skipped up to its end, as browsers do.
        let _: Result<(), ParseError<()>> = parser.parse_until_before(ends, |parser| declaration(parser, &mut all));
        let before = parser.slice_from(position).trim_ascii_start();
        if matches!(parser.next(), Ok(Token::CurlyBracketBlock)) {
            // What is beside the element or around it is not in it.
            if before.contains(['+', '~', '(']) && !before.starts_with('@') {
                return Err(ParseError::unexpected_token());
            }
            has_block = true;
            all.truncate(start);
            all.extend(parser.parse_nested_block(declarations)?);
        }
        // Only some browsers know rules in rules.
        all[start..].iter_mut().for_each(|it| it.is_certain &= !has_block);
    }
    Ok(all)
}

fn declaration(parser: &mut Parser<'_>, all: &mut Vec<Declaration>) -> Result<(), ParseError<()>> {
    let written = parser.expect_ident_cloned()?.to_ascii_lowercase();
    parser.expect_colon()?;
    let plain = ["-webkit-", "-moz-", "-ms-", "-o-"].iter().find_map(|it| written.strip_prefix(it));
    let property = plain.unwrap_or(&written);
    let mut values = values(parser);
    let is_important = matches!(&values[..], [.., sign, word] if sign.is_word(&["!"]) && word.is_word(&["important"]));
    values.truncate(values.len() - if is_important { 2 } else { 0 });
    if values.len() > VALUES_MAX {
        values = vec![Value::Unknown];
    }
    let is_for_all = plain.is_none() || matches!(property, "background-clip" | "text-fill-color");
    let declared = effects(property, &values).into_iter().map(|(effect, is_certain)| Declaration {
        effect,
        is_important,
        is_certain: is_certain && is_for_all,
    });
    all.extend(declared);
    Ok(())
}

/// What a property with these values says, and whether every browser knows it.
fn effects(property: &str, values: &[Value<'_>]) -> Vec<(Effect, bool)> {
    let Some(first) = values.first() else { return Vec::new() };
    match property {
        "font" => of_font(values),
        "background" => {
            let color = (Effect::Background(colors(values)), is_background(values));
            vec![(Effect::InLetters(false), true), (Effect::Image(None), true), color]
        }
        _ => {
            let of_look = of_text(property, values).or_else(|| of_paint(property, values, first));
            of_look.or_else(|| Some((of_place(property, values)?, true))).into_iter().collect()
        }
    }
}

/// What a property of text says.
fn of_text(property: &str, values: &[Value<'_>]) -> Option<(Effect, bool)> {
    let is_unknown = values.contains(&Value::Unknown);
    let is_one_of = |words: &[&str]| is(values, words) || is(values, &KEPT);
    let is_length = matches!(values, [value] if value.is_length());
    let length = values.iter().filter_map(Value::length).reduce(Length::min);
    Some(match property {
        "display" => {
            let words = ["block", "inline", "inline-block", "none", "table", "table-cell", "table-row", "list-item", "flex"];
            (Effect::Display(Display::of(values)), is_one_of(&words))
        }
        "visibility" => {
            let is_visible = if is(values, &["inherit", "unset"]) { None } else { Some(is(values, &["visible", "initial"])) };
            (Effect::Visible(is_visible), is_one_of(&["visible", "hidden", "collapse"]))
        }
        "opacity" => {
            let least = numbers(values).reduce(f32::min);
            (Effect::Opacity(if is_unknown { 0.0 } else { least? }), matches!(values, [Value::Number(_)]))
        }
        "font-size" if is_unknown => (Effect::FontSize(Length::default()), false),
        "font-size" => (Effect::FontSize(length?), values.len() == 1),
        "letter-spacing" if is_unknown => (Effect::Hidden, false),
        "letter-spacing" => (Effect::Spacing(length.unwrap_or_default()), is_length || is(values, &["normal"])),
        "line-height" => {
            let least = if matches!(values, [Value::Px(_)]) { UNSEEN_PX } else { FLAT };
            let is_known = is_length || is(values, &["normal"]) || matches!(values, [Value::Number(_)]);
            (Effect::Flat(is_unknown || numbers(values).any(|height| height <= least)), is_known)
        }
        _ => return None,
    })
}

/// What a property says that paints an element or its text.
fn of_paint(property: &str, values: &[Value<'_>], first: &Value<'_>) -> Option<(Effect, bool)> {
    let is_color = matches!(values, [value] if value.color().is_some_and(|color| color != Colors::ANY));
    Some(match property {
        "color" if is(values, &["inherit", "unset", "currentcolor"]) => (Effect::Color(None), is(values, &KEPT)),
        "color" if is(values, &["initial"]) => (Effect::Color(Some(Colors::BLACK)), true),
        "color" => (Effect::Color(Some(colors(values)?)), is_color),
        "text-fill-color" => (Effect::Fill(colors(values)?), is_color),
        "background-color" => (Effect::Background(colors(values)), is_background(values)),
        "background-image" => (Effect::Image(colors(values)), is_background(values)),
        "background-size" | "background-position" | "background-repeat" | "background-origin" => {
            (Effect::ImageSize, false)
        }
        "background-clip" => (Effect::InLetters(is(values, &["text"])), true),
        "font-weight" => (Effect::Bold(first.is_bold()), true),
        "border" => (Effect::Border(!is(values, &["none"]) && first.number() != Some(0.0)), true),
        "white-space" => (Effect::Preformatted(matches!(first, Value::Word(word) if word.starts_with("pre"))), true),
        _ => return None,
    })
}

/// What a property says that may move or hide an element; `None` if it does neither.
fn of_place(property: &str, values: &[Value<'_>]) -> Option<Effect> {
    let is_unknown = values.contains(&Value::Unknown);
    Some(match property {
        "position" => Effect::Position { is_lifted: !is(values, &["static", "relative"]) },
        "float" => Effect::Position { is_lifted: false },
        "width" | "height" | "max-width" | "max-height" | "inline-size" | "block-size" | "max-inline-size"
        | "max-block-size" => Effect::Size {
            is_low: is_unknown || distances_px(values).any(|px| px <= UNSEEN_PX),
            is_plain: !property.starts_with("max") && matches!(values, [Value::Px(px)] if *px > UNSEEN_PX),
        },
        _ if property.starts_with("overflow") => {
            return (!is(values, &["visible", "initial", "unset"])).then_some(Effect::Cut);
        }
        _ if !may_hide(property) && !moves(property) => return None,
        _ if is_unknown || hides(property, values) => Effect::Hidden,
        _ => placed(property, values),
    })
}

/// Whether a property may hide an element, other than by moving it.
#[rustfmt::skip]
fn may_hide(property: &str) -> bool {
    matches!(
        property,
        "all" | "animation" | "animation-name" | "clip" | "clip-path" | "color-scheme" | "contain" | "container-type"
            | "content" | "content-visibility" | "filter" | "font-size-adjust" | "line-clamp" | "mask" | "mask-border"
            | "mask-box-image" | "mask-image" | "mix-blend-mode" | "offset" | "offset-path" | "rotate" | "scale"
            | "text-indent" | "text-security" | "text-stroke" | "text-stroke-width" | "transform" | "unicode-bidi"
            | "z-index" | "zoom"
    )
}

/// Whether a property moves an element or what is in it.
fn moves(property: &str) -> bool {
    let side = ["margin", "padding", "inset"].iter().find_map(|it| property.strip_prefix(it)).unwrap_or("none");
    matches!(property, "left" | "right" | "top" | "bottom" | "translate")
        || matches!(side, "" | "-left" | "-right" | "-top" | "-bottom" | "-block" | "-inline")
        || matches!(side, "-block-start" | "-block-end" | "-inline-start" | "-inline-end")
}

/// Whether a property that may hide does so with these values.
fn hides(property: &str, values: &[Value<'_>]) -> bool {
    let has = |word: &str| values.iter().any(|it| it.is_word(&[word]));
    match property {
        "filter" => calls(values).any(|(name, _)| !matches!(name, "" | "alpha")),
        "transform" => calls(values).any(|(name, _)| {
            // Others do not stay on the page.
            let is_flat = name.starts_with("scale") || name.starts_with("translate");
            !is_flat && !matches!(name, "" | "rotate" | "rotatez")
        }),
        "rotate" => values.len() > 1,
        "text-indent" => distances_px(values).any(|px| px.abs() > INDENTED_PX),
        "z-index" => numbers(values).any(|level| level < 0.0),
        "text-stroke" | "text-stroke-width" => numbers(values).any(|px| px > 1.0),
        "color-scheme" => is(values, &["dark"]) || values.len() > 1 && !has("light"),
        "all" => true,
        "scale" | "zoom" => false,
        _ => !moves(property) && !is(values, &HIDING_NOTHING),
    }
}

/// How far a property moves an element, and how large that is then.
fn placed(property: &str, values: &[Value<'_>]) -> Effect {
    let ([mut least, mut most], mut scale) = ([0.0_f32; 2], 1.0_f32);
    for (name, arguments) in calls(values) {
        let name = if name.is_empty() { property } else { name };
        if moves(name) || name.starts_with("translate") {
            least = distances_px(arguments).fold(least, f32::min);
            most = distances_px(arguments).fold(most, f32::max);
        } else if name.starts_with("scale") || name == "zoom" {
            scale = numbers(arguments).map(f32::abs).fold(scale, f32::min);
        }
    }
    Effect::Placed { moved_px: [least, most], scale }
}

/// What the property `font` says: words of style, a size, the height of lines after a slash, and families.
fn of_font(values: &[Value<'_>]) -> Vec<(Effect, bool)> {
    let is_size = |it: &Value<'_>| it.length().is_some() || *it == Value::Unknown;
    let Some(at) = values.iter().position(is_size) else { return Vec::new() };
    let (style, rest) = (&values[..at], &values[at + 1..]);
    let (height, families) = match rest {
        [slash, height, families @ ..] if slash.is_word(&["/"]) => (std::slice::from_ref(height), families),
        families => (&[][..], families),
    };
    let is_of_style = |it: &Value<'_>| {
        it.is_word(&["normal", "bold", "bolder", "lighter", "italic", "oblique"])
            || matches!(it, Value::Number(100.0..))
    };
    let is_family = |it: &Value<'_>| {
        let is_name = |name: &str| name.starts_with(|c: char| c.is_alphabetic() || c == '-' || c == '"');
        matches!(it, Value::Word(name) if is_name(name)) && !it.is_word(&KEPT)
    };
    let is_font = style.iter().all(is_of_style) && !families.is_empty() && families.iter().all(is_family);
    let size = of_text("font-size", &values[at..=at]);
    let all = size.into_iter().chain(of_text("line-height", height).filter(|_| !height.is_empty()));
    let bold = (Effect::Bold(true), true);
    all.map(|(effect, is_known)| (effect, is_known && is_font))
        .chain(style.iter().any(Value::is_bold).then_some(bold))
        .collect()
}

/// Whether values are a known background that is all of a box.
fn is_background(values: &[Value<'_>]) -> bool {
    let is_function = |it: &&Value<'_>| matches!(it, Value::Function(_));
    let mut plain = values.split(|it| *it == Value::End).flat_map(|call| call.iter().take_while(|it| !is_function(it)));
    let is_sized = plain.any(|it| it.number().is_some() || it.is_word(&["/"]));
    let is_image = values.iter().any(|it| matches!(it, Value::Function(name) if &**name != "url"));
    let is_any = values.iter().filter_map(Value::color).any(|color| color == Colors::ANY);
    !(is_any || is_image && is_sized)
}
