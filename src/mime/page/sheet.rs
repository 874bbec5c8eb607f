//! The rules of the style sheets in a mail.
//!
//! Selectors have names, classes, ids and attributes of elements and of those around them. A rule with any other
//! selector, such as `:hover`, does not count, nor does one for paper, for narrow windows or for dark pages. So text that
//! only such a rule hides, for example one with `:not()` or `a + b`, is seen here.

use std::collections::HashMap;

use cssparser::{Delimiter, ParseError, ParseErrorKind, Parser, Token};

use super::style::{Element, OF_BROWSERS, known};
use super::values::{Declaration, Value, count, declarations, values};
use crate::mime::limits::{SHEET_OCTETS_MAX, STEPS_PER_OCTET, VISIBLE_TEXT_OCTETS_MAX};
use crate::mime::markup;

/// The window of the reader in pixels.
const WINDOW_PX: f32 = 1_024.0;
/// Properties and selectors that begin so are those of rare browsers, or of old ones.
const FOREIGN: [&str; 4] = ["-moz-", "-ms-", "-o-", "-webkit-overflow-scrolling"];

/// All rules of a mail.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    /// What each rule declares.
    rules: Vec<Vec<Declaration>>,
    selectors: Vec<Selector>,
    /// The indexes of the selectors that may be of an element, by its id, one of its classes, its name, or `*`.
    by_key: HashMap<String, Vec<usize>>,
    octets: usize,
    /// How many more comparisons of selectors with elements are made, and values of declarations are read.
    pub(super) steps_left: usize,
    /// Whether more HTML is read than is searched for codes.
    is_long: bool,
}

/// The parts of a selector, the outermost first.
#[derive(Debug, Default)]
struct Selector {
    parts: Vec<Part>,
    weight: u32,
    /// The index of its rule.
    rule: usize,
    /// How many values the rule has.
    cost: usize,
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
        let steps_left = STEPS_PER_OCTET * octets.min(VISIBLE_TEXT_OCTETS_MAX);
        let mut sheet = Self { steps_left, is_long: octets > VISIBLE_TEXT_OCTETS_MAX, ..Self::default() };
        sheet.add_rules(&mut Parser::new(OF_BROWSERS));
        // Any selector of the mail is stronger.
        sheet.selectors.iter_mut().for_each(|selector| selector.weight = 0);
        sheet
    }

    /// Whether it is not known what else the rules hide, so that nothing else may count as seen. No common mail needs
    /// all steps. A long one has only shown to people what is beyond the part that is searched.
    pub(super) fn is_spent(&self) -> bool {
        self.steps_left == 0 && !self.is_long
    }

    /// Adds the rules of a style sheet with these attributes.
    pub(super) fn add(&mut self, attributes: &str, css: &str) {
        let [media, kind] = ["media", "type"].map(|it| markup::attribute(attributes, it).map(markup::decoded));
        let (media, kind) = (media.unwrap_or_default(), kind.unwrap_or_default());
        let css = &css[..css.floor_char_boundary(SHEET_OCTETS_MAX - self.octets)];
        self.octets += css.len();
        let is_css = kind.is_empty() || kind.eq_ignore_ascii_case("text/css");
        if is_css && is_on_screen(&mut Parser::new(&media)) {
            self.add_rules(&mut Parser::new(css));
        }
    }

    fn add_rules(&mut self, parser: &mut Parser<'_>) {
        while !parser.is_exhausted() {
            let start = parser.state();
            match parser.next().cloned() {
                Ok(Token::AtKeyword(name)) => self.add_group(&name.to_ascii_lowercase(), parser),
                Ok(Token::CDO | Token::CDC) => {}
                _ => {
                    parser.reset(&start);
                    self.add_rule(parser);
                }
            }
        }
    }

    /// Adds the rules within one that begins with `@`, if they count.
    fn add_group(&mut self, name: &str, parser: &mut Parser<'_>) {
        let counts = parser.parse_until_before(Delimiter::CurlyBracketBlock | Delimiter::Semicolon, |parser| {
            let counts = match name {
                "media" => is_on_screen(parser),
                "supports" => is_supported(parser),
                _ => name == "layer",
            };
            skip(parser);
            Ok::<_, ParseError<()>>(counts)
        });
        let is_block = matches!(parser.next(), Ok(Token::CurlyBracketBlock));
        if is_block && counts == Ok(true) {
            let _: Result<(), ParseError<()>> = parser.parse_nested_block(|inner| {
                self.add_rules(inner);
                Ok(())
            });
        }
    }

    fn add_rule(&mut self, parser: &mut Parser<'_>) {
        let selectors = parser.parse_until_before(Delimiter::CurlyBracketBlock, |parser| {
            parser.parse_comma_separated(|parser| match Selector::read(parser) {
                // In browsers too, one that is wrong takes the others with it.
                Err(wrong @ ParseError { kind: ParseErrorKind::Custom(()) }) => Err(wrong),
                found => {
                    skip(parser);
                    Ok(found.ok())
                }
            })
        });
        if !matches!(parser.next(), Ok(Token::CurlyBracketBlock)) {
            return;
        }
        let declared = parser.parse_nested_block(|inner| Ok::<_, ParseError<()>>(declarations(inner, known)));
        // The parser bounds how deep blocks are nested. What a deeper one hides is not known.
        self.steps_left *= usize::from(declared.is_ok());
        let (Ok(selectors), Ok(declared)) = (selectors, declared) else { return };
        if declared.is_empty() {
            return;
        }
        let cost = declared.iter().map(|it| count(&it.values)).sum();
        for selector in selectors.into_iter().flatten() {
            let key = selector.parts.last().map_or("*", Part::key).to_owned();
            self.by_key.entry(key).or_default().push(self.selectors.len());
            self.selectors.push(Selector { rule: self.rules.len(), cost, ..selector });
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
                *steps_left = steps_left.saturating_sub(selector.cost);
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
        if parser.is_exhausted() {
            return Err(ParseError::custom(()));
        }
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
        let weights = parts.iter().flat_map(|part| &part.tests).map(|test| match test {
            Test::Name(_) => 1,
            Test::Class(_) | Test::Attribute(..) => 1 << 8,
            Test::Id(_) => 1 << 16,
        });
        Ok(Self { weight: weights.sum(), parts, ..Self::default() })
    }
}

