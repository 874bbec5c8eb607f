//! Finds the phrases of [`words`](super::words) in a page.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::page::Page;
use super::words::{Sense, phrases};

/// The words of all languages. They are the same for every mail, and sorting them takes longer than reading a short one.
pub(super) static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::new);

/// A phrase in a text, with the position of its octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) sense: Sense,
}

impl Hit {
    /// Whether this is a word for codes.
    pub(super) fn is_code(&self) -> bool {
        matches!(self.sense, Sense::Code | Sense::OneTime)
    }

    /// Whether this says what one-time codes are for, or how to treat them.
    pub(super) fn is_purpose(&self) -> bool {
        matches!(
            self.sense,
            Sense::OneTime
                | Sense::Verify
                | Sense::SignIn
                | Sense::Reset
                | Sense::Caution
                | Sense::Denial
                | Sense::Enter
        )
    }
}

#[derive(Clone, Copy, Debug)]
struct Phrase {
    text: &'static str,
    sense: Sense,
    /// Whether the word may go on.
    is_open: bool,
}

impl Phrase {
    fn is_whole_in(&self, text: &str) -> bool {
        let is_letter = |c: Option<char>| c.is_some_and(is_bounded_letter);
        self.is_open || !is_letter(self.text.chars().next_back()) || !is_letter(text[self.text.len()..].chars().next())
    }
}

/// Phrases in the order of their octets, read from their beginning or, `BACKWARDS`, from their end.
struct Phrases<const BACKWARDS: bool> {
    all: Vec<Phrase>,
    /// Where the phrases with each first octet begin.
    starts: Vec<usize>,
}

impl<const BACKWARDS: bool> Phrases<BACKWARDS> {
    fn new(mut all: Vec<Phrase>) -> Self {
        let key = |text: &'static str| (0..=text.len()).map(move |index| Self::octet(text, index));
        all.sort_by(|one, other| key(one.text).cmp(key(other.text)));
        let start = |first: usize| {
            all.partition_point(|phrase| key(phrase.text).next().flatten().map(usize::from) < Some(first))
        };
        let starts = (0..=256).map(start).collect();
        Self { all, starts }
    }

    fn octet(text: &str, index: usize) -> Option<u8> {
        let index = if BACKWARDS { text.len().checked_sub(index + 1)? } else { index };
        text.as_bytes().get(index).copied()
    }

    /// The longest phrase with which a text begins, or ends, in time linear in its length.
    fn longest(&self, text: &str, is_fit: impl Fn(&Phrase) -> bool) -> Option<&Phrase> {
        let first = usize::from(Self::octet(text, 0)?);
        let (mut left, mut longest) = (&self.all[self.starts[first]..self.starts[first + 1]], None);
        for index in 0..text.len() {
            super::step(1);
            let octet = Self::octet(text, index);
            left = &left[left.partition_point(|phrase| Self::octet(phrase.text, index) < octet)..];
            left = &left[..left.partition_point(|phrase| Self::octet(phrase.text, index) == octet)];
            if left.is_empty() {
                break;
            }
            let mut ended = left.iter().take_while(|phrase| phrase.text.len() == index + 1);
            longest = ended.find(|phrase| is_fit(phrase)).or(longest);
        }
        longest
    }
}

/// All words, ready for a search in time linear in a text.
pub(super) struct Lexicon {
    beginnings: Phrases<false>,
    endings: Phrases<true>,
    /// Parts of addresses.
    parts: Phrases<false>,
    others: HashMap<&'static str, HashSet<&'static str>>,
}

impl Lexicon {
    fn new() -> Self {
        let (mut beginnings, mut endings, mut parts) = (Vec::new(), Vec::new(), Vec::new());
        let mut others = HashMap::<_, HashSet<_>>::new();
        for (key, written) in phrases() {
            let (text, is_open) = (written.trim_matches('*'), written.ends_with('*'));
            if let Some(sense) = key.strip_prefix("in-address.").and_then(Sense::of) {
                parts.push(Phrase { text, sense, is_open: true });
            } else if let Some(sense) = Sense::of(key) {
                let phrase = Phrase { text, sense, is_open };
                beginnings.push(phrase);
                if written.starts_with('*') {
                    endings.push(phrase);
                }
                if text.contains('\'') {
                    // An apostrophe has two forms. This is made once for the life of the program.
                    beginnings.push(Phrase { text: text.replace('\'', "\u{2019}").leak(), ..phrase });
                }
            } else {
                others.entry(key).or_default().insert(written);
            }
        }
        let (beginnings, endings) = (Phrases::new(beginnings), Phrases::new(endings));
        Self { beginnings, endings, parts: Phrases::new(parts), others }
    }

