//! Declarations of style sheets, with their values: words, lengths, colours and calls of functions.

use std::borrow::Cow;

use cssparser::color::{parse_hash_color, parse_named_color};
use cssparser::{Delimiter, ParseError, Parser, Token};

use super::style::{When, hides, is_known, place};
use crate::mime::step;

/// The size of plain text in pixels.
pub(super) const PLAIN_PX: f32 = 16.0;
/// The most values of a declaration. What has more is not known.
const VALUES_MAX: usize = 64;
/// The page that distances in percent refer to, in pixels.
const PAGE_PX: f32 = 800.0;

/// A declaration.
#[derive(Debug)]
pub(super) struct Declaration {
    /// In lower case, without the prefix of a browser, and with the names of horizontal writing.
    pub(super) property: String,
    /// At least one.
    pub(super) values: Vec<Value>,
    pub(super) is_important: bool,
    /// Whether every browser takes it in place of a weaker one. What is not known may count, and the weaker one too.
    pub(super) is_certain: bool,
    /// When it hides an element; `None` if it does not.
    pub(super) hides: Option<When>,
    /// How far it moves an element to the left or to the top, and to the other sides, in pixels.
    pub(super) moved_px: [f32; 2],
    /// The size that it leaves to an element, as a share.
    pub(super) scale: f32,
}

impl Declaration {
    fn new(property: &str, values: Vec<Value>, is_important: bool, is_certain: bool) -> Self {
        let (moved_px, scale) = place(property, &values);
        let hides = hides(property, &values);
        Self { property: property.to_owned(), values, is_important, is_certain, hides, moved_px, scale }
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
    let mut property = Cow::Borrowed(plain.unwrap_or(&written));
    if property.ends_with("-size") {
        property = property.replace("inline-size", "width").replace("block-size", "height").into();
    }
    if matches!(&*property, "background-position" | "background-repeat" | "background-origin") {
        property = "background-size".into();
    }
    if !is_known(&property) && !matches!(&*property, "background" | "font") {
        return Ok(());
    }
    let mut values = values(parser);
    let is_important =
        matches!(&values[..], [.., Value::Word(sign), Value::Word(word)] if sign == "!" && word == "important");
    values.truncate(values.len() - if is_important { 2 } else { 0 });
    if values.len() > VALUES_MAX {
        values = vec![Value::Unknown];
    }
    let is_for_all = plain.is_none() || matches!(&*property, "background-clip" | "text-fill-color");
    let is_certain = is_for_all && (property != "font" || is_font(&values));
    let mut add = |property: &str, values: Vec<Value>| {
        if !values.is_empty() {
            let is_certain = is_certain && is_valid(property, &values);
            all.push(Declaration::new(property, values, is_important, is_certain));
        }
    };
    match &*property {
        "font" => {
            let is_size = |it: &&Value| it.px_of_text(PLAIN_PX).is_some() || **it == Value::Unknown;
            // A slash is before the height of lines.
            let size = values.split(|it| *it == Value::Word("/".into())).next().unwrap_or_default();
            add("font-size", size.iter().filter(is_size).cloned().collect());
            add("font-weight", values.into_iter().filter(Value::is_bold).collect());
        }
        "background" => {
            add("background-clip", vec![Value::Word("border-box".to_owned())]);
            add("background-image", vec![Value::Word("none".to_owned())]);
            add("background-color", values);
        }
        _ => add(&property, values),
    }
    Ok(())
}

/// Whether all browsers know these values of a property, so that they take the place of others.
fn is_valid(property: &str, values: &[Value]) -> bool {
    let words: &[&str] = match property {
        "display" => {
            &["block", "inline", "inline-block", "none", "table", "table-cell", "table-row", "list-item", "flex"]
        }
        "visibility" => &["visible", "hidden", "collapse"],
        "font-size" => &["medium", "large", "x-large", "xx-large", "small", "x-small", "larger", "smaller"],
        "letter-spacing" | "line-height" => &["normal"],
        "max-width" | "max-height" => &["none"],
        "background-clip" => &["border-box", "padding-box", "content-box", "text"],
        "width" | "height" => &["auto"],
        "background-color" | "background-image" | "color" | "opacity" | "text-fill-color" => &[],
        _ if property.starts_with("overflow") => &["visible", "hidden", "auto", "scroll"],
        _ => return false,
    };
    let is_length = |it: &Value| matches!(it, Value::Px(_) | Value::Em(_) | Value::Percent(_) | Value::Number(0.0));
    is(values, words)
        || is(values, &["initial", "inherit", "unset"])
        || match (property, values) {
            ("background-color" | "background-image", _) => is_background(values),
            ("color" | "text-fill-color", [value]) => plain_color(value).is_some_and(|color| color != Colors::ANY),
            ("opacity" | "line-height", [Value::Number(_)]) => true,
            (
                "font-size" | "letter-spacing" | "line-height" | "width" | "height" | "max-width" | "max-height",
                [it],
            ) => is_length(it),
            _ => false,
        }
}

/// Whether these are all that the property `font` needs, in its order.
fn is_font(values: &[Value]) -> bool {
    let is_style = |it: &&Value| match it {
        Value::Number(weight) => *weight >= 100.0,
        Value::Word(word) => matches!(&**word, "normal" | "bold" | "bolder" | "lighter" | "italic" | "oblique"),
        _ => false,
    };
    let (size, family) = match &values[values.iter().take_while(is_style).count()..] {
        [size, Value::Word(slash), height, family @ ..] if slash == "/" && height.number().is_some() => (size, family),
        [size, family @ ..] => (size, family),
        [] => return false,
    };
    let is_name = |it: &Value| {
        matches!(it, Value::Word(name) if name.starts_with(|c: char| c.is_alphabetic() || c == '-' || c == '"'))
            && !is(std::slice::from_ref(it), &["inherit", "initial", "unset"])
    };
    is_valid("font-size", std::slice::from_ref(size)) && !family.is_empty() && family.iter().all(is_name)
}

/// Whether values are a known background that is all of a box.
fn is_background(values: &[Value]) -> bool {
    let is_function = |it: &&Value| matches!(it, Value::Function(_));
    let plain = values.split(|it| *it == Value::End).flat_map(|call| call.iter().take_while(|it| !is_function(it)));
    let is_sized = plain.into_iter().any(|it| it.number().is_some() || *it == Value::Word("/".to_owned()));
    let is_image = values.iter().any(|it| matches!(it, Value::Function(name) if name != "url"));
    let is_any = values.iter().filter_map(plain_color).any(|color| color == Colors::ANY);
    !(is_any || is_image && is_sized)
}

/// A part of the value of a declaration. Commas are left out.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// In lower case; a sign too.
    Word(String),
    /// A number without a unit, or an angle in degrees.
    Number(f32),
    Px(f32),
    Em(f32),
    /// 1.0 is all of it.
    Percent(f32),
    Color(Colors),
    /// The start of a function's arguments, and their end.
    Function(String),
    End,
    /// What is not known, such as a variable.
    Unknown,
}