impl Test {
    /// The test that begins with a token; `None` for what every element passes. What is wrong in browsers is an error of
    /// the kind `Custom`.
    fn read(token: &Token<'_>, parser: &mut Parser<'_>) -> Result<Option<Self>, ParseError<()>> {
        Ok(Some(match token {
            Token::Ident(name) => Self::Name(name.to_ascii_lowercase()),
            Token::IDHash(id) => Self::Id(id.to_string()),
            Token::Delim('.') => Self::Class(parser.expect_ident()?.to_string()),
            Token::SquareBracketBlock => parser.parse_nested_block(Self::read_attribute)?,
            Token::Delim('*') => return Ok(None),
            Token::Colon => {
                let _ = parser.try_parse(Parser::expect_colon);
                match parser.next()? {
                    // All links are new to the reader.
                    Token::Ident(name) if *name == "link" => return Ok(None),
                    Token::Ident(name) if *name == "root" => Self::Name("html".to_owned()),
                    Token::Ident(name) | Token::Function(name) if is_foreign(name) => {
                        return Err(ParseError::custom(()));
                    }
                    _ => return Err(ParseError::unexpected_token()),
                }
            }
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
            Token::ParenthesisBlock => {
                is_met &= query.parse_nested_block(|it| Ok::<_, ParseError<()>>(has_feature(it))).unwrap_or(false);
            }
            _ => is_met = false,
        }
    }
    is_met != is_negated
}

/// Whether a feature of a media query is that of a wide window with a light page. Others are not known.
fn has_feature(parser: &mut Parser<'_>) -> bool {
    let mut values = values(parser);
    values.retain(|value| *value != Value::Sign('='));
    match &values[..] {
        [Value::Word(name)] => matches!(name.as_str(), "color" | "hover" | "pointer" | "width" | "height"),
        [Value::Word(name), value] => has_value(name, value),
        [left, Value::Sign(sign), right] => is_ordered(left, *sign, right),
        [left, Value::Sign(sign), name, Value::Sign(next), right] => {
            is_ordered(left, *sign, name) && is_ordered(name, *next, right)
        }
        _ => false,
    }
}

fn has_value(name: &str, value: &Value) -> bool {
    match name {
        "min-width" | "min-device-width" | "min-height" => value.px() <= WINDOW_PX,
        "max-width" | "max-device-width" | "max-height" => value.px() >= WINDOW_PX,
        "-webkit-min-device-pixel-ratio" => value.px() <= 1.0,
        _ => [("prefers-color-scheme", "light"), ("orientation", "landscape"), ("hover", "hover"), ("pointer", "fine")]
            .iter()
            .any(|(known, word)| *known == name && *value == Value::Word((*word).to_owned())),
    }
}

/// Whether `<` or `>` holds between two sizes, one of which is that of the window.
fn is_ordered(left: &Value, sign: char, right: &Value) -> bool {
    let [left, right] = [left, right].map(|value| if let Value::Word(_) = value { WINDOW_PX } else { value.px() });
    if sign == '<' { left <= right } else { left >= right }
}

/// Whether browsers know what a condition names. They know most.
fn is_supported(condition: &mut Parser<'_>) -> bool {
    let (mut holds, mut is_negated, mut is_either) = (true, false, false);
    while let Ok(token) = condition.next().cloned() {
        match token {
            Token::Ident(word) if word.eq_ignore_ascii_case("not") => is_negated = true,
            Token::Ident(word) if word.eq_ignore_ascii_case("and") => {}
            Token::Ident(word) if word.eq_ignore_ascii_case("or") => is_either = true,
            Token::Ident(property) => {
                skip(condition);
                return !is_foreign(&property);
            }
            Token::ParenthesisBlock => {
                let part = condition.parse_nested_block(|inner| Ok::<_, ParseError<()>>(is_supported(inner)));
                let part = part.unwrap_or(true) != is_negated;
                holds = if is_either { holds || part } else { holds && part };
                is_negated = false;
            }
            _ => {}
        }
    }
    holds
}

fn is_foreign(name: &str) -> bool {
    FOREIGN.iter().any(|start| name.starts_with(start))
}

fn skip(parser: &mut Parser<'_>) {
    while parser.next().is_ok() {}
}
