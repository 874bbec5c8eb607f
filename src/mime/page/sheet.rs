//! The rules of the style sheets in a mail.
//!
//! Selectors have names, classes, ids and attributes of elements and of those around them. A rule for paper, for narrow
//! windows, for dark pages or for what the reader points at does not count. Whether a rule counts that has another
//! condition, such as `:not()`, `a + b` or `@supports`, is not known: it may hide, and never shows.

use std::collections::HashMap;

use cssparser::{Delimiter, ParseError, Parser, Token};

use super::declarations::{Declaration, declarations};
use super::tag::Tag;
use super::tree::Element;
use super::values::{Value, distances_px, values};
use crate::limits::{SHEET_OCTETS_MAX, STEPS_PER_OCTET, WORK_OCTETS_MIN};
use crate::{markup, step};

/// What browsers do with elements that have no other style.
const OF_BROWSERS: &str = "
    h1 { font-size: 32px } h2 { font-size: 24px } h3, big { font-size: 20px } h4, h5, h6 { font-size: 16px }
    h1, h2, h3, h4, h5, h6, big, b, strong, th, mark { font-weight: bold }
    small, sub, sup { font-size: smaller }
    pre { white-space: pre }
    a[href] { color: #00f }
    datalist, dialog, rp { display: none }
    dialog[open] { display: block }
    img { overflow: hidden }";
/// The window of the reader is at least so wide in pixels.
const WINDOW_PX: f32 = 800.0;
/// What no element is, and the parts that have no text of the mail, when it is opened.
const NEVER: &str = "hover active focus focus-visible visited target checked before after placeholder selection";

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
    /// Whether it is not known if the sheets that are still added count.
    pub(super) is_doubtful: bool,
}

/// Whether a rule counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Counts {
    No,
    Maybe,
    Yes,
}

/// The parts of a selector, the outermost first.
#[derive(Debug, Default)]
struct Selector {
    parts: Vec<Part>,
    /// How many ids, classes and names it has: each in 20 bits, more than a sheet has of them.
    weight: u64,
    is_doubtful: bool,
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
    /// What no element has when the mail is opened.
    Never,
}

impl Sheet {
    /// The rules of browsers, for HTML of so many octets.
    pub(super) fn for_octets(octets: usize) -> Self {
        let steps_left = STEPS_PER_OCTET * (octets + WORK_OCTETS_MIN);
        let mut sheet = Self { steps_left, ..Self::default() };
        sheet.add_rules(&mut Parser::new(OF_BROWSERS), Counts::Yes);
        // Any selector of the mail is stronger.
        sheet.selectors.iter_mut().for_each(|selector| selector.weight = 0);
        sheet
    }

    /// Whether it is not known what else the rules hide, so that nothing else may count as seen. No common mail needs
    /// all steps.
    pub(super) fn is_spent(&self) -> bool {
        self.steps_left == 0
    }

    /// Adds the rules of a style sheet with these attributes.
    pub(super) fn add(&mut self, attributes: &str, css: &str) {
        let [media, kind] = ["media", "type"].map(|it| markup::attribute(attributes, it).unwrap_or_default());
        let css = &css[..css.floor_char_boundary(SHEET_OCTETS_MAX - self.octets)];
        self.octets += css.len();
        let counts = on_screen(&mut Parser::new(&media));
        let counts = if self.is_doubtful { counts.min(Counts::Maybe) } else { counts };
        if counts != Counts::No && (kind.is_empty() || kind.eq_ignore_ascii_case("text/css")) {
            self.add_rules(&mut Parser::new(css), counts);
        }
    }

    fn add_rules(&mut self, parser: &mut Parser<'_>, counts: Counts) {
        while !parser.is_exhausted() {
            let start = parser.state();
            match parser.next().cloned() {
                Ok(Token::AtKeyword(name)) => self.add_group(&name, parser, counts),
                Ok(Token::CDO | Token::CDC) => {}
                _ => {
                    parser.reset(&start);
                    self.add_rule(parser, counts);
                }
            }
        }
    }

    /// Adds the rules within one that begins with `@`.
    fn add_group(&mut self, name: &str, parser: &mut Parser<'_>, around: Counts) {
        let is_media = name.eq_ignore_ascii_case("media");
        let counts = parser.parse_until_before(Delimiter::CurlyBracketBlock | Delimiter::Semicolon, |parser| {
            let counts = if is_media { on_screen(parser) } else { Counts::Maybe };
            skip(parser);
            Ok::<_, ParseError<()>>(counts.min(around))
        });
        let counts = counts.unwrap_or(Counts::Maybe);
        if matches!(parser.next(), Ok(Token::CurlyBracketBlock)) && counts != Counts::No {
            let inner: Result<(), ParseError<()>> = parser.parse_nested_block(|inner| {
                self.add_rules(inner, counts);
                Ok(())
            });
            // The parser bounds how deep blocks are nested. What a deeper one hides is not known.
            self.steps_left *= usize::from(inner.is_ok());
        }
    }

