//! Style sheets that load nothing.
//!
//! The sheet is read as tokens and written again, so an escape hides nothing. A function that is not in [`FUNCTIONS`], and
//! every address, becomes `none`. A rule that begins with `@`, except for `@media`, gets a name that browsers ignore.

use cssparser::{ParseError, Parser, ToCss, Token, TokenSerializationType};

/// Functions that are kept: colours, lengths, gradients, transformations and selectors.
const FUNCTIONS: &str = "rgb rgba hsl hsla calc min max clamp var linear-gradient radial-gradient \
    repeating-linear-gradient repeating-radial-gradient -webkit-linear-gradient matrix rotate scale scalex scaley skew \
    translate translatex translatey cubic-bezier steps blur brightness opacity not is where lang dir nth-child \
    nth-last-child nth-of-type nth-last-of-type repeat minmax fit-content";
/// Blocks that are nested deeper than this are left out.
const DEPTH_MAX: usize = 16;

/// The style sheet, or the content of an attribute `style`, without what loads anything. It has no `<`.
pub(super) fn filtered(css: &str) -> String {
    let mut filter = Filter { css: String::with_capacity(css.len()), last: TokenSerializationType::Nothing };
    filter.copy(&mut Parser::new(css), 0);
    filter.css
}

struct Filter {
    css: String,
    /// The kind of the last token. Some would become one token with the next.
    last: TokenSerializationType,
}

impl Filter {
    fn copy(&mut self, parser: &mut Parser<'_>, depth: usize) {
        while let Ok(token) = parser.next_including_whitespace() {
            let token = token.clone();
            let end = match &token {
                Token::Function(name) if !is_kept(name) => {
                    self.write(&Token::Ident("none".into()));
                    continue;
                }
                Token::Function(_) | Token::ParenthesisBlock => ")",
                Token::SquareBracketBlock => "]",
                Token::CurlyBracketBlock => "}",
                Token::UnquotedUrl(_) | Token::BadUrl(_) => {
                    self.write(&Token::Ident("none".into()));
                    continue;
                }
                Token::AtKeyword(name) if !name.eq_ignore_ascii_case("media") => {
                    self.write(&Token::AtKeyword("removed".into()));
                    continue;
                }
                Token::CDO
                | Token::CDC
                | Token::Delim('<')
                | Token::BadString(_)
                | Token::CloseParenthesis
                | Token::CloseSquareBracket
                | Token::CloseCurlyBracket => continue,
                token => {
                    self.write(token);
                    continue;
                }
            };
            self.write(&token);
            if depth < DEPTH_MAX {
                // The closure never fails. The parser itself may, for blocks that are nested too deep.
                let _: Result<(), ParseError<()>> = parser.parse_nested_block(|inner| {
                    self.copy(inner, depth + 1);
                    Ok(())
                });
            }
            self.css.push_str(end);
            self.last = TokenSerializationType::Nothing;
        }
    }

    fn write(&mut self, token: &Token<'_>) {
        let mut written = token.to_css_string();
        if written.contains('<') {
            let Token::QuotedString(_) = token else { return };
            // Within a string a browser reads the escape as the same character.
            written = written.replace('<', "\\3c ");
        }
        let kind = token.serialization_type();
        if self.last.needs_separator_when_before(kind) {
            self.css.push_str("/**/");
        }
        self.last = kind;
        self.css.push_str(&written);
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
            assert_eq!(filtered(css).replace("0.5", ".5"), css);
        }
    }

    #[test]
    fn whatever_loads_is_replaced() {
        for (css, expected) in [
            ("background:url(http://x)", "background:none"),
            ("background:url('http://x')", "background:none"),
            ("background:\\75\\72\\6c(http://x)", "background:none"),
            ("background:u\\rl(\"http://x\")", "background:none"),
            ("background:url/**/(x)", "background:url/**/(x)"),
            ("background:url(http://x", "background:none"),
            ("background:url(a b)", "background:none"),
            ("background:image-set(\"http://x\" 1x)", "background:none"),
            ("background:-webkit-image-set(url(x) 1x)", "background:none"),
            ("--a:url(x)", "--a:none"),
            ("width:expression(alert(1))", "width:none"),
            ("@import \"http://x\";a{}", "@removed \"http://x\";a{}"),
            ("@\\69mport url(x);a{}", "@removed none;a{}"),
            ("@font-face{src:url(x)}", "@removed{src:none}"),
            ("<!--a{}-->", "a{}"),
            ("a{content:\"</style><script>\"}", "a{content:\"\\3c /style>\\3c script>\"}"),
            ("}a{", "a{}"),
        ] {
            assert_eq!(filtered(css), expected, "{css}");
        }
    }

    #[test]
    fn deep_nesting_ends() {
        for open in ["(", "{", "[", "calc("] {
            assert!(filtered(&open.repeat(100_000)).len() <= 2 * DEPTH_MAX * 6);
        }
    }

    proptest! {
        #[test]
        fn nothing_loads_and_nothing_ends_the_element(
            css in "(url\\(|image\\(|src\\(|@import|@media|expression\\(|\\\\75 ?rl\\(|/\\*|\\*/|</style|<!--|[a-z'\"(){}\\[\\]\\\\;:@# \n]|\\PC){0,40}",
        ) {
            let once = filtered(&css);
            prop_assert!(!once.contains('<'), "{}", once);
            // Whatever the filter removes is not in what it wrote.
            prop_assert_eq!(filtered(&once).replace("/**/", ""), once.replace("/**/", ""));
        }
    }
}
