//! The rules of the style sheets in a mail.
//!
//! Selectors have names, classes, ids and attributes of elements and of those around them. A rule with any other
//! selector, such as `:hover`, does not count, nor does one for paper, for narrow windows or for dark pages.

use std::collections::HashMap;

use cssparser::{Delimiter, ParseError, Parser, Token};

use super::style::{Element, OF_BROWSERS, known};
use super::values::{Declaration, PLAIN_PX, declarations};
use crate::mime::limits::{
    SELECTOR_PARTS_MAX, SHEET_NESTING_MAX, SHEET_OCTETS_MAX, STEPS_PER_OCTET, VISIBLE_TEXT_OCTETS_MAX,
};
use crate::mime::markup;

/// The window of the reader in pixels.
const WINDOW_PX: f32 = 1_024.0;
/// All rules of a mail.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    /// What each rule declares.
    rules: Vec<Vec<Declaration>>,
    selectors: Vec<Selector>,
    /// The indexes of the selectors that may be of an element, by its id, one of its classes, its name, or `*`.
    by_key: HashMap<String, Vec<usize>>,
    octets: usize,
    /// How many more comparisons of selectors with elements are made.
    pub(super) steps_left: usize,
}

/// The parts of a selector, the outermost first.
#[derive(Debug, Default)]
struct Selector {
    parts: Vec<Part>,
    weight: u32,
    /// The index of its rule.
    rule: usize,
}

/// What a selector says of one element.
#[derive(Debug, Default)]
struct Part {
    tests: Vec<Test>,
    /// Whether the element must be directly in the one of the part before.
    is_child: bool,
}

/// What an element must have.
#[derive(Debug)]
enum Test {
    Name(String),
    Id(String),
    Class(String),
    /// An attribute of this name, with a value that fits another one.
    Attribute(String, fn(&str, &str) -> bool, String),
}

impl Sheet {
    /// The rules of browsers, for HTML of so many octets.
    pub(super) fn for_octets(octets: usize) -> Self {
        let mut sheet = Self { steps_left: STEPS_PER_OCTET * octets.min(VISIBLE_TEXT_OCTETS_MAX), ..Self::default() };
        sheet.add_rules(&mut Parser::new(OF_BROWSERS), 0);
        // Any selector of the mail is stronger.
        sheet.selectors.iter_mut().for_each(|selector| selector.weight = 0);
        sheet
    }

    /// Adds the rules of a style sheet with these attributes.
    pub(super) fn add(&mut self, attributes: &str, css: &str) {
        let media = markup::attribute(attributes, "media").map(markup::decoded).unwrap_or_default();
        let css = &css[..css.floor_char_boundary(SHEET_OCTETS_MAX - self.octets)];
        self.octets += css.len();
        if is_on_screen(&mut Parser::new(&media)) {
            self.add_rules(&mut Parser::new(css), 0);
        }
    }

    fn add_rules(&mut self, parser: &mut Parser<'_>, depth: usize) {
        while !parser.is_exhausted() {
            let start = parser.state();
            match parser.next().cloned() {
                Ok(Token::AtKeyword(name)) => self.add_group(&name.to_ascii_lowercase(), parser, depth),
                Ok(Token::CDO | Token::CDC) => {}
                _ => {
                    parser.reset(&start);
                    self.add_rule(parser);
                }
            }
        }
    }

    /// Adds the rules within one that begins with `@`, if they count.
    fn add_group(&mut self, name: &str, parser: &mut Parser<'_>, depth: usize) {
        let counts = parser.parse_until_before(Delimiter::CurlyBracketBlock | Delimiter::Semicolon, |parser| {
            let counts = match name {
                "media" => is_on_screen(parser),
                "supports" => parser.try_parse(|it| it.expect_ident_matching("not")).is_err(),
                _ => name == "layer",
            };
            skip(parser);
            Ok::<_, ParseError<()>>(counts)
        });
        let is_block = matches!(parser.next(), Ok(Token::CurlyBracketBlock));
        if is_block && counts == Ok(true) && depth < SHEET_NESTING_MAX {
            // The closure never fails.
            let _: Result<(), ParseError<()>> = parser.parse_nested_block(|inner| {
                self.add_rules(inner, depth + 1);
                Ok(())
            });
        }
    }