/// The values that are left. The parser bounds how deep functions are nested.
pub(super) fn values(parser: &mut Parser<'_>) -> Vec<Value> {
    let mut values = Vec::new();
    while let Ok(token) = parser.next().cloned() {
        let value = match token {
            Token::Ident(word) => Value::Word(word.to_ascii_lowercase()),
            Token::Delim(sign) => Value::Word(sign.into()),
            Token::QuotedString(_) => Value::Word("\"".into()),
            Token::Hash(digits) | Token::IDHash(digits) => match parse_hash_color(digits.as_bytes()) {
                Ok((red, green, blue, alpha)) => Value::Color(Colors::of([red, green, blue], alpha)),
                Err(()) => continue,
            },
            Token::Number { value, .. } => Value::Number(value),
            Token::Percentage { unit_value, .. } => Value::Percent(unit_value),
            Token::Dimension { value, unit, .. } => Value::with_unit(value, &unit.to_ascii_lowercase()),
            Token::UnquotedUrl(_) => Value::End,
            Token::Function(name) => {
                let name = name.to_ascii_lowercase();
                match parser.parse_nested_block(|inner| Ok::<_, ParseError<()>>(self::values(inner))) {
                    Ok(arguments) if matches!(name.as_str(), "rgb" | "rgba" | "hsl" | "hsla") => {
                        Colors::of_function(&name, &arguments).map_or(Value::Unknown, Value::Color)
                    }
                    Ok(arguments) if is_known_function(&name) => {
                        values.push(Value::Function(name));
                        values.extend(arguments);
                        Value::End
                    }
                    _ => Value::Unknown,
                }
            }
            _ => continue,
        };
        values.push(value);
    }
    values
}

