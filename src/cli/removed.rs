//! Commands and flags that were there before, and what to do instead. Rows leave with the next release.

use std::ffi::{OsStr, OsString};

use clap::error::ContextKind;

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

/// The error of a command line; one about something that was removed says what to do instead.
pub(super) fn explained(error: clap::Error, args: &[OsString]) -> clap::Error {
    let kinds = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg, ContextKind::InvalidValue];
    let refused: Vec<String> = kinds.into_iter().filter_map(|kind| error.get(kind)).map(ToString::to_string).collect();
    let is_about = |words: &str| {
        let (before, last) = words.rsplit_once(' ').unwrap_or(("", words));
        let mut args = args.iter();
        refused.iter().any(|word| word == last)
            && before.split_whitespace().all(|word| args.any(|arg| arg == OsStr::new(word)))
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

/// A part of a text, in which nothing stands for anything else. A pattern would be looked for as it is written, and
/// `--no-mail-within` would hold without a word.
pub(super) fn no_pattern(text: &str) -> Result<String, String> {
    let is_pattern = text.contains(['\\', '*']) || text.contains(".+");
    if is_pattern {
        Err("patterns have gone: give a part of the text as it is".to_owned())
    } else {
        Ok(text.to_owned())
    }
}
