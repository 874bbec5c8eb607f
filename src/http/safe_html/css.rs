//! Style sheets that load nothing.
//!
//! What a browser would read as an address or as an unknown function becomes `none`, whatever escapes it is written with.
//! A rule that begins with `@`, except for `@media`, gets a name that browsers ignore. The rest stays as it is written.

use cssparser::{ParseError, Parser, Token};

/// Functions that are kept: colours, lengths, gradients, transformations and selectors.
const FUNCTIONS: &str = "rgb rgba hsl hsla calc min max clamp var linear-gradient radial-gradient \
    repeating-linear-gradient repeating-radial-gradient -webkit-linear-gradient matrix rotate scale scalex scaley skew \
    translate translatex translatey cubic-bezier steps blur brightness opacity not is where lang dir nth-child \
    nth-last-child nth-of-type nth-last-of-type repeat minmax fit-content";

/// The style sheet, or the content of an attribute `style`, without what loads anything. It has no `<`.
pub(super) fn filtered(css: &str) -> String {
    let mut kept = String::with_capacity(css.len());
    copy(&mut Parser::new(css), &mut kept);
    // Within a string a browser reads the escape as the same character.
    kept.replace('<', "\\3c ")
}

fn copy(parser: &mut Parser<'_>, css: &mut String) {
    loop {
        let start = parser.position();
        let Ok(token) = parser.next_including_whitespace_and_comments() else { return };
        let replacement = replacement(token);
        let end = match token {
            Token::Function(_) | Token::ParenthesisBlock => ")",
            Token::SquareBracketBlock => "]",
            Token::CurlyBracketBlock => "}",
            _ => "",
        };
        css.push_str(replacement.unwrap_or(parser.slice_from(start)));
        if end.is_empty() {
            continue;
        }
        // What is in a block is read here even if it is left out: otherwise it would go with the next token. The closure
        // never fails. The parser does for blocks that are nested too deep, and goes on within them.
        let _: Result<(), ParseError<()>> = parser.parse_nested_block(|inner| {
            if replacement.is_none() {
                copy(inner, css);
            }
            Ok(())
        });
        if replacement.is_none() {
            css.push_str(end);
        }
    }
}

/// What is written instead of a token. The blank keeps the tokens around it apart.
fn replacement(token: &Token<'_>) -> Option<&'static str> {
    match token {
        Token::Function(name) if !is_kept(name) => Some("none "),
        Token::UnquotedUrl(_) | Token::BadUrl(_) => Some("none "),
        Token::AtKeyword(name) if !name.eq_ignore_ascii_case("media") => Some("@removed "),
        // Old mails have the marks of a comment of HTML around their sheets.
        Token::CDO | Token::CDC | Token::Delim('<') => Some(" "),
        _ => None,
    }
}

fn is_kept(function: &str) -> bool {
    FUNCTIONS.split_whitespace().any(|kept| kept.eq_ignore_ascii_case(function))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn looks_are_kept() {
        for css in [
            "color:#fff;margin:0 auto;width:50%",
            "@media screen and (max-width:600px){.a > b{width:100%!important}}",
            "background:linear-gradient(rgba(0,0,0,.5),red)",
            "a:not(.b)::before{content:\"\\\"x\"}",
            "font-family:Arial, \"Segoe UI\"",
        ] {
            assert_eq!(filtered(css), css);
        }
    }

    #[test]
    fn whatever_loads_is_replaced() {
        for (css, expected) in [
            ("background:url(http://x)", "background:none "),
            ("background:url('http://x')", "background:none "),
            ("background:\\75\\72\\6c(http://x)", "background:none "),
            ("background:u\\rl(\"http://x\")", "background:none "),
            ("background:url/**/(x)", "background:url/**/(x)"),
            ("background:url(http://x", "background:none "),
            ("background:url(a b)", "background:none "),
            ("a:url('http://x') b;c:d", "a:none  b;c:d"),
            ("a:expression(url(x) @import) b", "a:none  b"),
            ("background:image-set(\"http://x\" 1x)", "background:none "),
            ("background:-webkit-image-set(url(x) 1x)", "background:none "),
            ("--a:url(x)", "--a:none "),
            ("width:expression(alert(1))", "width:none "),
            ("@import \"http://x\";a{}", "@removed  \"http://x\";a{}"),
            ("@\\69mport url(x);a{}", "@removed  none ;a{}"),
            ("@font-face{src:url(x)}", "@removed {src:none }"),
            ("<!--a{}-->", " a{} "),
            ("@<!--import 'x'", "@ import 'x'"),
            ("@<import 'x'", "@ import 'x'"),
            ("<\\<rgb(1)", " none "),
            ("a{content:\"</style><script>\"}", "a{content:\"\\3c /style>\\3c script>\"}"),
            ("a{", "a{}"),
        ] {
            assert_eq!(filtered(css), expected, "{css}");
        }
    }

    #[test]
    fn deep_nesting_ends() {
        for open in ["(", "{", "[", "calc("] {
            assert!(filtered(&open.repeat(100_000)).len() <= 100_000 * (open.len() + 1));
        }
    }

    proptest! {
        #[test]
        fn nothing_loads_and_nothing_ends_the_element(
            css in "(url\\(|image\\(|src\\(|@import|@media|expression\\(|\\\\75 ?rl\\(|/\\*|\\*/|</style|<!--|[a-z'\"(){}\\[\\]\\\\;:@# \n]|\\PC){0,40}",
        ) {
            let once = filtered(&css);
            prop_assert!(!once.contains('<'), "{}", once);
            // Whatever the filter removes is not in what it wrote. What stays open is closed again, to no effect in a comment.
            let compared = |css: &str| css.replace(' ', "").trim_end_matches([')', ']', '}']).to_owned();
            prop_assert_eq!(compared(&filtered(&once)), compared(&once));
        }
    }
}
