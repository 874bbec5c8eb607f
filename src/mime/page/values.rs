//! Declarations of style sheets, with their values: words, lengths, colours and calls of functions.

use cssparser::color::{parse_hash_color, parse_named_color};
use cssparser::{Delimiter, ParseError, Parser, Token};

use super::style::is_known;
use crate::mime::step;

/// The size of plain text in pixels.
pub(super) const PLAIN_PX: f32 = 16.0;
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
}

/// The declarations that are left.
pub(super) fn declarations(parser: &mut Parser<'_>) -> Vec<Declaration> {
    let mut all = Vec::new();
    while !parser.is_exhausted() {
        // What is no declaration is skipped up to its end, as browsers do.
        let _: Result<(), ParseError<()>> = parser.parse_until_after(Delimiter::Semicolon, |parser| {
            let written = parser.expect_ident_cloned()?.to_ascii_lowercase();
            parser.expect_colon()?;
            let mut values = values(parser);
            let is_important =
                matches!(&values[..], [.., Value::Word(sign), Value::Word(word)] if sign == "!" && word == "important");
            values.truncate(values.len() - if is_important { 2 } else { 0 });
            let mut add = |property: &str, values: Vec<Value>| {
                if !values.is_empty() && is_known(property) {
                    all.push(Declaration { property: property.to_owned(), values, is_important });
                }
            };
            let property =
                ["-webkit-", "-moz-", "-ms-"].iter().find_map(|it| written.strip_prefix(it)).unwrap_or(&written);
            match property {
                "font" => {
                    let is_size = |it: &&Value| it.px_of_text(PLAIN_PX).is_some();
                    // A slash is before the height of lines.
                    let size = values.split(|it| *it == Value::Word("/".into())).next().unwrap_or_default();
                    add("font-size", size.iter().filter(is_size).cloned().collect());
                    add("font-weight", values.into_iter().filter(Value::is_bold).collect());
                }
                // An image is not loaded, so the colour behind it is seen.
                "background-image" if color(&values).is_none() => {}
                "background" | "background-image" => add("background-color", values),
                "text-fill-color" => add("color", values),
                _ => add(&property.replace("inline-size", "width").replace("block-size", "height"), values),
            }
            Ok(())
        });
    }
    all
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
    Color(Rgba),
    /// The start of a function's arguments, and their end.
    Function(String),
    End,
    /// What a variable stands for.
    Unknown,
}

/// The values that are left. The parser bounds how deep functions are nested.
pub(super) fn values(parser: &mut Parser<'_>) -> Vec<Value> {
    let mut values = Vec::new();
    while let Ok(token) = parser.next().cloned() {
        let value = match token {
            Token::Ident(word) => Value::Word(word.to_ascii_lowercase()),
            Token::Delim(sign) => Value::Word(sign.into()),
            Token::Hash(digits) | Token::IDHash(digits) => match parse_hash_color(digits.as_bytes()) {
                Ok((red, green, blue, alpha)) => Value::Color(Rgba::of([red, green, blue], alpha)),
                Err(()) => continue,
            },
            Token::Number { value, .. } => Value::Number(value),
            Token::Percentage { unit_value, .. } => Value::Percent(unit_value),
            Token::Dimension { value, unit, .. } => Value::with_unit(value, &unit.to_ascii_lowercase()),
            Token::UnquotedUrl(_) => Value::End,
            Token::Function(name) => {
                let name = name.to_ascii_lowercase();
                match parser.parse_nested_block(|inner| Ok::<_, ParseError<()>>(self::values(inner))) {
                    Ok(arguments) if !matches!(name.as_str(), "var" | "env") => {
                        if let Some(color) = Rgba::of_function(&name, &arguments) {
                            Value::Color(color)
                        } else {
                            values.push(Value::Function(name));
                            values.extend(arguments);
                            Value::End
                        }
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

impl Value {
    fn with_unit(value: f32, unit: &str) -> Self {
        match unit {
            "deg" => Self::Number(value),
            "em" => Self::Em(value),
            "ex" | "ch" => Self::Em(value / 2.0),
            "pt" => Self::Px(value * 4.0 / 3.0),
            "in" => Self::Px(value * 96.0),
            "cm" => Self::Px(value * 38.0),
            "mm" => Self::Px(value * 3.8),
            "rem" | "pc" => Self::Px(value * PLAIN_PX),
            "vw" | "vh" | "vmin" | "vmax" => Self::Px(value * PAGE_PX / 100.0),
            _ => Self::Px(value),
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

/// The colour in a value, or the one that all colours of its first gradient are like.
pub(super) fn color(values: &[Value]) -> Option<Color> {
    step(values.len());
    values.split(|value| *value == Value::End).find_map(|call| {
        let mut colors = call.iter().filter_map(plain_color);
        let first = colors.next()?;
        Some(if colors.all(|color| first.is_like(color)) { first } else { Color::Unknown })
    })
}

fn plain_color(value: &Value) -> Option<Color> {
    let starts = ["rgb", "hsl", "hwb", "lab", "lch", "ok", "color", "light"];
    match value {
        Value::Color(color) => Some(Color::Known(*color)),
        Value::Word(word) => named_color(word).map(Color::Known),
        Value::Function(name) if starts.iter().any(|start| name.starts_with(start)) => Some(Color::Unknown),
        Value::Unknown => Some(Color::Unknown),
        _ => None,
    }
}

fn named_color(word: &str) -> Option<Rgba> {
    match word {
        "transparent" => Some(Rgba::TRANSPARENT),
        "canvas" | "window" | "field" => Some(Rgba::WHITE),
        "canvastext" | "windowtext" | "fieldtext" => Some(Rgba::BLACK),
        _ => parse_named_color(word).ok().map(|(red, green, blue)| Rgba::of([red, green, blue], 1.0)),
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
    pub(super) const TRANSPARENT: Self = Self { rgb: [0.0; 3], alpha: 0.0 };
    /// Nobody sees a colour that differs from the one behind it by less than this.
    pub(super) const ALPHA_MIN: f32 = 1.0 / 16.0;

    fn of(rgb: [u8; 3], alpha: f32) -> Self {
        Self { rgb: rgb.map(|part| f32::from(part) / 255.0), alpha }
    }

    /// The colour that `rgb()` or `hsl()` stands for; `None` if it is not known.
    fn of_function(name: &str, arguments: &[Value]) -> Option<Self> {
        let parts: Vec<&Value> = arguments.iter().filter(|it| it.number().is_some()).collect();
        let share = |index: usize, full: f32| match parts.get(index)? {
            Value::Number(number) => Some((number / full).clamp(0.0, 1.0)),
            Value::Percent(share) => Some(share.clamp(0.0, 1.0)),
            _ => None,
        };
        let rgb = match (name, parts.first()?) {
            ("rgb" | "rgba", _) => [share(0, 255.0)?, share(1, 255.0)?, share(2, 255.0)?],
            ("hsl" | "hsla", Value::Number(hue)) => of_hue(*hue, share(1, 100.0)?, share(2, 100.0)?),
            _ => return None,
        };
        Some(Self { rgb, alpha: if parts.len() > 3 { share(3, 1.0)? } else { 1.0 } })
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
