//! The values of declarations: words, lengths, colours and calls of functions.

use cssparser::{CowRcStr, ParseError, Parser, Token};

use super::colors::Colors;
use crate::step;

/// The size of plain text in pixels.
pub(super) const PLAIN_PX: f32 = 16.0;
/// The page that distances in percent refer to, in pixels.
const PAGE_PX: f32 = 800.0;
/// The words of backgrounds that are no colours.
const LAYOUTS: &str = "none repeat repeat-x repeat-y no-repeat scroll fixed center top bottom left right cover contain auto \
                       , border-box padding-box content-box to at circle ellipse linear radial / \"";

/// A part of the value of a declaration.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value<'a> {
    /// In lower case; a sign too, such as a comma. `#` is what is no colour after all.
    Word(CowRcStr<'a>),
    /// A number without a unit.
    Number(f32),
    /// It does not matter how far something turns.
    Angle,
    Px(f32),
    Em(f32),
    /// 1.0 is all of it.
    Percent(f32),
    Color(Colors),
    /// The start of a function's arguments, and their end.
    Function(CowRcStr<'a>),
    End,
    /// What is not known, such as a variable.
    Unknown,
}

/// The values that are left. The parser bounds how deep functions are nested.
pub(super) fn values<'a>(parser: &mut Parser<'a>) -> Vec<Value<'a>> {
    let mut values = Vec::new();
    while let Ok(token) = parser.next().cloned() {
        let value = match token {
            Token::Ident(word) => Value::Word(lower(word)),
            Token::Delim(sign) => Value::Word(sign.to_string().into()),
            Token::Comma => Value::Word(",".into()),
            Token::Colon => Value::Word(":".into()),
            Token::QuotedString(_) => Value::Word("\"".into()),
            Token::Hash(digits) | Token::IDHash(digits) => {
                Colors::of_digits(&digits).map_or(Value::Word("#".into()), Value::Color)
            }
            Token::Number { value, .. } => Value::Number(value),
            Token::Percentage { unit_value, .. } => Value::Percent(unit_value),
            Token::Dimension { value, unit, .. } => Value::with_unit(value, &lower(unit)),
            Token::UnquotedUrl(_) => Value::End,
            Token::ParenthesisBlock => {
                let inner = parser.parse_nested_block(|inner| Ok::<_, ParseError<()>>(self::values(inner)));
                values.extend(inner.unwrap_or_else(|_| vec![Value::Unknown]));
                continue;
            }
            Token::Function(name) => {
                let name = lower(name);
                match parser.parse_nested_block(|inner| Ok::<_, ParseError<()>>(self::values(inner))) {
                    Ok(arguments) if matches!(&*name, "rgb" | "rgba" | "hsl" | "hsla") => {
                        color_of_function(&name, &arguments).map_or(Value::Unknown, Value::Color)
                    }
                    Ok(arguments) if is_known_function(&name) => {
                        values.push(Value::Function(name));
                        values.extend(arguments);
                        Value::End
                    }
                    _ => Value::Unknown,
                }
            }
            _ => Value::Unknown,
        };
        values.push(value);
    }
    step(values.len());
    values
}

