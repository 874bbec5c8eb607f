//! Text from mail made safe to show: characters that steer a terminal or cannot be seen are made visible.
//!
//! Which characters have no picture at all is the one table of `mime`. Two kinds of them stay beside characters beyond ASCII,
//! where scripts and emoji need them: joiners (U+200C, U+200D), and selectors of the form of a character.

use std::borrow::Cow;

use crate::mime::is_unseen;

/// `text` on one line: every hidden character, line ends and tabs included, is made visible.
pub fn line(text: &str) -> Cow<'_, str> {
    made_visible(text, |_| false)
}

/// `text` with its line ends and tabs, CRLF as LF; every other hidden character is made visible.
pub fn block(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        return Cow::Owned(made_visible(&text.replace("\r\n", "\n"), |c| matches!(c, '\n' | '\t')).into_owned());
    }
    made_visible(text, |c| matches!(c, '\n' | '\t'))
}

/// Octets as they are in a pipe, and as text that does not steer it on a terminal.
pub fn octets(octets: &[u8], is_terminal: bool) -> Cow<'_, [u8]> {
    if !is_terminal {
        return Cow::Borrowed(octets);
    }
    let mut text = block(&String::from_utf8_lossy(octets)).into_owned();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Cow::Owned(text.into_bytes())
}

/// `text` with `_` for every character that [`line()`] makes visible, so that both show it alike.
pub fn masked(text: &str) -> Cow<'_, str> {
    replaced(text, |_| false, |_, shown| shown.push('_'))
}

fn made_visible(text: &str, is_kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    replaced(text, is_kept, |c, shown| match u32::from(c) {
        // Unicode has a picture for each control character of ASCII.
        code @ 0..=0x1f => shown.push(char::from_u32(0x2400 + code).unwrap_or('\u{fffd}')),
        0x7f => shown.push('\u{2421}'),
        code => shown.push_str(&format_code(code)),
    })
}

/// `text` with what `push` makes of every hidden character.
fn replaced(text: &str, is_kept: impl Fn(char) -> bool, push: impl Fn(char, &mut String)) -> Cow<'_, str> {
    if !text.chars().any(|c| is_unseen(c) && !is_kept(c)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let (mut before, mut rest) = (None, text.chars());
    while let Some(c) = rest.next() {
        if is_kept(c) || !is_hidden(c, before, rest.clone().next()) {
            shown.push(c);
        } else {
            push(c, &mut shown);
        }
        before = Some(c);
    }
    Cow::Owned(shown)
}

/// Whether `c` is to be made visible between these neighbours.
fn is_hidden(c: char, before: Option<char>, after: Option<char>) -> bool {
    let is_of_script = |c: char| !c.is_ascii() && !c.is_whitespace() && !is_unseen(c);
    let is_before = before.is_some_and(is_of_script);
    let is_after = after.is_some_and(is_of_script);
    match c {
        '\u{200c}' | '\u{200d}' => !((is_before || before.is_some_and(is_selector)) && is_after),
        c if is_selector(c) => !(is_before || is_after),
        c => is_unseen(c),
    }
}

