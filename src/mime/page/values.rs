//! Declarations of style sheets, with their values: words, lengths, colours and calls of functions.

use cssparser::color::{parse_hash_color, parse_named_color};
use cssparser::{Delimiter, ParseError, Parser, Token};

use crate::mime::step;

/// The size of plain text in pixels.
pub(super) const PLAIN_PX: f32 = 16.0;
/// The page that distances in percent refer to, in pixels.
pub(super) const PAGE_PX: f32 = 800.0;
/// Properties that are read as another one, of which they say the part that matters here.
const ALIASES: [(&str, &str); 18] = [
    ("background", "background-color"),
    ("background-image", "background-color"),
    ("text-fill-color", "color"),
    ("mask-image", "mask"),
    ("overflow-x", "overflow"),
    ("overflow-y", "overflow"),
    ("overflow-block", "overflow"),
    ("overflow-inline", "overflow"),
    ("block-size", "height"),
    ("max-block-size", "max-height"),
    ("min-block-size", "min-height"),
    ("inline-size", "width"),
    ("max-inline-size", "max-width"),
    ("min-inline-size", "min-width"),
    ("inset-inline-start", "left"),
    ("inset-block-start", "top"),
    ("margin-inline-start", "margin-left"),
    ("margin-block-start", "margin-top"),
];
/// Functions that give a colour which is not computed.
const UNKNOWN_COLORS: [&str; 8] = ["var", "color", "color-mix", "light-dark", "lab", "lch", "oklab", "oklch"];

/// A declaration of one of the properties that the caller knows.
#[derive(Debug)]
pub(super) struct Declaration {
    pub(super) property: &'static str,
    /// At least one.
    pub(super) values: Vec<Value>,
    pub(super) is_important: bool,
}

/// The declarations that are left of the properties that `known` finds.
pub(super) fn declarations(parser: &mut Parser<'_>, known: fn(&str) -> Option<&'static str>) -> Vec<Declaration> {
    let mut all = Vec::new();
    while !parser.is_exhausted() {
        // What is no declaration is skipped up to its end, as browsers do.
        let _: Result<(), ParseError<()>> = parser.parse_until_after(Delimiter::Semicolon, |parser| {
            let written = parser.expect_ident_cloned()?.to_ascii_lowercase();
            parser.expect_colon()?;
            let property =
                ["-webkit-", "-moz-", "-ms-"].iter().find_map(|it| written.strip_prefix(it)).unwrap_or(&written);
            let alias = ALIASES.iter().find(|(alias, _)| *alias == property).map(|(_, property)| *property);
            let parts =
                if property == "font" { vec!["font-size", "font-weight"] } else { vec![alias.unwrap_or(property)] };
            for name in parts.into_iter().filter_map(known) {
                let start = parser.state();
                let mut values = values(parser);
                parser.reset(&start);
                let is_important =
                    matches!(&values[..], [.., Value::Sign('!'), Value::Word(word)] if word == "important");
                values.truncate(values.len() - if is_important { 2 } else { 0 });
                match property {
                    "font" => values.retain(if name == "font-size" { Value::is_size } else { Value::is_bold }),
                    // An image is not loaded, so the colour behind it is seen.
                    "background-image" if color(&values).is_none() => continue,
                    _ => {}
                }
                if !values.is_empty() {
                    all.push(Declaration { property: name, values, is_important });
                }
            }
            while parser.next().is_ok() {}
            Ok(())
        });
    }
    all
}

/// A part of the value of a declaration. Commas are left out.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// In lower case.
    Word(String),
    Sign(char),
    /// A number without a unit, or an angle in degrees.
    Number(f32),
    Px(f32),
    Em(f32),
    /// 1.0 is all of it.
    Percent(f32),
    Color(Rgba),
    Call(String, Vec<Value>),
}

/// How many values these are, with the arguments of calls.
pub(super) fn count(values: &[Value]) -> usize {
    values.len() + calls(values).map(|(_, arguments)| count(arguments)).sum::<usize>()
}

