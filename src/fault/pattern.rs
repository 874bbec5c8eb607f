//! Patterns of addresses, with `*` for any number of characters and `?` for one. Case does not matter.

use super::Parties;
use crate::model::{Address, DomainName, Subaddressing, fold};

/// The pattern of the null sender. Other patterns have an `@`, so no other matches it.
pub(super) const NULL_SENDER: &str = "<>";

/// The pattern `local_part@domain` in canonical form. A domain without wildcards may be in U-labels.
pub(super) fn canonical(local_part: &str, domain: &str) -> String {
    let domain = domain.parse::<DomainName>().map_or_else(|_| domain.to_lowercase(), |name| name.to_string());
    format!("{}@{domain}", fold(local_part))
}

/// Whether one of the addresses looks like the pattern.
pub(super) fn matches(pattern: &str, parties: Parties<'_>) -> bool {
    let is_like = |address: &Address| is_match(pattern, address.mailbox(Subaddressing::Keep).as_str());
    match parties {
        Parties::None => false,
        Parties::Sender("") => pattern == NULL_SENDER,
        // What is no address may end with an address literal.
        Parties::Sender(path) => {
            path.parse().map_or_else(|_| is_match(pattern, &path.to_lowercase()), |address| is_like(&address))
        }
        Parties::Recipients(addresses) => addresses.iter().any(is_like),
    }
}

/// Whether the whole text looks like the pattern, in as many steps as the product of both lengths.
fn is_match(pattern: &str, text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    // At each length, whether the pattern so far matches so much of the text.
    let mut matched = vec![false; text.len() + 1];
    matched[0] = true;
    for wanted in pattern.chars() {
        if wanted == '*' {
            let first = matched.iter().position(|is_match| *is_match).unwrap_or(matched.len());
            matched[first..].fill(true);
        } else {
            for length in (1..matched.len()).rev() {
                matched[length] = matched[length - 1] && (wanted == '?' || wanted == text[length - 1]);
            }
            matched[0] = false;
        }
    }
    matched[text.len()]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
