//! Converts HTML to plain text and back, in linear time. It does not make HTML safe to show.

use mail_parser::decoders::html::add_html_token;

/// Elements whose content is not shown as text.
const HIDDEN: [&str; 4] = ["script", "style", "title", "template"];
/// Elements with a line break before and after.
const BLOCKS: [&str; 27] = [
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
const PARAGRAPHS: [&str; 7] = ["h1", "h2", "h3", "h4", "h5", "h6", "p"];
/// The longest named character reference of HTML in octets, with `&` and `;`.
const REFERENCE_OCTETS_MAX: usize = 33;

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
pub(super) fn to_text(html: &str) -> String {
    let mut text = Rendered::default();
    let mut rest = html;
    while let Some(position) = rest.find(['<', '&']) {
        text.push(&rest[..position]);
        rest = &rest[position..];
        rest = match rest.as_bytes() {
            [b'&', ..] => reference(rest, &mut text),
            [b'<', b'!', b'-', b'-', ..] => rest.find("-->").map_or("", |end| &rest[end + 3..]),
            [b'<', b'a'..=b'z' | b'A'..=b'Z' | b'/' | b'!' | b'?', ..] => element(rest, &mut text),
            _ => {
                text.push("<");
                &rest[1..]
            }
        };
    }
    text.push(rest);
    text.finish()
}

/// Decodes the character reference at the start of `rest`, or a plain ampersand. Returns the text after it.
fn reference<'a>(rest: &'a str, text: &mut Rendered) -> &'a str {
    let window = &rest.as_bytes()[..rest.len().min(REFERENCE_OCTETS_MAX)];
    let is_of_name = |octet: &u8| octet.is_ascii_alphanumeric() || *octet == b'#';
    let end = 1 + window[1..].iter().take_while(|octet| is_of_name(octet)).count();
    if end < 2 || window.get(end) != Some(&b';') {
        text.push("&");
        return &rest[1..];
    }
    let mut decoded = String::new();
    add_html_token(&mut decoded, &window[..=end], false);
    text.push(&decoded);
    &rest[end + 1..]
}

/// Handles the tag at the start of `rest`, with the content of a hidden element. Returns the text after it.
fn element<'a>(rest: &'a str, text: &mut Rendered) -> &'a str {
    let Some(end) = tag_end(rest, &mut text.ignores_quotes) else { return "" };
    let (tag, rest) = (&rest[1..end], &rest[end + 1..]);
    let is_closing = tag.starts_with('/');
    let tag = tag.trim_start_matches('/');
    let name_end = tag.find(|c: char| c.is_ascii_whitespace() || c == '/').unwrap_or(tag.len());
    // Every element in the lists has a shorter name.
    let name = if name_end <= 16 { tag[..name_end].to_ascii_lowercase() } else { String::new() };
    let name = name.as_str();
    if HIDDEN.contains(&name) {
        return if is_closing { rest } else { after_hidden(rest, name) };
    }
    match name {
        "br" => text.line(1),
        "td" | "th" => text.blank(),
        "a" if is_closing => text.end_link(),
        "a" => text.begin_link(attribute(&tag[name_end..], "href")),
        _ if PARAGRAPHS.contains(&name) => text.at_least_lines(2),
        _ if BLOCKS.contains(&name) => {
            text.at_least_lines(1);
            if name == "li" && !is_closing {
                text.push("- ");
            }
        }
        _ => {}
    }
    rest
}

/// The position of the `>` that ends the tag at the start of `rest`. A `>` in a quoted value is skipped.
///
/// Once a quoted value never ends, quotes are ignored in all later tags. Searching for the end of each quote would
/// take quadratic time.
fn tag_end(rest: &str, ignores_quotes: &mut bool) -> Option<usize> {
    if *ignores_quotes {
        return rest.find('>');
    }
    let mut quote = None;
    let mut previous = b' ';
    for (position, octet) in rest.bytes().enumerate() {
        match (quote, octet) {
            (None, b'>') => return Some(position),
            (None, b'"' | b'\'') if previous == b'=' => quote = Some(octet),
            (Some(open), octet) if open == octet => quote = None,
            _ => {}
        }
        if !octet.is_ascii_whitespace() {
            previous = octet;
        }
    }
    *ignores_quotes = true;
    rest.find('>')
}

/// The text after the end tag of a hidden element; empty if there is no end tag.
fn after_hidden<'a>(rest: &'a str, name: &str) -> &'a str {
    let mut at = 0;
    while let Some(position) = rest[at..].find("</") {
        at += position + 2;
        let is_end =
            rest.as_bytes()[at..].get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()));
        if is_end {
            return rest[at..].find('>').map_or("", |end| &rest[at + end + 1..]);
        }
    }
    ""
}

/// The value of an attribute of a tag.
fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = attributes;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(|c: char| c.is_ascii_whitespace() || c == '=').unwrap_or(rest.len());
        let found = &rest[..end];
        let mut value = "";
        rest = rest[end..].trim_ascii_start();
        if let Some(after) = rest.strip_prefix('=') {
            let after = after.trim_ascii_start();
            (value, rest) = match after.chars().next().filter(|c| matches!(c, '"' | '\'')) {
                Some(quote) => after[1..].split_once(quote).unwrap_or((&after[1..], "")),
                None => after.split_at(after.find(|c: char| c.is_ascii_whitespace()).unwrap_or(after.len())),
            };
        }
        if found.eq_ignore_ascii_case(name) {
            return Some(value);
        }
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
    /// Whether quotes no longer count; see [`tag_end`].
    ignores_quotes: bool,
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

/// The target of a link with its character references decoded, as a browser decodes them.
fn to_target(value: &str) -> String {
    let mut target = Rendered::default();
    let mut rest = value;
    while let Some(position) = rest.find('&') {
        target.push(&rest[..position]);
        rest = reference(&rest[position..], &mut target);
    }
    target.push(rest);
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