    fn add_rule(&mut self, parser: &mut Parser<'_>, counts: Counts) {
        let selectors = parser.parse_until_before(Delimiter::CurlyBracketBlock, |parser| {
            parser.parse_comma_separated(|parser| {
                let selector = Selector::read(parser);
                skip(parser);
                Ok::<_, ParseError<()>>(selector)
            })
        });
        if !matches!(parser.next(), Ok(Token::CurlyBracketBlock)) {
            return;
        }
        let declared = parser.parse_nested_block(declarations);
        self.steps_left *= usize::from(declared.is_ok());
        let (Ok(selectors), Ok(declared)) = (selectors, declared) else { return };
        // In browsers a selector that is wrong takes the others of its rule with it.
        let is_doubtful = counts == Counts::Maybe || selectors.iter().any(Result::is_err);
        for selector in selectors.into_iter().flatten() {
            let key = selector.parts.last().map_or("*", Part::key).to_owned();
            self.by_key.entry(key).or_default().push(self.selectors.len());
            let is_doubtful = is_doubtful || selector.is_doubtful;
            self.selectors.push(Selector { rule: self.rules.len(), is_doubtful, ..selector });
        }
        self.rules.push(declared);
    }

    /// The indexes of the selectors whose last part fits an element with this tag, the weakest first.
    pub(super) fn selectors(&mut self, tag: &Tag<'_>) -> Vec<usize> {
        let Self { selectors, by_key, steps_left, .. } = self;
        let keys = tag.class.split_ascii_whitespace().chain([&*tag.id, &tag.name, "*"]).filter(|key| !key.is_empty());
        let mut found = Vec::new();
        for index in keys.filter_map(|key| by_key.get(key)).flatten() {
            if *steps_left == 0 {
                break;
            }
            let last = selectors[*index].parts.last();
            found.extend(last.is_some_and(|part| part.is_of(tag, steps_left)).then_some(*index));
        }
        found.sort_unstable_by_key(|index| (selectors[*index].weight, *index));
        found.dedup();
        found
    }

    /// Collects what is declared for an element with this tag within others, the weakest first.
    pub(super) fn declared(&mut self, tag: &Tag<'_>, around: &[Element<'_>], all: &mut Vec<Declaration>) {
        all.clear();
        all.extend_from_slice(&tag.hints);
        for selector in tag.selectors.iter().map(|index| &self.selectors[*index]) {
            if self.steps_left == 0 {
                break;
            }
            step(1);
            if fits(&selector.parts, around, &mut self.steps_left) {
                let rule = &self.rules[selector.rule];
                self.steps_left = self.steps_left.saturating_sub(1 + rule.len());
                let is_certain = |it: &Declaration| it.is_certain && !selector.is_doubtful;
                all.extend(rule.iter().map(|it| Declaration { is_certain: is_certain(it), ..*it }));
            }
        }
        all.extend_from_slice(&tag.style);
        if all.iter().any(|it| it.is_important) {
            all.sort_by_key(|it| it.is_important);
        }
        step(1 + all.len());
    }
}

