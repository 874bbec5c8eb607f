//! Converts plain text to HTML.

/// Converts plain text to HTML. Markup is escaped, and line ends become `<br>`.
pub fn from_text(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + text.len() / 8);
    let mut rest = text;
    while let Some(position) = rest.find(['&', '<', '>', '"', '\'', '\r', '\n']) {
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
