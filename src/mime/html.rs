//! Converts HTML to plain text and back, in linear time. It does not make HTML safe to show.

use super::markup::{self, Token, Tokens};

/// Elements with a line break before and after.
pub(super) const BLOCKS: [&str; 27] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "center",
    "dd",
    "div",
    "dl",
    "dt",
    "fieldset",
    "footer",
    "form",
    "header",
    "hr",
    "li",
    "main",
    "nav",
    "ol",
    "pre",
    "section",
    "table",
    "tbody",
    "thead",
    "tr",
    "ul",
    "html",
];
/// Elements with an empty line before and after them.
pub(super) const PARAGRAPHS: [&str; 7] = ["h1", "h2", "h3", "h4", "h5", "h6", "p"];

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

/// Converts HTML to plain text. Blocks end with a line end, list items are marked, and the target of a link follows
/// its text.
pub fn to_text(html: &str) -> String {
    let mut text = Rendered::default();
    for token in Tokens::of(html) {
        match token {
            Token::Text(content) => text.push(content),
            Token::Reference(content) => text.push(&content),
            Token::Open(name, attributes) => tag(&name, Some(attributes), &mut text),
            Token::Close(name) => tag(&name, None, &mut text),
            Token::Hidden(..) => {}
        }
    }
    text.finish()
}

/// Handles a start tag with its attributes, or an end tag.
fn tag(name: &str, attributes: Option<&str>, text: &mut Rendered) {
    match (name, attributes) {
        ("br", _) => text.line(1),
        ("td" | "th", _) => text.blank(),
        ("a", None) => text.end_link(),
        ("a", Some(attributes)) => text.begin_link(markup::attribute(attributes, "href")),
        _ if PARAGRAPHS.contains(&name) => text.at_least_lines(2),
        _ if BLOCKS.contains(&name) => {
            text.at_least_lines(1);
            if name == "li" && attributes.is_some() {
                text.push("- ");
            }
        }
        _ => {}
    }
}

/// The text so far. Runs of spaces become one space, and runs of empty lines one empty line.
#[derive(Debug, Default)]
struct Rendered {
    text: String,
    is_blank_due: bool,
    /// The number of line ends to write before the next character.
    lines_due: usize,
    /// The target of the open link, and the position of its text.
    link: Option<(String, usize)>,
}

impl Rendered {
    fn push(&mut self, content: &str) {
        for c in content.chars() {
            if c.is_whitespace() || c == '\u{a0}' {
                self.is_blank_due = true;
                continue;
            }
            if self.lines_due > 0 && !self.text.is_empty() {
                self.text.extend(std::iter::repeat_n('\n', self.lines_due));
            } else if self.is_blank_due && !self.text.is_empty() {
                self.text.push(' ');
            }
            self.lines_due = 0;
            self.is_blank_due = false;
            self.text.push(c);
        }
    }

    fn blank(&mut self) {
        self.is_blank_due = true;
    }

    /// Adds line ends, up to two in a row.
    fn line(&mut self, count: usize) {
        self.lines_due = (self.lines_due + count).min(2);
    }

    fn at_least_lines(&mut self, count: usize) {
        self.lines_due = self.lines_due.max(count);
    }

    fn begin_link(&mut self, target: Option<&str>) {
        let is_shown = |target: &&str| ["http://", "https://"].iter().any(|scheme| target.starts_with(scheme));
        self.link = target.map(str::trim).filter(is_shown).map(|target| (to_target(target), self.text.len()));
    }

    fn end_link(&mut self) {
        let Some((target, start)) = self.link.take() else { return };
        if self.text[start..].trim() != target {
            self.blank();
            self.push(&format!("<{target}>"));
        }
    }

    fn finish(self) -> String {
        self.text
    }
}

/// The target of a link with its character references decoded, and with single spaces.
fn to_target(value: &str) -> String {
    let mut target = Rendered::default();
    target.push(&markup::decoded(value));
    target.text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn html_reads_as_text() {
        for (html, text) in [
            ("<p>Hello,</p><p>your code is <b>123 456</b>.</p>", "Hello,\n\nyour code is 123 456."),
            ("a<br>b<BR/>c<br class=x>d", "a\nb\nc\nd"),
            ("<html><head><title>T</title><style type=\"text/css\">p{}</style></head><body>x</body></html>", "x"),
            ("<script>if (a < b) { '</p>' }</script>x<SCRIPT>", "x"),
            ("<!-- a > b -->x<!-- open", "x"),
            ("<ul><li>one</li><li>two</li></ul>", "- one\n- two"),
            ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"),
            ("a &lt;b&gt; &amp;&nbsp;&uuml;&#x20AC;&#8364; &no-such; & c", "a <b> & ü€€ &no-such; & c"),
            ("<a href=\"https://x.test/?a=1&amp;b=2\">Verify</a> now", "Verify <https://x.test/?a=1&b=2> now"),
            ("<a href='https://x.test/'>https://x.test/</a>", "https://x.test/"),
            ("<a href=javascript:x>y</a>", "y"),
            ("<img alt=\"a > b\" src=x>after", "after"),
            ("1 < 2 <", "1 < 2 <"),
            ("<p title=\"never closed>text", "text"),
            ("<aa\u{20000}\u{16ff0}<!a\u{1057c}</a>x", "x"),
            ("<", "<"),
            ("", ""),
        ] {
            assert_eq!(to_text(html), text, "{html}");
        }
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

        #[test]
        fn any_html_is_rendered(html in "(<[a-z/!-]{0,6}|[a-z =\"'>&;#-]|</a>|<a href=https://x|\\PC){0,60}") {
            prop_assert!(to_text(&html).len() <= 4 * html.len() + 16);
        }
    }
}
