//! `tempmail __complete LINE`: what may stand at the end of a command line, for the scripts of the shells.
//!
//! A line of the answer is a value, and behind a tab its description, if it has one. A line with no value but `file` or
//! `directory` behind its tab says that the shell completes the names of files or directories by itself.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

use clap::{Arg, Command};
use clap_complete::engine::{self, ArgValueCompleter, CompletionCandidate};
use tokio::runtime;

use super::super::{Context, Globals, guide};
use super::candidate::{self, candidate};
use super::line;
use super::values::{Values, look_up};
use crate::error::Error;

/// How long values may be looked for, so that a person does not wait.
const WITHIN: Duration = Duration::from_millis(150);
/// Marks a candidate for whose place the shell completes names of files.
const FILE: &str = "file";
/// The same for directories.
const DIRECTORY: &str = "directory";

/// Answer the script of a shell
#[derive(clap::Args, Debug)]
pub(in crate::cli) struct Complete {
    /// The command line up to the cursor
    #[arg(allow_hyphen_values = true)]
    line: OsString,
}

impl Complete {
    /// Prints what may stand at the cursor, in time whatever the service does.
    pub(in crate::cli) fn run(self, cx: &Context) -> Result<(), Error> {
        let mut words = line::words(&self.line.to_string_lossy(), &cx.env);
        let args: Vec<OsString> = words.iter().map(OsString::from).collect();
        let typed = words.pop().unwrap_or_default();
        let asked = Arc::new(Asked { words, env: cx.env.clone() });
        let mut tree = with_values(super::super::command(), false, &asked);
        let last = args.len().saturating_sub(1);
        // Where nothing may stand the engine has an error.
        let found = engine::complete(&mut tree, args, last, None).unwrap_or_default();
        let is_offered = |one: &&CompletionCandidate| {
            // The engine offers each flag where anything may stand.
            let is_flag = one.get_value().as_encoded_bytes().starts_with(b"-");
            !one.is_hide_set() && (typed.starts_with('-') || !is_flag)
        };
        cx.print(found.iter().filter(is_offered).map(shown).collect::<String>())
    }
}

/// The line for the script of a shell.
fn shown(found: &CompletionCandidate) -> String {
    match found.get_tag().map(ToString::to_string).as_deref() {
        Some(FILE) => format!("\t{FILE}\n"),
        Some(DIRECTORY) => format!("\t{DIRECTORY}\n"),
        _ => candidate::line(found),
    }
}

/// What a shell asks about: the words before the one at the cursor, and the environment.
#[derive(Debug)]
struct Asked {
    words: Vec<String>,
    env: BTreeMap<String, String>,
}

/// The command tree, whose arguments say their values. `is_of_webhook` tells whose the ids are.
fn with_values(command: Command, is_of_webhook: bool, asked: &Arc<Asked>) -> Command {
    let is_of_webhook = is_of_webhook || command.get_name() == "webhook";
    let command = command.mut_args(|arg| with_completer(arg, is_of_webhook, asked));
    command.mut_subcommands(|below| with_values(below, is_of_webhook, asked))
}

/// The argument with what it takes by the names of its value, such as `now|ID`: a word in lower case is taken as it is.
fn with_completer(arg: Arg, is_of_webhook: bool, asked: &Arc<Asked>) -> Arg {
    let names = arg.get_value_names().unwrap_or_default().iter().flat_map(|name| name.split(['|', ',']));
    let (mut words, mut kinds) = (Vec::new(), Vec::new());
    for name in names {
        match kind(name, is_of_webhook) {
            Some(kind) => kinds.push(kind),
            None if is_word(name) => words.push(name.to_owned()),
            None => {}
        }
    }
    if words.is_empty() && kinds.is_empty() {
        return arg;
    }
    let asked = Arc::clone(asked);
    arg.add(ArgValueCompleter::new(move |typed: &OsStr| asked.values(&words, &kinds, &typed.to_string_lossy())))
}

fn kind(name: &str, is_of_webhook: bool) -> Option<Values> {
    Some(match name {
        "GUIDE" => Values::Help,
        "FILE" | "PATH" => Values::File,
        "DIR" => Values::Directory,
        "ADDR" | "RCPT" => Values::Address,
        "DOMAIN" => Values::Domain,
        "ID" if is_of_webhook => Values::Webhook,
        "ID" => Values::Mail,
        _ => return None,
    })
}

fn is_word(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-') && name != "-"
}

