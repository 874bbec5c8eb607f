//! Patterns of local parts.

use std::fmt;
use std::str::FromStr;

use super::Mailbox;
use super::address::{LOCAL_PART_OCTETS_MAX, fold};

/// A pattern of local parts, with `*` for any number of characters and `?` for one.
///
/// It is compared with the canonical local part of a mailbox, so case and quotes do not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalPartPattern(String);

/// Why a text is not a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocalPartPatternError {
    /// The text is empty.
    #[error("the pattern is empty")]
    Empty,
    /// The text has a domain, quotes or control characters.
    #[error("the pattern must be a local part without '@', quotes and control characters")]
    NoLocalPart,
    /// The pattern is longer than any local part.
    #[error("the pattern is longer than {LOCAL_PART_OCTETS_MAX} octets")]
    TooLong,
}

impl LocalPartPattern {
    /// Whether the pattern matches the local part of `mailbox`.
    ///
    /// After a mismatch only the last `*` is tried again, so this takes at most 64 times 64 steps.
    pub fn matches(&self, mailbox: &Mailbox) -> bool {
        is_match(&self.0, mailbox.local_part())
    }
}

/// Whether `text` looks like `pattern`, with `*` for any number of characters and `?` for one.
pub(super) fn is_match(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    // The positions in pattern and text from which the last star is tried again after a mismatch.
    let mut star: Option<(std::str::Chars<'_>, std::str::Chars<'_>)> = None;
    loop {
        let rest = text.clone();
        match (pattern.next(), text.next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                text = rest;
                star = Some((pattern.clone(), text.clone()));
            }
            (Some('?'), Some(_)) => {}
            (Some(wanted), Some(found)) if wanted == found => {}
            _ => {
                let Some((after_star, from)) = &mut star else { return false };
                if from.next().is_none() {
                    return false;
                }
                (pattern, text) = (after_star.clone(), from.clone());
            }
        }
    }
}

impl FromStr for LocalPartPattern {
    type Err = LocalPartPatternError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() {
            return Err(LocalPartPatternError::Empty);
        }
        if text.len() > LOCAL_PART_OCTETS_MAX {
            return Err(LocalPartPatternError::TooLong);
        }
        if text.chars().any(|c| c.is_control() || matches!(c, '@' | '"' | ' ')) {
            return Err(LocalPartPatternError::NoLocalPart);
        }
        Ok(Self(fold(text)))
    }
}

impl fmt::Display for LocalPartPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{Address, Subaddressing};

    fn matches(pattern: &str, local_part: &str) -> bool {
        let pattern: LocalPartPattern = pattern.parse().expect(pattern);
        let address: Address = format!("{local_part}@example.test").parse().expect(local_part);
        pattern.matches(&address.mailbox(Subaddressing::Keep))
    }

    #[test]
    fn a_pattern_means_what_it_shows() {
        for (pattern, meant, others) in [
            ("ann", &["ann", "ANN", "\"ann\""][..], &["an", "anna", "bann", "ann+x"][..]),
            ("Test-*", &["test-", "test-1", "TEST-a-b", "\"test-a b\""], &["test", "xtest-1", "test"]),
            ("*-ci", &["-ci", "a-ci", "-ci-ci"], &["ci", "a-ci-", "a-c"]),
            ("a?c", &["abc", "a.c", "a\u{e9}c"], &["ac", "abbc", "abcd"]),
            ("*", &["a", "anything.at+all"], &[]),
            ("a*b*c", &["abc", "abbbc", "aXbYc", "abcbc"], &["ab", "acb", "abcd"]),
            ("*a*", &["a", "bab"], &["b"]),
            ("??", &["ab"], &["a", "abc"]),
            ("*?", &["a", "abc"], &[]),
            ("jos\u{e9}*", &["Jose\u{301}.x"], &["jose"]),
            ("**x", &["x", "ax"], &["xa"]),
        ] {
            for local_part in meant {
                assert!(matches(pattern, local_part), "{pattern} {local_part}");
            }
            for local_part in others {
                assert!(!matches(pattern, local_part), "{pattern} {local_part}");
            }
        }
    }

    #[test]
    fn what_is_no_local_part_is_no_pattern() {
        for (text, error) in [
            ("", LocalPartPatternError::Empty),
            ("a@example.test", LocalPartPatternError::NoLocalPart),
            ("\"a\"", LocalPartPatternError::NoLocalPart),
            ("a b", LocalPartPatternError::NoLocalPart),
            ("a\r", LocalPartPatternError::NoLocalPart),
            (&"*".repeat(65), LocalPartPatternError::TooLong),
        ] {
            assert_eq!(text.parse::<LocalPartPattern>(), Err(error), "{text}");
        }
    }

    /// The definition of a match, as a simple and slow function.
    fn is_meant(pattern: &[char], text: &[char]) -> bool {
        match (pattern, text) {
            ([], []) => true,
            (['*', rest @ ..], _) => (0..=text.len()).any(|skipped| is_meant(rest, &text[skipped..])),
            (['?', rest @ ..], [_, others @ ..]) => is_meant(rest, others),
            ([wanted, rest @ ..], [found, others @ ..]) => wanted == found && is_meant(rest, others),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn the_quick_way_agrees_with_the_slow_one(pattern in "[ab*?]{0,10}", text in "[ab]{0,12}") {
            let (slow_pattern, slow_text): (Vec<_>, Vec<_>) = (pattern.chars().collect(), text.chars().collect());
            prop_assert_eq!(is_match(&pattern, &text), is_meant(&slow_pattern, &slow_text));
        }
    }
}
