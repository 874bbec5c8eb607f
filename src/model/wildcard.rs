//! Patterns with wildcards.

/// Whether `text` looks like `pattern`, with `*` for any number of characters and `?` for one.
///
/// After a mismatch only the last `*` is tried again, so this takes at most as many steps as the product of both lengths.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::address::fold;
    use crate::model::{Address, Subaddressing};

    fn matches(pattern: &str, local_part: &str) -> bool {
        let address: Address = format!("{local_part}@example.test").parse().expect(local_part);
        is_match(&fold(pattern), address.mailbox(Subaddressing::Keep).local_part())
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
