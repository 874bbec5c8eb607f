//! Finds the phrases of [`words`](super::words) in a page.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::page::Page;
use super::words::{Sense, phrases};

/// The words of all languages. They are the same for every mail, and sorting them takes longer than reading a short one.
pub(super) static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::new);

/// What is said of one-time codes alone.
const PURPOSES: [Sense; 7] =
    [Sense::OneTime, Sense::Verify, Sense::SignIn, Sense::Reset, Sense::Caution, Sense::Denial, Sense::Enter];

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
        PURPOSES.contains(&self.sense)
    }
}

/// Whether one of the phrases has this sense.
pub(super) fn has(hits: &[Hit], sense: Sense) -> bool {
    hits.iter().any(|hit| hit.sense == sense)
}

/// Phrases by their octets, in order, each with its sense and whether its word may go on.
struct Phrases {
    all: Vec<(Vec<u8>, Sense, bool)>,
    /// Where the phrases with each first octet begin.
    starts: Vec<usize>,
}

impl Phrases {
    fn new(mut all: Vec<(Vec<u8>, Sense, bool)>) -> Self {
        all.sort_by(|(one, ..), (other, ..)| one.cmp(other));
        let starts = (0..=256).map(|first| all.partition_point(|(phrase, ..)| usize::from(phrase[0]) < first));
        Self { starts: starts.collect(), all }
    }

    /// The length and sense of the longest phrase with which a text begins, in time linear in its length.
    fn longest(&self, text: impl Iterator<Item = u8>, is_end: impl Fn(usize) -> bool) -> Option<(usize, Sense)> {
        let (mut left, mut longest) = (self.all.as_slice(), None);
        for (index, octet) in text.enumerate() {
            super::step(1);
            if index == 0 {
                let first = usize::from(octet);
                left = &left[self.starts[first]..self.starts[first + 1]];
            } else {
                left = &left[left.partition_point(|(phrase, ..)| phrase.get(index) < Some(&octet))..];
                left = &left[..left.partition_point(|(phrase, ..)| phrase.get(index) == Some(&octet))];
            }
            if left.is_empty() {
                break;
            }
            let mut ended = left.iter().take_while(|(phrase, ..)| phrase.len() == index + 1);
            let fit = ended.find(|(.., is_open)| *is_open || is_end(index + 1));
            longest = fit.map(|(_, sense, _)| (index + 1, *sense)).or(longest);
        }
        longest
    }
}

/// All words, ready for a search in time linear in a text.
pub(super) struct Lexicon {
    beginnings: Phrases,
    /// Read from their end.
    endings: Phrases,
    /// Parts of addresses.
    parts: Phrases,
    others: HashMap<&'static str, HashSet<&'static str>>,
}

impl Lexicon {
    fn new() -> Self {
        let (mut beginnings, mut endings, mut parts) = (Vec::new(), Vec::new(), Vec::new());
        let mut others = HashMap::<_, HashSet<_>>::new();
        for (key, written) in phrases() {
            let (text, is_open) = (written.trim_matches('*'), written.ends_with('*'));
            if let Some(sense) = key.strip_prefix("in-address.").and_then(Sense::of) {
                parts.push((text.into(), sense, true));
            } else if let Some(sense) = Sense::of(key) {
                beginnings.push((text.into(), sense, is_open));
                if written.starts_with('*') {
                    endings.push((text.bytes().rev().collect(), sense, true));
                }
                if text.contains('\'') {
                    // An apostrophe has two forms.
                    beginnings.push((text.replace('\'', "\u{2019}").into(), sense, is_open));
                }
            } else {
                others.entry(key).or_default().insert(written);
            }
        }
        let [beginnings, endings, parts] = [beginnings, endings, parts].map(Phrases::new);
        Self { beginnings, endings, parts, others }
    }

    /// The words of a key that is none of a sense, in lower case.
    pub(super) fn others(&self, key: &str) -> &HashSet<&'static str> {
        &self.others[key]
    }

    /// What the parts of an address in lower case say.
    pub(super) fn in_address(&self, address: &str) -> Vec<Hit> {
        let part = |start: usize| {
            let (length, sense) = self.parts.longest(address.bytes().skip(start), |_| true)?;
            Some(Hit { start, end: start + length, sense })
        };
        (0..address.len()).filter_map(part).collect()
    }

    /// The phrases of a page in their order.
    pub(super) fn hits(&self, page: &Page) -> Vec<Hit> {
        let text = page.lower.as_str();
        let (mut hits, mut end, mut covered, mut is_in_word) = (Vec::new(), 0, 0, false);
        for (at, c) in text.char_indices() {
            if !is_in_word || !is_bounded(c) {
                let rest = &text[at..];
                if at >= covered && (rest.starts_with("https://") || rest.starts_with("http://")) {
                    covered = at + rest.find(char::is_whitespace).unwrap_or(rest.len());
                    end = covered;
                }
                let beginning = self.beginnings.longest(rest.bytes(), |length| is_word_end(rest, length));
                // A phrase may begin within another one, but not end in it: `your code`, and `code for a friend`.
                if let Some((length, sense)) = beginning.filter(|(length, _)| at + length > covered) {
                    end = at + length;
                    covered = if is_word_end(text, end) { end } else { end + name(&text[end..]).len() };
                    hits.push(Hit { start: at, end, sense });
                }
                // A long word can have one phrase at its beginning and another one at its end.
                let name = name(rest);
                if let Some((length, sense)) = self.endings.longest(name.bytes().rev(), |_| true) {
                    let start = at + name.len() - length;
                    if start >= end {
                        end = start + length;
                        hits.push(Hit { start, end, sense });
                    }
                }
            }
            is_in_word = is_bounded_letter(c);
        }
        hits
    }
}

/// Whether no word goes on at a position of a text.
fn is_word_end(text: &str, position: usize) -> bool {
    !(text[..position].ends_with(is_bounded_letter) && text[position..].starts_with(is_bounded_letter))
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
            ("votre code promo", vec![("votre code", Sense::OneTime), ("code promo", Sense::Promotion)]),
            ("https://x.test/code code", vec![("code", Sense::Code)]),
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
