//! Converts plain text to HTML.

/// Converts plain text to HTML. Markup is escaped, and line ends become `<br>`.
pub fn from_text(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + text.len() / 8);
    let mut rest = text;
    while let Some(position) = next_escaped(rest.as_bytes()) {
        html.push_str(&rest[..position]);
        html.push_str(match &rest.as_bytes()[position..] {
            [b'&', ..] => "&amp;",
            [b'<', ..] => "&lt;",
            [b'>', ..] => "&gt;",
            [b'"', ..] => "&quot;",
            [b'\'', ..] => "&#39;",
            [b'\r', b'\n', ..] => "",
            [b'\r', ..] => "\r",
            _ => "<br>\n",
        });
        rest = &rest[position + 1..];
    }
    html.push_str(rest);
    html
}

/// The position of the first octet that [`from_text`] replaces. Each of them is a character of its own.
fn next_escaped(octets: &[u8]) -> Option<usize> {
    const CHUNK: usize = 32;
    let is_escaped = |octet: &u8| matches!(octet, b'&' | b'<' | b'>' | b'"' | b'\'' | b'\r' | b'\n');
    // The compiler looks at all octets of a chunk at once only if no branch depends on one of them.
    let is_clean = |chunk: &&[u8; CHUNK]| !chunk.iter().fold(false, |found, octet| found | is_escaped(octet));
    let clean = octets.as_chunks().0.iter().take_while(is_clean).count() * CHUNK;
    octets[clean..].iter().position(is_escaped).map(|position| clean + position)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
