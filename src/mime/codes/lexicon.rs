//! Finds the phrases of [`words`](super::words) in a page.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;
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

/// An octet that some phrases have behind the same beginning.
struct Node {
    octet: u8,
    /// The sense of the phrase that ends here, and whether its word may go on.
    phrase: Option<(Sense, bool)>,
    /// The nodes of the octets behind this one, in order.
    next: Range<u32>,
}

/// Phrases as a tree, from the node before their first octets.
struct Phrases(Vec<Node>);

impl Phrases {
    fn new(mut all: Vec<(Vec<u8>, Sense, bool)>) -> Self {
        all.sort_by(|(one, ..), (other, ..)| one.cmp(other));
        let end_of = |nodes: &[Node]| u32::try_from(nodes.len()).expect("the phrases have fewer octets");
        let mut nodes = vec![Node { octet: 0, phrase: None, next: 0..0 }];
        // The phrases of each node, and how many octets of them lead to it.
        let mut groups = VecDeque::from([(all.as_slice(), 0)]);
        for at in 0.. {
            let Some((group, length)) = groups.pop_front() else { break };
            let (ended, longer) = group.split_at(group.partition_point(|(phrase, ..)| phrase.len() == length));
            let first = end_of(&nodes);
            for longer in longer.chunk_by(|(one, ..), (other, ..)| one[length] == other[length]) {
                nodes.push(Node { octet: longer[0].0[length], phrase: None, next: 0..0 });
                groups.push_back((longer, length + 1));
            }
            nodes[at].next = first..end_of(&nodes);
            nodes[at].phrase = ended.iter().map(|(_, sense, is_open)| (*sense, *is_open)).max_by_key(|it| it.1);
        }
        Self(nodes)
    }

    /// The length and sense of the longest phrase with which a text begins, in time linear in its length.
    fn longest(&self, text: impl Iterator<Item = u8>, is_end: impl Fn(usize) -> bool) -> Option<(usize, Sense)> {
        let (mut node, mut longest) = (&self.0[0], None);
        for (index, octet) in text.enumerate() {
            super::step(1);
            let next = &self.0[node.next.start as usize..node.next.end as usize];
            let Ok(found) = next.binary_search_by_key(&octet, |node| node.octet) else { break };
            node = &next[found];
            let fit = node.phrase.filter(|(_, is_open)| *is_open || is_end(index + 1));
            longest = fit.map(|(sense, _)| (index + 1, sense)).or(longest);
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
                parts.push((text.into(), sense, sense != Sense::Denial));
            } else if let Some(sense) = Sense::of(key) {
                beginnings.push((text.into(), sense, is_open));
                if written.starts_with('*') {
                    endings.push((text.bytes().rev().collect(), sense, true));
                }
                // An apostrophe has two forms, and so have two letters of Persian.
                let other = text.replace('\'', "\u{2019}").replace('\u{6cc}', "\u{64a}").replace('\u{6a9}', "\u{643}");
                if other != text {
                    beginnings.push((other.into(), sense, is_open));
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

    /// What the parts of an address in lower case of ASCII say. What refuses is in its path, or a value such as `=cancel`.
    pub(super) fn in_address(&self, address: &str) -> Vec<Hit> {
        let path = address.find('?').unwrap_or(address.len());
        let part = |start: usize| {
            let is_end = |length| is_word_end(address, start + length);
            let (length, sense) = self.parts.longest(address.bytes().skip(start), is_end)?;
            let is_said = sense != Sense::Denial || start < path || address[start..].starts_with('=');
            is_said.then_some(Hit { start, end: start + length, sense })
        };
        (0..address.len()).filter_map(part).collect()
    }

    /// The phrases of a page in their order. What is in addresses is none.
    pub(super) fn hits(&self, page: &Page) -> Vec<Hit> {
        let text = page.lower.as_str();
        // The ends of the last phrase, of the words with it, of the last name, and of the last address.
        let (mut end, mut covered, mut named, mut passed, mut hits, mut is_in_word) = (0, 0, 0, 0, Vec::new(), false);
        for (at, c) in text.char_indices() {
            let rest = &text[at..];
            if !is_in_word && at >= passed && is_address(rest) {
                passed = at + rest.find(char::is_whitespace).unwrap_or(rest.len());
            }
            if at >= passed && (!is_in_word || !is_bounded(c)) {
                let beginning = self.beginnings.longest(rest.bytes(), |length| is_word_end(rest, length));
                // A phrase may begin within another one, but not end in it: `your code`, and `code for a friend`.
                if let Some((length, sense)) = beginning.filter(|(length, _)| at + length > covered) {
                    end = at + length;
                    covered = if is_word_end(text, end) { end } else { end + name(&text[end..]).len() };
                    hits.push(Hit { start: at, end, sense });
                }
            }
            // A long name can have one phrase at its beginning and another one at its end.
            if at >= passed.max(named) && !is_in_word {
                named = at + name(rest).len();
                super::step(named - at);
                let ending = self.endings.longest(text[at..named].bytes().rev(), |_| true);
                if let Some((length, sense)) = ending.filter(|(length, _)| named - length >= end) {
                    end = named;
                    hits.push(Hit { start: named - length, end, sense });
                }
            }
            is_in_word = is_bounded_letter(c);
        }
        hits.sort_by_key(|hit| hit.start);
        hits
    }
}

/// Whether a text begins with the address of a page.
pub(super) fn is_address(text: &str) -> bool {
    text.strip_prefix("http").is_some_and(|rest| rest.starts_with("://") || rest.starts_with("s://"))
}

/// Whether no word goes on at a position of a text.
fn is_word_end(text: &str, position: usize) -> bool {
    !(text[..position].ends_with(is_bounded_letter) && text[position..].starts_with(is_bounded_letter))
}

/// The word with which a text begins, with those that hyphens join to it.
fn name(text: &str) -> &str {
    &text[..text.find(|c: char| !is_bounded_letter(c) && c != '-').unwrap_or(text.len())]
}

/// Whether `c` is of a script that has blanks between words.
fn is_bounded(c: char) -> bool {
    c < '\u{590}' || ('\u{1e00}'..='\u{1fff}').contains(&c)
}

/// Whether `c` is a letter of such a script.
pub(super) fn is_bounded_letter(c: char) -> bool {
    // It takes longer to look up that the accents from U+0300 on are no letters.
    is_bounded(c) && !('\u{300}'..'\u{370}').contains(&c) && c.is_alphabetic()
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