/// Whether the elements around another one are as the parts of a selector say. The last part is of that one.
fn fits(parts: &[Part], around: &[Element<'_>], steps_left: &mut usize) -> bool {
    let Some((Part { is_child, .. }, before)) = parts.split_last() else { return true };
    let Some(part) = before.last() else { return true };
    let farthest = if *is_child { around.len().saturating_sub(1) } else { 0 };
    (farthest..around.len())
        .rev()
        .any(|at| *steps_left > 0 && part.is_of(&around[at].tag, steps_left) && fits(before, &around[..at], steps_left))
}

impl Part {
    /// What an element must have to be as this part says.
    fn key(&self) -> &str {
        // Names are first, and many elements have them.
        let key = self.tests.iter().rev().find_map(|test| match test {
            Test::Id(key) | Test::Class(key) | Test::Name(key) => Some(key.as_str()),
            Test::Attribute(..) | Test::Never => None,
        });
        key.unwrap_or("*")
    }

    fn is_of(&self, tag: &Tag<'_>, steps_left: &mut usize) -> bool {
        *steps_left = steps_left.saturating_sub(1);
        self.tests.iter().all(|test| {
            let read = match test {
                Test::Class(_) => tag.class.len(),
                Test::Attribute(..) => tag.attributes.len(),
                _ => 0,
            };
            *steps_left = steps_left.saturating_sub(1 + read / 4);
            match test {
                Test::Never => false,
                Test::Name(name) => *name == tag.name,
                Test::Id(id) => *id == tag.id,
                Test::Class(class) => tag.class.split_ascii_whitespace().any(|it| it == class),
                Test::Attribute(name, fits, value) => {
                    markup::attribute(tag.attributes, name).is_some_and(|found| fits(&found, value))
                }
            }
        })
    }
}

impl Selector {
    /// The selector that is left; an error if it is not understood.
    fn read(parser: &mut Parser<'_>) -> Result<Self, ParseError<()>> {
        let mut selector = Self::default();
        let mut is_child = Some(false);
        parser.skip_whitespace();
        while let Ok(token) = parser.next_including_whitespace().cloned() {
            match token {
                Token::WhiteSpace(_) => is_child = is_child.or(Some(false)),
                Token::Delim('>') if !selector.parts.is_empty() => is_child = Some(true),
                // Which elements are beside others is not known.
                Token::Delim('+' | '~') => {
                    selector.parts.clear();
                    selector.is_doubtful = true;
                    is_child = Some(false);
                }
                token => {
                    selector.parts.extend(is_child.take().map(|is_child| Part { is_child, ..Part::default() }));
                    selector.add(&token, parser)?;
                }
            }
        }
        if selector.parts.is_empty() { Err(ParseError::unexpected_token()) } else { Ok(selector) }
    }

    /// Adds what begins with a token to the last part.
    fn add(&mut self, token: &Token<'_>, parser: &mut Parser<'_>) -> Result<(), ParseError<()>> {
        let (test, weight) = match token {
            Token::Ident(name) => (Test::Name(name.to_ascii_lowercase()), 1),
            Token::IDHash(id) => (Test::Id(id.to_string()), 1 << 40),
            Token::Delim('.') => (Test::Class(parser.expect_ident()?.to_string()), 1 << 20),
            Token::SquareBracketBlock => {
                let (test, is_known) = parser.parse_nested_block(Test::read_attribute)?;
                self.is_doubtful |= !is_known;
                (test, 1 << 20)
            }
            Token::Delim('*') => return Ok(()),
            Token::Colon => match parser.next()?.clone() {
                // The lines and letters of an element begin so, too.
                Token::Colon => return self.add(token, parser),
                Token::Ident(name) if NEVER.split(' ').any(|it| name.eq_ignore_ascii_case(it)) => (Test::Never, 0),
                // All links are new to the reader.
                Token::Ident(name) if name.eq_ignore_ascii_case("link") => return Ok(()),
                Token::Ident(_) | Token::Function(_) => {
                    self.is_doubtful = true;
                    return Ok(());
                }
                _ => return Err(ParseError::unexpected_token()),
            },
            _ => return Err(ParseError::unexpected_token()),
        };
        self.weight += weight;
        if let Some(part) = self.parts.last_mut() {
            part.tests.push(test);
        }
        Ok(())
    }
}

impl Test {
    /// The test of an attribute, and whether it says all that is written.
    fn read_attribute(parser: &mut Parser<'_>) -> Result<(Self, bool), ParseError<()>> {
        let name = parser.expect_ident()?.to_string();
        let fits: fn(&str, &str) -> bool = match parser.next().cloned() {
            Err(_) => return Ok((Self::Attribute(name, |_, _| true, String::new()), true)),
            Ok(Token::Delim('=')) => |found, value| found == value,
            Ok(Token::IncludeMatch) => |found, value| found.split_ascii_whitespace().any(|word| word == value),
            Ok(Token::PrefixMatch | Token::DashMatch) => |found, value| !value.is_empty() && found.starts_with(value),
            Ok(Token::SuffixMatch) => |found, value| !value.is_empty() && found.ends_with(value),
            Ok(Token::SubstringMatch) => |found, value| !value.is_empty() && found.contains(value),
            Ok(_) => return Err(ParseError::unexpected_token()),
        };
        let value = parser.expect_ident_or_string()?.to_string();
        let is_known = parser.is_exhausted();
        skip(parser);
        Ok((Self::Attribute(name, if is_known { fits } else { |_, _| true }, value), is_known))
    }
}

/// Whether the media queries that are left are of a person's screen: a wide window with a light page.
fn on_screen(parser: &mut Parser<'_>) -> Counts {
    let queries = parser.parse_comma_separated(|query| Ok::<_, ParseError<()>>(query_counts(&values(query))));
    queries.map_or(Counts::Maybe, |queries| queries.into_iter().max().unwrap_or(Counts::Yes))
}

fn query_counts(query: &[Value<'_>]) -> Counts {
    let is_unmet = |feature: &[Value<'_>]| {
        let is_narrow = distances_px(&feature[2..]).any(|px| px < WINDOW_PX);
        feature[0].is_word(&["max-width", "max-device-width"]) && is_narrow
            || feature[0].is_word(&["prefers-color-scheme"]) && feature[2].is_word(&["dark"])
    };
    let is_never = query.iter().any(|it| it.is_word(&["print"])) || query.windows(3).any(is_unmet);
    match query {
        [not, medium] if not.is_word(&["not"]) && medium.is_word(&["all", "screen"]) => Counts::No,
        _ if query.iter().any(|it| it.is_word(&["not", "or"])) => Counts::Maybe,
        _ if is_never => Counts::No,
        _ if query.iter().all(|it| it.is_word(&["all", "only", "screen"])) => Counts::Yes,
        _ => Counts::Maybe,
    }
}

fn skip(parser: &mut Parser<'_>) {
    while parser.next().is_ok() {}
}
