//! Converts plain text to HTML, and finds what JSON and HTML escape: here, since this crate is optimised in tests as well.

/// Converts plain text to HTML. Markup is escaped, and line ends become `<br>`.
pub fn from_text(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + text.len() / 8);
    let mut rest = text;
    while let Some(position) = position(rest.as_bytes(), is_escaped) {
        html.push_str(&rest[..position]);
        let (element, octets) = escaped(&rest.as_bytes()[position..]);
        html.push_str(element);
        rest = &rest[position + octets..];
    }
    html.push_str(rest);
    html
}

/// Whether an octet of plain text is another one in HTML. Each of them is a character of its own.
#[expect(clippy::needless_bitwise_bool, reason = "without a branch, the compiler compares many octets at once")]
pub fn is_escaped(octet: u8) -> bool {
    // Without optimisation, an iterator over these took a third of the time of tests with long mails.
    (octet == b'&')
        | (octet == b'<')
        | (octet == b'>')
        | (octet == b'"')
        | (octet == b'\'')
        | (octet == b'\r')
        | (octet == b'\n')
}

/// The HTML of the octet or line end that a text begins with, which [`is_escaped`], and how many octets that is.
pub const fn escaped(text: &[u8]) -> (&'static str, usize) {
    match text {
        [b'&', ..] => ("&amp;", 1),
        [b'<', ..] => ("&lt;", 1),
        [b'>', ..] => ("&gt;", 1),
        [b'"', ..] => ("&quot;", 1),
        [b'\'', ..] => ("&#39;", 1),
        [b'\r', b'\n', ..] => ("<br>\n", 2),
        [b'\r', ..] => ("\r", 1),
        _ => ("<br>\n", 1),
    }
}

/// The position of the first octet that stands in no JSON string as it is (RFC 8259 section 7).
pub fn special_of_json(octets: &[u8]) -> Option<usize> {
    position(octets, is_special)
}

/// The position of the first octet of plain text that is another one in HTML, or in a JSON string of it.
pub fn special_of_html_in_json(octets: &[u8]) -> Option<usize> {
    position(octets, is_other)
}

#[expect(clippy::needless_bitwise_bool, reason = "without a branch, the compiler compares many octets at once")]
const fn is_special(octet: u8) -> bool {
    (octet < b' ') | (octet == b'"') | (octet == b'\\')
}

/// `&` and `'` differ in one bit, and so do `<` and `>`.
#[expect(clippy::needless_bitwise_bool, reason = "without a branch, the compiler compares many octets at once")]
const fn is_other(octet: u8) -> bool {
    is_special(octet) | (octet | 1 == b'\'') | (octet | 2 == b'>')
}

/// The position of the first octet that is wanted.
fn position(octets: &[u8], is_wanted: impl Fn(u8) -> bool) -> Option<usize> {
    const CHUNK: usize = 32;
    // The compiler looks at all octets of a chunk at once only if no branch depends on one of them.
    let is_clean = |chunk: &&[u8; CHUNK]| chunk.iter().fold(0, |found, octet| found | u8::from(is_wanted(*octet))) == 0;
    let clean = octets.as_chunks().0.iter().take_while(is_clean).count() * CHUNK;
    octets[clean..].iter().position(|octet| is_wanted(*octet)).map(|position| clean + position)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_octet_that_html_escapes_is_missed() {
        assert!((0..=255).all(|octet| is_other(octet) == (is_special(octet) || is_escaped(octet))));
    }

    #[test]
    fn text_as_html_holds_no_markup() {
        assert_eq!(from_text("a\r\nb\nc\rd"), "a<br>\nb<br>\nc\rd");
        let long = "x".repeat(100);
        assert_eq!(from_text(&format!("{long}<{long}ü&")), format!("{long}&lt;{long}ü&amp;"));
        assert_eq!(
            from_text("<script>alert('&\"')</script>\nnext"),
            "&lt;script&gt;alert(&#39;&amp;&quot;&#39;)&lt;/script&gt;<br>\nnext"
        );
    }

    proptest! {
        #[test]
        fn no_markup_survives_from_text_but_line_breaks(text in "[<>&\"'a-z/!\\-\n ]{0,60}") {
            let html = from_text(&text);
            let rest = html.replace("<br>\n", "");
            prop_assert!(!rest.contains(['<', '>', '"', '\'']));
            prop_assert_eq!(html.matches("<br>").count(), text.matches('\n').count());
        }
    }
}
