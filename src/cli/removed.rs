//! Commands and flags that were there before, and what to do instead. Rows leave with the next release.

use std::ffi::{OsStr, OsString};

use clap::error::ContextKind;

use crate::error::Error;

/// The words of a command line, the last of which the program does not know any more, and what to do instead.
const REMOVED: &[(&str, &str)] = &[
    ("--jq", "pipe the output of --json into `jq`"),
    ("context", CONTEXTS),
    ("--context", CONTEXTS),
    ("db compact", "the service frees space by itself"),
    ("db stats", "`tempmail status --all` shows it"),
    ("send-test --count", "a loop of the shell sends several"),
    ("completions elvish", SHELLS),
    ("completions powershell", SHELLS),
    ("expect --html-has", "assert on what a reader sees, with --text, --link-host or --code"),
    ("expect --report", "the test runner that starts `expect` writes reports, such as bats, prove or pytest"),
    ("export", "`inbox -o id` lists the mail, and `read --raw` prints each as it was received"),
    ("import", "`send-test ADDR --file FILE` puts a message into an inbox"),
];
/// What replaces contexts.
pub(super) const CONTEXTS: &str = "set TEMPMAIL_SERVER and TEMPMAIL_TOKEN, or give --server and --token-file";

/// What remains of completions.
const SHELLS: &str = "there are completions for bash, fish and zsh";

const NO_PATTERNS: &str = "patterns have gone: give a part of the text as it is";

/// The error of a command line; one about something that was removed says what to do instead.
pub(super) fn explained(error: clap::Error, args: &[OsString]) -> clap::Error {
    let told = |kind| error.get(kind).map(ToString::to_string).unwrap_or_default();
    let is_about = |words: &str| {
        let (before, last) = words.rsplit_once(' ').unwrap_or(("", words));
        let is_refused = match last {
            flag if flag.starts_with('-') => told(ContextKind::InvalidArg) == flag,
            // `tempmail token export` is about `token`.
            command if before.is_empty() => {
                told(ContextKind::InvalidSubcommand) == command && told(ContextKind::Usage).contains("tempmail [")
            }
            word => [ContextKind::InvalidSubcommand, ContextKind::InvalidValue].map(told).contains(&word.to_owned()),
        };
        let mut args = args.iter();
        is_refused && before.split_whitespace().all(|word| args.any(|arg| arg == OsStr::new(word)))
    };
    match REMOVED.iter().find(|(words, _)| is_about(words)) {
        Some((words, instead)) => clap::Error::raw(error.kind(), sentence(words, instead) + "\n"),
        None => error,
    }
}

/// The sentence about what was removed.
pub(super) fn sentence(what: &str, instead: &str) -> String {
    format!("`{what}` has gone: {instead}")
}

/// A part of a text, in which nothing stands for anything else. What can only be a pattern is refused.
pub(super) fn no_pattern(text: &str) -> Result<String, String> {
    let is_pattern = text.contains(['\\', '*']) || text.contains(".+");
    if is_pattern { Err(NO_PATTERNS.to_owned()) } else { Ok(text.to_owned()) }
}

/// What is said where no mail may be as expected and one of the texts may be a pattern. It would be looked for as it is
/// written, and the expectation would hold without a word.
pub(super) fn refuse_possible_patterns<'a>(mut texts: impl Iterator<Item = &'a String>) -> Result<(), Error> {
    match texts.find(|text| text.contains(['^', '$', '+', '?', '[', ']', '{', '}', '|', '(', ')'])) {
        Some(text) => Err(Error::usage(format!("'{text}' may be a pattern; {NO_PATTERNS}"))
            .hint("with --no-mail-within, give a part without ^ $ + ? [ ] { } | ( )")),
        None => Ok(()),
    }
}
