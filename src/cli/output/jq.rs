//! `--jq`: an expression in the language of jq, over the JSON that a command prints.

use std::cell::RefCell;
use std::fmt;

use jaq_core::compile::{Compiler, Undefined};
use jaq_core::data::JustLut;
use jaq_core::load::{Arena, Error as LoadError, File, Loader, parse, span};
use jaq_core::{Ctx, Filter, Native, Vars};
use jaq_json::{Val, read};

use super::visible;
use crate::error::{Error, Exit};

/// The most characters of an error; it may quote a mail.
const ERROR_CHARS_MAX: usize = 300;

/// What an expression does without: it reads no environment and no files, which a time zone needs, ends no process, and writes
/// nothing but its results.
const LEFT_OUT: [&str; 10] = [
    "env",
    "halt",
    "halt_error",
    "stderr",
    "stderr_empty",
    "debug",
    "debug_empty",
    "localtime",
    "strflocaltime",
    "strptime",
];

/// Formats of jq that the crates do not have.
const FORMATS: &str = r#"
def @csv: map(
    if isstring then "\"" + (split("\"") | join("\"\"")) + "\"" elif . == null then ""
    elif isarray or isobject then error("a field of @csv is a single value") else tostring end) | join(",");
def @tsv: map(
    if isstring then split("\\") | join("\\\\") | split("\t") | join("\\t") | split("\n") | join("\\n") | split("\r") | join("\\r")
    elif . == null then ""
    elif isarray or isobject then error("a field of @tsv is a single value") else tostring end) | join("\t");
"#;

type Data = JustLut<Val>;

/// A compiled expression, and the JSON that it has not seen yet.
pub struct Jq {
    filter: Filter<Data>,
    begun: RefCell<Vec<u8>>,
}

impl fmt::Debug for Jq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jq").finish_non_exhaustive()
    }
}

impl Jq {
    /// Compiles an expression. The error is one of the command line.
    pub fn compile(expression: &str) -> Result<Self, Error> {
        let formats = parse(FORMATS, |parser| parser.defs()).unwrap_or_default();
        let defs = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs()).chain(formats);
        let funs = jaq_core::funs::<Data>().chain(jaq_std::funs()).chain(jaq_json::funs());
        let arena = Arena::default();
        let file = File { code: expression, path: () };
        let modules = Loader::new(defs.filter(|def| !LEFT_OUT.contains(&def.name)))
            .load(&arena, file)
            .map_err(|errors| wrong(expression, errors.iter().find_map(|(_, error)| of_load(expression, error))))?;
        let filter = Compiler::<_, Native<Data>>::default()
            .with_funs(funs.filter(|(name, ..)| !LEFT_OUT.contains(name)))
            .compile(modules)
            .map_err(|errors| {
                let first = errors.iter().flat_map(|(_, errors)| errors).next();
                wrong(expression, first.map(|(name, undefined)| (*name, unknown(name, undefined))))
            })?;
        Ok(Self { filter, begun: RefCell::default() })
    }

    /// Hands a piece of JSON text to the expression. `print` gets each result as a line.
    ///
    /// Every JSON text of this program ends with a line end, and a piece that has none ends within a text. Such a piece
    /// is kept until the rest comes.
    pub fn feed(
        &self,
        piece: &[u8],
        is_terminal: bool,
        mut print: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut begun = self.begun.borrow_mut();
        begun.extend_from_slice(piece);
        if !begun.ends_with(b"\n") {
            return Ok(());
        }
        for value in read::parse_many(&std::mem::take(&mut *begun)) {
            let value = value.map_err(|error| failed(&error))?;
            let context = Ctx::<Data>::new(&self.filter.lut, Vars::new([]));
            for result in self.filter.id.run((context, value)) {
                let result = result.map_err(|thrown| match thrown.get_err() {
                    Ok(error) => failed(&error),
                    Err(_) => failed(&"it left the expression"),
                })?;
                print(&line(&result, is_terminal))?;
            }
        }
        Ok(())
    }
}

/// A string as it is, any other value as compact JSON.
fn line(value: &Val, is_terminal: bool) -> Vec<u8> {
    match value {
        Val::TStr(text) => {
            let mut line = visible::octets(text, is_terminal).into_owned();
            if !is_terminal {
                line.push(b'\n');
            }
            line
        }
        value => (visible::json(&value.to_string()) + "\n").into_bytes(),
    }
}

/// Where loading failed, and what was expected there.
fn of_load<'a>(expression: &'a str, error: &LoadError<&'a str>) -> Option<(&'a str, String)> {
    match error {
        LoadError::Io(errors) => errors.first().map(|(path, _)| (*path, "modules cannot be read".to_owned())),
        LoadError::Lex(errors) => {
            errors.first().map(|(expected, found)| (*found, format!("expected: {}", expected.as_str())))
        }
        LoadError::Parse(errors) => errors.first().map(|(expected, found)| {
            let found = if found.is_empty() { &expression[expression.len()..] } else { *found };
            (found, format!("expected: {}", expected.as_str()))
        }),
    }
}

