//! Declarations of style sheets, and what each says of an element.
//!
//! What is not known counts as hiding where it may hide.

use cssparser::{Delimiter, ParseError, Parser, Token};

use super::colors::Colors;
use super::values::{Length, PLAIN_PX, Value, calls, colors, distances_px, is, is_list, numbers, values};

/// The most values of a declaration, commas too. What has more is not known.
const VALUES_MAX: usize = 96;
/// Text that is indented farther than so many pixels to either side is not seen.
const INDENTED_PX: f32 = 120.0;
/// Nobody reads text in a box of this height or width, or in letters of this size.
pub(super) const UNSEEN_PX: f32 = 4.0;
/// Signs with gaps of this size stand apart.
const SPACED_PX: f32 = 2.0;
/// Lines of less than this share of their letters' height have none.
const FLAT: f32 = 0.1;
/// What a background may be clipped to.
const CLIPS: [&str; 6] = ["text", "border-box", "padding-box", "content-box", "initial", "unset"];
/// The words with which every property is that of the surroundings or the plain one.
const KEPT: [&str; 3] = ["inherit", "initial", "unset"];
/// The words with which the size of text or of lines is that of the surroundings. Not all browsers know the last ones.
const OF_OUTER: [&str; 4] = ["inherit", "unset", "revert", "revert-layer"];
/// Properties that hide with any values but for some words.
const HIDING: &str = "animation animation-name clip clip-path contain container-type content content-visibility \
                      font-size-adjust line-clamp mask mask-border mask-box-image mask-image mix-blend-mode offset \
                      offset-path text-security unicode-bidi";
/// The words with which they do not.
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
    /// It is moved so far to the left or to the top, and to the other sides.
    Moved([f32; 2]),
    /// It has a place of its own. That may be somewhere else.
    Placed {
        is_elsewhere: bool,
    },
    Display(Display),
    /// `None` is that of its surroundings.
    Visible(Option<bool>),
    /// It has nearly no height or width.
    Low,
    /// It has more height or width than that.
    High,
    /// How wide or high it is depends on what is beside it.
    Flexible,
    /// What is outside its box is cut off.
    Cut,
    /// Whether lines have no height. `None` is as in its surroundings.
    Flat(Option<bool>),
    /// Whether line ends in the source count.
    Preformatted(bool),
    FontSize(Length),
    Bold(bool),
    Spaced(bool),
    Opacity(f32),
    Border(bool),
    /// `None` is that of its surroundings.
    Color(Option<Colors>),
    /// The filling of letters, in place of their colour.
    Fill(Colors),
    /// `None` is nothing.
    Background(Option<Colors>),
    /// It is above the background. `None` is nothing.
    Image(Option<Colors>),
    /// That image may be beside the text.
    ImageSize,
    /// Whether the background is only in the letters.
    InLetters(bool),
}

/// How an element is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Display {
    None,
    /// A line of its own.
    Block,
    /// Another box around the blocks in it.
    Box,
    Inline,
    /// As if only its content were there.
    Contents,
}

