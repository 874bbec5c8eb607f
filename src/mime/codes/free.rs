//! Whether a candidate is no part of something else: a price, a date, an account, an address.

use super::candidate::Candidate;
use super::lexicon::{LEXICON, is_bounded_letter};

/// How far a word around a candidate is looked at, in octets.
const WORD_OCTETS_MAX: usize = 80;

/// Whether nothing around a candidate makes it a part of something else, such as a price, a date or an address.
pub(super) fn stands_free(text: &str, candidate: &Candidate) -> bool {
    let mut before = text[..candidate.start].chars().rev();
    let mut after = text[candidate.end..].chars();
    let (previous, earlier) = (before.next(), before.next());
    let (next, later) = (after.next(), after.next());
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let bad_before = match previous {
        // An account that ends with these digits, as in `...7730`.
        Some('.') if earlier == Some('.') => true,
        Some('.' | ',' | ':' | '\'') => is_digit(earlier),
        Some('*') => next != Some('*'),
        Some('(') => next != Some(')'),
        Some(
            '+' | '!' | '/' | '\\' | '=' | '_' | '@' | '%' | '&' | '?' | '~' | '-' | '\u{2022}' | '\u{2026}' | '\u{d7}',
        ) => true,
        Some(c) => is_currency(c) || is_bounded_letter(c),
        None => false,
    };
    let has_counter = || LEXICON.others("counter").any(|counter| text[candidate.end..].starts_with(counter));
    let bad_after = match next {
        // Text without blanks between words has none after a comma either.
        Some(',') if previous.is_some_and(|c| c.is_alphabetic() && !is_bounded_letter(c)) => false,
        Some('.' | ',' | ':' | '\'') => later.is_some_and(|c| c.is_ascii_alphanumeric()),
        Some('%' | '/' | '\\' | '=' | '_' | '@' | '\u{b0}' | '\u{2030}' | '-') => true,
        Some(c) => is_currency(c) || is_bounded_letter(c) || has_counter(),
        None => false,
    };
    let is_assigned = previous == Some(' ') && earlier == Some('=');
    let has_currency = |separator: Option<char>, c: Option<char>, beyond: Option<char>| {
        // A name can begin with the sign, as in `%frame.example`.
        let is_share = || c == Some('%') && !beyond.is_some_and(char::is_alphanumeric);
        separator == Some(' ') && (c.is_some_and(is_currency) || is_share())
    };
    !bad_before
        && !bad_after
        && !is_assigned
        && !has_currency(previous, earlier, None)
        && !has_currency(next, later, after.next())
        && !has_unit(text, candidate)
        && !is_in_address(text, candidate)
}

fn is_currency(c: char) -> bool {
    matches!(c, '$' | '\u{a2}'..='\u{a5}' | '\u{20a0}'..='\u{20cf}' | '\u{ffe5}' | '\u{e3f}')
}

/// Whether the word before or after a candidate is a unit.
fn has_unit(text: &str, candidate: &Candidate) -> bool {
    let is_unit = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        LEXICON.is_unit(word)
    };
    let after = &text[candidate.end..text.floor_char_boundary(candidate.end + WORD_OCTETS_MAX)];
    let before = &text[text.ceil_char_boundary(candidate.start.saturating_sub(WORD_OCTETS_MAX))..candidate.start];
    let following = after.strip_prefix(' ').and_then(|rest| rest.split([' ', '\n', '\t']).next());
    // Single letters before a number are names, not units.
    let preceding = before.strip_suffix(' ').and_then(|rest| rest.rsplit([' ', '\n', '\t']).next());
    let is_money = |word: &str| word.len() == 3 && word.bytes().all(|octet| octet.is_ascii_uppercase());
    following.is_some_and(is_unit) || preceding.is_some_and(|word| is_money(word) && is_unit(word))
}

/// Whether the word around a candidate is a mail address, a path or the address of a page.
fn is_in_address(text: &str, candidate: &Candidate) -> bool {
    let before = &text[text.ceil_char_boundary(candidate.start.saturating_sub(WORD_OCTETS_MAX))..candidate.start];
    let after = &text[candidate.end..text.floor_char_boundary(candidate.end + WORD_OCTETS_MAX)];
    let is_end = |c: char| c.is_whitespace() || !c.is_ascii();
    let head = before.rsplit(is_end).next().unwrap_or_default();
    let tail = after.split(is_end).next().unwrap_or_default();
    ["://", "@", "www."].iter().any(|mark| head.contains(mark)) || tail.contains('@') || head.contains('/')
}
