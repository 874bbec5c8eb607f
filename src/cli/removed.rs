//! Commands and flags that were there before, and what to do instead. Rows leave with the next release.

use std::ffi::{OsStr, OsString};

use clap::error::{ContextKind, ContextValue};

/// The words of a command line, the last of which the program does not know any more, and what to do instead.
const REMOVED: &[(&str, &str)] = &[
    ("--jq", "pipe the output of --json into `jq`"),
    ("context", CONTEXTS),
    ("--context", CONTEXTS),
    ("expect --html-has", "assert on what a reader sees, with --text, --link-host or --code"),
    ("expect --report", "the test runner that starts `expect` writes reports, such as bats, prove or pytest"),
    ("export", "`inbox -o id` lists the mail, and `read --raw` prints each as it was received"),
    ("import", "`send-test ADDR --file FILE` puts a message into an inbox"),
];
/// What replaces contexts.
pub(super) const CONTEXTS: &str = "set TEMPMAIL_SERVER and TEMPMAIL_TOKEN, or give --server and --token-file";

/// The error of a command line; one about something that was removed says what to do instead.
pub(super) fn explained(error: clap::Error, args: &[OsString]) -> clap::Error {
    let refused = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg, ContextKind::InvalidValue]
        .into_iter()
        .find_map(|kind| error.get(kind));
    let Some(ContextValue::String(refused)) = refused else { return error };
    let is_about = |words: &str| {
        let (before, last) = words.rsplit_once(' ').unwrap_or(("", words));
        let mut args = args.iter();
        last == refused && before.split_whitespace().all(|word| args.any(|arg| arg == OsStr::new(word)))
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