fn lower(word: CowRcStr<'_>) -> CowRcStr<'_> {
    if word.bytes().any(|octet| octet.is_ascii_uppercase()) { word.to_ascii_lowercase().into() } else { word }
}

/// Whether it is known what a function other than that of a colour does.
fn is_known_function(name: &str) -> bool {
    let is_of_transform = name.starts_with("translate") || name.starts_with("scale");
    is_of_transform
        || name.ends_with("gradient")
        || matches!(name, "rotate" | "rotatez" | "url" | "alpha" | "from" | "to" | "color-stop")
}

/// The colour that `rgb()` or `hsl()` stands for; `None` if it is not known. Either all arguments are between commas, or
/// there is but a slash before the opacity.
fn color_of_function(name: &str, arguments: &[Value<'_>]) -> Option<Colors> {
    let (parts, sign, rest) = match arguments {
        [red, one, green, two, blue, rest @ ..] if one.is_word(&[","]) && two.is_word(&[","]) => {
            ([red, green, blue], ",", rest)
        }
        [red, green, blue, rest @ ..] => ([red, green, blue], "/", rest),
        _ => return None,
    };
    let share = |part: &Value<'_>, full: f32| match part {
        Value::Number(number) => Some((number / full).clamp(0.0, 1.0)),
        Value::Percent(share) => Some(share.clamp(0.0, 1.0)),
        _ => None,
    };
    let alpha = match rest {
        [] => 1.0,
        [before, alpha] if before.is_word(&[sign]) => share(alpha, 1.0)?,
        _ => return None,
    };
    match (name, parts) {
        (
            "rgb" | "rgba",
            [Value::Number(_), Value::Number(_), Value::Number(_)]
            | [Value::Percent(_), Value::Percent(_), Value::Percent(_)],
        ) => {
            let [red, green, blue] = parts.map(|part| share(part, 255.0));
            Some(Colors::of_shares([red?, green?, blue?], alpha))
        }
        ("hsl" | "hsla", [Value::Number(_) | Value::Angle, Value::Percent(saturation), Value::Percent(lightness)]) => {
            Some(Colors::of_lightness(saturation.clamp(0.0, 1.0), lightness.clamp(0.0, 1.0), alpha))
        }
        _ => None,
    }
}

impl Value<'_> {
    fn with_unit(value: f32, unit: &str) -> Self {
        match unit {
            "px" => Self::Px(value),
            "deg" | "turn" | "rad" | "grad" => Self::Angle,
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

    /// Whether this is one of these words.
    pub(super) fn is_word(&self, words: &[&str]) -> bool {
        matches!(self, Self::Word(word) if words.contains(&&**word))
    }

    pub(super) fn number(&self) -> Option<f32> {
        match self {
            Self::Number(number) | Self::Px(number) | Self::Em(number) | Self::Percent(number) => Some(*number),
            _ => None,
        }
    }

    /// A distance on the page in pixels.
    fn distance_px(&self) -> Option<f32> {
        match self {
            Self::Em(share) => Some(share * PLAIN_PX),
            Self::Percent(share) => Some(share * PAGE_PX),
            _ => self.number(),
        }
    }

    /// Whether this is a length that every browser knows.
    pub(super) fn is_length(&self) -> bool {
        matches!(self, Self::Px(_) | Self::Em(_) | Self::Percent(_) | Self::Number(0.0))
    }

    /// A size of text, or a distance in it.
    pub(super) fn length(&self) -> Option<Length> {
        let (px, em) = match self {
            Self::Em(share) | Self::Percent(share) => (0.0, *share),
            Self::Px(px) => (*px, 0.0),
            Self::Number(0.0) => (0.0, 0.0),
            Self::Word(word) => match &**word {
                "x-large" => (24.0, 0.0),
                "xx-large" | "xxx-large" => (32.0, 0.0),
                "large" => (18.0, 0.0),
                "medium" => (PLAIN_PX, 0.0),
                "small" | "x-small" | "xx-small" => (12.0, 0.0),
                "larger" => (0.0, 1.2),
                "smaller" => (0.0, 1.0 / 1.2),
                _ => return None,
            },
            _ => return None,
        };
        Some(Length { px, em })
    }

    pub(super) fn is_bold(&self) -> bool {
        matches!(self, Self::Word(word) if word.starts_with("bold")) || matches!(self, Self::Number(600.0..))
    }

    /// The colour, if it may be one. What is not known is any colour.
    pub(super) fn color(&self) -> Option<Colors> {
        match self {
            Self::Color(color) => Some(*color),
            Self::Word(word) => {
                let color = Colors::of_name(word);
                Some(color).filter(|color| *color != Colors::ANY || !LAYOUTS.split(' ').any(|it| it == &**word))
            }
            Self::Unknown => Some(Colors::ANY),
            _ => None,
        }
    }
}

/// A length in pixels, and in sizes of the text around.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Length {
    px: f32,
    em: f32,
}

impl Length {
    /// The size of the text around.
    pub(super) const OF_OUTER: Self = Self { px: 0.0, em: 1.0 };

    /// The length in pixels, in text of this size.
    pub(super) fn px(self, size_px: f32) -> f32 {
        self.px + self.em * size_px
    }

    /// A length that is not longer than either.
    pub(super) fn min(self, other: Self) -> Self {
        Self { px: self.px.min(other.px), em: self.em.min(other.em) }
    }

    /// Whether signs with gaps of this size are upon one another.
    pub(super) fn is_squeezed(self) -> bool {
        self.px < -4.0 || self.em < -0.4
    }
}

/// Whether the values are one of these words.
pub(super) fn is(values: &[Value<'_>], words: &[&str]) -> bool {
    matches!(values, [value] if value.is_word(words))
}

/// Whether something is between all commas, before the first one and after the last one.
pub(super) fn is_list(values: &[Value<'_>]) -> bool {
    values.split(|it| it.is_word(&[","])).all(|part| !part.is_empty())
}

/// The functions that are called, each with its arguments; without a name for what is none.
pub(super) fn calls<'a>(values: &'a [Value<'a>]) -> impl Iterator<Item = (&'a str, &'a [Value<'a>])> {
    values.split(|value| *value == Value::End).filter(|call| !call.is_empty()).map(|call| match call {
        [Value::Function(name), arguments @ ..] => (&**name, arguments),
        _ => ("", call),
    })
}

/// All numbers in the values, shares of 100 percent too.
pub(super) fn numbers(values: &[Value<'_>]) -> impl Iterator<Item = f32> {
    values.iter().filter_map(Value::number)
}

/// All distances on the page in the values, in pixels.
pub(super) fn distances_px(values: &[Value<'_>]) -> impl Iterator<Item = f32> {
    values.iter().filter_map(Value::distance_px)
}

/// What the colours in values may be, those of gradients too; `None` if there are none.
pub(super) fn colors(values: &[Value<'_>]) -> Option<Colors> {
    values.iter().filter_map(Value::color).reduce(Colors::or)
}