/// Whether `c` chooses the form of the character before it.
fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Whether a terminal would act on `c`, or show the text around it in another order (UAX #9).
fn is_steering(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn format_code(code: u32) -> String {
    format!("<U+{code:04X}>")
}

fn escape(c: char) -> String {
    format!("\\u{:04x}", u32::from(c))
}

/// `text` as one field of a tab-separated line: tabs and line ends are blanks, any other hidden character is made visible.
pub fn field(text: &str) -> String {
    made_visible(&text.replace(is_separator, " "), |_| false).into_owned()
}

/// Whether some program splits fields or lines at `c`. Many a language's way to split a text into lines knows more line ends
/// than LF.
fn is_separator(c: char) -> bool {
    matches!(c, '\t'..='\r' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// JSON text with characters that steer a terminal as `\u` escapes. Its value does not change.
pub fn json(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        // All of them are in the basic plane, so one escape each is enough.
        if is_steering(c) && c != '\n' {
            shown.push_str(&escape(c));
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_made_visible() {
        for (text, shown) in [
            ("plain é 漢", "plain é 漢"),
            ("\u{1b}[31mred\u{1b}]0;title\u{7}", "␛[31mred␛]0;title␇"),
            ("a\rb\n\tc\0", "a␍b␊␉c␀"),
            ("\u{9b}31m\u{7f}", "<U+009B>31m␡"),
            ("gpj.\u{202e}exe", "gpj.<U+202E>exe"),
            ("\u{2066}\u{2028}\u{feff}", "<U+2066><U+2028><U+FEFF>"),
        ] {
            assert_eq!(line(text), shown);
        }
    }

    #[test]
    fn what_cannot_be_seen_is_made_visible() {
        for (text, shown) in [
            ("pay\u{200b}pal", "pay<U+200B>pal"),
            ("a\u{200e}b\u{200f}c\u{61c}d", "a<U+200E>b<U+200F>c<U+061C>d"),
            ("a\u{e0041}\u{e007f}", "a<U+E0041><U+E007F>"),
            ("so\u{ad}ft\u{2060}\u{3164}\u{34f}", "so<U+00AD>ft<U+2060><U+3164><U+034F>"),
            ("bl\u{2800}ank\u{115f}", "bl<U+2800>ank<U+115F>"),
            ("a\u{200d}b c\u{200c}d", "a<U+200D>b c<U+200C>d"),
            ("x\u{fe00}\u{fe01}\u{e0100} \u{fe0f}", "x<U+FE00><U+FE01><U+E0100> <U+FE0F>"),
            ("\u{1f468}\u{200d}\u{200d}\u{1f469}", "\u{1f468}<U+200D><U+200D>\u{1f469}"),
            ("\u{645}\u{200c} \u{200c}\u{645}", "\u{645}<U+200C> <U+200C>\u{645}"),
        ] {
            assert_eq!(line(text), shown);
        }
    }

    #[test]
    fn joiners_and_selectors_stay_where_the_script_needs_them() {
        for text in [
            // A family, a firefighter with a skin tone, a heart on fire, a keycap.
            "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
            "\u{1f469}\u{1f3fd}\u{200d}\u{1f692}",
            "\u{2764}\u{fe0f}\u{200d}\u{1f525}",
            "1\u{fe0f}\u{20e3}",
            // Persian "I want", Hindi with a half form, Sinhala "sri", a Han character in one of its forms.
            "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}",
            "\u{915}\u{94d}\u{200d}\u{937}",
            "\u{dc1}\u{dca}\u{200d}\u{dbb}\u{dd3}",
            "\u{845b}\u{e0100}",
        ] {
            assert_eq!(line(text), text);
        }
    }

    #[test]
    fn a_block_keeps_its_lines() {
        assert_eq!(block("a\r\n\tb\rc\u{1b}\n"), "a\n\tb␍c␛\n");
        assert_eq!(block("a\n"), "a\n");
    }

    #[test]
    fn octets_reach_a_pipe_as_they_are() {
        assert_eq!(*octets(b"a\x1b\xff\r\n", false), *b"a\x1b\xff\r\n");
        assert_eq!(*octets(b"a\x1b\xff\r\nb", true), *"a\u{241b}\u{fffd}\nb\n".as_bytes());
    }

    #[test]
    fn json_leaves_what_cannot_be_seen_alone() {
        assert_eq!(json("\"a\u{200b}\u{200e}\""), "\"a\u{200b}\\u200e\"");
    }

    #[test]
    fn a_field_never_breaks_its_line() {
        assert_eq!(field("a\tb\nc\u{85}d\\"), "a b c d\\");
        assert_eq!(field("a\u{2028}b\u{202e}c\u{1b}"), "a b<U+202E>c␛");
    }

    #[test]
    fn json_keeps_its_value() {
        let given = "\u{9b}\u{202e}\u{7f}é";
        let text = serde_json::to_string_pretty(&[given]).expect("json");
        let shown = json(&text);
        assert!(!shown.chars().any(|c| is_steering(c) && c != '\n'));
        assert_eq!(serde_json::from_str::<Vec<String>>(&shown).expect("json"), [given]);
    }
}