/// The values that are left. The parser bounds how deep calls are nested.
pub(super) fn values(parser: &mut Parser<'_>) -> Vec<Value> {
    let mut values = Vec::new();
    while let Ok(token) = parser.next().cloned() {
        values.push(match token {
            Token::Ident(word) => Value::Word(word.to_ascii_lowercase()),
            Token::UnquotedUrl(_) => Value::Word("url".to_owned()),
            Token::Hash(digits) | Token::IDHash(digits) => match parse_hash_color(digits.as_bytes()) {
                Ok((red, green, blue, alpha)) => Value::Color(Rgba::of([red, green, blue], alpha)),
                Err(()) => continue,
            },
            Token::Number { value, .. } => Value::Number(value),
            Token::Percentage { unit_value, .. } => Value::Percent(unit_value),
            Token::Dimension { value, unit, .. } => Value::with_unit(value, &unit.to_ascii_lowercase()),
            Token::Function(name) => {
                let arguments = parser.parse_nested_block(|inner| Ok::<_, ParseError<()>>(self::values(inner)));
                Value::call(name.to_ascii_lowercase(), arguments.unwrap_or_default())
            }
            Token::Delim(sign) => Value::Sign(sign),
            _ => continue,
        });
    }
    values
}

impl Value {
    fn with_unit(value: f32, unit: &str) -> Self {
        match unit {
            "deg" => Self::Number(value),
            "turn" => Self::Number(value * 360.0),
            "grad" => Self::Number(value * 0.9),
            "rad" => Self::Number(value.to_degrees()),
            "pt" => Self::Px(value * 4.0 / 3.0),
            "in" => Self::Px(value * 96.0),
            "cm" => Self::Px(value * 38.0),
            "mm" => Self::Px(value * 3.8),
            "rem" | "pc" => Self::Px(value * PLAIN_PX),
            "vw" | "vh" | "vmin" | "vmax" => Self::Px(value * PAGE_PX / 100.0),
            "em" => Self::Em(value),
            "ex" | "ch" => Self::Em(value / 2.0),
            _ => Self::Px(value),
        }
    }

    fn call(name: String, mut arguments: Vec<Self>) -> Self {
        match (name.as_str(), &arguments[..]) {
            ("calc", [_]) => arguments.swap_remove(0),
            _ => Rgba::of_call(&name, &arguments).map_or(Self::Call(name, arguments), Self::Color),
        }
    }

    pub(super) fn number(&self) -> Option<f32> {
        match self {
            Self::Number(number) | Self::Px(number) | Self::Em(number) | Self::Percent(number) => Some(*number),
            _ => None,
        }
    }

    /// A share of 1, or of 100 percent, and no more than all.
    pub(super) fn share(&self) -> Option<f32> {
        let number = self.number().filter(|_| matches!(self, Self::Number(_) | Self::Percent(_)));
        number.map(|number| number.clamp(0.0, 1.0))
    }

    /// A distance on the page in pixels; 0 for what is none.
    pub(super) fn px(&self) -> f32 {
        match self {
            Self::Em(share) => share * PLAIN_PX,
            Self::Percent(share) => share * PAGE_PX,
            _ => self.number().unwrap_or(0.0),
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
                _ => None,
            },
            Self::Number(number) if *number != 0.0 => None,
            _ => self.number(),
        }
    }

    fn is_size(&self) -> bool {
        matches!(self, Self::Px(_) | Self::Em(_) | Self::Percent(_)) || self.number() == Some(0.0)
    }

    pub(super) fn is_bold(&self) -> bool {
        matches!(self, Self::Word(word) if word.starts_with("bold")) || matches!(self, Self::Number(600.0..))
    }
}

/// Whether the values are one of these words.
pub(super) fn is(values: &[Value], words: &[&str]) -> bool {
    matches!(values, [Value::Word(word)] if words.contains(&word.as_str()))
}

/// The functions that are called, each with its arguments.
pub(super) fn calls(values: &[Value]) -> impl Iterator<Item = (&str, &[Value])> {
    values.iter().filter_map(|value| match value {
        Value::Call(name, arguments) => Some((name.as_str(), arguments.as_slice())),
        _ => None,
    })
}

/// The first colour in a value, or that of a gradient.
pub(super) fn color(values: &[Value]) -> Option<Color> {
    values.iter().find_map(|value| match value {
        Value::Call(name, arguments) if name.ends_with("gradient") => {
            let mut stops = arguments.iter().filter_map(plain_color);
            let first = stops.next()?;
            Some(if stops.all(|stop| first.is_like(stop)) { first } else { Color::Unknown })
        }
        _ => plain_color(value),
    })
}

