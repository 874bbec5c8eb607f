//! Whether a candidate is no part of something else: a price, a date, an account, an address.

use super::lexicon::{LEXICON, is_bounded_letter};

/// How far a word around a candidate is looked at, in octets.
const WORD_OCTETS_MAX: usize = 80;
/// What a word with a code in it does not have, but addresses, paths, terms and shares do.
const FOREIGN: [char; 8] = ['+', '/', '\\', '=', '_', '@', '%', '~'];
/// What is between the digits of amounts and times.
const BETWEEN_DIGITS: [char; 4] = ['.', ',', ':', '\''];

/// Whether nothing around the candidate from `start` to `end` makes it a part of something else, such as a price, a date or an address.
pub(super) fn stands_free(text: &str, start: usize, end: usize) -> bool {
    let before = &text[text.ceil_char_boundary(start.saturating_sub(WORD_OCTETS_MAX))..start];
    let after = &text[end..text.floor_char_boundary(end + WORD_OCTETS_MAX)];
    // Text without blanks between words has none after a comma either.
    let is_in_text = before.ends_with(|c: char| c.is_alphabetic() && !is_bounded_letter(c)) && after.starts_with(',');
    let has_sign = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphanumeric());
    let is_number = before.strip_suffix(BETWEEN_DIGITS).is_some_and(|rest| rest.ends_with(char::is_numeric))
        || !is_in_text && after.strip_prefix(BETWEEN_DIGITS).is_some_and(has_sign);
    // An account that ends with these digits, as in `...7730`. Such ends have at most six.
    let is_led = before.ends_with("\n\u{2026}") && end - start > 6
        || LEXICON.others("joined").iter().any(|word| before.ends_with(word));
    let is_end_of_number =
        !is_led && (before.ends_with("..") || before.ends_with(['-', '\u{2022}', '\u{2026}', '\u{d7}']));
    let is_in_word = before.ends_with(is_bounded_letter) || after.starts_with(is_bounded_letter);
    let is_joined = before.ends_with(FOREIGN) || after.starts_with(FOREIGN) || after.starts_with('-');
    let is_masked = before.ends_with('*') && !after.starts_with('*');
    let is_amount = before.strip_suffix(' ').unwrap_or(before).ends_with(is_of_amount)
        || after.strip_prefix(' ').unwrap_or(after).starts_with(is_of_amount);
    // A line of a program, as in `otp = 482913`.
    let is_quoted = before.ends_with("= ") && after.starts_with('`');
    // It takes longer to look at more than the signs beside it.
    if is_number || is_end_of_number || is_in_word || is_joined || is_masked || is_amount || is_quoted {
        return false;
    }
    let is_end = |c: char| c.is_whitespace() || !c.is_ascii();
    let head = before.rsplit(is_end).next().unwrap_or_default();
    let tail = after.split(is_end).next().unwrap_or_default();
    super::step(head.len() + tail.len());
    let lower = before.trim_end().to_ascii_lowercase();
    let has_mask = ["***", "xxx", "\u{2022}\u{2022}"].iter().any(|mask| lower.ends_with(mask));
    let is_counted = LEXICON.others("counter").iter().any(|counter| after.starts_with(counter));
    !(has_mask || is_counted || head.contains(FOREIGN) || tail.contains(FOREIGN) || has_unit(before, after))
}

/// Whether `c` is a sign of a currency or a share.
fn is_of_amount(c: char) -> bool {
    matches!(c, '$' | '%' | '\u{a2}'..='\u{a5}' | '\u{b0}' | '\u{e3f}' | '\u{2030}' | '\u{20a0}'..='\u{20cf}' | '\u{ffe5}')
}

/// Whether the word before or after a candidate is a unit. Short units have one form: `ms` is one, and `Ms` is none.
fn has_unit(before: &str, after: &str) -> bool {
    let units = LEXICON.others("unit");
    let is_unit =
        |word: &str| units.contains(word) || word.chars().count() > 3 && units.contains(&*word.to_lowercase());
    let following = after.strip_prefix(' ').and_then(|rest| rest.split([' ', '\n', '\t']).next());
    let preceding = before.strip_suffix(' ').and_then(|rest| rest.rsplit([' ', '\n', '\t']).next());
    following.is_some_and(|word| is_unit(word.trim_matches(|c: char| !c.is_alphanumeric())))
        // Before a number stand names of money; single letters there are names.
        || preceding.is_some_and(|word| word.len() == 3 && units.contains(word))
}
