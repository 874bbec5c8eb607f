//! HTML as a sequence of tokens, in linear time and without a tree.

use std::borrow::Cow;

use mail_parser::decoders::html::add_html_token;

/// Elements whose content is no markup.
const RAW: [&str; 9] = ["script", "style", "title", "iframe", "noembed", "noframes", "noscript", "textarea", "xmp"];
/// The longest named character reference of HTML in octets, with `&` and `;`.
const REFERENCE_OCTETS_MAX: usize = 33;

/// A piece of HTML. Comments give none.
#[derive(Debug)]
pub(super) enum Token<'a> {
    /// As written, with character references.
    Text(&'a str),
    /// A start tag: its name in lower case, and its attributes as written. An unknown long name is empty.
    Open(Cow<'a, str>, &'a str),
    /// An end tag.
    Close(Cow<'a, str>),
    /// An element whose content is no markup.
    Raw { name: Cow<'a, str>, attributes: &'a str, content: &'a str },
}

/// The tokens of HTML.
#[derive(Debug)]
pub(super) struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Tokens<'a> {
    pub(super) fn of(html: &'a str) -> Self {
        Self { rest: html }
    }

    /// Takes the first `length` octets of the rest.
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    /// The tag at the start of the rest, with the content of an element without markup; `None` if it never ends. Then
    /// browsers show nothing else.
    fn tag(&mut self) -> Option<Token<'a>> {
        let tag = self.rest[1..].trim_start_matches('/');
        let name_end = tag.find(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>')).unwrap_or(tag.len());
        let mut after = &tag[name_end..];
        while let Some((_, _, rest)) = next_attribute(after) {
            after = rest;
        }
        let after = skipped(after);
        let is_closing = self.rest.starts_with("</");
        self.rest = after.strip_prefix('>').unwrap_or_default();
        let tag = &tag[..tag.len() - after.len()];
        if after.is_empty() {
            return None;
        }
        // Every element that a reader of tokens knows has a shorter name.
        let name = if name_end <= 16 { lower(&tag[..name_end]) } else { "".into() };
        if is_closing {
            return Some(Token::Close(name));
        }
        if RAW.contains(&&*name) {
            let content = self.raw(&name);
            return Some(Token::Raw { name, attributes: &tag[name_end..], content });
        }
        Some(Token::Open(name, &tag[name_end..]))
    }

    /// The content of an element without markup; all of the rest if there is no end tag.
    fn raw(&mut self, name: &str) -> &'a str {
        let mut at = 0;
        while let Some(position) = self.rest[at..].find("</") {
            let end = at + position;
            at = end + 2;
            let found = self.rest.as_bytes()[at..].get(..name.len());
            let ends = |octet: &u8| octet.is_ascii_whitespace() || matches!(octet, b'/' | b'>');
            if found.is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
                && self.rest.as_bytes().get(at + name.len()).is_none_or(ends)
            {
                if name == "script" && is_in_comment(&self.rest[..end]) {
                    break;
                }
                let after = self.rest[at..].find('>').map_or(self.rest.len(), |close| at + close + 1);
                return &self.take(after)[..end];
            }
        }
        self.take(self.rest.len())
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            match self.rest.as_bytes() {
                [] => return None,
                [b'<', b'!', b'-', b'-', ..] => {
                    self.take(comment_length(self.rest));
                }
                [b'<', b'/', b'a'..=b'z' | b'A'..=b'Z', ..] | [b'<', b'a'..=b'z' | b'A'..=b'Z', ..] => {
                    return self.tag();
                }
                // In drawings what is in it is text.
                [b'<', b'!', b'[', ..] => {
                    let content = self.take(self.rest.find('>').map_or(self.rest.len(), |end| end + 1));
                    return Some(Token::Raw { name: "".into(), attributes: "", content });
                }
                // Declarations, and whatever else is no tag, are comments up to the next bracket.
                [b'<', b'/' | b'!' | b'?', ..] => {
                    self.take(self.rest.find('>').map_or(self.rest.len(), |end| end + 1));
                }
                [b'<', ..] => return Some(Token::Text(self.take(1))),
                _ => {
                    let length = self.rest.find('<').unwrap_or(self.rest.len());
                    return Some(Token::Text(self.take(length)));
                }
            }
        }
    }
}