/// Whether it is known what a function other than that of a colour does.
fn is_known_function(name: &str) -> bool {
    let of_transform = ["matrix", "perspective", "rotate", "scale", "skew", "translate"];
    name.ends_with("gradient")
        || of_transform.iter().any(|start| name.starts_with(start))
        || matches!(name, "url" | "alpha" | "from" | "to" | "color-stop")
}

impl Value {
    fn with_unit(value: f32, unit: &str) -> Self {
        match unit {
            // It does not matter how far something turns.
            "px" | "turn" | "rad" | "grad" => Self::Px(value),
            "deg" => Self::Number(value),
            "em" => Self::Em(value),
            "ex" | "ch" => Self::Em(value / 2.0),
            "pt" => Self::Px(value * 4.0 / 3.0),
            "in" => Self::Px(value * 96.0),
            "cm" => Self::Px(value * 38.0),
            "mm" => Self::Px(value * 3.8),
            "rem" | "pc" => Self::Px(value * PLAIN_PX),
            "vw" | "vh" | "vmin" | "vmax" => Self::Px(value * PAGE_PX / 100.0),
            _ => Self::Unknown,
        }
    }

    pub(super) fn number(&self) -> Option<f32> {
        match self {
            Self::Number(number) | Self::Px(number) | Self::Em(number) | Self::Percent(number) => Some(*number),
            _ => None,
        }
    }

    /// A size of text, or a distance in it, in pixels within text of this size.
    pub(super) fn px_of_text(&self, around_px: f32) -> Option<f32> {
        match self {
            Self::Em(share) | Self::Percent(share) => Some(share * around_px),
            Self::Word(word) => match word.as_str() {
                "x-large" => Some(24.0),
                "xx-large" | "xxx-large" => Some(32.0),
                "large" => Some(18.0),
                "medium" => Some(PLAIN_PX),
                "small" | "x-small" | "xx-small" => Some(12.0),
                "larger" => Some(around_px * 1.2),
                "smaller" => Some(around_px / 1.2),
                _ => None,
            },
            Self::Number(number) if *number != 0.0 => None,
            _ => self.number(),
        }
    }

    pub(super) fn is_bold(&self) -> bool {
        matches!(self, Self::Word(word) if word.starts_with("bold")) || matches!(self, Self::Number(600.0..))
    }
}

/// Whether the values are one of these words.
pub(super) fn is(values: &[Value], words: &[&str]) -> bool {
    matches!(values, [Value::Word(word)] if words.contains(&word.as_str()))
}

/// The functions that are called, each with its arguments; without a name for what is none.
pub(super) fn calls(values: &[Value]) -> impl Iterator<Item = (&str, &[Value])> {
    values.split(|value| *value == Value::End).filter(|call| !call.is_empty()).map(|call| match call {
        [Value::Function(name), arguments @ ..] => (name.as_str(), arguments),
        _ => ("", call),
    })
}

/// All numbers in the values, shares of 100 percent too.
pub(super) fn numbers(values: &[Value]) -> impl Iterator<Item = f32> {
    step(values.len());
    values.iter().filter_map(Value::number)
}

/// All distances on the page in the values, in pixels.
pub(super) fn distances_px(values: &[Value]) -> impl Iterator<Item = f32> {
    step(values.len());
    values.iter().filter_map(|value| match value {
        Value::Em(share) => Some(share * PLAIN_PX),
        Value::Percent(share) => Some(share * PAGE_PX),
        _ => value.number(),
    })
}

/// The words of backgrounds that are no colours.
const LAYOUTS: &str = "none repeat repeat-x repeat-y no-repeat scroll fixed center top bottom left right cover contain auto \
                       border-box padding-box content-box to at circle ellipse linear radial / \"";

/// The colours in values, those of gradients too. What may be a colour and is not known is any colour.
pub(super) fn colors(values: &[Value]) -> impl Iterator<Item = Colors> {
    step(values.len());
    values.iter().filter_map(plain_color)
}

fn plain_color(value: &Value) -> Option<Colors> {
    match value {
        Value::Color(color) => Some(*color),
        Value::Word(word) if LAYOUTS.split(' ').any(|it| it == word) => None,
        Value::Word(word) => Some(named_color(word).unwrap_or(Colors::ANY)),
        Value::Unknown => Some(Colors::ANY),
        _ => None,
    }
}

