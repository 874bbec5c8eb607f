//! The mailboxes in a field of addresses (RFC 5322 section 3.4, with its obsolete forms), as written there.
//!
//! The parser of addresses in mail-parser is not used. It drops a quoted local part without brackets, keeps source
//! routes, spaces and words beside an address, and takes quadratic time for encoded words that never end.

use serde::Serialize;

/// A mailbox in a header field (RFC 5322 section 3.4).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NamedAddress {
    /// The display name, decoded; empty if there is none.
    pub name: String,
    /// The `local-part@domain` as written.
    pub address: String,
}

/// The mailboxes with an address: the display name, empty if there is none, and the `local-part@domain`.
pub(super) fn mailboxes(value: &str) -> Vec<(String, String)> {
    let (mut mailboxes, mut outside, mut inside, mut is_open) = (Vec::new(), Vec::new(), None, false);
    for token in tokens(value) {
        let text = inside.as_mut().filter(|_| is_open).unwrap_or(&mut outside);
        match token {
            "<" => (inside, is_open) = (Some(Vec::new()), true),
            ">" => is_open = false,
            "," | ";" if !is_open => mailboxes.extend(mailbox(&std::mem::take(&mut outside), inside.take())),
            // The text before the colon is the name of a group or a source route, except in a domain literal.
            ":" if !text.contains(&"[") => text.clear(),
            token => text.push(token),
        }
    }
    mailboxes.extend(mailbox(&outside, inside));
    mailboxes
}

/// The quoted strings, runs of letters and digits, and other characters of a field, with a space for each comment.
fn tokens(value: &str) -> Vec<&str> {
    let (mut tokens, mut rest) = (Vec::with_capacity(value.len()), value);
    // A quote or parenthesis that is never closed counts as a plain character, and so do the later ones.
    let mut unclosed = Vec::new();
    while let Some(c) = rest.chars().next() {
        let letters = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let mut length = letters.max(c.len_utf8());
        if matches!(c, '"' | '(') && !unclosed.contains(&c) {
            match enclosed(rest) {
                Some(enclosed) => length = enclosed,
                None => unclosed.push(c),
            }
        }
        let (token, after) = rest.split_at(length);
        tokens.push(if c == '(' && length > 1 { " " } else { token });
        rest = after;
    }
    tokens
}

/// The length of the quoted string or comment with which a text begins; `None` if it never ends.
fn enclosed(text: &str) -> Option<usize> {
    let is_quoted = text.starts_with('"');
    let (mut depth, mut is_escaped) = (0_usize, false);
    for (at, c) in text.char_indices() {
        depth = match c {
            _ if is_escaped => depth,
            '"' if is_quoted => 1 - depth,
            '(' if !is_quoted => depth + 1,
            ')' if !is_quoted => depth - 1,
            _ => depth,
        };
        is_escaped = c == '\\' && !is_escaped;
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// The mailbox of the tokens outside and inside of angle brackets; `None` if it has no address.
fn mailbox(outside: &[&str], inside: Option<Vec<&str>>) -> Option<(String, String)> {
    match inside {
        Some(inside) => Some((phrase(outside), addr_spec(&inside)?)),
        None => Some((String::new(), addr_spec(outside)?)),
    }
}

/// A display name without the quotes of its quoted strings, and with single spaces.
fn phrase(tokens: &[&str]) -> String {
    let mut phrase = String::new();
    for token in tokens {
        let is_quoted = token.len() > 1 && token.starts_with('"');
        let mut chars = token.chars();
        while let Some(c) = chars.next() {
            match c {
                '"' => {}
                '\\' if is_quoted => phrase.extend(chars.next()),
                c => phrase.push(c),
            }
        }
    }
    phrase.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first address among the words of a text. Spaces around a dot and an at-sign are obsolete syntax and removed.
fn addr_spec(tokens: &[&str]) -> Option<String> {
    let words = tokens.split(|token| token.trim().is_empty()).filter(|word| !word.is_empty());
    let mut joined: Vec<Vec<&str>> = Vec::new();
    for word in words {
        let is_joint = |token: Option<&&str>| matches!(token, Some(&("." | "@")));
        match joined.last_mut() {
            Some(last) if is_joint(last.last()) || is_joint(word.first()) => last.extend(word),
            _ => joined.push(word.to_vec()),
        }
    }
    joined.into_iter().find(|word| is_addr_spec(word)).map(|word| word.concat())
}

/// Whether a word has exactly one at-sign outside quotes, text on both sides, no parenthesis, and no control character.
fn is_addr_spec(word: &[&str]) -> bool {
    let sides: Vec<_> = word.split(|token| *token == "@").collect();
    sides.len() == 2
        && sides.iter().all(|side| !side.is_empty())
        && !word.iter().any(|token| *token == "(" || token.contains(char::is_control))
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
                prop_assert!(is_addr_spec(&tokens(&address)), "{}", address);
            }
        }
    }
}
