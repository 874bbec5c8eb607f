//! The words that people look at around codes and links: `words` has a file for each language.
//!
//! A line of a file is `key: phrase | phrase`; indented lines go on with it, and those with `#` are comments. The keys
//! are those of [`Sense`], and:
//!
//! ```text
//! nothing         phrases that say nothing, but have a telling word in them
//! connecting      words between a word for codes and its code, or right before such a word
//! of              words after a word for codes, behind which stands what the code is for
//! joined          words such as `is` that hyphens join to a code
//! is              words such as `is` right before a code of words
//! use             words such as `with` before a code, if it follows what the code is for
//! unit, counter   what makes a number an amount: the word beside it, or what follows it without a blank
//! reply, history  the beginning of an answer's subject, and of the older mail that is appended to one
//! in-address.…    what says in the address of a page what it is for, by its sense; and names of secrets
//! parameter       the names of codes in the parameters of an address
//! ```
//!
//! A phrase stands for whole words in lower case. `verif*` stands for every word that begins so, and `*code` for every
//! word that ends so. Scripts without blanks between words, such as Chinese, have no such bounds: there a phrase is
//! found anywhere, and so it is in scripts whose particles are part of the word, such as Arabic. At each place the
//! longest phrase counts; it may begin within another one and go beyond it. A phrase has one sense in all languages.

use serde::Deserialize;
use serde::de::value::{self, StrDeserializer};

macro_rules! files {
    ($($name:literal)*) => { &[$(include_str!(concat!("words/", $name, ".txt"))),*] };
}

const FILES: &[&str] = files!(
    "ace" "af" "am" "any" "ar" "as" "ast" "az" "ba" "be" "bg" "bn" "bo" "br" "ca" "ceb" "ckb" "co" "cs" "cy" "da" "de"
    "dv" "el" "en" "eo" "es" "et" "eu" "fa" "fi" "fo" "fr" "fur" "fy" "ga" "gd" "gl" "gu" "ha" "he" "hi" "hr" "ht"
    "hu" "hy" "ia" "id" "ig" "is" "it" "ja" "jv" "ka" "kk" "km" "kn" "ko" "ku" "ky" "la" "lb" "lo" "lt" "lv" "mg" "mi"
    "mk" "ml" "mn" "mr" "ms" "mt" "my" "nb" "ne" "nl" "oc" "or" "pa" "pap" "pl" "ps" "pt" "ro" "ru" "rw" "sc" "sd"
    "si" "sk" "sl" "sn" "so" "sq" "sr" "sv" "sw" "ta" "te" "tg" "th" "ti" "tk" "tl" "tn" "tr" "tt" "ug" "uk" "ur" "uz"
    "vi" "xh" "yo" "zh" "zu"
);

/// What a phrase says about a code or a link near it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Sense {
    /// A code, of whatever kind.
    Code,
    /// A code that is certainly a one-time code.
    OneTime,
    /// A number or name that is no code: of an order, a customer, a place.
    Other,
    /// Something to save money with.
    Promotion,
    Verify,
    SignIn,
    Reset,
    Invite,
    Unsubscribe,
    /// What is said about secrets: how long they are valid, and to keep them.
    Caution,
    /// What is said to somebody else: what to do for whom did not ask for this.
    Denial,
    /// What to do with a code.
    Enter,
    /// What is written on a link that says nothing about its target.
    Press,
    /// A meeting, whose codes are no one-time codes.
    Meeting,
    /// Nothing. Such a phrase hides a shorter one in it.
    Nothing,
}

impl Sense {
    /// The sense of the phrases with this key, which is its name.
    pub(super) fn of(key: &str) -> Option<Self> {
        Self::deserialize(StrDeserializer::<value::Error>::new(key)).ok()
    }
}

/// The phrases of all languages with their keys.
pub(super) fn phrases() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES.iter().copied().flat_map(phrases_of)
}

fn phrases_of(file: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut key = "";
    file.lines().filter(|line| !line.starts_with('#')).flat_map(move |line| {
        let begun = line.split_once(": ").filter(|_| !line.starts_with(' '));
        let written = begun.map_or(line, |(begun, written)| {
            key = begun;
            written
        });
        let key = key;
        written.split('|').map(str::trim).filter(|phrase| !phrase.is_empty()).map(move |phrase| (key, phrase))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};
    use std::fs;

    use super::*;
    use crate::codes::page::Page;

    #[test]
    fn each_file_is_read() {
        let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/codes/words");
        for entry in fs::read_dir(dir).expect("the folder of the words") {
            let path = entry.expect("an entry").path();
            let text = fs::read_to_string(&path).expect("UTF-8");
            assert!(FILES.contains(&text.as_str()), "{} is not in the list of files", path.display());
        }
    }

    #[test]
    fn every_phrase_can_be_found() {
        for (key, phrase) in phrases().filter(|(key, _)| Sense::of(key).is_some()) {
            let text = phrase.trim_matches('*');
            assert!(!text.is_empty() && !text.contains('*'), "{key}: {phrase}");
            assert_eq!(Page::of_line(text).lower, text, "{key}: not as it is found in a mail");
        }
    }

    #[test]
    fn no_phrase_has_two_senses() {
        let mut senses = HashMap::new();
        for (key, phrase) in phrases().filter(|(key, _)| Sense::of(key).is_some()) {
            let known = *senses.entry(phrase.trim_matches('*')).or_insert(key);
            assert_eq!(known, key, "{phrase} is in two languages");
        }
    }

    #[test]
    fn no_phrase_repeats_another_one_of_its_file() {
        // In the names of codes and numbers it counts where a compound ends.
        let is_of_names = |key: &str| matches!(key, "one-time" | "other" | "promotion");
        for file in FILES {
            let all: Vec<_> = phrases_of(file).filter(|(key, _)| Sense::of(key).is_some()).collect();
            let mut known = HashSet::new();
            let beginnings = all.iter().filter(|(_, phrase)| phrase.ends_with('*'));
            let beginnings: HashSet<_> = beginnings.map(|(key, phrase)| (*key, phrase.trim_matches('*'))).collect();
            for (key, phrase) in &all {
                let text = phrase.trim_matches('*');
                assert!(known.insert(text), "{key}: {phrase} twice");
                let is_of_letters = !phrase.starts_with('*') && text.chars().all(char::is_alphabetic);
                if is_of_letters && !is_of_names(key) {
                    let mut shorter = text.char_indices().skip(1).map(|(at, _)| &text[..at]);
                    assert_eq!(shorter.find(|text| beginnings.contains(&(*key, *text))), None, "{key}: {phrase}");
                }
            }
        }
    }

    #[test]
    fn no_word_for_something_else_leads_to_a_code_in_a_language() {
        let connecting: HashSet<_> = phrases().filter(|(key, _)| *key == "connecting").map(|(_, word)| word).collect();
        let others = phrases().filter(|(key, _)| *key == "other").map(|(_, phrase)| phrase.trim_matches('*'));
        assert_eq!(others.filter(|phrase| connecting.contains(phrase)).collect::<Vec<_>>(), [""; 0]);
    }

    #[test]
    fn every_key_is_known() {
        for (key, phrase) in phrases().filter(|(key, _)| Sense::of(key).is_none()) {
            let names = ["connecting", "of", "joined", "is", "use", "unit", "counter", "reply", "history", "parameter"];
            let part = key.strip_prefix("in-address.");
            let is_part = part.is_some_and(|part| part == "secret" || Sense::of(part).is_some());
            assert!(names.contains(&key) || is_part, "{key}: {phrase}");
        }
    }
}