fn named_color(word: &str) -> Option<Colors> {
    match word {
        "transparent" => Some(Colors::TRANSPARENT),
        "canvas" | "window" | "field" => Some(Colors::WHITE),
        "canvastext" | "windowtext" | "fieldtext" => Some(Colors::BLACK),
        _ => parse_named_color(word).ok().map(|(red, green, blue)| Colors::of([red, green, blue], 1.0)),
    }
}

/// What a colour may be: each part is within bounds from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Colors {
    least: [f32; 3],
    most: [f32; 3],
    /// At least so much of what is behind is covered.
    alpha: f32,
}

impl Colors {
    pub(super) const BLACK: Self = Self { least: [0.0; 3], most: [0.0; 3], alpha: 1.0 };
    pub(super) const WHITE: Self = Self { least: [1.0; 3], most: [1.0; 3], alpha: 1.0 };
    pub(super) const TRANSPARENT: Self = Self { alpha: 0.0, ..Self::BLACK };
    /// A colour that is not known. No text is seen on it.
    pub(super) const ANY: Self = Self { least: [0.0; 3], most: [1.0; 3], alpha: 1.0 };

    fn of(rgb: [u8; 3], alpha: f32) -> Self {
        let parts = rgb.map(|part| f32::from(part) / 255.0);
        Self { least: parts, most: parts, alpha }
    }

    /// The colour that `rgb()` or `hsl()` stands for; `None` if it is not known.
    fn of_function(name: &str, arguments: &[Value]) -> Option<Self> {
        let parts: Vec<&Value> = arguments.iter().filter(|it| !is(std::slice::from_ref(it), &["/", ","])).collect();
        let share = |index: usize, full: f32| match parts.get(index)? {
            Value::Number(number) => Some((number / full).clamp(0.0, 1.0)),
            Value::Percent(share) => Some(share.clamp(0.0, 1.0)),
            _ => None,
        };
        let parts_known = match (name, parts.first()?) {
            ("rgb" | "rgba", _) => [share(0, 255.0)?, share(1, 255.0)?, share(2, 255.0)?],
            ("hsl" | "hsla", Value::Number(hue)) => of_hue(*hue, share(1, 100.0)?, share(2, 100.0)?),
            _ => return None,
        };
        let alpha = if parts.len() > 3 { share(3, 1.0)? } else { 1.0 };
        Some(Self { least: parts_known, most: parts_known, alpha }).filter(|_| parts.len() < 5)
    }

    /// What is seen where this colour is above another.
    pub(super) fn over(self, behind: Self) -> Self {
        let mix = |own: [f32; 3], behind: [f32; 3]| {
            [0, 1, 2].map(|part: usize| own[part] * self.alpha + behind[part] * (1.0 - self.alpha))
        };
        Self { least: mix(self.least, behind.least), most: mix(self.most, behind.most), alpha: 1.0 }
    }

    /// One of two colours: it is not known which.
    pub(super) fn or(self, other: Self) -> Self {
        let of = |choose: fn(f32, f32) -> f32, one: [f32; 3], other: [f32; 3]| {
            [0, 1, 2].map(|part: usize| choose(one[part], other[part]))
        };
        Self {
            least: of(f32::min, self.least, other.least),
            most: of(f32::max, self.most, other.most),
            alpha: self.alpha.min(other.alpha),
        }
    }

    /// The most that a part differs for certain where this colour is above another.
    pub(super) fn contrast(self, behind: Self) -> f32 {
        let differs =
            |part: usize| (self.least[part] - behind.most[part]).max(behind.least[part] - self.most[part]).max(0.0);
        [0, 1, 2].map(differs).into_iter().fold(0.0, f32::max) * self.alpha
    }
}

/// The parts of a colour by its hue in degrees, its saturation and its lightness.
fn of_hue(degrees: f32, saturation: f32, lightness: f32) -> [f32; 3] {
    let most = saturation * lightness.min(1.0 - lightness);
    [0.0, 8.0, 4.0].map(|offset| {
        let place = (offset + degrees / 30.0).rem_euclid(12.0);
        lightness - most * (place - 3.0).min(9.0 - place).clamp(-1.0, 1.0)
    })
}
