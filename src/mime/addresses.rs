//! The mailboxes in a field of addresses (RFC 5322 section 3.4, with its obsolete forms), as written there.
//!
//! The parser of addresses in mail-parser is not used. It drops a quoted local part without brackets, keeps source
//! routes, spaces and words beside an address, and takes quadratic time for encoded words that never end.

/// The mailboxes with an address: the display name, empty if there is none, and the `local-part@domain`.
pub(super) fn mailboxes(value: &str) -> Vec<(String, String)> {
    // A quote or parenthesis that is never closed counts as a plain character.
    let candidates = candidates(value, true).or_else(|| candidates(value, false)).unwrap_or_default();
    let mailboxes = candidates.iter().filter_map(|Candidate { outside, inside, .. }| match inside {
        Some(inside) => Some((phrase(outside), addr_spec(inside)?)),
        None => Some((String::new(), addr_spec(outside)?)),
    });
    mailboxes.collect()
}

/// A display name without the quotes of its quoted strings, and with single spaces.
fn phrase(text: &str) -> String {
    let mut phrase = String::with_capacity(text.len());
    let mut quotes = Quotes::default();
    for c in text.chars() {
        let is_escape = c == '\\' && quotes.is_quoted && !quotes.is_escaped;
        let is_quote = c == '"' && !quotes.is_escaped;
        quotes.is_outside(c);
        if !is_escape && !is_quote {
            phrase.push(c);
        }
    }
    phrase.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text of one mailbox, without comments and with whole quoted strings.
#[derive(Debug, Default)]
struct Candidate {
    outside: String,
    /// The text within angle brackets.
    inside: Option<String>,
    is_open: bool,
}

impl Candidate {
    fn text(&mut self) -> &mut String {
        match &mut self.inside {
            Some(inside) if self.is_open => inside,
            _ => &mut self.outside,
        }
    }
}

/// The mailboxes of a field in their order; `None` if a quoted string or a comment never ends.
fn candidates(value: &str, has_quotes: bool) -> Option<Vec<Candidate>> {
    let mut done = Vec::new();
    let mut current = Candidate::default();
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' if has_quotes => current.text().push_str(&quoted(&mut chars)?),
            '(' if has_quotes => {
                skip_comment(&mut chars)?;
                current.text().push(' ');
            }
            '<' => (current.inside, current.is_open) = (Some(String::new()), true),
            '>' => current.is_open = false,
            ',' | ';' if !current.is_open => done.push(std::mem::take(&mut current)),
            // The text before the colon is the name of a group or a source route, except in a domain literal.
            ':' if !current.text().contains('[') => current.text().clear(),
            c => current.text().push(c),
        }
    }
    done.push(current);
    Some(done)
}

/// Reads the rest of a quoted string after its first quote. Returns it with its quotes.
fn quoted(chars: &mut impl Iterator<Item = char>) -> Option<String> {
    let mut text = String::from('"');
    loop {
        let c = chars.next()?;
        text.push(c);
        match c {
            '"' => return Some(text),
            '\\' => text.push(chars.next()?),
            _ => {}
        }
    }
}

/// Reads the rest of a comment after its first parenthesis.
fn skip_comment(chars: &mut impl Iterator<Item = char>) -> Option<()> {
    let mut depth = 1_usize;
    while depth > 0 {
        match chars.next()? {
            '(' => depth += 1,
            ')' => depth -= 1,
            '\\' => _ = chars.next()?,
            _ => {}
        }
    }
    Some(())
}

/// The first address among the words of `text`. Spaces around a dot and an at-sign are obsolete syntax and removed.
fn addr_spec(text: &str) -> Option<String> {
    let mut words: Vec<String> = Vec::new();
    let mut quotes = Quotes::default();
    for word in text.split(|c: char| quotes.is_outside(c) && c.is_whitespace()).filter(|word| !word.is_empty()) {
        match words.last_mut() {
            Some(last) if last.ends_with(['.', '@']) || word.starts_with(['.', '@']) => last.push_str(word),
            _ => words.push(word.to_owned()),
        }
    }
    words.into_iter().find(|word| is_addr_spec(word))
}

/// Whether a word has exactly one at-sign outside quotes, text on both sides, and no control character.
fn is_addr_spec(word: &str) -> bool {
    let mut quotes = Quotes::default();
    let mut sides = word.split(|c: char| quotes.is_outside(c) && c == '@');
    let is_address = matches!((sides.next(), sides.next(), sides.next()), (Some(local), Some(domain), None)
        if !local.is_empty() && !domain.is_empty());
    is_address && !word.contains(char::is_control)
}

/// Tracks whether a position in a text is quoted.
#[derive(Debug, Default)]
struct Quotes {
    is_quoted: bool,
    is_escaped: bool,
}