/// A name in lower case.
fn lower(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|octet| octet.is_ascii_uppercase()) { name.to_ascii_lowercase().into() } else { name.into() }
}

/// Whether a script may go on after its end tag, since it has another one in a comment.
fn is_in_comment(script: &str) -> bool {
    script.find("<!--").is_some_and(|at| script[at..].to_ascii_lowercase().contains("<script"))
}

/// The length of the comment at the start of `text`.
fn comment_length(text: &str) -> usize {
    let is_end = |at: &usize| text[*at..].starts_with("-->") || *at > 3 && text[*at..].starts_with("--!>");
    let mut ends =
        text.as_bytes().windows(2).enumerate().skip(2).filter(|(_, octets)| octets == b"--").map(|(at, _)| at);
    ends.find(is_end).map_or(text.len(), |at| at + text[at..].find('>').unwrap_or_default() + 1)
}

/// The text of the character reference at the start of `text`, and its length; `None` if there is none.
fn decoded_reference(text: &str) -> Option<(String, usize)> {
    if let Some(code) = text.strip_prefix("&#") {
        let (digits, radix) = code.strip_prefix(['x', 'X']).map_or((code, 10), |digits| (digits, 16));
        let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
        let value = |number: u32, digit: char| number * radix + digit.to_digit(radix).unwrap_or_default();
        // What is no character, such as a number that is too large, stays none.
        let number = digits[..end].chars().fold(0, |number, digit| value(number, digit).min(0x11_0000));
        // As in browsers, no semicolon is needed.
        let after = digits[end..].strip_prefix(';').unwrap_or(&digits[end..]);
        let character = char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER);
        return (end > 0).then(|| (character.to_string(), text.len() - after.len()));
    }
    let window = &text.as_bytes()[..text.len().min(REFERENCE_OCTETS_MAX)];
    let is_of_name = |octet: &u8| octet.is_ascii_alphanumeric();
    let end = 1 + window.get(1..)?.iter().take_while(|octet| is_of_name(octet)).count();
    if end < 2 || window.get(end) != Some(&b';') {
        return None;
    }
    let mut decoded = String::new();
    add_html_token(&mut decoded, &window[..=end], false);
    Some((decoded, end + 1))
}

/// The text with its character references decoded.
pub(super) fn decoded(value: &str) -> Cow<'_, str> {
    if !value.contains('&') {
        return value.into();
    }
    let mut text = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(position) = rest.find('&') {
        text.push_str(&rest[..position]);
        rest = &rest[position..];
        let (reference, length) = decoded_reference(rest).unwrap_or_else(|| ("&".to_owned(), 1));
        text.push_str(&reference);
        rest = &rest[length..];
    }
    text.push_str(rest);
    text.into()
}

/// The names and values of a tag's attributes, as written.
pub(super) fn attributes(attributes: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = attributes;
    std::iter::from_fn(move || {
        let (name, value, after) = next_attribute(rest)?;
        rest = after;
        Some((name, value))
    })
}

/// The text after what separates attributes.
fn skipped(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/')
}

/// The name and the value of the next attribute in a tag, and what follows; `None` if the tag ends.
fn next_attribute(text: &str) -> Option<(&str, &str, &str)> {
    let is_end = |c: char| c.is_ascii_whitespace() || c == '>';
    let text = skipped(text);
    let first = text.chars().next().filter(|c| *c != '>')?;
    // An equals sign without a name before it is a part of the name in HTML.
    let length = text[first.len_utf8()..].find(|c: char| is_end(c) || matches!(c, '/' | '='));
    let (name, rest) = text.split_at(length.map_or(text.len(), |length| first.len_utf8() + length));
    let Some(after) = rest.trim_ascii_start().strip_prefix('=') else { return Some((name, "", rest)) };
    let after = after.trim_ascii_start();
    let (value, rest) = match after.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        Some(quote) => after[1..].split_once(quote).unwrap_or((&after[1..], "")),
        None => after.split_at(after.find(is_end).unwrap_or(after.len())),
    };
    Some((name, value, rest))
}

/// The value of an attribute of a tag, decoded.
pub(super) fn attribute<'a>(of: &'a str, name: &str) -> Option<Cow<'a, str>> {
    attributes(of).find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| decoded(value))
}
