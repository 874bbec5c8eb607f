//! Characters that a reader cannot see or that change how the text around them is shown, and where they belong.
//!
//! A joiner (U+200C, U+200D) is part of the spelling in Arabic and Indic scripts, and U+200D of an emoji made of several. A
//! variation selector chooses between the forms of one character. In these places they stay; elsewhere they hide
//! something and are made visible. Which characters have no picture at all is the one table of `mime`.

pub(super) use crate::mime::is_unseen;

const ZWNJ: char = '\u{200c}';
const ZWJ: char = '\u{200d}';

/// Whether a terminal would act on `c`, or show the text around it in another order (UAX #9).
pub(super) fn is_steering(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}')
}

/// A selector of forms of Han characters.
fn is_han_selector(c: char) -> bool {
    matches!(c, '\u{e0100}'..='\u{e01ef}')
}

fn is_joiner(c: char) -> bool {
    matches!(c, ZWNJ | ZWJ)
}

/// Whether `c` is to be made visible between these neighbours. `base` is the nearest character before `c` that is no
/// selector and no skin tone.
pub(super) fn is_hidden(c: char, before: Option<char>, base: Option<char>, after: Option<char>) -> bool {
    if is_joiner(c) {
        let between = |is: fn(char) -> bool| base.is_some_and(is) && after.is_some_and(is);
        return !(between(is_of_joining_script) || (c == ZWJ && between(is_emoji)));
    }
    if is_selector(c) {
        return !before.is_some_and(|before| !before.is_whitespace() && !is_unseen(before));
    }
    if is_han_selector(c) {
        return !before.is_some_and(is_han);
    }
    is_unseen(c)
}

/// Whether what follows belongs to the character before `c`.
pub(super) fn is_modifier(c: char) -> bool {
    is_selector(c) || is_han_selector(c) || matches!(c, '\u{1f3fb}'..='\u{1f3ff}')
}

/// Letters and signs of the scripts in which joiners are part of the spelling (Unicode 16, chapters 9, 12, 13 and 16).
fn is_of_joining_script(c: char) -> bool {
    let is_in_block = matches!(c,
        '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{18af}'
        | '\u{a840}'..='\u{a87f}' | '\u{a980}'..='\u{a9df}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'
        | '\u{1e900}'..='\u{1e95f}');
    // Marks such as a virama are no letters.
    is_in_block && !is_unseen(c) && !c.is_whitespace()
}

/// Whether an emoji of several can have `c` as a part: the blocks of `Extended_Pictographic` (UTS #51).
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}'
        | '\u{1f000}'..='\u{1faff}')
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}