impl Asked {
    /// The values that begin with what is typed.
    fn values(self: &Arc<Self>, words: &[String], kinds: &[Values], typed: &str) -> Vec<CompletionCandidate> {
        let mut found: Vec<_> = words.iter().map(|word| candidate(word, "")).collect();
        let until = Instant::now() + WITHIN;
        let mark = |mark: &'static str| CompletionCandidate::new("").tag(Some(mark.into()));
        for kind in kinds {
            match kind {
                Values::Help => found.extend(self.of_help()),
                Values::File => found.push(mark(FILE)),
                Values::Directory => found.push(mark(DIRECTORY)),
                kind => found.extend(self.of_service(*kind, typed, until)),
            }
        }
        let is_typed = |one: &CompletionCandidate| one.get_value().as_encoded_bytes().starts_with(typed.as_bytes());
        found.retain(|one| one.get_tag().is_some() || is_typed(one));
        found
    }

    fn of_help(&self) -> Vec<CompletionCandidate> {
        let tree = super::super::command();
        let path: Vec<&String> = self.words.iter().skip_while(|word| *word != "help").skip(1).collect();
        let command = path.iter().try_fold(&tree, |command, word| command.find_subcommand(word));
        let shown = command.into_iter().flat_map(Command::get_subcommands).filter(|below| !below.is_hide_set());
        let about = |below: &Command| below.get_about().map(ToString::to_string).unwrap_or_default();
        let mut found: Vec<_> = shown.map(|below| candidate(below.get_name(), &about(below))).collect();
        if path.is_empty() {
            found.extend(guide::guides().map(|name| candidate(name, "guide")));
            found.extend(guide::topics().map(|name| candidate(name, "topic")));
        }
        found
    }

    /// What the service knows until then.
    ///
    /// A thread looks it up, because nothing else ends a read of a file that is a pipe, or the search for a host.
    fn of_service(self: &Arc<Self>, kind: Values, typed: &str, until: Instant) -> Vec<CompletionCandidate> {
        let (send, found) = sync_channel(1);
        let (asked, typed) = (Arc::clone(self), typed.to_owned());
        let looking = thread::Builder::new().spawn(move || {
            let Ok(runtime) = runtime::Builder::new_current_thread().enable_all().build() else { return };
            let words: Vec<OsString> = asked.words.iter().map(OsString::from).collect();
            let globals = Globals::among(&words);
            let found = look_up(kind, &asked.words, &typed, &globals, &asked.env);
            // A kind that cannot be listed has no values, and the answer may come too late.
            let _ = send.send(runtime.block_on(found).unwrap_or_default());
        });
        let left = until.saturating_duration_since(Instant::now());
        let found = looking.ok().and_then(|_| found.recv_timeout(left).ok()).unwrap_or_default();
        found.into_iter().filter(candidate::is_plain).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::ValueHint;

    use super::*;

    /// What is offered at the end of a line where no service runs.
    fn offered(line: &str) -> Vec<String> {
        let mut tree = tree_of(line);
        let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let last = args.len() - 1;
        let found = engine::complete(&mut tree, args, last, None).unwrap_or_default();
        found.iter().map(|one| shown(one).trim_end().to_owned()).collect()
    }

    fn tree_of(line: &str) -> Command {
        let (before, _) = line.rsplit_once(' ').expect("a blank");
        let words = before.split(' ').map(str::to_owned).collect();
        let env = BTreeMap::from([("TEMPMAIL_SERVER".to_owned(), "no url".to_owned())]);
        with_values(super::super::super::command(), false, &Arc::new(Asked { words, env }))
    }

    #[test]
    fn the_words_before_the_cursor_say_what_comes() {
        for (line, first) in [
            ("tempmail --data-dir ", "\tdirectory"),
            ("tempmail --config=x", "\tfile"),
            ("tempmail send-test --file ", "\tfile"),
            ("tempmail wait a@b.test --since n", "now"),
            ("tempmail -qo ta", "table\tFor people"),
            ("tempmail help exit", "exit-codes\ttopic"),
        ] {
            assert_eq!(offered(line).first().map(String::as_str), Some(first), "{line}");
        }
        for line in ["tempmail inbox -- --js", "tempmail inbox zoe"] {
            assert_eq!(offered(line), [""; 0], "{line}");
        }
    }

    #[test]
    fn what_is_a_path_completes_as_one() {
        fn walk(command: &Command, visit: &mut dyn FnMut(&Arg)) {
            command.get_arguments().for_each(&mut *visit);
            command.get_subcommands().for_each(|below| walk(below, visit));
        }
        let mut seen = BTreeSet::new();
        walk(&super::super::super::command(), &mut |arg| {
            let names = arg.get_value_names().unwrap_or_default();
            let kinds: Vec<_> =
                names.iter().flat_map(|name| name.split('|')).filter_map(|name| kind(name, false)).collect();
            if arg.get_value_hint() == ValueHint::AnyPath {
                assert!(matches!(kinds[..], [Values::File | Values::Directory]), "{}: {kinds:?}", arg.get_id());
            }
            seen.extend(kinds.iter().map(|kind| format!("{kind:?}")));
        });
        assert_eq!(seen.len(), 6, "a kind has no argument: {seen:?}");
    }
}