fn plain_color(value: &Value) -> Option<Color> {
    step(1);
    match value {
        Value::Color(color) => Some(Color::Known(*color)),
        Value::Word(word) => match word.as_str() {
            "transparent" => Some(Color::Known(Rgba::TRANSPARENT)),
            "canvas" | "window" | "field" => Some(Color::Known(Rgba::WHITE)),
            "canvastext" | "windowtext" | "fieldtext" => Some(Color::Known(Rgba::BLACK)),
            _ => parse_named_color(word).ok().map(|(red, green, blue)| Color::Known(Rgba::of([red, green, blue], 1.0))),
        },
        Value::Call(name, _) if UNKNOWN_COLORS.contains(&name.as_str()) => Some(Color::Unknown),
        _ => None,
    }
}

/// What a colour is, as far as it can be told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Color {
    Known(Rgba),
    Unknown,
}

impl Color {
    /// Whether both give about the same on a page, so that no text is seen on one that is not seen on the other.
    fn is_like(self, other: Self) -> bool {
        match (self, other) {
            (Self::Known(one), Self::Known(other)) => one.over(Rgba::WHITE).contrast(other.over(Rgba::WHITE)) < 0.25,
            _ => self == other,
        }
    }
}

/// A colour, with each part from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rgba {
    rgb: [f32; 3],
    pub(super) alpha: f32,
}

impl Rgba {
    pub(super) const BLACK: Self = Self { rgb: [0.0; 3], alpha: 1.0 };
    pub(super) const WHITE: Self = Self { rgb: [1.0; 3], alpha: 1.0 };
    const TRANSPARENT: Self = Self { rgb: [0.0; 3], alpha: 0.0 };
    /// Nobody sees a colour that differs from the one behind it by less than this.
    pub(super) const ALPHA_MIN: f32 = 1.0 / 16.0;

    fn of(rgb: [u8; 3], alpha: f32) -> Self {
        Self { rgb: rgb.map(|part| f32::from(part) / 255.0), alpha }
    }

    /// The colour that a function stands for; `None` if it is not known.
    fn of_call(name: &str, arguments: &[Value]) -> Option<Self> {
        let is_part = |it: &&Value| it.number().is_some() || matches!(it, Value::Word(word) if word == "none");
        let parts: Vec<&Value> = arguments.iter().filter(is_part).collect();
        let number = |index: usize| parts.get(index).and_then(|part| part.number()).unwrap_or(0.0);
        let share = |index: usize, full: f32| match parts.get(index) {
            Some(Value::Number(number)) => (number / full).clamp(0.0, 1.0),
            _ => number(index).clamp(0.0, 1.0),
        };
        let alpha = if parts.len() > 3 { share(3, 1.0) } else { 1.0 };
        let rgb = match name {
            "rgb" | "rgba" => [0, 1, 2].map(|index| share(index, 255.0)),
            "hsl" | "hsla" => of_hue(number(0), share(1, 100.0), share(2, 100.0)),
            "hwb" => {
                let (white, black) = (share(1, 100.0), share(2, 100.0));
                of_hue(number(0), 1.0, 0.5)
                    .map(|part| part * (1.0 - white - black).max(0.0) + white / (white + black).max(1.0))
            }
            _ if UNKNOWN_COLORS.contains(&name) && alpha < Self::ALPHA_MIN => [0.0; 3],
            _ => return None,
        };
        Some(Self { rgb, alpha })
    }

    /// The colour that is seen where this one is above another.
    pub(super) fn over(self, behind: Self) -> Self {
        let part = |index: usize| self.rgb[index] * self.alpha + behind.rgb[index] * (1.0 - self.alpha);
        Self { rgb: [0, 1, 2].map(part), alpha: 1.0 }
    }

    /// The most that a part differs by where this colour is above another.
    pub(super) fn contrast(self, behind: Self) -> f32 {
        let differences = self.rgb.iter().zip(behind.rgb).map(|(one, other)| (one - other).abs());
        differences.fold(0.0, f32::max) * self.alpha
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