fn unknown(name: &str, undefined: &Undefined) -> String {
    let arguments = match undefined {
        Undefined::Filter(count @ 1..) => format!("/{count}"),
        _ => String::new(),
    };
    format!("no {} {name}{arguments} is known", undefined.as_str())
}

/// `found` is the part of the expression where it goes wrong, with the reason.
fn wrong(expression: &str, found: Option<(&str, String)>) -> Error {
    let (found, reason) = found.unwrap_or((expression, "it is no expression".to_owned()));
    let at = expression.get(..span(expression, found).start).map_or(0, |before| before.chars().count());
    Error::usage(format!("--jq, character {}: {reason}", at + 1))
        .hint("`tempmail help commands` has examples; the language is that of jq")
}

fn failed(error: &dyn fmt::Display) -> Error {
    let text = error.to_string();
    let cut = match text.char_indices().nth(ERROR_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    };
    Error::new(Exit::Failure, format!("--jq: {cut}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(expression: &str, pieces: &[&str], is_terminal: bool) -> Result<String, Error> {
        let jq = Jq::compile(expression)?;
        let mut printed = Vec::new();
        for piece in pieces {
            jq.feed(piece.as_bytes(), is_terminal, |line| {
                printed.extend_from_slice(line);
                Ok(())
            })?;
        }
        Ok(String::from_utf8(printed).expect("UTF-8"))
    }

    #[test]
    fn strings_are_raw_and_other_values_compact() {
        let text = "{\"a\": [\"x\\ty\", 1, null, {\"b\": [true, 1.5]}]}\n";
        assert_eq!(results(".a[]", &[text], false).expect("results"), "x\ty\n1\nnull\n{\"b\":[true,1.5]}\n");
        let fields = "[1, \"a\\\"b\", null, \"c\\t\\\\\\n\", true]\n";
        assert_eq!(
            results("@csv, @tsv", &[fields], false).expect("results").as_str(),
            "1,\"a\"\"b\",,\"c\t\\\n\",true\n1\ta\"b\t\tc\\t\\\\\\n\ttrue\n"
        );
    }

    #[test]
    fn a_text_may_come_in_pieces_and_a_piece_may_have_several() {
        let pieces = ["{\"a\": [\n  1", ",\n  2", "\n]}\n", "{\"a\":[3]}\n{\"a\":[]}\n"];
        assert_eq!(results(".a | length", &pieces, false).expect("results"), "2\n1\n0\n");
    }

    #[test]
    fn a_terminal_gets_no_characters_that_steer_it() {
        let text = "[\"a\\u001b[2Jb\", {\"c\": \"\\u001b\\u009b\"}]\n";
        assert_eq!(results(".[]", &[text], true).expect("results"), "a␛[2Jb\n{\"c\":\"\\u001b\\u009b\"}\n");
        assert_eq!(results(".[0]", &[text], false).expect("results"), "a\u{1b}[2Jb\n");
    }

    #[test]
    fn a_wrong_expression_is_one_of_the_command_line() {
        for (expression, said) in [
            (".a | (", "character 7: expected: closing parenthesis"),
            (".a |", "character 5: expected: term"),
            ("\"é\" | nonsense(1)", "character 7: no filter nonsense/1 is known"),
            ("$secret", "character 1: no variable $secret is known"),
            ("import \"/etc/passwd\" as x; .", "modules cannot be read"),
            ("", "expected: term"),
        ] {
            let error = Jq::compile(expression).expect_err(expression);
            assert_eq!(error.exit(), Exit::Usage);
            assert!(error.to_string().contains(said), "{expression}: {error}");
        }
    }

    #[test]
    fn an_expression_reads_no_environment_and_ends_no_process() {
        for name in LEFT_OUT.iter().copied().chain(["$ENV", "input", "inputs", "halt(0)", "halt_error(1)", "debug(1)"])
        {
            assert!(Jq::compile(name).is_err(), "{name}");
        }
        assert!(Jq::compile("now, fromdate, todate, test(\"a\"), @base64d, ascii_downcase, splits(\",\")").is_ok());
    }

    #[test]
    fn an_error_while_it_runs_is_short() {
        let text = format!("{{\"a\": \"{}\"}}\n", "x".repeat(5_000));
        let error = results(".a | keys", &[&text], false).expect_err("an error");
        assert_eq!(error.exit(), Exit::Failure);
        assert!(error.to_string().chars().count() < 320, "{error}");
        assert!(results("error(\"why\")", &["1\n"], false).expect_err("an error").to_string().contains("why"));
        assert!(results(".", &["{nonsense\n"], false).is_err());
    }
}