    fn add_rule(&mut self, parser: &mut Parser<'_>) {
        let selectors = parser.parse_until_before(Delimiter::CurlyBracketBlock, |parser| {
            Ok::<_, ParseError<()>>(parser.parse_comma_separated_ignoring_errors(Selector::read))
        });
        if !matches!(parser.next(), Ok(Token::CurlyBracketBlock)) {
            return;
        }
        let declared = parser.parse_nested_block(|inner| Ok::<_, ParseError<()>>(declarations(inner, known)));
        let (Ok(selectors), Ok(declared)) = (selectors, declared) else { return };
        if declared.is_empty() {
            return;
        }
        for selector in selectors {
            let key = selector.parts.last().map_or("*", Part::key).to_owned();
            self.by_key.entry(key).or_default().push(self.selectors.len());
            self.selectors.push(Selector { rule: self.rules.len(), ..selector });
        }
        self.rules.push(declared);
    }

    /// What the rules declare for an element within others, the weakest first.
    pub(super) fn declared(
        &mut self,
        element: &Element<'_>,
        around: &[Element<'_>],
    ) -> impl Iterator<Item = &Declaration> {
        let Self { rules, selectors, by_key, steps_left, .. } = self;
        let keys = element.class.split_ascii_whitespace().chain([&*element.id, &element.name, "*"]);
        let mut found: Vec<&Selector> = Vec::new();
        for selector in keys.filter_map(|key| by_key.get(key)).flatten().map(|index| &selectors[*index]) {
            if *steps_left == 0 {
                break;
            }
            if fits(&selector.parts, element, around, steps_left) {
                *steps_left = steps_left.saturating_sub(rules[selector.rule].len());
                found.push(selector);
            }
        }
        found.sort_by_key(|selector| (selector.weight, selector.rule));
        found.dedup_by_key(|selector| (selector.weight, selector.rule));
        found.into_iter().flat_map(|selector| &rules[selector.rule])
    }
}

/// Whether an element within others is as the last of the parts says, and those around it as the others say.
fn fits(parts: &[Part], element: &Element<'_>, around: &[Element<'_>], steps_left: &mut usize) -> bool {
    let Some((part, before)) = parts.split_last() else { return true };
    if *steps_left == 0 || !part.is_of(element, steps_left) {
        return false;
    }
    let farthest = if part.is_child { around.len().saturating_sub(1) } else { 0 };
    before.is_empty() || (farthest..around.len()).rev().any(|at| fits(before, &around[at], &around[..at], steps_left))
}

impl Part {
    /// What an element must have to be as this part says.
    fn key(&self) -> &str {
        // Names are first, and many elements have them.
        let key = self.tests.iter().rev().find_map(|test| match test {
            Test::Id(key) | Test::Class(key) | Test::Name(key) => Some(key.as_str()),
            Test::Attribute(..) => None,
        });
        key.unwrap_or("*")
    }

    fn is_of(&self, element: &Element<'_>, steps_left: &mut usize) -> bool {
        let mut take = |octets: usize| *steps_left = steps_left.saturating_sub(1 + octets / 16);
        take(0);
        self.tests.iter().all(|test| match test {
            Test::Name(name) => *name == element.name,
            Test::Id(id) => *id == element.id,
            Test::Class(class) => {
                take(element.class.len());
                element.class.split_ascii_whitespace().any(|it| it == class)
            }
            Test::Attribute(name, fits, value) => {
                take(element.attributes.len());
                let found = markup::attribute(element.attributes, name).map(markup::decoded);
                found.is_some_and(|found| fits(&found, value))
            }
        })
    }
}

impl Selector {
    fn read(parser: &mut Parser<'_>) -> Result<Self, ParseError<()>> {
        let mut parts = vec![Part::default()];
        let mut is_child = None;
        parser.skip_whitespace();
        while let Ok(token) = parser.next_including_whitespace().cloned() {
            match token {
                Token::WhiteSpace(_) => is_child = is_child.or(Some(false)),
                Token::Delim('>') => is_child = Some(true),
                token => {
                    parts.extend(is_child.take().map(|is_child| Part { is_child, ..Part::default() }));
                    let test = Test::read(&token, parser)?;
                    if let Some(part) = parts.last_mut() {
                        part.tests.extend(test);
                    }
                }
            }
        }
        if parts.len() > SELECTOR_PARTS_MAX {
            return Err(ParseError::custom(()));
        }
        let weights = parts.iter().flat_map(|part| &part.tests).map(|test| match test {
            Test::Name(_) => 1,
            Test::Class(_) | Test::Attribute(..) => 1 << 8,
            Test::Id(_) => 1 << 16,
        });
        Ok(Self { weight: weights.sum(), parts, rule: 0 })
    }
}

