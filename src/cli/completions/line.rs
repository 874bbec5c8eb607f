//! The words of a command line as a shell would read them, without running anything.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;

/// The words of `line`. The last one is at the cursor, and empty behind a blank.
///
/// Quotes and backslashes go, a `~` at the beginning of a word is the home, and variables of `env` have their values. Anything
/// else that a shell would expand stays as it is.
pub(super) fn words(line: &str, env: &BTreeMap<String, String>) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, quote) {
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, Some(open)) if c == open => quote = None,
            (c @ ('\'' | '"'), None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(rest.next()),
            ('$', None | Some('"')) => word.get_or_insert_default().push_str(&variable(&mut rest, env)),
            ('~', None) if word.is_none() && rest.peek().is_none_or(|c| *c == '/' || c.is_whitespace()) => {
                word = Some(env.get("HOME").cloned().unwrap_or_else(|| "~".to_owned()));
            }
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.push(word.unwrap_or_default());
    words
}

/// The value of the variable whose name comes behind a `$`; one that is not in `env` stays as it was written.
fn variable(rest: &mut Peekable<Chars<'_>>, env: &BTreeMap<String, String>) -> String {
    let has_brace = rest.next_if_eq(&'{').is_some();
    let mut name = String::new();
    while let Some(c) = rest.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
        name.push(c);
    }
    let is_whole = !has_brace || rest.next_if_eq(&'}').is_some();
    let value = env.get(&name).filter(|_| is_whole);
    value.cloned().unwrap_or_else(|| match (has_brace, is_whole) {
        (false, _) => format!("${name}"),
        (true, true) => format!("${{{name}}}"),
        (true, false) => format!("${{{name}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_a_shell() {
        let env = [("HOME", "/home/ann"), ("DIR", "/a b"), ("EMPTY", "")];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        for (line, expected) in [
            ("", &[""][..]),
            ("tempmail ", &["tempmail", ""]),
            ("  tempmail  inbox an", &["tempmail", "inbox", "an"]),
            ("x 'a b' \"c d\"e f\\ g", &["x", "a b", "c de", "f g"]),
            ("x '' \"\" '", &["x", "", "", ""]),
            ("x 'ann@ex", &["x", "ann@ex"]),
            ("x \"a\\\"b' '\" 'a\\'", &["x", "a\"b' '", "a\\"]),
            ("x ~ ~/d a~ '~' ~bob", &["x", "/home/ann", "/home/ann/d", "a~", "~", "~bob"]),
            ("x $DIR/c \"${DIR}\"d '$DIR' $EMPTY", &["x", "/a b/c", "/a bd", "$DIR", ""]),
            ("x $(touch y) `z` $NO ${NO} ${NO $", &["x", "$(touch", "y)", "`z`", "$NO", "${NO}", "${NO", "$"]),
            ("x \\", &["x", ""]),
        ] {
            assert_eq!(words(line, &env), expected, "{line}");
        }
    }
}