impl Display {
    /// What the values say, and whether every browser knows it.
    fn of(values: &[Value<'_>]) -> (Self, bool) {
        let [Value::Word(word)] = values else {
            let is_unknown = values.contains(&Value::Unknown);
            return (if is_unknown { Self::None } else { Self::Inline }, false);
        };
        let display = match &**word {
            "none" | "table-column" | "table-column-group" => Self::None,
            "block" | "table" | "flex" | "grid" => Self::Block,
            "inline-block" | "table-cell" | "list-item" => Self::Box,
            "contents" => return (Self::Contents, false),
            "inherit" => Self::Contents,
            "inline" | "table-row" | "initial" | "unset" => Self::Inline,
            _ => return (Self::Inline, false),
        };
        (display, true)
    }
}

/// The declarations that are left; an error if it is not known what they are of.
pub(super) fn declarations(parser: &mut Parser<'_>) -> Result<Vec<Declaration>, ParseError<()>> {
    let mut all = Vec::new();
    while !parser.is_exhausted() {
        let position = parser.position();
        let ends = Delimiter::Semicolon | Delimiter::CurlyBracketBlock;
        // What is no declaration is skipped up to its end, as browsers do.
        let _: Result<(), ParseError<()>> = parser.parse_until_before(ends, |parser| declaration(parser, &mut all));
        let before = parser.slice_from(position).trim_ascii_start();
        if matches!(parser.next(), Ok(Token::CurlyBracketBlock)) {
            // A rule in this one may be of all that is in the element, but not of what is beside it or around it.
            if before.contains(['+', '~', '(']) && !before.starts_with('@') {
                return Err(ParseError::unexpected_token());
            }
            parser.parse_nested_block(declarations)?;
            all.push(Declaration { effect: Effect::Hidden, is_important: false, is_certain: true });
        }
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
    if values.iter().any(|it| it.is_word(&["#"])) {
        // No browser takes a declaration with digits that are no colour.
        return Ok(());
    }
    if values.len() > VALUES_MAX {
        values = vec![Value::Unknown];
    }
    let is_for_all = plain.is_none() || matches!(property, "background-clip" | "text-fill-color");
    let declared = effects(property, &values).into_iter().map(|(effect, is_certain)| Declaration {
        effect,
        is_important,
        is_certain: is_certain && is_for_all && is_list(&values),
    });
    all.extend(declared);
    Ok(())
}

/// What a property with these values says, and whether every browser knows it.
fn effects(property: &str, values: &[Value<'_>]) -> Vec<(Effect, bool)> {
    let Some(first) = values.first() else { return Vec::new() };
    match property {
        "font" if is(values, &OF_OUTER) => vec![(Effect::FontSize(Length::OF_OUTER), is(values, &OF_OUTER[..2]))],
        "font" => of_font(values),
        "background" => {
            let all = [Effect::InLetters(false), Effect::Image(None), Effect::Background(colors(values))];
            all.map(|effect| (effect, is_background(values))).to_vec()
        }
        "transform" if values.contains(&Value::Unknown) => vec![(Effect::Hidden, true)],
        "transform" => calls(values).filter_map(|(name, values)| Some((of_place(name, values)?, true))).collect(),
        _ => {
            let effect = of_text(property, values).or_else(|| of_paint(property, values, first));
            effect.or_else(|| Some((of_place(property, values)?, true))).into_iter().collect()
        }
    }
}

/// What a property of text says.
fn of_text(property: &str, values: &[Value<'_>]) -> Option<(Effect, bool)> {
    let is_unknown = values.contains(&Value::Unknown);
    let is_length = matches!(values, [value] if value.is_length());
    let length = values.iter().filter_map(Value::length).reduce(Length::min);
    Some(match property {
        "display" => {
            let (display, is_known) = Display::of(values);
            (Effect::Display(display), is_known)
        }
        "visibility" if is(values, &["inherit", "unset"]) => (Effect::Visible(None), true),
        "visibility" => {
            let is_visible = is(values, &["visible", "initial"]);
            (Effect::Visible(Some(is_visible)), is_visible || is(values, &["hidden", "collapse"]))
        }
        "opacity" if is_unknown => (Effect::Opacity(0.0), false),
        "opacity" => (Effect::Opacity(numbers(values).reduce(f32::min)?), matches!(values, [Value::Number(_)])),
        "font-size" if is_unknown => (Effect::FontSize(Length::default()), false),
        "font-size" if is(values, &OF_OUTER) => (Effect::FontSize(Length::OF_OUTER), is(values, &OF_OUTER[..2])),
        "font-size" => (Effect::FontSize(length?), values.len() == 1),
        "letter-spacing" if is_unknown || length.is_some_and(Length::is_squeezed) => (Effect::Hidden, true),
        "letter-spacing" => (Effect::Spaced(length.is_some_and(|it| it.px(PLAIN_PX) >= SPACED_PX)), true),
        "line-height" if is(values, &OF_OUTER) => (Effect::Flat(None), is(values, &OF_OUTER[..2])),
        "line-height" => {
            let least = if matches!(values, [Value::Px(_)]) { UNSEEN_PX } else { FLAT };
            let is_known = is_length || is(values, &["normal"]) || matches!(values, [Value::Number(_)]);
            (Effect::Flat(Some(is_unknown || numbers(values).any(|height| height <= least))), is_known)
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
        _ if ["-size", "-position", "-repeat", "-origin"]
            .iter()
            .any(|it| property.strip_suffix(it) == Some("background")) =>
        {
            (Effect::ImageSize, false)
        }
        "background-clip" => (Effect::InLetters(is(values, &["text"])), is(values, &CLIPS)),
        "font-weight" => (Effect::Bold(first.is_bold()), true),
        "border" => (Effect::Border(!is(values, &["none"]) && first.number() != Some(0.0)), true),
        "white-space" => (Effect::Preformatted(matches!(first, Value::Word(word) if word.starts_with("pre"))), true),
        _ => return None,
    })
}

/// What a property or a function says that may move or hide an element; `None` if it does neither.
fn of_place(property: &str, values: &[Value<'_>]) -> Option<Effect> {
    let is_unknown = values.contains(&Value::Unknown);
    Some(match property {
        "position" => Effect::Placed { is_elsewhere: !is(values, &["static", "relative"]) },
        "float" => Effect::Placed { is_elsewhere: false },
        "width" | "height" | "max-width" | "max-height" | "inline-size" | "block-size" | "max-inline-size"
        | "max-block-size" => match values {
            _ if is_unknown || distances_px(values).any(|px| px <= UNSEEN_PX) => Effect::Low,
            [Value::Px(_)] if !property.starts_with("max") => Effect::High,
            _ => return None,
        },
        "flex" | "flex-basis" if !is(values, &["none", "auto", "initial", "unset"]) => Effect::Flexible,
        "text-indent" if !hides(property, values) => Effect::Moved([distances_px(values).fold(0.0, f32::min), 0.0]),
        _ if property.starts_with("overflow") => {
            return (!is(values, &["visible", "initial", "unset"])).then_some(Effect::Cut);
        }
        _ if is_unknown && moves(property) => Effect::Hidden,
        _ if moves(property) => {
            let (least, most) = (distances_px(values).reduce(f32::min), distances_px(values).reduce(f32::max));
            Effect::Moved([least?.min(0.0), most?.max(0.0)])
        }
        _ => return hides(property, values).then_some(Effect::Hidden),
    })
}

/// Whether a property or a function moves an element or what is in it.
fn moves(property: &str) -> bool {
    let side = ["margin", "padding", "inset"].iter().find_map(|it| property.strip_prefix(it)).unwrap_or("none");
    matches!(property, "left" | "right" | "top" | "bottom")
        || property.starts_with("translate")
        || matches!(side, "" | "-left" | "-right" | "-top" | "-bottom" | "-block" | "-inline")
        || matches!(side, "-block-start" | "-block-end" | "-inline-start" | "-inline-end")
}

/// Whether another property or function hides an element with these values.
fn hides(property: &str, values: &[Value<'_>]) -> bool {
    let is_unknown = values.contains(&Value::Unknown);
    match property {
        "all" => true,
        "filter" => is_unknown || calls(values).any(|(name, _)| !matches!(name, "" | "alpha")),
        "rotate" => is_unknown || values.len() > 1,
        "text-indent" => is_unknown || distances_px(values).any(|px| px.abs() > INDENTED_PX),
        "z-index" => is_unknown || numbers(values).any(|level| level < 0.0),
        "text-stroke" | "text-stroke-width" => is_unknown || numbers(values).any(|px| px > 1.0),
        // Within one another, elements that are little smaller become very small.
        "scale" | "scalex" | "scaley" | "scalez" | "scale3d" | "zoom" => {
            is_unknown || numbers(values).any(|share| share.abs() < 1.0)
        }
        "color-scheme" => !values.iter().any(|it| it.is_word(&["light", "normal", "inherit", "initial", "unset"])),
        _ => HIDING.split(' ').any(|it| it == property) && !is(values, &HIDING_NOTHING),
    }
}

/// What the property `font` says: words of style, a size, the height of lines after a slash, and families.
fn of_font(values: &[Value<'_>]) -> Vec<(Effect, bool)> {
    let is_size = |it: &Value<'_>| it.length().is_some() || *it == Value::Unknown;
    let Some(at) = values.iter().position(is_size) else { return Vec::new() };
    let families = match &values[at + 1..] {
        [slash, _, families @ ..] if slash.is_word(&["/"]) => families,
        families => families,
    };
    let is_of_style = |it: &Value<'_>| {
        it.is_word(&["normal", "bold", "bolder", "lighter", "italic", "oblique"])
            || matches!(it, Value::Number(100.0..))
    };
    let is_name = |name: &str| name.starts_with(|c: char| c.is_alphabetic() || c == '-' || c == '"');
    let is_family = |it: &Value<'_>| matches!(it, Value::Word(name) if is_name(name)) && !it.is_word(&KEPT);
    let is_font = values[..at].iter().all(is_of_style)
        && !families.is_empty()
        && families.split(|it| it.is_word(&[","])).flatten().all(is_family);
    let size = values[at].length().unwrap_or_default();
    let is_bold = values[..at].iter().any(Value::is_bold);
    vec![(Effect::FontSize(size), is_font && values[at] != Value::Unknown), (Effect::Bold(is_bold), true)]
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