impl Test {
    /// The test that begins with a token; `None` for what every element passes.
    fn read(token: &Token<'_>, parser: &mut Parser<'_>) -> Result<Option<Self>, ParseError<()>> {
        Ok(Some(match token {
            Token::Ident(name) => Self::Name(name.to_ascii_lowercase()),
            Token::IDHash(id) => Self::Id(id.to_string()),
            Token::Delim('.') => Self::Class(parser.expect_ident()?.to_string()),
            Token::SquareBracketBlock => parser.parse_nested_block(Self::read_attribute)?,
            Token::Delim('*') => return Ok(None),
            // All links are new to the reader.
            Token::Colon => return Ok(parser.expect_ident_matching("link").map(|()| None)?),
            _ => return Err(ParseError::unexpected_token()),
        }))
    }

    fn read_attribute(parser: &mut Parser<'_>) -> Result<Self, ParseError<()>> {
        let name = parser.expect_ident()?.to_string();
        let fits: fn(&str, &str) -> bool = match parser.next().cloned() {
            Err(_) => return Ok(Self::Attribute(name, |_, _| true, String::new())),
            Ok(Token::Delim('=')) => |found, value| found == value,
            Ok(Token::IncludeMatch) => |found, value| found.split_ascii_whitespace().any(|word| word == value),
            Ok(Token::PrefixMatch | Token::DashMatch) => |found, value| !value.is_empty() && found.starts_with(value),
            Ok(Token::SuffixMatch) => |found, value| !value.is_empty() && found.ends_with(value),
            Ok(Token::SubstringMatch) => |found, value| !value.is_empty() && found.contains(value),
            Ok(_) => return Err(ParseError::unexpected_token()),
        };
        let value = parser.expect_ident_or_string()?.to_string();
        skip(parser);
        Ok(Self::Attribute(name, fits, value))
    }
}

/// Whether one of the media queries that are left fits a person's screen, or there is none.
fn is_on_screen(parser: &mut Parser<'_>) -> bool {
    parser.is_exhausted() || {
        let queries = parser.parse_comma_separated(|query| Ok::<_, ParseError<()>>(is_met(query)));
        queries.is_ok_and(|queries| queries.contains(&true))
    }
}

fn is_met(query: &mut Parser<'_>) -> bool {
    let (mut is_met, mut is_negated) = (true, false);
    while let Ok(token) = query.next().cloned() {
        match token {
            Token::Ident(word) => match word.to_ascii_lowercase().as_str() {
                "not" => is_negated = true,
                "only" | "and" | "all" | "screen" => {}
                _ => is_met = false,
            },
            Token::ParenthesisBlock => is_met &= query.parse_nested_block(has_feature).unwrap_or(false),
            _ => is_met = false,
        }
    }
    is_met != is_negated
}

/// Whether a feature of a media query is that of a wide window with a light page. Others are not known.
fn has_feature(parser: &mut Parser<'_>) -> Result<bool, ParseError<()>> {
    let name = parser.expect_ident()?.to_ascii_lowercase();
    parser.expect_colon()?;
    let token = parser.next()?.clone();
    skip(parser);
    let px = match &token {
        Token::Dimension { value, unit, .. } if unit.eq_ignore_ascii_case("px") => *value,
        Token::Dimension { value, .. } => value * PLAIN_PX,
        Token::Number { value, .. } => *value,
        _ => f32::NAN,
    };
    Ok(match name.as_str() {
        "min-width" | "min-device-width" => px <= WINDOW_PX,
        "max-width" | "max-device-width" => px >= WINDOW_PX,
        "prefers-color-scheme" => matches!(token, Token::Ident(word) if word.eq_ignore_ascii_case("light")),
        _ => false,
    })
}

fn skip(parser: &mut Parser<'_>) {
    while parser.next().is_ok() {}
}