impl Quotes {
    /// Reads the next character. Returns whether it is outside quoted strings.
    fn is_outside(&mut self, c: char) -> bool {
        if self.is_escaped {
            self.is_escaped = false;
            return false;
        }
        let was_quoted = self.is_quoted;
        self.is_quoted ^= c == '"';
        self.is_escaped = was_quoted && c == '\\';
        !was_quoted
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn first_address(value: &str) -> Option<String> {
        mailboxes(value).into_iter().next().map(|(_, address)| address)
    }

    #[test]
    fn the_address_alone_is_taken() {
        for (value, expected) in [
            ("Ann <ann@example.test>", Some("ann@example.test")),
            ("ann@example.test (Ann)", Some("ann@example.test")),
            ("\"B, Ann\" <ann@example.test>, bob@example.test", Some("ann@example.test")),
            ("\"Ann <fake@x.test>\" <ann@example.test>", Some("ann@example.test")),
            ("Fake@x.test <ann@example.test>", Some("ann@example.test")),
            ("=?utf-8?q?=C3=84nn?= <ann@example.test>", Some("ann@example.test")),
            ("Team: ann@example.test, bob@example.test;", Some("ann@example.test")),
            ("Nobody <>, bob@example.test", Some("bob@example.test")),
            ("a@bücher.test", Some("a@bücher.test")),
            ("MAILER-DAEMON", None),
            ("undisclosed:;", None),
            ("=?utf-8?q?ann=40example.test?=", None),
            ("", None),
        ] {
            assert_eq!(first_address(value).as_deref(), expected, "{value}");
        }
    }

    /// mail-parser shows `"ann b"@example.test` as `@example.test`.
    #[test]
    fn quoted_local_parts_keep_their_quotes() {
        for (value, expected) in [
            ("\"ann b\"@example.test", "\"ann b\"@example.test"),
            ("<\"a..b\"@example.test>", "\"a..b\"@example.test"),
            ("Ann \"a@b,c\\\"\"@example.test", "\"a@b,c\\\"\"@example.test"),
            ("Team: \"a:b;<c>\"@example.test;", "\"a:b;<c>\"@example.test"),
        ] {
            assert_eq!(first_address(value).as_deref(), Some(expected), "{value}");
        }
    }

    #[test]
    fn what_is_malformed_gives_the_address_in_it_or_none() {
        for (value, expected) in [
            ("ann @ example . test", Some("ann@example.test")),
            ("(c) ann(d)@(e (f))example.test", Some("ann@example.test")),
            ("<@a.test,@b.test:ann@example.test>", Some("ann@example.test")),
            ("<<ann@example.test>>", Some("ann@example.test")),
            ("Ann ann@example.test", Some("ann@example.test")),
            ("Ann <ann@example.test", Some("ann@example.test")),
            ("<ann@example.test Bcc: x>", None),
            ("\"Ann <ann@example.test>", Some("ann@example.test")),
            ("Ann :( <ann@example.test>", Some("ann@example.test")),
            ("<mailto:ann@example.test>", Some("ann@example.test")),
            ("ann@[IPv6:2001:db8::1]", Some("ann@[IPv6:2001:db8::1]")),
            ("@example.test", None),
            ("ann@", None),
            ("a@b@c", None),
            ("\"a@b\"", None),
            ("<script>@example.test", None),
            ("an\u{1b}n@example.test", None),
        ] {
            assert_eq!(first_address(value).as_deref(), expected, "{value}");
        }
    }

    #[test]
    fn each_mailbox_has_its_name() {
        for (value, expected) in [
            ("ann@example.test", vec![("", "ann@example.test")]),
            ("Ann <ann@example.test>, bob@example.test", vec![("Ann", "ann@example.test"), ("", "bob@example.test")]),
            (
                "\"B, \\\"Ann\\\"\"  Lee <ann@example.test>,<bob@example.test>",
                vec![("B, \"Ann\" Lee", "ann@example.test"), ("", "bob@example.test")],
            ),
            (
                "Team: Ann <ann@example.test>, bob@example.test;",
                vec![("Ann", "ann@example.test"), ("", "bob@example.test")],
            ),
            ("undisclosed-recipients:;", vec![]),
            ("Nobody, Ann (x) <ann@example.test>", vec![("Ann", "ann@example.test")]),
            ("", vec![]),
        ] {
            let expected: Vec<_> = expected.into_iter().map(|(n, a)| (n.to_owned(), a.to_owned())).collect();
            assert_eq!(mailboxes(value), expected, "{value}");
        }
    }

    proptest! {
        #[test]
        fn any_value_gives_an_address_on_one_line_or_none(value in "[a@\"\\\\()<>,;:.\\[ \r\n\\PC]{0,40}") {
            if let Some(address) = first_address(&value) {
                prop_assert!(is_addr_spec(&address), "{}", address);
            }
        }
    }
}
