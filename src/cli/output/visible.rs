//! Text from mail made safe to show: control characters for the terminal are made visible.

use std::borrow::Cow;

/// Whether a terminal would act on `c` or show the text around it in another order.
fn is_steering(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// `text` on one line: every steering character, line ends and tabs included, is made visible.
pub fn line(text: &str) -> Cow<'_, str> {
    made_visible(text, |_| false)
}

/// `text` with its line ends and tabs, CRLF as LF; every other steering character is made visible.
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

fn made_visible(text: &str, is_kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(|c| is_steering(c) && !is_kept(c)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match u32::from(c) {
            _ if is_kept(c) || !is_steering(c) => shown.push(c),
            // Unicode has a picture for each control character of ASCII.
            code @ 0..=0x1f => shown.push(char::from_u32(0x2400 + code).unwrap_or('\u{fffd}')),
            0x7f => shown.push('\u{2421}'),
            code => shown.push_str(&format_code(code)),
        }
    }
    Cow::Owned(shown)
}

fn format_code(code: u32) -> String {
    format!("<U+{code:04X}>")
}

fn escape(c: char) -> String {
    format!("\\u{:04x}", u32::from(c))
}

/// `text` as one field of a tab-separated line: every steering character is a blank.
///
/// U+2028 and U+2029 are among them: many a language's way to split a text into lines splits there.
pub fn field(text: &str) -> String {
    text.chars().map(|c| if is_steering(c) { ' ' } else { c }).collect()
}

/// JSON text with control characters for the terminal as `\u` escapes. Its value does not change.
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
    fn a_field_never_breaks_its_line() {
        assert_eq!(field("a\tb\nc\u{85}d\\"), "a b c d\\");
        assert_eq!(field("a\u{2028}b\u{202e}c"), "a b c");
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