    /// The words of a key that is none of a sense.
    pub(super) fn others(&self, key: &str) -> impl Iterator<Item = &'static str> {
        self.others.get(key).into_iter().flatten().copied()
    }

    /// Whether a word in lower case is one of a key that is none of a sense.
    pub(super) fn is_among(&self, key: &str, word: &str) -> bool {
        self.others.get(key).is_some_and(|words| words.contains(word))
    }

    /// Whether a word makes the number beside it an amount. Short units have one form: `ms` is one, and `Ms` is none.
    pub(super) fn is_unit(&self, word: &str) -> bool {
        self.is_among("unit", word) || word.chars().count() > 3 && self.is_among("unit", &word.to_lowercase())
    }

    /// What the parts of an address in lower case say.
    pub(super) fn in_address(&self, address: &str) -> Vec<Hit> {
        let (mut hits, mut at) = (Vec::new(), 0);
        while let Some(c) = address[at..].chars().next() {
            let part = self.parts.longest(&address[at..], |_| true);
            hits.extend(part.map(|part| Hit { start: at, end: at + part.text.len(), sense: part.sense }));
            at += c.len_utf8();
        }
        hits
    }

    /// The phrases of a page in their order.
    pub(super) fn hits(&self, page: &Page) -> Vec<Hit> {
        let text = page.lower.as_str();
        let (mut hits, mut at, mut is_in_word) = (Vec::new(), 0, false);
        while let Some(c) = text[at..].chars().next() {
            let mut end = at + c.len_utf8();
            if !is_in_word || !is_bounded(c) {
                let rest = &text[at..];
                let beginning = self.beginnings.longest(rest, |phrase| phrase.is_whole_in(rest));
                if let Some(phrase) = beginning {
                    end = at + phrase.text.len();
                    hits.push(Hit { start: at, end, sense: phrase.sense });
                }
                // A long word can have one phrase at its beginning and another one at its end.
                let name = name(rest);
                if let Some(phrase) = self.endings.longest(name, |_| true) {
                    let start = at + name.len() - phrase.text.len();
                    if beginning.is_none() || start >= end {
                        end = start + phrase.text.len();
                        hits.push(Hit { start, end, sense: phrase.sense });
                    }
                }
            }
            is_in_word = text[..end].chars().next_back().is_some_and(is_bounded_letter);
            at = end;
        }
        hits
    }
}

/// The word with which a text begins.
fn name(text: &str) -> &str {
    const OCTETS_MAX: usize = 60;
    let window = &text[..text.floor_char_boundary(OCTETS_MAX)];
    &window[..window.find(|c: char| !is_bounded_letter(c) && c != '-').unwrap_or(window.len())]
}

/// Whether `c` is of a script that has blanks between words.
fn is_bounded(c: char) -> bool {
    c < '\u{590}' || ('\u{1e00}'..='\u{1fff}').contains(&c)
}

/// Whether `c` is a letter of such a script.
pub(super) fn is_bounded_letter(c: char) -> bool {
    is_bounded(c) && c.is_alphabetic()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn senses(text: &str) -> Vec<(String, Sense)> {
        let page = Page::of_line(text);
        let hits = LEXICON.hits(&page);
        hits.iter().map(|hit| (page.lower[hit.start..hit.end].to_owned(), hit.sense)).collect()
    }

    #[test]
    fn phrases_are_found_in_each_kind_of_script() {
        for (text, expected) in [
            ("Verification code", vec![("verification code", Sense::OneTime)]),
            ("Confirm: code", vec![("confirm", Sense::Verify), ("code", Sense::Code)]),
            ("Ihr Schlüsselcode: Kodex", vec![("code", Sense::Code)]),
            ("Bestätigungsmailcode", vec![("bestätig", Sense::Verify), ("code", Sense::Code)]),
            ("zip code codec", vec![("zip code", Sense::Other)]),
            ("您的验证码是", vec![("验证码", Sense::OneTime)]),
            ("인증번호는", vec![("인증번호", Sense::OneTime)]),
            ("والرمز", vec![("الرمز", Sense::Code)]),
            ("КОД", vec![("код", Sense::Code)]),
            ("You didn’t request", vec![("didn’t request", Sense::Denial)]),
            ("code482913", vec![("code", Sense::Code)]),
        ] {
            let expected: Vec<_> = expected.into_iter().map(|(text, sense)| (text.to_owned(), sense)).collect();
            assert_eq!(senses(text), expected, "{text}");
        }
    }
}
